//! Images through bricks, for all algorithms and pixel formats: the same bits for every
//! decomposition in reproducible mode, and close to them in fast mode.

use zippy::region::Region;
use zippy::{ArrayOptions, Config, Element, Layout, Ownership, Split, World, run_with};
use zippy_io::image::Image;
use zippy_render::compositing::Algorithm;
use zippy_render::volume::{
    Camera, Look, Mode, Phantom, PixelFormat, Projection, Rebuilds, RendererOptions, TransferFunction, VolumeRenderer,
};

use crate::ranks::common::is_close;
use crate::support::{self, launcher};

const SHAPE: [i64; 3] = [37, 29, 43];
const SPACING: [f64; 3] = [1.0, 1.25, 0.75];

/// Empty at the border and in holes, dense in the middle.
fn voxel(at: [i64; 3]) -> u8 {
    (Phantom { shape: SHAPE }.value(at) / 17) as u8
}

fn look(parallel: bool) -> Look {
    let mut camera = Camera::overview(SHAPE, SPACING);
    if parallel {
        camera.projection = Projection::Parallel { half_height: 24.0 };
    }
    let transfer = TransferFunction {
        opacity: vec![[0.0, 0.0], [12.0, 0.0], [40.0, 0.1], [70.0, 0.8], [120.0, 0.95]],
        colour: vec![[0.0, 0.1, 0.3, 0.9], [60.0, 0.9, 0.5, 0.1], [130.0, 1.0, 1.0, 0.8]],
        unit_distance: 1.0,
    };
    Look { step: 0.5, size: (47, 39), ..Look::new(camera, transfer) }
}

fn options() -> RendererOptions {
    RendererOptions { brick: Some(8), ..RendererOptions::default() }
}

/// Decomposition: cuts, and owners modulo the number of ranks.
#[derive(Clone)]
struct Cut {
    name: &'static str,
    ranks: usize,
    layout: Layout,
    owners: Option<Vec<usize>>,
}

fn boxes(corners: &[([i64; 3], [i64; 3])]) -> Vec<Region> {
    corners.iter().map(|(start, end)| Region::new(start, end).unwrap()).collect()
}

fn cuts() -> Vec<Cut> {
    let plain = || Layout::new(SHAPE);
    let cut = |name, ranks, layout| Cut { name, ranks, layout, owners: None };
    let owned = |name, ranks, layout, owners: &[usize]| Cut { name, ranks, layout, owners: Some(owners.to_vec()) };
    let mut cuts: Vec<Cut> = [2, 3, 4, 5, 7, 8].map(|ranks| cut("even", ranks, plain())).to_vec();
    let uneven = [Split::Sizes(vec![3, 33, 1]), Split::Even(1), Split::Sizes(vec![0, 20, 23])];
    cuts.push(cut("uneven, with empty chunks", 3, plain().split(uneven)));
    cuts.push(cut("several chunks a rank", 4, plain().split([Split::Even(3), Split::Even(2), Split::Even(3)])));
    cuts.push(cut("ranks without data", 5, plain().split([Split::Whole, Split::Even(2), Split::Whole])));
    let tree = boxes(&[
        ([0, 0, 0], [11, 29, 43]),
        ([11, 0, 0], [37, 13, 20]),
        ([11, 13, 0], [37, 29, 20]),
        ([11, 0, 20], [30, 29, 43]),
        ([30, 0, 20], [37, 29, 43]),
    ]);
    cuts.push(cut("a tree of cuts", 3, plain().boxes(tree)));
    // Three bars, each of which hides the next along another axis, and the rest.
    let bars = [
        ([0, 0, 1], [1, 2, 2]),
        ([1, 0, 0], [3, 1, 2]),
        ([0, 1, 0], [3, 2, 1]),
        ([0, 0, 0], [1, 1, 1]),
        ([1, 1, 1], [3, 2, 2]),
    ];
    let planes = [vec![0, 8, 24, 37], vec![0, 16, 29], vec![0, 24, 43]];
    let corner = |at: [usize; 3]| -> [i64; 3] { std::array::from_fn(|axis| planes[axis][at[axis]]) };
    let bars = boxes(&bars.map(|(start, end)| (corner(start), corner(end))));
    cuts.push(cut("interlocking bars", 5, plain().boxes(bars.clone())));
    cuts.push(owned("interlocking bars of two ranks", 2, plain().boxes(bars), &[0, 1, 0, 1, 0]));
    let quarters = plain().split([Split::Even(2), Split::Even(2), Split::Whole]);
    cuts.push(owned("an L and what is in its corner", 2, quarters.clone(), &[0, 0, 1, 0]));
    cuts.push(owned("two crossed pairs", 3, quarters, &[2, 0, 0, 2]));
    cuts.push(cut("with ghost cells", 2, plain().ghost([3, 3, 3])));
    cuts
}

