//! Plans of ghost updates in both directions, compared with the truth, for random arrays, owners
//! and component lists.

use std::collections::HashMap;

use proptest::prelude::*;
use zippy::chunks::Chunks;
use zippy::layout::{Layout, Split};
use zippy::locate::Placement;
use zippy::oracle::truth::{self, Cells};
use zippy::oracle::{Operand, execute};
use zippy::plan::{Components, GhostSpec, Neighbours, RankPlan, ghosts};
use zippy_testing::random::merge_in_order;

use super::random;

/// Component lists for tests: depend on the direction and on the parity of a step.
#[derive(Debug, Clone, Copy)]
struct Lists {
    axis: usize,
    count: i64,
    seed: usize,
    parity: usize,
}

impl Lists {
    /// Returns the list of a direction, unsorted and with repetitions.
    fn list(&self, direction: &[i8]) -> Vec<usize> {
        let code = direction.iter().fold(self.seed, |code, &side| code * 5 + (side + 1) as usize);
        let takes = |component: &usize| !(code / 7 + component * (code % 5 + 1) + self.parity).is_multiple_of(3);
        let all: Vec<usize> = (0..self.count as usize).rev().filter(takes).collect();
        [&all[..], &all[..all.len() / 2]].concat()
    }
}

/// Array of an exchange.
#[derive(Debug, Clone)]
struct One {
    array: Placement,
    neighbours: Neighbours,
    lists: Option<Lists>,
}

impl One {
    fn spec(&self, reverse: bool) -> GhostSpec {
        let components = self.lists.map(|lists| {
            Components::new(lists.axis, self.array.chunks().axes(), |direction| lists.list(direction)).unwrap()
        });
        GhostSpec { neighbours: self.neighbours, components, reverse }
    }

    fn takes(&self, direction: &[i8], cell: &[i64]) -> bool {
        let outside = direction.iter().filter(|&&side| side != 0).count();
        let near = self.neighbours == Neighbours::All || outside == 1;
        near && self.lists.is_none_or(|lists| lists.list(direction).contains(&(cell[lists.axis] as usize)))
    }
}

fn one(ranks: usize) -> impl Strategy<Value = One> {
    let neighbours = prop_oneof![Just(Neighbours::Faces), Just(Neighbours::All)];
    let plain = random::array(ranks).prop_map(|array| (array, None));
    let listed = (random::axes(), any::<usize>(), 0_usize..2).prop_flat_map(move |(axes, seed, parity)| {
        let lists = move |shape: &[i64], axis| Lists { axis, count: shape[axis], seed: seed % 10_000, parity };
        (random::shape(axes), 0..axes).prop_flat_map(move |(shape, axis)| {
            let lists = lists(&shape, axis);
            random::placed(shape, Some(axis), ranks).prop_map(move |array| (array, Some(lists)))
        })
    });
    (prop_oneof![plain, listed], neighbours).prop_map(|((array, lists), neighbours)| One { array, neighbours, lists })
}

fn exchange() -> impl Strategy<Value = Vec<One>> {
    random::ranks().prop_flat_map(|ranks| prop::collection::vec(one(ranks), 1..4))
}

fn plans(exchange: &[One], reverse: bool) -> Vec<RankPlan> {
    let specs: Vec<_> = exchange.iter().map(|one| one.spec(reverse)).collect();
    let arrays: Vec<_> = exchange.iter().map(|one| &one.array).zip(&specs).collect();
    (0..exchange[0].array.ranks()).map(|rank| ghosts(&arrays, rank).unwrap()).collect()
}

fn same_as_truth(exchange: &[One], reverse: bool, combine: &dyn Fn(&u64, &u64) -> u64) -> Result<(), TestCaseError> {
    let arrays = || exchange.iter().enumerate();
    let mut memories: Vec<_> = arrays().map(|(at, one)| random::memory(&one.array, at as u64)).collect();
    let truth = |(at, one): (usize, &One)| {
        let (chunks, before) = (one.array.chunks(), Cells::of(&memories[at], &one.array));
        let takes = |direction: &[i8], cell: &[i64]| one.takes(direction, cell);
        if reverse {
            truth::reverse_ghosts(chunks, &before, &takes, combine)
        } else {
            truth::ghosts(chunks, &before, &takes)
        }
    };
    let expected: Vec<_> = arrays().map(truth).collect();
    let operands: Vec<_> = arrays().map(|(memory, one)| Operand { placement: &one.array, memory }).collect();
    execute(&plans(exchange, reverse), &operands, &mut memories, combine).unwrap();
    for (at, one) in arrays() {
        prop_assert_eq!(&Cells::of(&memories[at], &one.array), &expected[at]);
    }
    Ok(())
}

