//! Many pairs in one exchange: overlapping random pairs between arrays of all layouts and within
//! one array, compared with plain vectors to which the pairs are applied in order; and pairs with
//! ghost updates.

use zippy::array::GlobalSection;
use zippy::{ArrayOptions, Exchange, GlobalArray, Layout, Operator, Ownership, Result, Split, World};

use crate::support::cells::{boxed, code, cuts, expect, mix};
use crate::support::{self, RANKS, ranks};

zippy_testing::in_place_too!();

const SHAPE: [i64; 2] = [13, 9];

/// Pseudorandom numbers, the same on all ranks.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = mix(self.0);
        self.0 % n
    }

    /// Two boxes of equal extents within the shape; few have no cells.
    fn boxes(&mut self) -> ([i64; 2], [i64; 2], [i64; 2]) {
        let extents = SHAPE.map(|n| self.below(n as u64 / 2 + 1) as i64);
        let mut place = || std::array::from_fn(|axis| self.below((SHAPE[axis] - extents[axis] + 1) as u64) as i64);
        (place(), place(), extents)
    }
}

/// Array, and a vector with its expected cells, axis 0 fastest.
struct ArrayAndTwin {
    array: GlobalArray<u32, 2>,
    plain: Vec<u32>,
}

impl ArrayAndTwin {
    fn new(array: GlobalArray<u32, 2>, of: u64) -> Result<Self> {
        array.fill_with(|at| code(of, at) as u32)?;
        let plain = (0..SHAPE[1]).flat_map(|y| (0..SHAPE[0]).map(move |x| code(of, [x, y]) as u32)).collect();
        Ok(Self { array, plain })
    }

    fn check(&self, label: &str) -> Result<()> {
        expect(&self.array, &label, |at| self.plain[index(at)])
    }
}

fn index(at: [i64; 2]) -> usize {
    (at[0] + SHAPE[0] * at[1]) as usize
}

/// Operator whose result depends on the order of all sources.
fn order_dependent_fold(source: u32, destination: u32) -> u32 {
    destination.wrapping_mul(31).wrapping_add(source)
}

fn fold_operator() -> Operator {
    Operator::custom("fold", "fn combine(src: T, dst: T) -> T { return dst * 31u + src; }")
}

/// Operator on `u32`, and its twin `twin(source, destination)`.
type Twin = (Operator, fn(u32, u32) -> u32);

/// Operators that a kernel computes, and that the host computes if chunks are mapped.
fn both_kinds() -> [Twin; 2] {
    [(fold_operator(), order_dependent_fold), (Operator::Under, under)]
}

/// Operator "under" for colours of four bytes, red lowest: the destination is in front.
fn under(source: u32, destination: u32) -> u32 {
    let (front, back) = (destination.to_le_bytes(), source.to_le_bytes());
    let behind = |c: usize| (2 * (255 - u32::from(front[3])) * u32::from(back[c]) + 255) / 510;
    u32::from_le_bytes(std::array::from_fn(|c| (u32::from(front[c]) + behind(c)).min(255) as u8))
}

type Sections = Vec<(GlobalSection<u32, 2>, GlobalSection<u32, 2>)>;

/// Draws random pairs between the arrays, and applies them to the vectors in order, after all
/// sources have been read.
fn draw_pairs(
    draw: &mut RandomNumbers,
    twin: fn(u32, u32) -> u32,
    arrays: &mut [ArrayAndTwin],
    count: u64,
    from: &[usize],
    onto: &[usize],
) -> Sections {
    let before: Vec<Vec<u32>> = arrays.iter().map(|both| both.plain.clone()).collect();
    let mut pairs = Vec::new();
    for _ in 0..count {
        let pick = |of: &[usize], draw: &mut RandomNumbers| of[draw.below(of.len() as u64) as usize];
        let (source, destination) = (pick(from, draw), pick(onto, draw));
        let (at, to, extents) = draw.boxes();
        for y in 0..extents[1] {
            for x in 0..extents[0] {
                let cell = &mut arrays[destination].plain[index([to[0] + x, to[1] + y])];
                *cell = twin(before[source][index([at[0] + x, at[1] + y])], *cell);
            }
        }
        let section = |array: usize, start| arrays[array].array.at(boxed(start, extents));
        pairs.push((section(source, at), section(destination, to)));
    }
    pairs
}

