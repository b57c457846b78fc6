//! The whole pipeline on the GPU (bricks, ray caster, depth order, compositing) against closed
//! forms and the CPU ray caster.

use zippy::region::Region;
use zippy::{Config, Element, Layout, Split, World, run_with};
use zippy_io::image::Image;
use zippy_render::volume::{
    Camera, Look, Mode, Phantom, Projection, RendererOptions, TransferFunction, Twin, VolumeRenderer,
};

use crate::ranks::common::analytic::{self, Case};
use crate::ranks::common::is_close;
use crate::support::{self, launcher};

/// Renders a case over a world; returns the image on rank 0.
fn render<T: Element>(
    world: &World,
    case: &Case,
    layout: &Layout,
    size: (u32, u32),
    value: impl Fn(f32) -> T,
) -> zippy::Result<Option<Image>> {
    let [nx, ny, _] = case.shape;
    let volume = world.array::<T, 3>("volume", layout)?;
    volume.fill_with(|[x, y, z]| value(case.values[(x + nx * (y + ny * z)) as usize]))?;
    // Long volumes have many bricks anyway.
    let options = if case.shape.iter().any(|&n| n > 64) { RendererOptions::default() } else { options() };
    Ok(VolumeRenderer::new(world, &volume, case.spacing, options)?.render(&look(case, size))?.image)
}

/// Bricks small enough that even these volumes have several.
fn options() -> RendererOptions {
    RendererOptions { brick: Some(8), ..RendererOptions::default() }
}

fn look(case: &Case, size: (u32, u32)) -> Look {
    Look { step: case.step, size, ..Look::new(case.camera.clone(), case.transfer.clone()) }
}

fn layout(case: &Case) -> Layout {
    Layout::new(case.shape).ghost_sides([(0, 1); 3])
}

/// Runs `program` and calls `check` with the image of rank 0, on the process that has it.
fn on_ranks(
    ranks: usize,
    program: impl Fn(&World) -> zippy::Result<Option<Image>> + Send + Sync,
    check: impl Fn(Image),
) {
    for count in launcher::counts(&[ranks]) {
        let images = run_with(Config::threads(count), |world| {
            let image = program(world)?;
            assert_eq!(image.is_some(), world.rank() == 0);
            Ok(image)
        });
        images.unwrap().into_iter().flatten().for_each(&check);
    }
}

#[test]
fn closed_form_pictures() {
    // A single rank needs no launcher.
    if launcher::size().is_some() {
        return;
    }
    run_with(Config::apart(1), |world| {
        let picture = |case: &Case, size| render(world, case, &layout(case), size, |v| v).unwrap().unwrap();
        analytic::check(|case| picture(case, (5, 3)).pixels[7]);
        analytic::check_orders(picture);
        Ok(())
    })
    .unwrap();
}

/// A scaled phantom seen from a corner, with anisotropic voxels.
fn phantom(shape: [i64; 3], scale: f32, parallel: bool) -> Case {
    let phantom = Phantom { shape };
    let spacing = [1.0, 0.75, 1.25];
    let mut camera = Camera::overview(shape, spacing);
    if parallel {
        camera.projection = Projection::Parallel { half_height: 20.0 };
    }
    let voxels = Region::whole(shape.into());
    let most = f64::from(scale);
    Case {
        name: "phantom".into(),
        shape,
        spacing,
        values: voxels
            .points()
            .map(|p| f32::from(phantom.value([p[0], p[1], p[2]])) / 4095.0 * scale)
            .map(f32::round)
            .collect(),
        camera,
        transfer: TransferFunction {
            opacity: vec![[0.0, 0.0], [most * 0.02, 0.0], [most * 0.3, 0.4], [most * 0.5, 0.2], [most, 0.6]],
            colour: vec![[0.0, 0.1, 0.2, 0.9], [most * 0.5, 0.9, 0.4, 0.1], [most, 1.0, 1.0, 0.8]],
            unit_distance: 1.0,
        },
        step: 0.5,
        expected: [0.0; 2],
        tolerance: 0.0,
    }
}

