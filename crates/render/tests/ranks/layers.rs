//! Compositing of arrays: all algorithms, with any number of layers, ranks and owners, against a
//! blend in f64.

use proptest::prelude::*;
use zippy::region::Region;
use zippy::{Layout, Split};
use zippy_render::compositing::{Algorithm, Compositor, Encoding, Layer, Settings};

use crate::ranks::common::scenes::{Sample, Scene, region};
use crate::support::{self, launcher};

zippy_testing::in_place_too!();

const ONE: [Split; 2] = [Split::Whole, Split::Whole];
const ROWS: [Split; 2] = [Split::Whole, Split::Even(3)];

fn full(size: [i64; 2], count: usize) -> Vec<Region> {
    vec![region([0, 0], size); count]
}

fn algorithms() -> [Algorithm; 3] {
    [Algorithm::BinarySwap, Algorithm::Radix(vec![3, 2]), Algorithm::DirectSend]
}

#[test]
fn every_algorithm_count_of_layers_and_ranks() {
    for ranks in launcher::counts(support::RANKS) {
        // Two layers on other ranks than their tiles: the replacing layer comes by message, the
        // blended layer need not.
        for count in [1, 2, 3, 8] {
            let owners: Vec<usize> = (0..count).map(|layer| (layer * 3 + 1) % count).collect();
            for algorithm in algorithms() {
                let mut scene = Scene { algorithm, ..Scene::new([7, 5], &full([7, 5], count), false) };
                scene.check::<[f32; 4]>(ranks, &owners, ROWS);
                scene.encoding = Encoding::Auto;
                scene.check::<u32>(ranks, &owners, ONE);
            }
        }
    }
}

/// The same layers on other ranks, into other tiles, with and without termination, in both formats.
#[test]
fn bits_are_independent_of_layer_positions() {
    fn check<P: Sample>(scene: &Scene, ranks: &[usize]) {
        let mut first = None;
        for ranks in launcher::counts(ranks) {
            for owners in [&[0][..], &[1, 0, 2, 1, 3], &[4, 3, 2, 1, 0], &[0, 0, 1]] {
                for cuts in [ONE, ROWS, [Split::Even(2), Split::Whole]] {
                    let Some((bits, _)) = scene.check::<P>(ranks, owners, cuts) else { continue };
                    assert_eq!(first.get_or_insert(bits.clone()), &bits, "{ranks} ranks, {owners:?}");
                }
            }
        }
    }
    let boxes = [region([0, 0], [6, 3]), region([2, 1], [9, 7]), region([4, 0], [5, 7]), region([0, 0], [9, 7])];
    let boxes = [&boxes[..], &boxes].concat();
    let mut scene = Scene::new([9, 7], &boxes, true);
    check::<[f32; 4]>(&scene, &[1, 2, 5]);
    check::<u32>(&scene, &[3]);
    scene.termination = 2.0_f32.powi(-19);
    check::<[f32; 4]>(&scene, &[3, 8]);
    for algorithm in [Algorithm::BinarySwap, Algorithm::Radix(vec![3, 2]), Algorithm::Radix(vec![8])] {
        check::<[f32; 4]>(&Scene { algorithm, ..Scene::new([9, 7], &boxes, false) }, &[1, 2, 5]);
    }
}

