//! Plans of compositing, executed on vectors for any number of layers, bounds, radices and sizes,
//! against blending the layers in sequence.

use std::collections::BTreeMap;

use proptest::prelude::*;
use zippy::extents::Index;
use zippy::region::Region;
use zippy_render::compositing::{Algorithm, Blend, BlendPlan, BlendRule, Canvas, Layer};

type Pixel = [f64; 4];
type Memory = BTreeMap<(Canvas, [i64; 2]), Pixel>;

/// Content of memory that no operation has written: NaN, which propagates into every sum.
const POISON: Pixel = [f64::NAN; 4];

fn region(low: [i64; 2], high: [i64; 2]) -> Region {
    Region::between(Index::new(&low), Index::new(&high))
}

fn points(region: &Region) -> impl Iterator<Item = [i64; 2]> {
    region.points().map(|p| [p[0], p[1]])
}

/// A value that encodes layer, position and component; opacities from 0 to 1, both ends present.
fn pixel(layer: usize, [x, y]: [i64; 2]) -> Pixel {
    let mix = |n: usize| {
        ((layer * 7919 + x as usize * 104_729 + y as usize * 1_299_709 + n * 15_485_863) % 1009) as f64 / 1008.0
    };
    let alpha = match (layer + x as usize + y as usize) % 5 {
        0 => 0.0,
        1 if layer.is_multiple_of(3) => 1.0,
        _ => mix(3) * 0.6,
    };
    [mix(0) * alpha, mix(1) * alpha, mix(2) * alpha, alpha]
}

fn over(front: Pixel, back: Pixel) -> Pixel {
    std::array::from_fn(|c| front[c] + (1.0 - front[3]) * back[c])
}

fn expected(layers: &[Layer], at: [i64; 2]) -> Pixel {
    let holding = layers.iter().enumerate().filter(|(_, layer)| layer.bounds.contains(&Index::new(&at)));
    holding.fold([0.0; 4], |front, (number, _)| over(front, pixel(number, at)))
}

/// Executes the rounds: within a round, all reads precede all writes.
fn execute(plan: &BlendPlan, layers: &[Layer]) -> Memory {
    let mut memory = Memory::new();
    for (number, layer) in layers.iter().enumerate() {
        points(&layer.bounds).for_each(|at| {
            memory.insert((Canvas::Layer(number), at), pixel(number, at));
        });
    }
    for round in &plan.rounds {
        let before = memory.clone();
        for (canvas, region) in &round.clears {
            points(region).for_each(|at| {
                memory.insert((*canvas, at), [0.0; 4]);
            });
        }
        for way in [BlendRule::Alone, BlendRule::InFront, BlendRule::Behind] {
            for blend in round.blends.iter().filter(|blend| blend.way == way) {
                for at in points(&blend.region) {
                    let from = *before.get(&(blend.from, at)).unwrap_or(&POISON);
                    let to = memory.entry((blend.to, at)).or_insert(POISON);
                    *to = match way {
                        BlendRule::Alone => from,
                        BlendRule::InFront => over(from, *to),
                        BlendRule::Behind => over(*to, from),
                    };
                }
            }
        }
    }
    memory
}

/// Checks that no blend of a round reads pixels that another blend of the same rule writes.
fn check_rounds(plan: &BlendPlan) {
    for round in &plan.rounds {
        let written = round.blends.iter().map(|blend| (blend.to, blend.region)).chain(round.clears.iter().copied());
        let written: Vec<_> = written.collect();
        for Blend { from, region, .. } in &round.blends {
            assert!(!region.is_empty());
            assert!(written.iter().all(|(canvas, other)| canvas != from || !other.intersects(region)));
        }
    }
}

fn tiles(size: [i64; 2], rows: u64) -> Vec<Region> {
    let tiled = (0..size[1]).filter(|row| rows >> row & 1 == 1);
    tiled.map(|row| region([0, row], [size[0], row + 1])).collect()
}

fn check(algorithm: &Algorithm, layers: &[Layer], size: [i64; 2], tiled: u64) {
    let plan = BlendPlan::new(algorithm, layers, size, &tiles(size, tiled)).unwrap();
    check_rounds(&plan);
    let memory = execute(&plan, layers);
    for at in points(&region([0, 0], size)) {
        let got = *memory.get(&(Canvas::Picture, at)).unwrap_or(&POISON);
        let expected = expected(layers, at);
        let close = (0..4).all(|c| (got[c] - expected[c]).abs() < 1e-12);
        assert!(close, "{algorithm:?}, {} layers, {size:?}, {at:?}: {got:?} for {expected:?}", layers.len());
    }
}

