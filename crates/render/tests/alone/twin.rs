//! Geometry of the ray caster on the CPU: closed-form images, cameras, units of length.

use zippy_io::image::Image;
use zippy_render::volume::{Camera, ClipPlane, Crop, Look, Phantom, Projection, Shading, TransferFunction, Twin, View};

use crate::common::analytic::{self, Case};
use crate::common::units::scaled;

type CellBox = ([i64; 3], [i64; 3]);

fn cells_of((start, end): CellBox, shape: [i64; 3]) -> ([i32; 3], [i32; 3]) {
    (start.map(|v| v as i32), std::array::from_fn(|axis| end[axis].min(shape[axis] - 1) as i32))
}

fn render(case: &Case, boxes: &[CellBox], size: (u32, u32)) -> Image {
    let look = Look { step: case.step, size, ..Look::new(case.camera.clone(), case.transfer.clone()) };
    let [nx, ny, _] = case.shape;
    let voxel = |[x, y, z]: [i32; 3]| case.values[(i64::from(x) + nx * (i64::from(y) + ny * i64::from(z))) as usize];
    let cells: Vec<_> = boxes.iter().map(|&one| cells_of(one, case.shape)).collect();
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
        let mut boxes = [([0, 0, 0], [x, 1, cut]), ([0, 1, 0], [x, y, cut]), ([0, 0, cut], [x, y, z])];
        if case.camera.position[2] > case.camera.focal_point[2] {
            boxes.reverse();
        }
        let pixel = render(&case, &boxes, (5, 3)).pixels[7].map(f64::from);
        assert!((pixel[0] - case.expected[0]).abs() < case.tolerance, "{}: {pixel:?}", case.name);
        assert!((pixel[3] - case.expected[1]).abs() < case.tolerance, "{}: {pixel:?}", case.name);
    }
}

/// A single bright voxel appears at the pixel that the camera's geometry predicts.
#[test]
fn bright_voxel_appears_at_its_predicted_pixel() {
    let shape = [21, 21, 21];
    for projection in
        [Projection::Perspective { vertical_fov_degrees: 30.0 }, Projection::Parallel { half_height: 15.0 }]
    {
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
fn invalid_views_are_errors() {
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

const SHAPE: [i64; 3] = [9, 12, 7];

fn lit(projection: Projection) -> Look {
    let camera = Camera { projection, ..Camera::overview(SHAPE, SPACING) };
    let transfer = TransferFunction {
        opacity: vec![[0.0, 0.0], [30.0, 0.05], [60.0, 0.3], [90.0, 0.6]],
        colour: vec![[0.0, 0.2, 0.5, 1.0], [90.0, 1.0, 0.75, 0.0]],
        unit_distance: 0.5,
    };
    Look {
        step: 0.4,
        size: (21, 17),
        shading: Some(Shading::default()),
        clip: vec![ClipPlane { normal: [1.0, 2.0, -0.5], offset: 4.0 }],
        crop: Some(Crop { low: [0.0, 0.5, 1.0], high: [7.5, 99.0, 7.0] }),
        ..Look::new(camera, transfer)
    }
}

const SPACING: [f64; 3] = [1.0, 0.75, 1.25];
const PERSPECTIVE: Projection = Projection::Perspective { vertical_fov_degrees: 30.0 };
const PARALLEL: Projection = Projection::Parallel { half_height: 7.0 };

/// Image of a volume whose lengths and values are multiplied by these factors, with a look in the
/// same units.
fn in_units(look: &Look, length: f64, value: f64) -> Image {
    let voxel = |[x, y, z]: [i32; 3]| (f64::from((x - 4) * (x - 4) + 3 * y + 2 * (z - 3) * (z - 3)) * value) as f32;
    let twin = Twin::new(&scaled(look, length, value), SHAPE, SPACING.map(|s| s * length), voxel).unwrap();
    twin.picture(&[([0; 3], twin.view.cells)])
}

#[test]
fn image_is_independent_of_units() {
    for projection in [PERSPECTIVE, PARALLEL] {
        let look = lit(projection);
        let view = |length| View::of(&scaled(&look, length, 1.0), SHAPE, SPACING.map(|s| s * length)).unwrap();
        let known = view(1.0);
        // Powers of two change no digit.
        for exponent in [-300, -66, -57, -20, 20, 57, 66, 300] {
            assert_eq!(view(2.0_f64.powi(exponent)), known, "2^{exponent}");
        }
        let expected = in_units(&look, 1.0, 1.0);
        assert!(expected.pixels.iter().filter(|pixel| pixel[3] > 0.3).count() > 40);
        let unlit = in_units(&Look { shading: None, ..look.clone() }, 1.0, 1.0);
        assert!(unlit.difference(&expected).unwrap().max_abs > 0.1);
        let lengths = [1e-30, 1e-17, 1e-12, 1e17, 1e20, 1e30].map(|length| (length, 1.0));
        let values = [1e-24, 1e-20, 1e20, 1e24].map(|value| (1.0, value));
        for (length, value) in lengths.into_iter().chain(values).chain([(1e9, 1e24), (1e-9, 1e-24)]) {
            let difference = in_units(&look, length, value).difference(&expected).unwrap();
            assert!(difference.max_abs < 1e-4 && difference.psnr_db > 110.0, "{length}, {value}: {difference:?}");
        }
    }
}

#[test]
fn lengths_below_f32_resolution_are_errors() {
    let good = Camera::overview([10, 10, 10], [1.0; 3]);
    let error = |camera: &Camera, spacing| View::new(camera, (4, 4), [10; 3], spacing, 1.0).unwrap_err().to_string();
    assert!(error(&good, [1.0, 1e-120, 1.0]).contains("1e-100 to 1e100"));
    assert!(error(&good, [1.0, 1e10, 1.0]).contains("none may be more than 1e9 times another"));
    let far = Camera { position: [5.0, 1e8, 5.0], ..good.clone() };
    assert!(error(&far, [1.0; 3]).contains("1.000e8 voxels away"));
    let near = Camera { position: [5.0 + 1e-13, 5.0, 5.0], focal_point: [5.0; 3], ..good.clone() };
    assert!(error(&near, [1.0; 3]).contains("equals the focal point"));
    let wide = Camera { projection: Projection::Parallel { half_height: 1e20 }, ..good };
    assert!(error(&wide, [1.0; 3]).contains("too wide"));
}

#[test]
fn phantom_has_skull_brain_and_ventricle() {
    let phantom = Phantom { shape: [40, 50, 45] };
    assert_eq!(phantom.value([0, 0, 0]), 0);
    let value = |x, y, z| phantom.value([x, y, z]);
    // Skull, brain and a ventricle have different values, and none is constant.
    let skull = (20..40).map(|x| value(x, 25, 22)).max().unwrap();
    assert!((1100..1700).contains(&skull), "{skull}");
    assert!((200..900).contains(&value(20, 14, 22)), "{}", value(20, 14, 22));
    let mut seen: Vec<u16> = (0..50).flat_map(|y| (0..40).map(move |x| (x, y))).map(|(x, y)| value(x, y, 20)).collect();
    seen.sort();
    seen.dedup();
    assert!(seen.len() > 300, "{}", seen.len());
    assert!(Phantom { shape: [1, 1, 1] }.value([0, 0, 0]) > 0);
}