/// Arrays of every layout, some with ghost cells and periodic axes.
fn arrays(world: &World) -> Result<Vec<ArrayAndTwin>> {
    let make = |(of, cut): (usize, support::cells::Cut)| {
        let cut = if of % 2 == 0 { cut.with(|layout| layout.ghost([1, 2]).periodic([true, false])) } else { cut };
        ArrayAndTwin::new(cut.array(world, cut.name)?, of as u64)
    };
    cuts(SHAPE, world.size()).into_iter().enumerate().map(make).collect()
}

#[test]
fn pairs_take_effect_in_listed_order() {
    ranks(RANKS, |world| {
        let mut arrays = arrays(world)?;
        let mut numbers = RandomNumbers(world.size() as u64);
        // Disjoint pairs, overlapping pairs between few arrays, and pairs between all arrays.
        let all: Vec<usize> = (0..arrays.len()).collect();
        let few = [(4, &all[..3], &all[3..]), (30, &all[..5], &all[5..]), (40, &all[..], &all[..])];
        for ((count, from, onto), (operator, twin)) in
            few.into_iter().flat_map(|few| both_kinds().map(|kind| (few, kind)))
        {
            let pairs = draw_pairs(&mut numbers, twin, &mut arrays, count, from, onto);
            let plan = world.plan(Exchange::new().copies(pairs.clone()))?;
            let planned = plan.moved();
            let moved = world.exchange(Exchange::new().composites(pairs.clone(), &operator.clone()))?;
            assert_eq!(moved, planned);
            // One message per rank, and one for each box that can be sent directly from its chunk.
            let boxes: usize = plan.rank_plans().flat_map(|plan| &plan.sends).map(|message| message.moves.len()).sum();
            let apart = if std::env::var_os("ZIPPY_IN_PLACE").is_some() { boxes as u64 } else { 0 };
            assert!(moved.messages < world.size() as u64 + apart, "{moved:?}");
            let label = format!("{count} pairs from {from:?} onto {onto:?}, {operator}");
            arrays.iter().try_for_each(|both| both.check(&label))?;
            // Opaque cells would hide the cells below them.
            for (of, both) in arrays.iter_mut().enumerate() {
                *both = ArrayAndTwin::new(both.array.clone(), count + of as u64)?;
            }
        }
        Ok(())
    });
}

#[test]
fn exchange_within_array_reads_all_sources_first() {
    ranks(RANKS, |world| {
        for of in 0..cuts(SHAPE, world.size()).len() {
            let cut = cuts(SHAPE, world.size()).swap_remove(of);
            let mut arrays = [ArrayAndTwin::new(cut.array(world, cut.name)?, of as u64)?];
            let mut numbers = RandomNumbers(100 + of as u64);
            for (operator, twin) in both_kinds() {
                let pairs = draw_pairs(&mut numbers, twin, &mut arrays, 12, &[0], &[0]);
                world.exchange(Exchange::new().composites(pairs.clone(), &operator.clone()))?;
                arrays[0].check(&format!("{}, {operator}", cut.name))?;
            }
        }
        Ok(())
    });
}