/// Pixels behind an opacity that reaches the termination threshold are hidden, others visible.
#[test]
fn termination_makes_opaque() {
    support::ranks(&[1, 3], |world| {
        let epsilon = 2.0_f32.powi(-10);
        let layout = Layout::new([3, 3]).split([Split::Whole, Split::Even(3)]);
        let pixels = world.array::<[f32; 4], 2>("pixels", &layout)?;
        // Layers of opacity 1/2: the first pixel reaches 1 - 2^-10, the second 1 - 2^-9. Pixels of
        // single layers never change: the third one only ends at the next layer, which is empty
        // there.
        let veil = |exponent: i32| 1.0 - 2.0_f32.powi(-exponent);
        let alphas = [[veil(5), veil(5), 1.0], [veil(5), veil(4), 1.0], [veil(11), 0.0, 1.0]];
        pixels.fill_with(|[x, y]| {
            let alpha = alphas[x as usize][y as usize];
            [alpha / 2.0, if y == 2 { 1.0 } else { 0.0 }, 0.0, alpha]
        })?;
        let place = region([0, 0], [3, 1]);
        let layers = [0, 1, 2].map(|y| Layer { at: [0, y], place, bounds: place });
        let finished = world.array::<[f32; 4], 2>("finished", &Layout::new([3, 1]))?;
        let settings = Settings { algorithm: Algorithm::DirectSend, encoding: Encoding::Auto, termination: epsilon };
        let compositor = Compositor::new(world, "composite", settings)?;
        compositor.composite(&pixels, &layers[..1], &finished)?;
        let ticket = world.get(finished.at(..))?;
        let alone: Vec<f32> = world.fence()?.redeem(ticket)?.iter().map(|pixel| pixel[3]).collect();
        assert_eq!(alone, [veil(5), veil(5), veil(11)]);
        compositor.composite(&pixels, &layers, &finished)?;
        let ticket = world.get(finished.at(..))?;
        let seen = world.fence()?.redeem(ticket)?;
        assert_eq!((seen[2][1], seen[2][3]), (0.0, 1.0), "{seen:?}");
        assert_eq!((seen[0][1], seen[0][3]), (0.0, 1.0), "{seen:?}");
        assert_eq!((seen[1][1], seen[1][3]), (2.0_f32.powi(-9), 1.0), "{seen:?}");
        Ok(())
    });
}

#[test]
fn invalid_layers_are_errors_and_world_remains_usable() {
    support::ranks(&[2], |world| {
        let layout = Layout::new([4, 6]).split([Split::Whole, Split::Even(2)]);
        let pixels = world.array::<[f32; 4], 2>("pixels", &layout)?;
        let finished = world.array::<[f32; 4], 2>("finished", &Layout::new([4, 3]))?;
        let place = region([0, 0], [4, 3]);
        let layer = |y: i64| Layer { at: [0, y], place, bounds: place };
        let compositor = |algorithm: Algorithm| {
            let settings = Settings { algorithm, encoding: Encoding::Auto, termination: 0.0 };
            Compositor::<[f32; 4]>::new(world, "composite", settings)
        };
        let swap = compositor(Algorithm::BinarySwap)?;
        let fails = |layers: &[Layer], expected: &str| {
            let error = swap.composite(&pixels, layers, &finished).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        fails(&[layer(0), layer(4)], "outside of the array of pixels");
        fails(&[layer(0), layer(2)], "share pixels");
        fails(&[Layer { place: region([0, 0], [2, 2]), bounds: region([0, 0], [1, 1]), at: [0, 0] }], "whole picture");
        for radices in [vec![], vec![2, 1]] {
            assert!(compositor(Algorithm::Radix(radices)).is_err());
        }
        swap.composite(&pixels, &[layer(3), layer(0)], &finished)?;
        swap.composite(&pixels, &[], &finished)?;
        Ok(())
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, rng_seed: support::seed(), ..ProptestConfig::default() })]

    #[test]
    fn any_layers_owners_and_radices(
        size in prop::array::uniform2(1_i64..12),
        boxes in prop::collection::vec(prop::array::uniform4(0_i64..1000), 1..10),
        ranks in 1_usize..5,
        owners in prop::collection::vec(0_usize..5, 1..10),
        radices in prop::collection::vec(2_usize..6, 1..3),
        tight in any::<bool>(),
        sparse in any::<bool>(),
        encoding in prop::sample::select(vec![Encoding::Auto, Encoding::Dense, Encoding::RunLength]),
    ) {
        let bounds = |n: &[i64; 4]| {
            let low = [n[0] % size[0], n[1] % size[1]];
            region(low, [low[0] + n[2] % (size[0] - low[0] + 1), low[1] + n[3] % (size[1] - low[1] + 1)])
        };
        let boxes: Vec<Region> = boxes.iter().map(bounds).collect();
        let ranks = launcher::counts(&[ranks])[0];
        for algorithm in [Algorithm::BinarySwap, Algorithm::Radix(radices), Algorithm::DirectSend] {
            let tight = tight && algorithm == Algorithm::DirectSend;
            let scene = Scene { algorithm, encoding, sparse, ..Scene::new(size, &boxes, tight) };
            scene.check::<[f32; 4]>(ranks, &owners, ROWS);
            scene.check::<u32>(ranks, &owners, ONE);
        }
    }
}
