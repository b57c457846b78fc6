//! Features of a look on the device (pre-integration, light, cuts, jitter, components) against
//! closed forms and the CPU ray caster; bits are equal for every decomposition.

mod values;

use zippy::region::Region;
use zippy::{Config, Element, Layout, Split, World, run_with};
use zippy_io::image::Image;
use zippy_render::volume::{
    Camera, ClipPlane, Crop, Interpolation, Look, Phantom, Projection, RendererOptions, Shading, TransferFunction,
    Twin, VolumeRenderer,
};

use crate::ranks::common::analytic::{self, Case};
use crate::ranks::common::is_close;
use crate::ranks::common::units::scaled;
use crate::support::{self, launcher};

const SHAPE: [i64; 3] = [29, 21, 34];
const SPACING: [f64; 3] = [1.0, 1.25, 0.75];
const SIZE: (u32, u32) = (47, 39);

fn options(components: usize) -> RendererOptions {
    RendererOptions { brick: Some(8), components, ..RendererOptions::default() }
}

/// Component of a voxel: the phantom, shifted per component.
fn value(at: [i64; 3], component: i64) -> u8 {
    let [x, y, z] = at;
    let turned = [[x, y, z], [x, y, SHAPE[2] - 1 - z], [SHAPE[0] - 1 - x, y, z], [x, SHAPE[1] - 1 - y, z]];
    (Phantom { shape: SHAPE }.value(turned[component as usize]) / 16) as u8
}

fn plain() -> Look {
    let transfer = TransferFunction {
        opacity: vec![[0.0, 0.0], [12.0, 0.0], [40.0, 0.02], [70.0, 0.2], [70.0, 0.05], [120.0, 0.7]],
        colour: vec![[0.0, 0.1, 0.3, 0.9], [60.0, 0.9, 0.5, 0.1], [130.0, 1.0, 1.0, 0.8]],
        unit_distance: 1.0,
    };
    Look { step: 0.5, size: SIZE, ..Look::new(Camera::overview(SHAPE, SPACING), transfer) }
}

fn looks() -> Vec<(&'static str, Look)> {
    let parallel = |look: Look| {
        let camera = Camera { projection: Projection::Parallel { half_height: 22.0 }, ..look.camera.clone() };
        Look { camera, ..look }
    };
    let light = Shading { ambient: 0.2, diffuse: 0.6, specular: 0.4, shininess: 12.5 };
    let planes = vec![
        ClipPlane { normal: [1.0, -0.5, 0.25], offset: 3.0 },
        ClipPlane { normal: [0.0, 0.0, -1.0], offset: -20.3 },
    ];
    let crop = Crop { low: [2.5, 0.0, 4.0], high: [26.0, 20.6, 99.0] };
    let all = Look {
        shading: Some(light),
        preintegrated: true,
        clip: planes.clone(),
        crop: Some(crop),
        jitter: true,
        ..plain()
    };
    vec![
        ("light", Look { shading: Some(light), ..plain() }),
        ("pre-integration", parallel(Look { preintegrated: true, ..plain() })),
        ("long segments", Look { preintegrated: true, step: 1.5, ..plain() }),
        ("clip planes", Look { clip: planes, ..plain() }),
        ("crop box", parallel(Look { crop: Some(crop), ..plain() })),
        ("jitter", Look { jitter: true, ..plain() }),
        ("nearest voxels", Look { interpolation: Interpolation::Nearest, ..plain() }),
        (
            "nearest voxels in light",
            Look { interpolation: Interpolation::Nearest, preintegrated: false, ..all.clone() },
        ),
        ("everything", all.clone()),
        ("everything, in parallel", parallel(all)),
    ]
}

fn twin(look: &Look, components: i64) -> Image {
    let voxel = |[x, y, z]: [i32; 3]| {
        let (x, y, z) = (i64::from(x), i64::from(y), i64::from(z));
        f32::from(value([x / components, y, z], x % components))
    };
    let twin = Twin::with_components(look, SHAPE, SPACING, (components as usize, 1.0 / 255.0), voxel).unwrap();
    twin.picture(&[([0; 3], twin.view.cells)])
}

