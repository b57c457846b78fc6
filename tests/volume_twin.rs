//! The ray caster's geometry and its CPU twin: closed-form pictures, the lattice of samples, depth order.

mod common;

use common::analytic::{self, Case};
use proptest::prelude::*;
use zippy::algorithms::image::Image;
use zippy::algorithms::volume::{Camera, Look, Phantom, Projection, TransferFunction, Twin, View, depth_order};

type CellBox = ([i64; 3], [i64; 3]);

fn cells_of((start, end): CellBox, shape: [i64; 3]) -> ([i32; 3], [i32; 3]) {
    (start.map(|v| v as i32), std::array::from_fn(|axis| end[axis].min(shape[axis] - 1) as i32))
}

fn render(case: &Case, boxes: &[CellBox], size: (u32, u32)) -> Image {
    let look = Look { step: case.step, size, ..Look::new(case.camera.clone(), case.transfer.clone()) };
    let [nx, ny, _] = case.shape;
    let voxel = |[x, y, z]: [i32; 3]| case.values[(i64::from(x) + nx * (i64::from(y) + ny * i64::from(z))) as usize];
    let order = depth_order(boxes, &case.camera, case.spacing).unwrap();
    let cells: Vec<_> = order.into_iter().map(|chunk| cells_of(boxes[chunk], case.shape)).collect();
    Twin::new(&look, case.shape, case.spacing, voxel).unwrap().picture(&cells)
}

#[test]
fn closed_form_pictures() {
    analytic::check(|case| render(case, &[([0; 3], case.shape)], (5, 3)).pixels[7]);
}

#[test]
fn closed_form_pictures_from_chunks() {
    for case in analytic::exact_cases() {
        let [x, y, z] = case.shape;
        let cut = z / 2;
        let boxes = [([0, 0, cut], [x, y, z]), ([0, 0, 0], [x, 1, cut]), ([0, 1, 0], [x, y, cut])];
        let pixel = render(&case, &boxes, (5, 3)).pixels[7].map(f64::from);
        assert!((pixel[0] - case.expected[0]).abs() < case.tolerance, "{}: {pixel:?}", case.name);
        assert!((pixel[3] - case.expected[1]).abs() < case.tolerance, "{}: {pixel:?}", case.name);
    }
}

/// A volume with one bright voxel appears where the camera's geometry puts it.
#[test]
fn right_is_right_and_up_is_up() {
    let shape = [21, 21, 21];
    for projection in
        [Projection::Perspective { vertical_fov_degrees: 30.0 }, Projection::Parallel { half_height: 15.0 }]
    {
        // Seen from -y: x runs to the right, z upwards.
        for (bright, right, up) in
            [([16, 10, 10], 1, 0), ([4, 10, 10], -1, 0), ([10, 10, 16], 0, 1), ([10, 10, 4], 0, -1)]
        {
            let mut values = vec![0.0; 21 * 21 * 21];
            values[bright[0] + 21 * (bright[1] + 21 * bright[2])] = 1.0;
            let case = Case {
                name: "one voxel".into(),
                shape,
                spacing: [1.0; 3],
                values,
                camera: Camera {
                    position: [10.0, -60.0, 10.0],
                    focal_point: [10.0; 3],
                    view_up: [0.0, 0.0, 2.0],
                    projection,
                },
                transfer: TransferFunction {
                    opacity: vec![[0.0, 0.0], [1.0, 1.0]],
                    colour: vec![[0.0, 1.0, 1.0, 1.0]],
                    unit_distance: 1.0,
                },
                step: 0.25,
                expected: [0.0; 2],
                tolerance: 0.0,
            };
            let image = render(&case, &[([0; 3], shape)], (33, 33));
            let brightest = (0..33 * 33).max_by(|&a, &b| image.pixels[a][3].total_cmp(&image.pixels[b][3])).unwrap();
            let (column, row) = ((brightest % 33) as i32 - 16, 16 - (brightest / 33) as i32);
            assert_eq!((column.signum(), row.signum()), (right, up), "{bright:?} {projection:?}");
            assert!(image.pixels[brightest][3] > 0.3);
        }
    }
}

#[test]
fn views_that_make_no_sense_are_refused() {
    let good = Camera::overview([10, 10, 10], [1.0; 3]);
    let view = |camera: &Camera, size, shape, spacing, step| View::new(camera, size, shape, spacing, step).map(|_| ());
    assert_eq!(view(&good, (4, 4), [10; 3], [1.0; 3], 1.0), Ok(()));
    assert!(view(&good, (0, 4), [10; 3], [1.0; 3], 1.0).is_err());
    assert!(view(&good, (4, 99_999), [10; 3], [1.0; 3], 1.0).is_err());
    assert!(view(&good, (4, 4), [10, 1, 10], [1.0; 3], 1.0).is_err());
    assert!(view(&good, (4, 4), [10; 3], [1.0, 0.0, 1.0], 1.0).is_err());
    for step in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9] {
        assert!(view(&good, (4, 4), [10; 3], [1.0; 3], step).is_err(), "step {step}");
    }
    let cameras = [
        Camera { position: good.focal_point, ..good.clone() },
        Camera { view_up: [0.0; 3], ..good.clone() },
        Camera { position: [f64::NAN; 3], ..good.clone() },
        Camera { projection: Projection::Perspective { vertical_fov_degrees: 180.0 }, ..good.clone() },
        Camera { projection: Projection::Parallel { half_height: -1.0 }, ..good.clone() },
    ];
    for camera in cameras {
        assert!(view(&camera, (4, 4), [10; 3], [1.0; 3], 1.0).is_err(), "{camera:?}");
    }
}