fn twin(case: &Case, size: (u32, u32)) -> Image {
    let [nx, ny, _] = case.shape.map(|n| n as i32);
    let voxel = |[x, y, z]: [i32; 3]| case.values[(x + nx * (y + ny * z)) as usize];
    let twin = Twin::new(&look(case, size), case.shape, case.spacing, voxel).unwrap();
    twin.picture(&[([0; 3], twin.view.cells)])
}

const SIZE: (u32, u32) = (61, 47);

#[test]
fn every_decomposition_gives_the_picture_of_the_twin() {
    let case = phantom([21, 26, 18], 255.0, false);
    let expected = twin(&case, SIZE);
    assert!(expected.pixels.iter().filter(|pixel| pixel[3] > 0.5).count() > 300);
    let whole = Split::Whole;
    let splits: [(usize, [Split; 3]); 9] = [
        (1, [whole.clone(), whole.clone(), whole.clone()]),
        (2, [whole.clone(), whole.clone(), Split::Even(2)]),
        (3, [Split::Even(3), whole.clone(), whole.clone()]),
        (5, [whole.clone(), Split::Even(5), whole.clone()]),
        (8, [Split::Even(2), Split::Even(2), Split::Even(2)]),
        (3, [Split::Sizes(vec![3, 17, 1]), Split::Sizes(vec![20, 6]), Split::Sizes(vec![1, 2, 15])]),
        (5, [whole.clone(), Split::Even(2), whole.clone()]),
        (2, [Split::Sizes(vec![0, 20, 1]), whole.clone(), Split::Sizes(vec![17, 0, 1])]),
        (4, [whole.clone(), whole, Split::Even(18)]),
    ];
    for (ranks, split) in splits {
        let program = |world: &World| render(world, &case, &layout(&case).split(split.clone()), SIZE, |v| v as u8);
        on_ranks(ranks, program, |image| {
            let difference = image.difference(&expected).unwrap();
            assert!(is_close(&difference, 4e-6, 140.0), "{ranks}, {split:?}: {difference:?}");
        });
    }
}

/// Single visible voxels, including those at the edges of blocks and chunks.
#[test]
fn leaps_miss_no_visible_voxel() {
    let shape = [35, 26, 33];
    let mut seed = 0x2545_F491_u32;
    let mut next = |below: u32| {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        seed % below
    };
    let mut case = phantom(shape, 255.0, false);
    case.transfer.opacity = vec![[0.0, 0.0], [40.0, 0.0], [255.0, 0.7]];
    let corners = [[0, 0, 0], [34, 25, 32], [7, 8, 8], [8, 8, 8], [15, 16, 24], [16, 7, 9], [34, 0, 31]];
    case.values = vec![0.0; case.values.len()];
    let at = |[x, y, z]: [u32; 3]| (x + 35 * (y + 26 * z)) as usize;
    for (index, corner) in corners.into_iter().enumerate() {
        case.values[at(corner)] = 150.0 + 15.0 * index as f32;
    }
    for _ in 0..40 {
        let place = [next(35), next(26), next(33)];
        case.values[at(place)] = (101 + next(154)) as f32;
    }
    let splits =
        [[Split::Whole, Split::Whole, Split::Whole], [Split::Sizes(vec![9, 26]), Split::Even(3), Split::Even(2)]];
    for (number, split) in splits.into_iter().enumerate() {
        for (azimuth, step, parallel) in [(0.3, 0.5, false), (1.2, 0.125, true), (4.0, 2.5, false), (0.0, 0.3, true)] {
            let mut case = Case { step, ..case.clone() };
            let (sin, cos) = f64::sin_cos(azimuth);
            let middle = case.camera.focal_point;
            let height = if azimuth == 0.0 { 0.0 } else { 21.0 };
            case.camera.position = [middle[0] + 60.0 * cos, middle[1] + 60.0 * sin, middle[2] + height];
            if parallel {
                case.camera.projection = Projection::Parallel { half_height: 24.0 };
            }
            let expected = twin(&case, SIZE);
            let seen = expected.pixels.iter().filter(|pixel| pixel[3] > 0.02).count();
            assert!(seen > 20, "azimuth {azimuth}: {seen} pixels");
            let program = |world: &World| render(world, &case, &layout(&case).split(split.clone()), SIZE, |v| v as i16);
            on_ranks(1 + 2 * number, program, |image| {
                let difference = image.difference(&expected).unwrap();
                assert!(is_close(&difference, 4e-6, 0.0), "split {number}, azimuth {azimuth}: {difference:?}");
            });
        }
    }
}

