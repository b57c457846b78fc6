//! Many pairs in one exchange: random pairs on top of each other, between arrays of all cuts and within one, against
//! plain vectors that take one pair after the other; and pairs among ghost updates.

use zippy::array::GlobalSection;
use zippy::{Exchange, GlobalArray, Layout, Operator, Ownership, Result, Split, World};

use crate::support::cells::{boxed, code, cuts, expect, mix};
use crate::support::{self, RANKS, ranks};

crate::in_place_too!();

const SHAPE: [i64; 2] = [13, 9];

/// A sequence of numbers that all ranks draw alike.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = mix(self.0);
        self.0 % n
    }

    /// Two boxes of equal extents within the shape, seldom without cells.
    fn boxes(&mut self) -> ([i64; 2], [i64; 2], [i64; 2]) {
        let extents = SHAPE.map(|n| self.below(n as u64 / 2 + 1) as i64);
        let mut place = || std::array::from_fn(|axis| self.below((SHAPE[axis] - extents[axis] + 1) as u64) as i64);
        (place(), place(), extents)
    }
}

/// An array of the test and its plain twin, axis 0 fastest.
struct Both {
    array: GlobalArray<u32, 2>,
    plain: Vec<u32>,
}

impl Both {
    fn new(array: GlobalArray<u32, 2>, of: u64) -> Result<Self> {
        array.fill_with(|at| code(of, at) as u32)?;
        let plain = (0..SHAPE[1]).flat_map(|y| (0..SHAPE[0]).map(move |x| code(of, [x, y]) as u32)).collect();
        Ok(Self { array, plain })
    }

    fn check(&self, what: &str) -> Result<()> {
        expect(&self.array, &what, |at| self.plain[index(at)])
    }
}

fn index(at: [i64; 2]) -> usize {
    (at[0] + SHAPE[0] * at[1]) as usize
}

/// What the destination holds tells the order of everything that fell on it.
fn fold(source: u32, destination: u32) -> u32 {
    destination.wrapping_mul(31).wrapping_add(source)
}

fn fold_operator() -> Operator {
    Operator::custom("fold", "fn combine(src: T, dst: T) -> T { return dst * 31u + src; }")
}

/// An operator on `u32` and its twin, `twin(source, destination)`.
type Twin = (Operator, fn(u32, u32) -> u32);

/// One operator that a kernel carries out, and one that the host does where it maps the chunks.
fn both_kinds() -> [Twin; 2] {
    [(fold_operator(), fold), (Operator::Under, under)]
}

/// Colours of four bytes, red lowest; the destination lies in front.
fn under(source: u32, destination: u32) -> u32 {
    let (front, back) = (destination.to_le_bytes(), source.to_le_bytes());
    let behind = |c: usize| (2 * (255 - u32::from(front[3])) * u32::from(back[c]) + 255) / 510;
    u32::from_le_bytes(std::array::from_fn(|c| (u32::from(front[c]) + behind(c)).min(255) as u8))
}

type Sections = Vec<(GlobalSection<u32, 2>, GlobalSection<u32, 2>)>;