/// Image of a volume of these voxels, on rank 0, and the number of layers.
fn render<T: Element>(
    world: &World,
    cut: &Cut,
    options: &RendererOptions,
    look: &Look,
    value: impl Fn([i64; 3]) -> T,
) -> zippy::Result<(Option<Image>, usize)> {
    let volume = match &cut.owners {
        None => world.array::<T, 3>("volume", &cut.layout)?,
        Some(owners) => {
            let owners = owners.iter().map(|owner| owner % world.size()).collect();
            world.array::<T, 3>(
                "volume",
                ArrayOptions::new(&cut.layout).owned_by(Ownership::table(owners, world.size())?),
            )?
        }
    };
    volume.fill_with(value)?;
    let frame = VolumeRenderer::new(world, &volume, SPACING, options.clone())?.render(look)?;
    assert_eq!(frame.image.is_some(), world.rank() == 0);
    Ok((frame.image, frame.layers))
}

/// Image of an uncut volume on a single rank in this process.
fn alone<T: Element>(
    options: &RendererOptions,
    look: &Look,
    value: impl Fn([i64; 3]) -> T + Send + Sync,
) -> (Image, usize) {
    let cut = Cut { name: "whole", ranks: 1, layout: Layout::new(SHAPE).split_all(Split::Whole), owners: None };
    let (image, layers) =
        run_with(Config::apart(1), |world| render(world, &cut, options, look, &value)).unwrap().remove(0);
    (image.unwrap(), layers)
}

/// Calls `check` with the image of every cut, on the process that has it.
fn for_cuts(options: &RendererOptions, look: &Look, check: impl Fn(&Cut, Image, usize)) {
    for cut in cuts() {
        for ranks in launcher::counts(&[cut.ranks]) {
            let frames = run_with(Config::threads(ranks), |world| render(world, &cut, options, look, voxel)).unwrap();
            frames.into_iter().filter_map(|(image, layers)| Some((image?, layers))).for_each(|(image, layers)| {
                check(&cut, image, layers);
            });
        }
    }
}

fn bits(image: &Image) -> Vec<u32> {
    image.pixels.as_flattened().iter().map(|part| part.to_bits()).collect()
}

#[test]
fn every_decomposition_gives_the_same_bits() {
    for parallel in [false, true] {
        let (expected, layers) = alone(&options(), &look(parallel), voxel);
        let count = |low: f32, high: f32| expected.pixels.iter().filter(|p| p[3] > low && p[3] <= high).count();
        let counts = [count(0.1, 0.9), count(0.999, 1.0), count(-1.0, 0.0)];
        assert!(counts[0] > 50 && counts[1] > 50 && counts[2] > 200, "{counts:?}");
        assert!(layers > 40, "{layers} layers");
        for_cuts(&options(), &look(parallel), |cut, image, other| {
            assert!(bits(&image) == bits(&expected), "{} on {} ranks", cut.name, cut.ranks);
            assert_eq!(other, layers);
        });
    }
}

#[test]
fn fast_mode_is_close_and_has_fewer_layers() {
    let fast = RendererOptions { mode: Mode::Fast, ..options() };
    for parallel in [false, true] {
        let (expected, layers) = alone(&options(), &look(parallel), voxel);
        for_cuts(&fast, &look(parallel), |cut, image, fewer| {
            let difference = image.difference(&expected).unwrap();
            assert!(is_close(&difference, 4e-6, 0.0), "{}: {difference:?}", cut.name);
            assert!(fewer < layers, "{}: {fewer} of {layers} layers", cut.name);
        });
        assert_eq!(alone(&fast, &look(parallel), voxel).1, 1);
    }
}

/// Slabs are thinner than the bricks of reproducible mode; each rank has its share of the work.
#[test]
fn fast_mode_follows_thin_chunks() {
    support::ranks(&[5], |world| {
        let slabs = Layout::new(SHAPE).split([Split::Whole, Split::Whole, Split::Even(world.size())]);
        let volume = world.array::<u8, 3>("volume", &slabs)?;
        volume.fill_with(|[x, y, z]| (60 + x + y + z) as u8)?;
        let cells = |mode| {
            let name = Some(format!("{mode:?}"));
            let options = RendererOptions { mode, name, ..RendererOptions::default() };
            let mut cells = vec![0; world.size()];
            cells[world.rank()] = VolumeRenderer::new(world, &volume, SPACING, options)?.render(&look(false))?.cells;
            world.group().all_reduce(&mut cells, |sum, more| *sum += more)?;
            Ok::<_, zippy::Error>(cells)
        };
        let [whole, fast] = [cells(Mode::Reproducible)?, cells(Mode::Fast)?];
        assert_eq!((whole.iter().sum::<u64>(), fast.iter().sum::<u64>()), (36 * 28 * 42, 36 * 28 * 42));
        assert!(world.size() <= 2 || whole.contains(&0), "{whole:?}");
        // Cuts are moved to the next brick of 8 cells.
        let mean = 36 * 28 * (42 / world.size() as u64);
        let bricks = 36 * 28 * 8;
        assert!(fast.iter().all(|&cells| cells > 0 && cells <= mean + 36 * 28 + bricks), "{fast:?}");
        Ok(())
    });
}