#[test]
fn last_of_several_copies_to_the_same_cells_wins() {
    ranks(RANKS, |world| {
        let mut arrays = arrays(world)?;
        let mut numbers = RandomNumbers(50 + world.size() as u64);
        let all: Vec<usize> = (0..arrays.len()).collect();
        for (count, from, onto) in [(4, &all[..3], &all[3..]), (30, &all[..5], &all[5..]), (40, &all[..], &all[..])] {
            let pairs = draw_pairs(&mut numbers, |source, _| source, &mut arrays, count, from, onto);
            let moved = world.exchange(Exchange::new().copies(pairs.clone()))?;
            assert_eq!(moved, world.plan(Exchange::new().copies(pairs.clone()))?.moved());
            arrays.iter().try_for_each(|both| both.check(&format!("{count} copies from {from:?} onto {onto:?}")))?;
        }
        Ok(())
    });
}

#[test]
fn exchange_writes_handles_of_same_chunks_in_order() {
    ranks(RANKS, |world| {
        let layers = 2 * world.size() + 1;
        let layout = Layout::new([4, layers as i64]).split([Split::Whole, Split::Even(layers)]);
        let images = world.array::<u32, 2>("images", &layout)?;
        images.fill_with(|at| code(1, at) as u32)?;
        let order: Vec<usize> = (0..layers).map(|layer| (layer + 3) % layers).collect();
        let turned = images.reassigned(&order)?;
        // Every layer is combined with layer 1 through one of two handles; the sums reveal the
        // order.
        let at = |x: i64, layer: usize| code(1, [x, layer as i64]) as u32;
        let place = |layer: usize| order.iter().position(|&from| from == layer).expect("a permutation") as i64;
        let mut pairs = Vec::new();
        for layer in 0..layers {
            let source = if layer % 3 == 0 { turned.at((.., place(layer))) } else { images.at((.., layer)) };
            let onto = if layer % 2 == 0 { turned.at((.., place(1))) } else { images.at((.., 1)) };
            pairs.push((source, onto));
        }
        world.exchange(Exchange::new().composites(pairs.clone(), &fold_operator()))?;
        expect(&images, &"handles", |[x, layer]| match layer {
            1 => (0..layers).fold(at(x, 1), |sum, layer| order_dependent_fold(at(x, layer), sum)),
            _ => at(x, layer as usize),
        })
    });
}

#[test]
fn sources_may_change_after_exchange_has_started() {
    ranks(RANKS, |world| {
        let mut arrays = arrays(world)?;
        let pairs = draw_pairs(&mut RandomNumbers(7), under, &mut arrays, 25, &[0, 1, 2], &[3, 4]);
        let pending = world.start(Exchange::new().composites(pairs.clone(), &Operator::Under))?;
        for both in &mut arrays[..3] {
            both.array.fill_with(|at| code(9, at) as u32)?;
        }
        pending.wait()?;
        arrays[3..].iter().try_for_each(|both| both.check("started"))
    });
}

/// Checks any sources, with and without overlapping destinations.
#[test]
fn started_exchanges_to_same_cells_apply_in_order_of_waits() {
    ranks(RANKS, |world| {
        let mut arrays = arrays(world)?;
        let mut numbers = RandomNumbers(11);
        for (first, second) in [(1, 1), (12, 1), (1, 12), (9, 14)] {
            let [one, other] =
                [first, second].map(|count| draw_pairs(&mut numbers, under, &mut arrays, count, &[0, 1, 2], &[3, 4]));
            let one = world.start(Exchange::new().composites(one.clone(), &Operator::Under))?;
            let other = world.start(Exchange::new().composites(other.clone(), &Operator::Under))?;
            one.wait()?;
            other.wait()?;
            arrays.iter().try_for_each(|both| both.check(&format!("{first} and {second}")))?;
        }
        Ok(())
    });
}