#[test]
fn the_phantom_is_a_head() {
    let phantom = Phantom { shape: [40, 50, 45] };
    assert_eq!(phantom.value([0, 0, 0]), 0);
    let value = |x, y, z| phantom.value([x, y, z]);
    // Skull, brain and a ventricle differ, and nothing is constant.
    let skull = (20..40).map(|x| value(x, 25, 22)).max().unwrap();
    assert!((1100..1700).contains(&skull), "{skull}");
    assert!((200..900).contains(&value(20, 14, 22)), "{}", value(20, 14, 22));
    let mut seen: Vec<u16> = (0..50).flat_map(|y| (0..40).map(move |x| (x, y))).map(|(x, y)| value(x, y, 20)).collect();
    seen.sort();
    seen.dedup();
    assert!(seen.len() > 300, "{}", seen.len());
    assert!(Phantom { shape: [1, 1, 1] }.value([0, 0, 0]) > 0);
}

/// Cuts a box again and again: every k-d cover can come out.
fn cover(shape: [i64; 3], cuts: &[(usize, usize, i64)]) -> Vec<CellBox> {
    let mut boxes = vec![([0; 3], shape)];
    for &(which, axis, at) in cuts {
        let index = which % boxes.len();
        let (start, end) = boxes[index];
        let extent = end[axis] - start[axis];
        let cut = start[axis] + at % (extent + 1);
        let (mut low, mut high) = ((start, end), (start, end));
        low.1[axis] = cut;
        high.0[axis] = cut;
        boxes[index] = low;
        boxes.push(high);
    }
    boxes
}

fn cameras() -> impl Strategy<Value = Camera> {
    let place = prop::array::uniform3(-40.0..60.0_f64);
    let snapped = (place, any::<bool>()).prop_map(|(p, snap)| if snap { p.map(f64::round) } else { p });
    (snapped, prop::array::uniform3(0.0..12.0_f64), any::<bool>(), prop::option::of(0_usize..3)).prop_filter_map(
        "a direction of view",
        |(position, mut focal_point, parallel, aligned)| {
            if let Some(axis) = aligned {
                // Exactly along an axis: two components of every parallel ray are zero.
                focal_point = position;
                focal_point[axis] = 6.0;
            }
            let projection = if parallel {
                Projection::Parallel { half_height: 14.0 }
            } else {
                Projection::Perspective { vertical_fov_degrees: 60.0 }
            };
            let camera = Camera { position, focal_point, view_up: [0.31, 0.2, 0.93], projection };
            View::new(&camera, (1, 1), [3; 3], [1.0; 3], 1.0).is_ok().then_some(camera)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every sample of every ray belongs to exactly one chunk, and a ray meets the chunks in depth order.
    #[test]
    fn chunks_share_the_samples_in_depth_order(
        shape in prop::array::uniform3(2_i64..14),
        cuts in prop::collection::vec((0_usize..8, 0_usize..3, 0_i64..14), 0..8),
        spacing in prop::array::uniform3(0.5..1.5_f64),
        step in 0.1..2.0_f64,
        camera in cameras(),
    ) {
        let boxes = cover(shape, &cuts);
        let order = depth_order(&boxes, &camera, spacing).unwrap();
        let mut sorted = order.clone();
        sorted.sort();
        prop_assert_eq!(sorted, (0..boxes.len()).collect::<Vec<_>>());
        let view = View::new(&camera, (9, 7), shape, spacing, step).unwrap();
        for pixel in 0..63 {
            let ray = view.ray(pixel % 9, pixel / 9);
            prop_assert!(ray.samples <= view.most_samples());
            let mut next = 0;
            for &chunk in &order {
                let (start, end) = cells_of(boxes[chunk], shape);
                let range = ray.samples_in(view.cells, start, end);
                for sample in range.clone() {
                    let cell = ray.cell(sample, view.cells);
                    prop_assert!((0..3).all(|a| start[a] <= cell[a] && cell[a] < end[a]));
                }
                if !range.is_empty() {
                    prop_assert_eq!(range.start, next, "pixel {} chunk {}", pixel, chunk);
                    next = range.end;
                }
            }
            prop_assert_eq!(next, ray.samples, "pixel {}", pixel);
        }
    }
}

#[test]
fn depth_order_has_no_answer_for_rings_and_overlaps() {
    let camera = |towards: [f64; 3]| Camera {
        position: [1.0; 3],
        focal_point: towards.map(|v| 1.0 + v),
        view_up: [0.1, 0.9, -0.4],
        projection: Projection::Parallel { half_height: 9.0 },
    };
    // Three bars of which each lies before the next along another axis.
    let ring = [([0, 0, 1], [1, 2, 2]), ([1, 0, 0], [3, 1, 2]), ([0, 1, 0], [3, 2, 1])];
    let error = depth_order(&ring, &camera([1.0; 3]), [1.0; 3]).unwrap_err().to_string();
    assert!(error.contains("chunks [0, 1, 2] interlock"), "{error}");
    assert_eq!(depth_order(&ring, &camera([-1.0, 1.0, 1.0]), [1.0; 3]).unwrap(), [1, 2, 0]);
    let overlap = [([0; 3], [4; 3]), ([3, 3, 3], [5; 3])];
    assert!(depth_order(&overlap, &camera([1.0; 3]), [1.0; 3]).unwrap_err().to_string().contains("overlap"));
    // An empty box is in nobody's way, wherever it lies.
    let empty = [([0; 3], [4; 3]), ([2, 2, 2], [2, 3, 3])];
    assert_eq!(depth_order(&empty, &camera([1.0; 3]), [1.0; 3]).unwrap().len(), 2);
}