fn whole(size: [i64; 2], bounds: Region) -> Layer {
    Layer { at: [0, 0], place: region([0, 0], size), bounds }
}

/// Bounds from four numbers; may be empty.
fn bounds([width, height]: [i64; 2], n: [i64; 4]) -> Region {
    let low = [n[0] % width, n[1] % height];
    region(low, [low[0] + n[2] % (width - low[0] + 1), low[1] + n[3] % (height - low[1] + 1)])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_layers_algorithm_and_size(
        size in prop::array::uniform2(1_i64..14),
        boxes in prop::collection::vec(prop::array::uniform4(0_i64..1000), 0..18),
        radices in prop::collection::vec(2_usize..6, 1..4),
        tiled in any::<u64>(),
        dense in any::<bool>(),
    ) {
        let all = region([0, 0], size);
        let layers: Vec<Layer> =
            boxes.iter().map(|n| whole(size, if dense { all } else { bounds(size, *n) })).collect();
        check(&Algorithm::BinarySwap, &layers, size, tiled);
        check(&Algorithm::Radix(radices), &layers, size, tiled);
        check(&Algorithm::DirectSend, &layers, size, tiled);
        // The box of a layer may equal its bounds.
        let tight: Vec<Layer> = layers.iter().map(|layer| Layer { place: layer.bounds, ..*layer }).collect();
        check(&Algorithm::DirectSend, &tight, size, tiled);
    }
}

#[test]
fn layers_from_1_to_17_blend_in_order() {
    for count in 1..=17 {
        let size = [3, 7];
        let layers = vec![whole(size, region([0, 0], size)); count];
        for radices in [vec![2], vec![3], vec![4, 2], vec![17], vec![5, 3]] {
            check(&Algorithm::Radix(radices), &layers, size, 0);
        }
    }
}

/// Binary swap of dense layers sends one image per layer owner, for any number of layers.
#[test]
fn swap_sends_one_image_per_layer_owner() {
    let size = [16, 64];
    for rounds in 0..5 {
        let layers = vec![whole(size, region([0, 0], size)); 1 << rounds];
        let plan = BlendPlan::new(&Algorithm::BinarySwap, &layers, size, &[]).unwrap();
        assert_eq!(plan.rounds.len(), rounds + 1);
        for (number, _) in layers.iter().enumerate() {
            let sent = plan.rounds[..rounds].iter().flat_map(|round| &round.blends);
            let sent: u64 = sent.filter(|b| b.from == Canvas::Layer(number)).map(|b| b.region.cells()).sum();
            assert_eq!(sent, 16 * 64 - ((16 * 64) >> rounds));
        }
    }
}

#[test]
fn transparent_regions_are_not_sent() {
    let size = [20, 10];
    let [left, right] = [region([2, 1], [5, 9]), region([12, 3], [14, 6])];
    let layers = [whole(size, left), whole(size, right)];
    let plan = BlendPlan::new(&Algorithm::BinarySwap, &layers, size, &[]).unwrap();
    let regions = |round: usize| plan.rounds[round].blends.iter().map(|blend| blend.region).collect::<Vec<_>>();
    assert_eq!(regions(0), [region([12, 3], [14, 5]), region([2, 5], [5, 9])]);
    assert_eq!(regions(1), [region([2, 1], [14, 5]), region([2, 5], [14, 9])]);
    let nothing =
        BlendPlan::new(&Algorithm::DirectSend, &[whole(size, region([3, 3], [3, 3]))], size, &tiles(size, u64::MAX))
            .unwrap();
    assert_eq!(nothing.rounds.iter().map(|round| round.blends.len()).sum::<usize>(), 0);
}

#[test]
fn invalid_layers_are_errors() {
    let size = [4, 3];
    let all = region([0, 0], size);
    let fails = |algorithm: Algorithm, layers: &[Layer], expected: &str| {
        let error = BlendPlan::new(&algorithm, layers, size, &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let wide = Layer { at: [0, 0], place: region([0, 0], [5, 3]), bounds: all };
    fails(Algorithm::DirectSend, &[whole(size, all), wide], "layer 1 has bounds");
    let out = Layer { at: [0, 0], place: region([1, 1], [2, 2]), bounds: all };
    fails(Algorithm::DirectSend, &[out], "layer 0 has bounds");
    let small = Layer { at: [0, 0], place: region([0, 0], [4, 2]), bounds: region([0, 0], [1, 1]) };
    fails(Algorithm::BinarySwap, &[whole(size, all), small], "layer 1 covers");
    fails(Algorithm::Radix(vec![1]), &[whole(size, all)], "radix");
}