fn layout(components: i64) -> Layout {
    Layout::new([SHAPE[0] * components, SHAPE[1], SHAPE[2]])
}

fn render(
    world: &World,
    layout: &Layout,
    components: i64,
    looks: &[(&str, Look)],
) -> zippy::Result<Vec<Option<Image>>> {
    let volume = world.array::<u8, 3>("volume", layout)?;
    volume.fill_with(|[x, y, z]| value([x / components, y, z], x % components))?;
    let renderer = VolumeRenderer::new(world, &volume, SPACING, options(components as usize))?;
    looks.iter().map(|(_, look)| Ok(renderer.render(look)?.image)).collect()
}

/// Renders on threads or on the launcher's processes; empty on processes without rank 0.
fn pictures(ranks: usize, layout: &Layout, components: i64, looks: &[(&str, Look)]) -> Vec<Vec<Image>> {
    let all = launcher::counts(&[ranks])
        .into_iter()
        .flat_map(|count| run_with(Config::threads(count), |world| render(world, layout, components, looks)).unwrap());
    all.map(|pictures| pictures.into_iter().flatten().collect()).filter(|some: &Vec<Image>| !some.is_empty()).collect()
}

fn seen(image: &Image) -> usize {
    image.pixels.iter().filter(|pixel| pixel[3] > 0.1).count()
}

/// Device and CPU differ only in the contraction of products and sums.
#[test]
fn every_feature_gives_the_picture_of_the_twin() {
    let looks = looks();
    let without = twin(&plain(), 1);
    for pictures in pictures(2, &layout(1), 1, &looks) {
        for ((name, look), picture) in looks.iter().zip(&pictures) {
            let expected = twin(look, 1);
            let difference = picture.difference(&expected).unwrap();
            assert!(is_close(&difference, 1e-5, 130.0), "{name}: {difference:?}");
            assert!(seen(picture) > 150, "{name}: {} pixels", seen(picture));
            assert!(expected.difference(&without).unwrap().max_abs > 0.02, "{name} changes nothing");
        }
    }
}

#[test]
fn every_decomposition_gives_the_same_bits() {
    let looks = looks();
    let boxes = |corners: &[([i64; 3], [i64; 3])]| -> Vec<Region> {
        corners.iter().map(|(start, end)| Region::new(start, end).unwrap()).collect()
    };
    // An L of three boxes around a fourth: not convex if the second rank has two of them.
    let ell = boxes(&[
        ([0, 0, 0], [29, 21, 9]),
        ([0, 0, 9], [10, 21, 34]),
        ([10, 0, 9], [29, 8, 34]),
        ([10, 8, 9], [29, 21, 34]),
    ]);
    let cuts = [
        (3, layout(1)),
        (2, layout(1).split([Split::Sizes(vec![8, 20, 1]), Split::Even(1), Split::Sizes(vec![0, 17, 17])])),
        (5, layout(1).split([Split::Even(3), Split::Even(2), Split::Even(2)])),
        (2, layout(1).boxes(ell)),
    ];
    let [whole] = pictures(1, &layout(1).split_all(Split::Whole), 1, &looks).try_into().unwrap_or_else(|_| [vec![]]);
    for (ranks, layout) in cuts {
        for pictures in pictures(ranks, &layout, 1, &looks) {
            for (index, ((name, _), picture)) in looks.iter().zip(&pictures).enumerate() {
                assert!(whole[index] == *picture, "{name} on {ranks} ranks, {layout:?}: other bits");
            }
        }
    }
}

