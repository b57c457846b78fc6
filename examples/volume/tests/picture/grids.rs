//! Volumes with origin, spacing and directions: volume, isosurface and clip planes are in the space
//! of the file.

use zippy::Grid;
use zippy_io::image::Image;

use super::common::nrrd::Temporary;
use super::{render_uncut, run};

const SHAPE: [i64; 3] = [26, 21, 30];
const RADIUS: f64 = 6.5;

/// A rotated and mirrored grid away from the origin, with unequal spacings.
fn grid() -> Grid {
    Grid::new([-31.7, 12.25, 203.5], [1.0, 1.25, 0.75]).with_directions([
        [0.6, 0.8, 0.0],
        [-0.48, 0.36, 0.8],
        [-0.64, 0.48, -0.6],
    ])
}

/// The same grid at coordinates where the spacing of 32-bit floats is 4, as in land surveys.
fn distant_grid() -> Grid {
    Grid { origin: [5_000_003.3, 46_000_003.3, 203.5], ..grid() }
}

fn middle(grid: &Grid) -> [f64; 3] {
    grid.position(SHAPE.map(|count| (count - 1) as f64 / 2.0))
}

/// File of a ball: the values are distances to its surface, positive inside.
fn ball_file(grid: &Grid) -> Temporary {
    let middle = middle(grid);
    let vector = |vector: [f64; 3]| vector.map(|part| part.to_string()).join(",");
    let [x, y, z] = grid.steps().map(vector);
    let head = format!(
        "NRRD0004\ntype: float\ndimension: 3\nspace dimension: 3\nsizes: 26 21 30\nspace directions: ({x}) ({y}) ({z})\n\
         space origin: ({})\nendian: little\nencoding: raw\n\n",
        vector(grid.origin)
    );
    let value = |at: [i64; 3]| {
        let at = grid.position(at.map(|at| at as f64));
        (RADIUS - (0..3).map(|row| (at[row] - middle[row]).powi(2)).sum::<f64>().sqrt()) as f32
    };
    let [nx, ny, nz] = SHAPE;
    let voxels = (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| value([x, y, z]).to_le_bytes())));
    Temporary::new(&[head.as_bytes(), &voxels.flatten().collect::<Vec<u8>>()].concat())
}

/// Scene with a view along z, x to the right and y upwards: 60 by 50 pixels of side 1/3.
fn scene(grid: &Grid, opacity: &str) -> Temporary {
    let [x, y, z] = middle(grid);
    let text = format!(
        r#"{{"scenes": [{{"file": "a.png", "size": [60, 50], "sample_distance": 0.05,
        "projection": "parallel, half-height 8.333333333333334", "camera_position": [{x}, {y}, {}],
        "focal_point": [{x}, {y}, {z}], "view_up": [0, 1, 0], "opacity_points": {opacity},
        "rgb_points": [[0, 1, 1, 1]]}}]}}"#,
        z + 100.0
    );
    Temporary::new(text.as_bytes())
}

/// Position of a pixel relative to the middle of the ball.
fn position(pixel: usize) -> [f64; 2] {
    [(pixel % 60) as f64 - 29.5, 24.5 - (pixel / 60) as f64].map(|at| at / 3.0)
}

/// Checks that pixels are opaque exactly at positive `depth`, except near the border.
fn assert_covered(image: &Image, kind: &str, depth: impl Fn([f64; 2]) -> f64) {
    let mut counts = [0; 2];
    for (pixel, colour) in image.pixels.iter().enumerate() {
        let depth = depth(position(pixel));
        if depth.abs() > 0.12 {
            assert_eq!(colour[3] > 0.5, depth > 0.0, "{kind}, pixel {pixel} at {:?}: {colour:?}", position(pixel));
            counts[usize::from(depth > 0.0)] += 1;
        }
    }
    assert!(counts[0] > 800 && counts[1] > 300, "{kind}: {counts:?}");
}

/// Checks that volume and isosurface cover the same disc, whole and clipped.
fn assert_disc_covered(grid: &Grid) {
    let (file, opaque, clear) = (ball_file(grid), scene(grid, "[[-0.001, 0], [0.001, 1]]"), scene(grid, "[[0, 0]]"));
    let words = |scene: &Temporary, more: &[&str]| -> Vec<String> {
        let common = ["--input", file.0.to_str().unwrap(), "--scene", scene.0.to_str().unwrap(), "--brick", "8"];
        common.iter().chain(more).map(|word| (*word).to_string()).collect()
    };
    let disc = |[x, y]: [f64; 2]| RADIUS - x.hypot(y);
    let left = format!("--clip=-1,0,0,{}", -(middle(grid)[0] + 1.5));
    let half = |at: [f64; 2]| disc(at).min(1.5 - at[0]);
    for (scene, more, kind) in [(&opaque, vec![], "volume"), (&clear, vec!["--iso", "0"], "isosurface")] {
        let plain = words(scene, &more);
        let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
        let found = render_uncut(&plain);
        assert_covered(&found, kind, disc);
        for ranks in [1, 3] {
            if let Some(rendered) = run(ranks, &plain) {
                assert_eq!(rendered.image.difference(&found).unwrap().max_abs, 0.0, "{kind}, {ranks} ranks");
            }
        }
        assert_covered(&render_uncut(&[&plain[..], &[&left]].concat()), kind, half);
    }
}

#[test]
fn volume_and_isosurface_by_driver_of_a_turned_file_cover_the_same_disc() {
    assert_disc_covered(&grid());
}

#[test]
fn volume_and_isosurface_by_driver_far_from_the_origin_of_space_cover_the_same_disc() {
    assert_disc_covered(&distant_grid());
}

#[test]
fn first_camera_sees_the_whole_of_a_turned_file() {
    let file = ball_file(&grid());
    let image = render_uncut(&["--input", file.0.to_str().unwrap(), "--size", "40x40", "--preset", "grey-ramp"]);
    let is_seen = |pixel: usize| image.pixels[pixel][3] > 0.0;
    assert!((0..1600).filter(|&pixel| is_seen(pixel)).count() > 150);
    let at_the_border = |pixel: &usize| [0, 39].contains(&(pixel % 40)) || [0, 39].contains(&(pixel / 40));
    assert!(!(0..1600).filter(at_the_border).any(is_seen));
}