#[test]
fn every_algorithm_and_pixel_gives_the_picture() {
    let look = look(false);
    let (expected, layers) = alone(&options(), &look, voxel);
    let cut = &cuts()[7];
    for algorithm in [Algorithm::BinarySwap, Algorithm::Radix(vec![3, 2]), Algorithm::DirectSend] {
        for pixel in [PixelFormat::F32, PixelFormat::Rgba8] {
            for mode in [Mode::Reproducible, Mode::Fast] {
                let options = RendererOptions { algorithm: algorithm.clone(), pixel, mode, ..options() };
                let (single, _) = alone(&options, &look, voxel);
                for ranks in launcher::counts(&[cut.ranks]) {
                    let frames = run_with(Config::threads(ranks), |world| render(world, cut, &options, &look, voxel));
                    for image in frames.unwrap().into_iter().filter_map(|(image, _)| image) {
                        let difference = image.difference(&expected).unwrap().max_abs;
                        let within = match pixel {
                            PixelFormat::F32 => 4e-6,
                            // Half a step for each layer on a ray, and for each blend of two
                            // layers.
                            PixelFormat::Rgba8 => 14.0 / 255.0,
                        };
                        assert!(difference <= within, "{options:?}: {difference}");
                        if mode == Mode::Reproducible {
                            assert!(bits(&image) == bits(&single), "{options:?}");
                        }
                    }
                }
            }
        }
    }
    assert!(layers > 40);
}

#[test]
fn every_voxel_type_and_camera_position() {
    fn check<T: Element>(scale: f64, value: impl Fn(u8) -> T + Send + Sync, camera: Camera) {
        let mut look = Look { camera, ..look(false) };
        look.transfer.opacity.iter_mut().for_each(|point| point[0] *= scale);
        look.transfer.colour.iter_mut().for_each(|point| point[0] *= scale);
        let (expected, _) = alone(&options(), &look, |at| value(voxel(at)));
        assert!(expected.pixels.iter().filter(|pixel| pixel[3] > 0.1).count() > 100, "{}", T::INFO.name);
        let cut = &cuts()[1];
        for ranks in launcher::counts(&[cut.ranks]) {
            let program = |world: &World| render(world, cut, &options(), &look, |at| value(voxel(at)));
            for image in run_with(Config::threads(ranks), program).unwrap().into_iter().filter_map(|frame| frame.0) {
                assert!(bits(&image) == bits(&expected), "{} seen from {:?}", T::INFO.name, look.camera.position);
            }
        }
    }
    let far = Camera::overview(SHAPE, SPACING);
    let from = |position: [f64; 3]| Camera { position, ..far.clone() };
    // Inside, in a plane between bricks, in a corner, and close enough to have bricks on both sides
    // of the eye.
    check(100.0, |v| u16::from(v) * 100, from([16.0, 12.0, 18.0]));
    check(100.0, |v| i16::from(v) * 100, from([8.0, 20.0, 6.0]));
    check(0.01, |v| f32::from(v) * 0.01, from([0.0, 0.0, 0.0]));
    check(1000.0, |v| u32::from(v) * 1000, from([18.0, -2.0, 16.0]));
    check(1000.0, |v| i32::from(v) * 1000, far.clone());
}