#[test]
fn components_are_colour_and_opacity() {
    let looks: Vec<_> = looks().into_iter().filter(|(name, _)| name.starts_with("every") || *name == "light").collect();
    for components in [2, 4] {
        let mut whole: Option<Vec<Image>> = None;
        let twins: Vec<_> = looks.iter().map(|(_, look)| twin(look, components)).collect();
        // Cuts of the array need not lie between voxels.
        let cut =
            layout(components).split([Split::Sizes(vec![13, 29 * components - 13]), Split::Even(2), Split::Whole]);
        for (ranks, layout) in [(1, layout(components).split_all(Split::Whole)), (3, cut)] {
            for pictures in pictures(ranks, &layout, components, &looks) {
                for (((name, _), picture), twin) in looks.iter().zip(&pictures).zip(&twins) {
                    let difference = picture.difference(twin).unwrap();
                    assert!(is_close(&difference, 1e-5, 0.0), "{name} of {components} components: {difference:?}");
                    assert!(seen(picture) > 150, "{name}: {} pixels", seen(picture));
                }
                match &whole {
                    None => whole = Some(pictures),
                    Some(whole) => assert!(*whole == pictures, "{components} components: other bits"),
                }
            }
        }
    }
}

#[test]
fn picture_is_independent_of_units() {
    let (_, look) = looks().pop().unwrap();
    let expected = twin(&look, 1);
    for (length, unit) in [(1e20, 1e24), (1e-17, 1e-24), (1e17, 1.0), (1.0, 1e20)] {
        let program = |world: &World| {
            let volume = world.array::<f32, 3>("volume", &layout(1))?;
            volume.fill_with(|at| (f64::from(value(at, 0)) * unit) as f32)?;
            let renderer = VolumeRenderer::new(world, &volume, SPACING.map(|s| s * length), options(1))?;
            Ok(renderer.render(&scaled(&look, length, unit))?.image)
        };
        let ranks = launcher::counts(&[2])[0];
        for picture in run_with(Config::threads(ranks), program).unwrap().into_iter().flatten() {
            let difference = picture.difference(&expected).unwrap();
            assert!(difference.max_abs < 2e-4 && difference.psnr_db > 110.0, "{length}, {unit}: {difference:?}");
        }
    }
}

fn middle<T: Element>(world: &World, case: &Case, preintegrated: bool, value: impl Fn(f32) -> T) -> [f32; 4] {
    let [nx, ny, _] = case.shape;
    let volume = world.array::<T, 3>("volume", &Layout::new(case.shape)).unwrap();
    volume.fill_with(|[x, y, z]| value(case.values[(x + nx * (y + ny * z)) as usize])).unwrap();
    let renderer = VolumeRenderer::new(world, &volume, case.spacing, options(1)).unwrap();
    let look =
        Look { step: case.step, size: (5, 3), preintegrated, ..Look::new(case.camera.clone(), case.transfer.clone()) };
    renderer.render(&look).unwrap().image.unwrap().pixels[7]
}

#[test]
fn closed_form_pictures_with_preintegration() {
    // A single rank needs no launcher.
    if launcher::size().is_some() {
        return;
    }
    run_with(Config::apart(1), |world| {
        analytic::check_preintegrated(|case, preintegrated| middle(world, case, preintegrated, |v| v));
        Ok(())
    })
    .unwrap();
}

#[test]
fn unsupported_features_are_errors() {
    support::ranks(&[2], |world| {
        let volume = world.array::<u8, 3>("volume", &layout(1))?;
        let renderer = VolumeRenderer::new(world, &volume, SPACING, options(1))?;
        let error = |look: Look| renderer.render(&look).map(|_| ()).unwrap_err().to_string();
        let long = error(Look { preintegrated: true, step: 1.6, ..plain() });
        assert!(long.contains("sample distance of 1.6") && long.contains("1.5"), "{long}");
        let flat = error(Look { clip: vec![ClipPlane { normal: [0.0; 3], offset: 1.0 }], ..plain() });
        assert!(flat.contains("clip plane 0"), "{flat}");
        // Nothing remains of the volume: an image without layers.
        let gone = Look { crop: Some(Crop { low: [90.0; 3], high: [99.0; 3] }), ..plain() };
        let frame = renderer.render(&gone)?;
        assert!(frame.image.is_none_or(|image| image.pixels.iter().all(|pixel| *pixel == [0.0; 4])));
        Ok(())
    });
}