/// Random pairs between the arrays, taken by the plain vectors as they are listed, all sources being read before.
fn draw(
    draw: &mut Draw,
    twin: fn(u32, u32) -> u32,
    arrays: &mut [Both],
    count: u64,
    from: &[usize],
    onto: &[usize],
) -> Sections {
    let before: Vec<Vec<u32>> = arrays.iter().map(|both| both.plain.clone()).collect();
    let mut pairs = Vec::new();
    for _ in 0..count {
        let pick = |of: &[usize], draw: &mut Draw| of[draw.below(of.len() as u64) as usize];
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

/// One array of every cut, with ghost cells and periodic axes among them.
fn arrays(world: &World) -> Result<Vec<Both>> {
    let make = |(of, cut): (usize, support::cells::Cut)| {
        let cut = if of % 2 == 0 { cut.with(|layout| layout.ghost([1, 2]).periodic([true, false])) } else { cut };
        Both::new(cut.array(world, cut.name)?, of as u64)
    };
    cuts(SHAPE, world.size()).into_iter().enumerate().map(make).collect()
}

#[test]
fn pairs_take_effect_as_listed() {
    ranks(RANKS, |world| {
        let mut arrays = arrays(world)?;
        let mut numbers = Draw(world.size() as u64);
        // Apart, on top of each other between few arrays, and anything onto anything.
        let all: Vec<usize> = (0..arrays.len()).collect();
        let few = [(4, &all[..3], &all[3..]), (30, &all[..5], &all[5..]), (40, &all[..], &all[..])];
        for ((count, from, onto), (operator, twin)) in
            few.into_iter().flat_map(|few| both_kinds().map(|kind| (few, kind)))
        {
            let pairs = draw(&mut numbers, twin, &mut arrays, count, from, onto);
            let plan = world.plan(Exchange::new().copies(pairs.clone()))?;
            let planned = plan.moved();
            let moved = world.exchange(Exchange::new().composites(pairs.clone(), &operator.clone()))?;
            assert_eq!(moved, planned);
            // One message for each rank; where boxes can be sent from where they lie, one for each of these, too.
            let boxes: usize = plan.rank_plans().flat_map(|plan| &plan.sends).map(|message| message.moves.len()).sum();
            let apart = if std::env::var_os("ZIPPY_IN_PLACE").is_some() { boxes as u64 } else { 0 };
            assert!(moved.messages < world.size() as u64 + apart, "{moved:?}");
            let what = format!("{count} pairs from {from:?} onto {onto:?}, {operator}");
            arrays.iter().try_for_each(|both| both.check(&what))?;
            // Opaque cells would hide what comes behind them.
            for (of, both) in arrays.iter_mut().enumerate() {
                *both = Both::new(both.array.clone(), count + of as u64)?;
            }
        }
        Ok(())
    });
}

#[test]
fn one_array_at_both_ends_is_read_before_it_is_written() {
    ranks(RANKS, |world| {
        for of in 0..cuts(SHAPE, world.size()).len() {
            let cut = cuts(SHAPE, world.size()).swap_remove(of);
            let mut arrays = [Both::new(cut.array(world, cut.name)?, of as u64)?];
            let mut numbers = Draw(100 + of as u64);
            for (operator, twin) in both_kinds() {
                let pairs = draw(&mut numbers, twin, &mut arrays, 12, &[0], &[0]);
                world.exchange(Exchange::new().composites(pairs.clone(), &operator.clone()))?;
                arrays[0].check(&format!("{}, {operator}", cut.name))?;
            }
        }
        Ok(())
    });
}

#[test]
fn of_copies_onto_the_same_cells_the_last_one_stays() {
    ranks(RANKS, |world| {
        let mut arrays = arrays(world)?;
        let mut numbers = Draw(50 + world.size() as u64);
        let all: Vec<usize> = (0..arrays.len()).collect();
        for (count, from, onto) in [(4, &all[..3], &all[3..]), (30, &all[..5], &all[5..]), (40, &all[..], &all[..])] {
            let pairs = draw(&mut numbers, |source, _| source, &mut arrays, count, from, onto);
            let moved = world.exchange(Exchange::new().copies(pairs.clone()))?;
            assert_eq!(moved, world.plan(Exchange::new().copies(pairs.clone()))?.moved());
            arrays.iter().try_for_each(|both| both.check(&format!("{count} copies from {from:?} onto {onto:?}")))?;
        }
        Ok(())
    });
}

#[test]
fn handles_of_the_same_chunks_are_written_in_order() {
    ranks(RANKS, |world| {
        let layers = 2 * world.size() + 1;
        let layout = Layout::new([4, layers as i64]).split([Split::Whole, Split::Even(layers)]);
        let images = world.array::<u32, 2>("images", &layout)?;
        images.fill_with(|at| code(1, at) as u32)?;
        let order: Vec<usize> = (0..layers).map(|layer| (layer + 3) % layers).collect();
        let turned = images.reassigned(&order)?;
        // Every layer goes onto layer 1 through one handle or the other, in an order that the sums tell.
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
            1 => (0..layers).fold(at(x, 1), |sum, layer| fold(at(x, layer), sum)),
            _ => at(x, layer as usize),
        })
    });
}

#[test]
fn started_ones_have_read_their_sources() {
    ranks(RANKS, |world| {
        let mut arrays = arrays(world)?;
        let pairs = draw(&mut Draw(7), under, &mut arrays, 25, &[0, 1, 2], &[3, 4]);
        let pending = world.start(Exchange::new().composites(pairs.clone(), &Operator::Under))?;
        for both in &mut arrays[..3] {
            both.array.fill_with(|at| code(9, at) as u32)?;
        }
        pending.wait()?;
        arrays[3..].iter().try_for_each(|both| both.check("started"))
    });
}

/// Wherever the cells come from, and whether several fall on the same ones or not.
#[test]
fn those_started_onto_the_same_cells_take_effect_as_they_are_waited_for() {
    ranks(RANKS, |world| {
        let mut arrays = arrays(world)?;
        let mut numbers = Draw(11);
        for (first, second) in [(1, 1), (12, 1), (1, 12), (9, 14)] {
            let [one, other] =
                [first, second].map(|count| draw(&mut numbers, under, &mut arrays, count, &[0, 1, 2], &[3, 4]));
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
fn nothing_and_mistakes_are_the_same_on_all_ranks() {
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

/// A plan of many pairs costs little more than the pairs: this would take minutes if every pair were held against every
/// other.
#[test]
fn thousands_of_pairs() {
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

/// Between two ranks more travels than one message may hold, and boxes that meet do so in the order of the list,
/// although the large one arrives in parts.
#[test]
fn what_is_too_much_for_a_message() {
    ranks(&[2], |world| {
        // 68 MiB.
        let layout = Layout::new([4097, 4353]).split_all(Split::Whole);
        let on = |rank| Ownership::table(vec![rank], world.size());
        let from = world.array_owned::<u32, 2>("from", &layout, on(0)?)?;
        let onto = world.array_owned::<u32, 2>("onto", &layout, on(world.size() - 1)?)?;
        let value = |[x, y]: [i64; 2]| (x + 4097 * y) as u32;
        from.fill_with(value)?;
        let moved = world.copy(from.at(..), onto.at(..))?;
        assert_eq!(moved.messages, if world.rank() == 0 && world.size() > 1 { 2 } else { 0 });
        // A box on top of the middle, where the large one is cut, before and after it.
        let middle = || (from.at((7..20, 3..40)), onto.at((2050..2063, 2160..2197)));
        world
            .exchange(Exchange::new().composites([middle(), (from.at(..), onto.at(..)), middle()], &fold_operator()))?;
        expect(&onto, &"in parts", |[x, y]| {
            let all = |destination| fold(value([x, y]), destination);
            let inside = (2050..2063).contains(&x) && (2160..2197).contains(&y);
            let middle =
                |destination| if inside { fold(value([x - 2043, y - 2157]), destination) } else { destination };
            middle(all(middle(value([x, y]))))
        })
    });
}
