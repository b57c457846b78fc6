//! Run-length coded compositing, by the host and by kernels: the bits of dense compositing in fewer
//! bytes, and exact byte counts.

use zippy::device::colour::over_rgba8;
use zippy::region::Region;
use zippy::{ArrayOptions, Layout, Ownership, Split};
use zippy_render::compositing::{Algorithm, Compositor, Encoding, Layer, Settings};

use crate::ranks::common::scenes::{Sample, Scene, region};
use crate::support::{self, launcher};

const ONE: [Split; 2] = [Split::Whole, Split::Whole];
const ROWS: [Split; 2] = [Split::Whole, Split::Even(3)];

fn algorithms() -> [Algorithm; 3] {
    [Algorithm::BinarySwap, Algorithm::Radix(vec![3]), Algorithm::DirectSend]
}

/// Layers that cross coded lines; some are sparse, one is empty.
fn boxes() -> Vec<Region> {
    let [wide, high] = [300, 4];
    vec![
        region([0, 0], [wide, high]),
        region([40, 1], [297, 3]),
        region([7, 2], [7, 2]),
        region([255, 0], [258, 4]),
        region([0, 0], [wide, high]),
    ]
}

#[test]
fn coded_bits_equal_dense_bits() {
    fn check<P: Sample>(termination: f32) {
        for ranks in launcher::counts(&[1, 2, 3, 5]) {
            for (algorithm, sparse) in algorithms().into_iter().flat_map(|a| [(a.clone(), false), (a, true)]) {
                let scene = Scene { algorithm, sparse, termination, ..Scene::new([300, 4], &boxes(), false) };
                let seen = [Encoding::Dense, Encoding::RunLength, Encoding::Auto].map(|encoding| {
                    let scene = Scene { encoding, ..scene.clone() };
                    scene.check::<P>(ranks, &[1, 0, 2, 4, 3], ROWS).map(|(bits, _)| bits)
                });
                assert!(seen[0] == seen[1], "{:?} on {ranks}", scene.algorithm);
                assert!(seen[0] == seen[2], "{:?} on {ranks}", scene.algorithm);
            }
        }
    }
    check::<[f32; 4]>(0.0);
    check::<[f32; 4]>(2.0_f32.powi(-19));
    check::<[f32; 4]>(0.3);
    check::<u32>(0.0);
}

/// Light makes colours brighter than their opacity allows.
#[test]
fn bright_colours_blend_equally_in_all_encodings() {
    let (wide, high, count) = (270, 6, 5);
    let value = |x: i64, y: i64| match (x + y) % 7 {
        0 => 0,
        1 => 0x80ff_ffff,
        2 => 0xffff_ffff,
        _ => ((x + 1000 * y) as u32).wrapping_mul(0x9e37_79b9),
    };
    support::ranks(support::RANKS, |world| {
        let layout = Layout::new([wide, high * count]).split([Split::Whole, Split::Even(count as usize)]);
        let pixels = world.array::<u32, 2>("pixels", &layout)?;
        let place = region([0, 0], [wide, high]);
        let layers: Vec<_> = (0..count).map(|n| Layer { at: [0, n * high], place, bounds: place }).collect();
        let finished = world.array::<u32, 2>("finished", &Layout::new([wide, high]).split(ROWS))?;
        for algorithm in algorithms() {
            let mut seen = Vec::new();
            for encoding in [Encoding::Dense, Encoding::RunLength, Encoding::Auto] {
                // Swaps write to the layers.
                pixels.fill_with(|[x, y]| value(x, y))?;
                let settings = Settings { algorithm: algorithm.clone(), encoding, termination: 0.0 };
                Compositor::new(world, "composite", settings)?.composite(&pixels, &layers, &finished)?;
                let ticket = world.get(finished.at(..))?;
                seen.push(world.fence()?.redeem(ticket)?);
            }
            assert!(seen[0] == seen[1] && seen[0] == seen[2], "{algorithm:?} on {} ranks", world.size());
            if algorithm == Algorithm::DirectSend {
                let blended =
                    |[x, y]: [i64; 2]| (1..count).fold(value(x, y), |f, n| over_rgba8(f, value(x, y + n * high)));
                let expected: Vec<u32> = place.points().map(|p| blended([p[0], p[1]])).collect();
                assert_eq!(seen[0], expected);
            }
        }
        Ok(())
    });
}