#[test]
fn only_changed_data_and_opacities_cause_rebuilds() {
    support::ranks(&[1, 3], |world| {
        let volume = world.array::<u8, 3>("volume", &Layout::new(SHAPE))?;
        volume.fill_with(voxel)?;
        let renderer = VolumeRenderer::new(world, &volume, SPACING, options())?;
        let made = |ranges, visible| assert_eq!(renderer.rebuilds(), Rebuilds { ranges, visible });
        made(0, 0);
        let first = renderer.render(&look(false))?;
        made(1, 1);
        // A different camera, size, step or colour invalidates no cached data.
        let mut other = Look { size: (20, 31), step: 0.75, ..look(true) };
        other.transfer.colour[0][1] = 1.0;
        renderer.render(&other)?;
        assert!(renderer.render(&look(false))?.image == first.image);
        made(1, 1);
        // Nothing visible: no layer, and an empty image.
        let mut clear = look(false);
        clear.transfer.opacity = vec![[0.0, 0.0]];
        let frame = renderer.render(&clear)?;
        assert_eq!(frame.layers, 0);
        assert!(frame.image.is_none_or(|image| image == Image::new(47, 39)));
        made(1, 2);
        assert!(renderer.render(&look(false))?.image == first.image);
        made(1, 3);
        volume.fill_with(|at| voxel(at) / 2)?;
        renderer.refresh()?;
        let halved = renderer.render(&look(false))?;
        made(2, 4);
        if let (Some(halved), Some(first)) = (&halved.image, &first.image) {
            assert!(halved.difference(first)?.max_abs > 0.1);
            assert!(bits(halved) == bits(&alone(&options(), &look(false), |at| voxel(at) / 2).0));
        }
        Ok(())
    });
}

/// Volumes smaller than a brick, of two voxels per axis, and images of one pixel.
#[test]
fn small_volumes_and_pictures() {
    for (shape, size) in [([2, 2, 2], (7, 5)), ([2, 19, 2], (1, 1)), ([20, 2, 3], (33, 1)), ([9, 9, 9], (1, 9))] {
        let look = Look { camera: Camera::overview(shape, SPACING), size, ..look(false) };
        let program = |world: &World| {
            let volume = world.array::<u16, 3>("volume", &Layout::new(shape))?;
            volume.fill_with(|[x, y, z]| (40 + 7 * x + 5 * y + 11 * z) as u16)?;
            let options = RendererOptions::default();
            Ok(VolumeRenderer::new(world, &volume, SPACING, options)?.render(&look)?.image)
        };
        let expected = run_with(Config::apart(1), program).unwrap().remove(0).unwrap();
        assert!(expected.pixels.iter().any(|pixel| pixel[3] > 0.0), "{shape:?}");
        for ranks in launcher::counts(&[4]) {
            for image in run_with(Config::threads(ranks), program).unwrap().into_iter().flatten() {
                assert!(bits(&image) == bits(&expected), "{shape:?}");
            }
        }
    }
}

#[test]
fn two_renderers_of_one_volume_are_independent() {
    support::ranks(&[3], |world| {
        let volume = world.array::<u8, 3>("volume", &Layout::new(SHAPE))?;
        volume.fill_with(voxel)?;
        let exact = VolumeRenderer::new(world, &volume, SPACING, options())?;
        let fast = RendererOptions { mode: Mode::Fast, name: Some("quick".into()), ..options() };
        let fast = VolumeRenderer::new(world, &volume, SPACING, fast)?;
        let small = Look { size: (20, 31), ..look(true) };
        let first = exact.render(&look(false))?;
        let quick = [fast.render(&look(false))?, fast.render(&small)?];
        let again = [exact.render(&small)?, exact.render(&look(false))?];
        assert!(quick[0].layers < first.layers);
        if let (Some(first), Some(second)) = (first.image, &again[1].image) {
            assert!(bits(&first) == bits(second));
            for (quick, exact) in quick.iter().zip([&again[1], &again[0]]) {
                let [quick, exact] = [&quick.image, &exact.image].map(|image| image.as_ref().unwrap());
                assert!(quick.difference(exact).unwrap().max_abs <= 4e-6);
            }
        }
        let same = VolumeRenderer::new(world, &volume, SPACING, options()).map(|_| ()).unwrap_err().to_string();
        assert!(same.contains("volume.bricks"), "{same}");
        Ok(())
    });
}

#[test]
fn volume_cut_like_bricks_is_not_copied() {
    support::ranks(&[2], |world| {
        let halves = [Split::Whole, Split::Whole, Split::Sizes(vec![16, 27])];
        let cut = |name: &str, low: i64| {
            let layout = Layout::new(SHAPE).split(halves.clone()).ghost_sides([(low, 2); 3]);
            let volume = world.array::<u8, 3>(name, &layout)?;
            volume.fill_with(voxel)?;
            let renderer = VolumeRenderer::new(world, &volume, SPACING, options())?;
            let image = renderer.render(&look(false))?.image;
            let free = world.array::<u8, 1>(&format!("{name}.bricks"), &Layout::new([1])).is_ok();
            Ok::<_, zippy::Error>((image, free))
        };
        let (as_it_is, free) = cut("enough", 1)?;
        let (copied, taken) = cut("too_few", 0)?;
        assert!(free && !taken || world.size() != 2);
        assert!(as_it_is == copied);
        Ok(())
    });
}