#[test]
fn cuts_by_boxes_have_a_depth_order() {
    let case = phantom([21, 26, 18], 255.0, true);
    let boxes = [
        ([0, 0, 0], [9, 26, 18]),
        ([9, 0, 0], [21, 11, 7]),
        ([9, 11, 0], [21, 26, 7]),
        ([9, 0, 7], [15, 26, 18]),
        ([15, 0, 7], [21, 26, 18]),
    ];
    let boxes: Vec<Region> = boxes.iter().map(|(start, end)| Region::new(start, end).unwrap()).collect();
    let program = |world: &World| render(world, &case, &layout(&case).boxes(boxes.clone()), SIZE, |v| v as i32);
    on_ranks(3, program, |image| {
        let difference = image.difference(&twin(&case, SIZE)).unwrap();
        assert!(is_close(&difference, 4e-6, 140.0), "{difference:?}");
    });
}

#[test]
fn every_type_of_voxel() {
    fn check<T: Element>(scale: f32, value: impl Fn(f32) -> T + Send + Sync) {
        let case = phantom([13, 10, 11], scale, false);
        let split = layout(&case).split([Split::Even(2), Split::Even(1), Split::Even(1)]);
        on_ranks(
            2,
            |world| render(world, &case, &split, (31, 22), &value),
            |image| {
                let difference = image.difference(&twin(&case, (31, 22))).unwrap();
                assert!(is_close(&difference, 4e-6, 0.0), "{}: {difference:?}", T::INFO.name);
            },
        );
    }
    check(255.0, |v| v as u8);
    check(127.0, |v| v as i8);
    check(65535.0, |v| v as u16);
    check(32767.0, |v| v as i16);
    check(100_000.0, |v| v as u32);
    check(100_000.0, |v| v as i32);
    check(7.0, |v| v);
}

/// Software Vulkan ends loops after 65,535 iterations: longer rays are cast in several dispatches.
#[test]
fn long_rays_are_cast_whole() {
    let case = analytic::a1(120_000);
    let program = |world: &World| render(world, &case, &layout(&case), (3, 1), |v| v);
    on_ranks(1, program, |image| {
        let [intensity, _, _, alpha] = image.pixels[1].map(f64::from);
        assert!((intensity - case.expected[0]).abs() < 1e-3 && (alpha - case.expected[1]).abs() < 1e-3, "{alpha}");
    });
}

/// Next to a ray that takes every sample, other rays leap over every other pair of blocks, at
/// different samples; all leaps count for the rays of a subgroup.
#[test]
fn long_rays_next_to_leaping_rays_are_cast_whole() {
    const SIDE: i64 = 33_000;
    support::ranks(&[1], |world| {
        let volume = world.array::<u8, 3>("volume", &Layout::new([SIDE, 128, 2]))?;
        let seen = |x: i64, y: i64| y % 16 < 9 && (y < 16 || (x / 8 + y / 16) % 4 < 2);
        volume.fill_with(|[x, y, _]| if seen(x, y) { 200 } else { 0 })?;
        let options = RendererOptions { mode: Mode::Fast, ..RendererOptions::default() };
        let renderer = VolumeRenderer::new(world, &volume, [1.0; 3], options)?;
        let camera = Camera {
            position: [-10.0, 60.0, 0.5],
            focal_point: [0.0, 60.0, 0.5],
            view_up: [0.0, 0.0, 1.0],
            projection: Projection::Parallel { half_height: 8.0 },
        };
        let transfer = TransferFunction {
            opacity: vec![[100.0, 0.0], [200.0, 3e-5]],
            colour: vec![[0.0, 1.0, 1.0, 1.0]],
            unit_distance: 1.0,
        };
        let look = Look { size: (8, 1), step: 1.0, ..Look::new(camera, transfer) };
        if let Some(image) = renderer.render(&look)?.image {
            // The row of pixels is opposite to y: the last one lies at 4.
            let alphas: Vec<f64> = image.pixels.iter().map(|pixel| pixel[3].into()).collect();
            let whole = 1.0 - (1.0 - 3e-5_f64).powi(SIDE as i32 - 1);
            assert!((alphas[7] - whole).abs() < 1e-4, "{alphas:?}, {whole}");
            assert!(alphas[..7].iter().all(|alpha| (0.4 * whole..0.7 * whole).contains(alpha)), "{alphas:?}");
        }
        Ok(())
    });
}