fn replace(arriving: &u64, _: &u64) -> u64 {
    *arriving
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn ghost_update_equals_truth(exchange in exchange()) {
        same_as_truth(&exchange, false, &replace)?;
    }

    #[test]
    fn reverse_ghost_update_replaces_in_a_fixed_order(exchange in exchange()) {
        same_as_truth(&exchange, true, &replace)?;
    }

    #[test]
    fn reverse_ghost_update_combines_in_a_fixed_order(exchange in exchange()) {
        same_as_truth(&exchange, true, &merge_in_order)?;
    }

    /// Without component lists, each neighbour sends one message with few boxes, for any number of
    /// arrays.
    #[test]
    fn messages_and_totals_equal_cell_counts(exchange in exchange(), reverse in any::<bool>()) {
        let plans = plans(&exchange, reverse);
        let bytes: Vec<usize> = (0..exchange.len()).map(|array| 4 << array).collect();
        let mut expected = HashMap::new();
        for (array, one) in exchange.iter().enumerate() {
            for (from, to, cells) in crossings(one) {
                let (from, to) = if reverse { (to, from) } else { (from, to) };
                *expected.entry((from, to)).or_insert(0) += cells * bytes[array] as u64;
            }
        }
        let mut found = HashMap::new();
        for plan in &plans {
            let moved = plan.moved(&bytes);
            if moved.bytes_local > 0 {
                found.insert((plan.rank, plan.rank), moved.bytes_local);
            }
            for message in &plan.sends {
                found.insert((plan.rank, message.peer), message.bytes(&bytes));
            }
            prop_assert_eq!(moved.messages, plan.sends.len() as u64);
            prop_assert_eq!(moved.bytes_network, plan.sends.iter().map(|message| message.bytes(&bytes)).sum::<u64>());
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(self::plans(&exchange, reverse), plans);
    }

    /// With one chunk per rank on a grid, a rank sends once and receives once per round.
    #[test]
    fn rounds_of_a_grid_are_matchings(case in grid(), faces in any::<bool>(), reverse in any::<bool>()) {
        let neighbours = if faces { Neighbours::Faces } else { Neighbours::All };
        let exchange = [One { array: case, neighbours, lists: None }];
        for plan in plans(&exchange, reverse) {
            for messages in [&plan.sends, &plan.receives] {
                let rounds: Vec<_> = messages.iter().map(|message| message.round).collect();
                prop_assert!(rounds.is_sorted_by(|a, b| a < b), "{:?}", rounds);
                prop_assert!(rounds.iter().all(|&round| round < plan.rounds));
            }
        }
    }
}

/// Grid of equal chunks, one per rank, at least as wide as their ghost widths.
fn grid() -> impl Strategy<Value = Placement> {
    let axis = (1_usize..4, 2_i64..4, any::<bool>(), 0_i64..3, 0_i64..3);
    prop::collection::vec(axis, 1..4).prop_map(|axes| {
        let shape: Vec<i64> = axes.iter().map(|axis| axis.0 as i64 * axis.1).collect();
        let (lo, hi): (Vec<_>, Vec<_>) = axes.iter().map(|axis| (axis.3.min(axis.1), axis.4.min(axis.1))).unzip();
        let layout = Layout::from_shape(&shape)
            .split_list(axes.iter().map(|axis| Split::Even(axis.0)).collect())
            .periodic_list(&axes.iter().map(|axis| axis.2).collect::<Vec<_>>())
            .ghost_lists(&lo, &hi);
        let chunks = layout.resolve(1, 4, u64::MAX).unwrap();
        let ranks = chunks.count();
        Placement::balanced(chunks, ranks)
    })
}

/// Returns the number of cells from rank to rank, counted per ghost cell.
fn crossings(one: &One) -> Vec<(usize, usize, u64)> {
    let mut cells = HashMap::new();
    let chunks: &Chunks = one.array.chunks();
    for chunk in 0..chunks.count() {
        let owner = one.array.ownership().owner(chunk);
        let own = chunks.region(chunk);
        for cell in chunks.storage(chunk).points().filter(|cell| !own.contains(cell)) {
            let side = |axis: usize| i8::from(cell[axis] >= own.end[axis]) - i8::from(cell[axis] < own.start[axis]);
            let direction: Vec<i8> = (0..cell.axes()).map(side).collect();
            let image = one.array.to_global(owner, &(cell - own.start));
            if let Some(image) = image.filter(|_| one.takes(&direction, &cell)) {
                *cells.entry((one.array.holder(&image).unwrap().rank, owner.rank)).or_insert(0) += 1;
            }
        }
    }
    cells.into_iter().map(|((from, to), cells)| (from, to, cells)).collect()
}

fn line(extent: i64, split: Split, lo: i64, hi: i64, periodic: bool, ranks: usize) -> Placement {
    let layout = Layout::new([extent]).split([split]).ghost_sides([(lo, hi)]).periodic([periodic]);
    Placement::balanced(layout.resolve(ranks, 4, u64::MAX).unwrap(), ranks)
}

/// Returns the ghost cells of a line after an update, as positions; −1 without a value.
fn shown(array: &Placement, chunk: usize) -> Vec<i64> {
    let mut memory =
        [zippy::oracle::Memory::new(
            array,
            |chunk, cell| {
                if array.chunks().region(chunk).contains(&cell) { cell[0] } else { -1 }
            },
        )];
    let plans: Vec<_> = (0..array.ranks()).map(|rank| ghosts(&[(array, &GhostSpec::all())], rank).unwrap()).collect();
    execute(&plans, &[Operand { placement: array, memory: 0 }], &mut memory, &|new, _| *new).unwrap();
    memory[0].chunk(array, chunk).to_vec()
}

#[test]
fn wide_ghosts_come_from_the_next_but_one() {
    let array = line(7, Split::from([2, 1, 0, 1, 3]), 3, 2, false, 3);
    assert_eq!(shown(&array, 3), [0, 1, 2, 3, 4, 5]);
    assert_eq!(shown(&array, 0), [-1, -1, -1, 0, 1, 2, 3]);
    assert_eq!(shown(&array, 2), [0; 0], "an empty chunk has no ghosts");
}

#[test]
fn an_axis_shorter_than_its_ghosts_is_seen_several_times() {
    let alone = line(2, Split::Whole, 5, 3, true, 1);
    assert_eq!(shown(&alone, 0), [1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
    let plan = ghosts(&[(&alone, &GhostSpec::all())], 0).unwrap();
    assert!(plan.sends.is_empty() && plan.receives.is_empty(), "a rank is its own neighbour without messages");
    let shared = line(3, Split::from([1, 2]), 4, 4, true, 2);
    assert_eq!(shown(&shared, 0), [2, 0, 1, 2, 0, 1, 2, 0, 1]);
    assert_eq!(shown(&shared, 1), [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
}

#[test]
fn several_ghosts_of_one_cell_are_summed_on_the_way_back() {
    let array = line(3, Split::from([1, 2]), 4, 4, true, 2);
    let mut memory = [zippy::oracle::Memory::new(&array, |_, _| 1_i64)];
    let spec = GhostSpec::all().reversed();
    let plans: Vec<_> = (0..2).map(|rank| ghosts(&[(&array, &spec)], rank).unwrap()).collect();
    execute(&plans, &[Operand { placement: &array, memory: 0 }], &mut memory, &|a, b| a + b).unwrap();
    let own: Vec<i64> =
        [0, 1, 1].iter().zip([4, 4, 5]).map(|(&chunk, at)| memory[0].chunk(&array, chunk)[at]).collect();
    // Each cell and all its ghost cells: 9 + 10 stored cells, of which 3 are owned.
    assert_eq!(own.iter().sum::<i64>(), 9 + 10);
    assert_eq!(own, [7, 6, 6]);
}

#[test]
fn lists_follow_the_parity_of_the_step() {
    // A line of 4 cells with 3 components: rest, right, left.
    let layout = Layout::new([4, 3]).split([Split::Even(2), Split::Whole]).ghost([1, 0]).periodic([true, false]);
    let array = Placement::balanced(layout.resolve(2, 4, u64::MAX).unwrap(), 2);
    for parity in [0, 1] {
        let components =
            Components::new(1, 2, |direction| if (direction[0] > 0) == (parity == 0) { vec![2] } else { vec![1] });
        let spec = GhostSpec::faces().components(components.unwrap());
        let plan = ghosts(&[(&array, &spec)], 0).unwrap();
        let boxes = plan.receives.iter().flat_map(|message| &message.moves).map(|this| this.dst.to_string());
        let expected = [["[-1..0, 1..2]", "[2..3, 2..3]"], ["[-1..0, 2..3]", "[2..3, 1..2]"]][parity];
        assert_eq!(boxes.collect::<Vec<_>>(), expected);
    }
    let nothing = Components::new(1, 2, |_| Vec::new()).unwrap();
    assert!(ghosts(&[(&array, &GhostSpec::all().components(nothing))], 0).unwrap().is_empty());
}