#[test]
fn empty_and_invalid_exchanges_have_same_result_on_all_ranks() {
    ranks(RANKS, |world| {
        let array = world.array::<u32, 2>("array", &Layout::new(SHAPE))?;
        let none: Sections = Vec::new();
        assert_eq!(world.exchange(Exchange::new().composites(none.clone(), &Operator::Add))?, zippy::Moved::default());
        let empty = (array.at((0..0, ..)), array.at((4..4, ..)));
        world.exchange(Exchange::new().composites([empty.clone(), empty.clone()], &Operator::Add))?;
        let unlike = (array.at((0..2, 0..3)), array.at((0..3, 0..2)));
        let outside = (array.at((0..2, 0..3)), array.at((12..14, 0..3)));
        let messages = [
            world
                .exchange(Exchange::new().composites([empty.clone(), unlike], &Operator::Add))
                .unwrap_err()
                .kind()
                .to_string(),
            world.exchange(Exchange::new().composites([outside], &Operator::Add)).unwrap_err().kind().to_string(),
            world
                .exchange(Exchange::new().composites([empty], &Operator::custom("none", "")))
                .unwrap_err()
                .kind()
                .to_string(),
        ];
        insta::allow_duplicates! {
            insta::assert_snapshot!(messages.join("\n"), @r#"
            source section [0..2, 0..3] of array "array" (pair 1) has 2 x 3 cells but destination section [0..3, 0..2] of array "array" has 3 x 2; they must agree axis by axis
            region [12..14, 0..3] leaves array "array", which is [0..13, 0..9], on axis 0
            operator none, line 1, column 1: no definition in scope for identifier: `combine` (it must declare fn combine(src: T, dst: T) -> T)
            "#);
        }
        Ok(())
    });
}

/// The cost of a plan is nearly linear in the number of pairs; a comparison of all pairs with each
/// other would take minutes.
#[test]
fn exchange_of_thousands_of_pairs_is_planned_fast() {
    ranks(&[3], |world| {
        const SIDE: i64 = 96;
        let layout = Layout::new([SIDE, SIDE]).split([Split::Even(3), Split::Even(2)]);
        let (from, onto) = (world.array::<u32, 2>("from", &layout)?, world.array::<u32, 2>("onto", &layout)?);
        from.fill_with(|at| code(1, at) as u32)?;
        let cells = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| [x, y]));
        let one = |at: [i64; 2]| boxed(at, [1, 1]);
        let pairs: Vec<_> = cells.map(|[x, y]| (from.at(one([x, y])), onto.at(one([y, x])))).collect();
        world.exchange(Exchange::new().composites(pairs.clone(), &Operator::Add))?;
        expect(&onto, &"turned cell by cell", |[x, y]| code(1, [y, x]) as u32)
    });
}

/// The large box arrives in several messages, and is applied in list order with the small boxes.
#[test]
fn exchange_larger_than_a_message_applies_boxes_in_order() {
    ranks(&[2], |world| {
        // 68 MiB.
        let layout = Layout::new([4097, 4353]).split_all(Split::Whole);
        let on = |rank| Ownership::table(vec![rank], world.size());
        let from = world.array::<u32, 2>("from", ArrayOptions::new(&layout).owned_by(on(0)?))?;
        let onto = world.array::<u32, 2>("onto", ArrayOptions::new(&layout).owned_by(on(world.size() - 1)?))?;
        let value = |[x, y]: [i64; 2]| (x + 4097 * y) as u32;
        from.fill_with(value)?;
        let moved = world.copy(from.at(..), onto.at(..))?;
        assert_eq!(moved.messages, if world.rank() == 0 && world.size() > 1 { 2 } else { 0 });
        // A small box on the middle, where the large box is divided, before and after the large
        // box.
        let middle = || (from.at((7..20, 3..40)), onto.at((2050..2063, 2160..2197)));
        world
            .exchange(Exchange::new().composites([middle(), (from.at(..), onto.at(..)), middle()], &fold_operator()))?;
        expect(&onto, &"in parts", |[x, y]| {
            let all = |destination| order_dependent_fold(value([x, y]), destination);
            let inside = (2050..2063).contains(&x) && (2160..2197).contains(&y);
            let middle = |destination| {
                if inside { order_dependent_fold(value([x - 2043, y - 2157]), destination) } else { destination }
            };
            middle(all(middle(value([x, y]))))
        })
    });
}