#[test]
fn reused_renderer_gives_the_same_bits() {
    let case = phantom([15, 14, 13], 255.0, false);
    let split = layout(&case).split([Split::Even(2), Split::Even(2), Split::Even(1)]);
    support::ranks(&[2], |world| {
        let volume = world.array::<u16, 3>("volume", &split)?;
        let [nx, ny, _] = case.shape;
        volume.fill_with(|[x, y, z]| case.values[(x + nx * (y + ny * z)) as usize] as u16)?;
        let renderer = VolumeRenderer::new(world, &volume, case.spacing, options())?;
        let mut pictures = Vec::new();
        for (position, size) in
            [([40.0, -30.0, 20.0], SIZE), ([-40.0, 10.0, 30.0], (70, 12)), ([40.0, -30.0, 20.0], SIZE)]
        {
            let camera = Camera { position, ..case.camera.clone() };
            pictures.push(renderer.render(&Look { camera, ..look(&case, size) })?.image);
        }
        assert_eq!(pictures[0], pictures[2]);
        if world.rank() == 0 {
            assert_ne!(pictures[0], pictures[1]);
        }
        Ok(())
    });
}

#[test]
fn invalid_volumes_and_looks_are_errors() {
    support::ranks(&[2], |world| {
        let error = |result: zippy::Result<()>| result.unwrap_err().to_string();
        let whole = |shape: [i64; 3]| Layout::new(shape).split_all(Split::Whole);
        let flat = world.array::<u8, 3>("flat", &whole([4, 4, 1]))?;
        let message = error(VolumeRenderer::new(world, &flat, [1.0; 3], options()).map(|_| ()));
        assert!(message.contains("[4, 4, 1] voxels"), "{message}");
        let pairs = world.array::<[f32; 2], 3>("pairs", &whole([4, 4, 4]))?;
        let message = error(VolumeRenderer::new(world, &pairs, [1.0; 3], options()).map(|_| ()));
        assert!(message.contains("vec2<f32> cannot be rendered"), "{message}");
        let good = world.array::<u8, 3>("good", &whole([6, 4, 4]))?;
        for (wrong, wanted) in [
            (RendererOptions { brick: Some(12), ..options() }, "multiple of 8"),
            (RendererOptions { components: 3, ..options() }, "3 components"),
            (RendererOptions { components: 4, ..options() }, "4 components in an array of [6, 4, 4]"),
        ] {
            let message = error(VolumeRenderer::new(world, &good, [1.0; 3], wrong).map(|_| ()));
            assert!(message.contains(wanted), "{message}");
        }
        assert!(VolumeRenderer::new(world, &good, [1.0, -1.0, 1.0], options()).is_err());
        let renderer = VolumeRenderer::new(world, &good, [1.0; 3], options())?;
        let grey = TransferFunction::ramp(0.0, 255.0);
        let look = Look { size: (8, 8), ..Look::new(Camera::overview([6, 4, 4], [1.0; 3]), grey) };
        assert!(renderer.render(&Look { step: -1.0, ..look.clone() }).is_err());
        assert!(renderer.render(&Look { size: (0, 8), ..look.clone() }).is_err());
        let crooked = Camera { view_up: [0.0; 3], ..look.camera.clone() };
        assert!(renderer.render(&Look { camera: crooked, ..look.clone() }).is_err());
        assert!(renderer.render(&Look { step: 1e-8, ..look.clone() }).is_err());
        renderer.render(&look)?;
        Ok(())
    });
}