#[test]
fn layers_may_belong_to_several_ranks() {
    support::ranks(support::RANKS, |world| {
        let cuts = [Split::Even(3), Split::Even(4)];
        let owners = (0..12).map(|chunk| chunk * 7 % world.size()).collect();
        let layout = Layout::new([14, 22]).split(cuts);
        let pixels = world
            .array::<u32, 2>("pixels", ArrayOptions::new(&layout).owned_by(Ownership::table(owners, world.size())?))?;
        let value = |x: i64, y: i64| if (x + y) % 3 == 0 { 0 } else { 0xff00_0000 | (x + 100 * y) as u32 };
        pixels.fill_with(|[x, y]| value(x, y))?;
        let layer = |at: [i64; 2], low, high| Layer { at, place: region(low, high), bounds: region(low, high) };
        let layers = [layer([1, 2], [3, 0], [13, 9]), layer([0, 11], [0, 1], [14, 10])];
        let finished =
            world.array::<u32, 2>("finished", &Layout::new([15, 11]).split([Split::Even(2), Split::Even(2)]))?;
        for encoding in [Encoding::RunLength, Encoding::Dense, Encoding::Auto] {
            let settings = Settings { algorithm: Algorithm::DirectSend, encoding, termination: 0.0 };
            Compositor::new(world, "composite", settings)?.composite(&pixels, &layers, &finished)?;
            let ticket = world.get(finished.at(..))?;
            let seen = world.fence()?.redeem(ticket)?;
            for (at, pixel) in region([0, 0], [15, 11]).points().map(|p| [p[0], p[1]]).zip(seen) {
                let inside = |layer: &Layer| layer.bounds.contains(&at.into());
                let of = |layer: &Layer| {
                    if inside(layer) {
                        value(at[0] - layer.place.start[0] + layer.at[0], at[1] - layer.place.start[1] + layer.at[1])
                    } else {
                        0
                    }
                };
                let expected = if of(&layers[0]) != 0 { of(&layers[0]) } else { of(&layers[1]) };
                assert_eq!(pixel, expected, "{at:?}, {encoding:?}");
            }
        }
        Ok(())
    });
}

/// A stream is the table, and per run a word and the pixels.
#[test]
fn reported_bytes_equal_stream_lengths() {
    support::ranks(&[2, 3, 8], |world| {
        let [width, height] = [64, 48];
        let layout = Layout::new([width, 2 * height]).split([Split::Whole, Split::Even(2)]);
        let owners = Ownership::table(vec![0, 1], world.size())?;
        let pixels = world.array::<[f32; 4], 2>("pixels", ArrayOptions::new(&layout).owned_by(owners))?;
        let full = |[x, y]: [i64; 2]| y < height || (10..12).contains(&x) || x == 50;
        pixels.fill_with(|at| if full(at) { [0.25, 0.0, 0.0, 0.5] } else { [0.0; 4] })?;
        let one = Ownership::table(vec![0, world.size() - 1], world.size())?;
        let halves = Layout::new([width, height]).split([Split::Whole, Split::Sizes(vec![0, height])]);
        let finished = world.array::<[f32; 4], 2>("finished", ArrayOptions::new(&halves).owned_by(one))?;
        let place = region([0, 0], [width, height]);
        let layer = |number: i64| Layer { at: [0, number * height], place, bounds: place };
        let moved = |encoding, layers: &[Layer]| {
            let settings = Settings { algorithm: Algorithm::BinarySwap, encoding, termination: 0.0 };
            let moved = Compositor::new(world, "composite", settings)?.composite(&pixels, layers, &finished)?;
            let mut bytes = [moved.bytes_network, moved.bytes_local];
            world.group().all_reduce(&mut bytes, |sum, more| *sum += more)?;
            Ok::<_, zippy::Error>(bytes)
        };
        // A swap of one layer only collects it.
        let size = (width * height) as u64 * 16;
        let at_home = |bytes| if world.size() == 2 { [0, bytes] } else { [bytes, 0] };
        assert_eq!(moved(Encoding::Dense, &[layer(1)])?, at_home(size));
        let rows = height as u64;
        let coded = 4 * (1 + rows) + rows * (2 * 4 + 3 * 16);
        assert_eq!(moved(Encoding::RunLength, &[layer(1)])?, at_home(coded));
        assert_eq!(moved(Encoding::Auto, &[layer(1)])?, at_home(coded));
        assert_eq!(moved(Encoding::RunLength, &[layer(0)])?, [4 * (1 + rows) + rows * 4 + size, 0]);
        assert_eq!(moved(Encoding::Auto, &[layer(0)])?, [size, 0]);
        Ok(())
    });
}

#[test]
fn explained_plan_equals_moved_messages() {
    support::ranks(&[2], |world| {
        let layout = Layout::new([8, 8]).split([Split::Whole, Split::Even(2)]);
        let pixels = world.array::<u32, 2>("pixels", &layout)?;
        let finished = world.array::<u32, 2>("finished", &Layout::new([8, 4]).split(ONE))?;
        let place = region([0, 0], [8, 4]);
        let layers = [0, 4].map(|y| Layer { at: [0, y], place, bounds: place });
        let settings = Settings { algorithm: Algorithm::BinarySwap, encoding: Encoding::Dense, termination: 0.0 };
        let compositor = Compositor::new(world, "composite", settings)?;
        let expected = "BinarySwap of 2 layers, 2 rounds
round 0: 2 blends, 2 messages of 128 bytes, 0 bytes within ranks
round 1: 2 blends, 1 messages of 64 bytes, 64 bytes within ranks
";
        assert_eq!(compositor.explain(&pixels, &layers, &finished)?, expected);
        let mut bytes = [compositor.composite(&pixels, &layers, &finished)?.bytes_network];
        world.group().all_reduce(&mut bytes, |sum, more| *sum += more)?;
        assert_eq!(bytes, [128 + 64]);
        Ok(())
    });
}

#[test]
fn runs_by_native_kernels_have_the_bits_of_dense_pixels() {
    support::rerun_by_native_kernels(&["coded::"]);
}
