//! Plans of forward and reverse ghost updates, compared with the truth for random arrays, owners
//! and component lists.

use std::collections::HashMap;

use proptest::prelude::*;
use zippy::chunks::Chunks;
use zippy::layout::{Layout, Split};
use zippy::locate::Placement;
use zippy::plan::{Components, GhostSpec, Neighbours, RankPlan, ghosts};
use zippy_testing::oracle::truth::{self, Cells};
use zippy_testing::oracle::{Operand, execute};
use zippy_testing::random::merge_in_order;

use super::random;

#[derive(Debug, Clone, Copy)]
struct ComponentLists {
    axis: usize,
    count: i64,
    seed: usize,
    parity: usize,
}

impl ComponentLists {
    fn list(&self, direction: &[i8]) -> Vec<usize> {
        let code = direction.iter().fold(self.seed, |code, &side| code * 5 + (side + 1) as usize);
        let takes = |component: &usize| !(code / 7 + component * (code % 5 + 1) + self.parity).is_multiple_of(3);
        let all: Vec<usize> = (0..self.count as usize).rev().filter(takes).collect();
        [&all[..], &all[..all.len() / 2]].concat()
    }
}

#[derive(Debug, Clone)]
struct ArrayUpdate {
    array: Placement,
    neighbours: Neighbours,
    component_lists: Option<ComponentLists>,
}

impl ArrayUpdate {
    fn spec(&self, reverse: bool) -> GhostSpec {
        let components = self.component_lists.map(|component_lists| {
            Components::new(component_lists.axis, self.array.chunks().axes(), |direction| {
                component_lists.list(direction)
            })
            .unwrap()
        });
        GhostSpec { neighbours: self.neighbours, components, reverse }
    }

    fn takes(&self, direction: &[i8], cell: &[i64]) -> bool {
        let outside = direction.iter().filter(|&&side| side != 0).count();
        let near = self.neighbours == Neighbours::All || outside == 1;
        near && self.component_lists.is_none_or(|component_lists| {
            component_lists.list(direction).contains(&(cell[component_lists.axis] as usize))
        })
    }
}

fn array_update(ranks: usize) -> impl Strategy<Value = ArrayUpdate> {
    let neighbours = prop_oneof![Just(Neighbours::Faces), Just(Neighbours::All)];
    let plain = random::array(ranks).prop_map(|array| (array, None));
    let listed = (random::axes(), any::<usize>(), 0_usize..2).prop_flat_map(move |(axes, seed, parity)| {
        let component_lists =
            move |shape: &[i64], axis| ComponentLists { axis, count: shape[axis], seed: seed % 10_000, parity };
        (random::shape(axes), 0..axes).prop_flat_map(move |(shape, axis)| {
            let component_lists = component_lists(&shape, axis);
            random::placed(shape, Some(axis), ranks).prop_map(move |array| (array, Some(component_lists)))
        })
    });
    (prop_oneof![plain, listed], neighbours).prop_map(|((array, component_lists), neighbours)| ArrayUpdate {
        array,
        neighbours,
        component_lists,
    })
}

fn exchange() -> impl Strategy<Value = Vec<ArrayUpdate>> {
    random::ranks().prop_flat_map(|ranks| prop::collection::vec(array_update(ranks), 1..4))
}

fn plans(exchange: &[ArrayUpdate], reverse: bool) -> Vec<RankPlan> {
    let specs: Vec<_> = exchange.iter().map(|array_update| array_update.spec(reverse)).collect();
    let arrays: Vec<_> = exchange.iter().map(|array_update| &array_update.array).zip(&specs).collect();
    (0..exchange[0].array.ranks()).map(|rank| ghosts(&arrays, rank).unwrap()).collect()
}

fn check_equals_truth(
    exchange: &[ArrayUpdate],
    reverse: bool,
    combine: &dyn Fn(&u64, &u64) -> u64,
) -> Result<(), TestCaseError> {
    let arrays = || exchange.iter().enumerate();
    let mut memories: Vec<_> =
        arrays().map(|(at, array_update)| random::memory(&array_update.array, at as u64)).collect();
    let truth = |(at, array_update): (usize, &ArrayUpdate)| {
        let (chunks, before) = (array_update.array.chunks(), Cells::of(&memories[at], &array_update.array));
        let takes = |direction: &[i8], cell: &[i64]| array_update.takes(direction, cell);
        if reverse {
            truth::reverse_ghosts(chunks, &before, &takes, combine)
        } else {
            truth::ghosts(chunks, &before, &takes)
        }
    };
    let expected: Vec<_> = arrays().map(truth).collect();
    let operands: Vec<_> =
        arrays().map(|(memory, array_update)| Operand { placement: &array_update.array, memory }).collect();
    execute(&plans(exchange, reverse), &operands, &mut memories, combine).unwrap();
    for (at, array_update) in arrays() {
        prop_assert_eq!(&Cells::of(&memories[at], &array_update.array), &expected[at]);
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
        check_equals_truth(&exchange, false, &replace)?;
    }

    #[test]
    fn reverse_ghost_update_replaces_in_a_fixed_order(exchange in exchange()) {
        check_equals_truth(&exchange, true, &replace)?;
    }

    #[test]
    fn reverse_ghost_update_combines_in_a_fixed_order(exchange in exchange()) {
        check_equals_truth(&exchange, true, &merge_in_order)?;
    }

    /// Each neighbour sends one message with few boxes for any number of arrays.
    #[test]
    fn messages_and_totals_equal_cell_counts(exchange in exchange(), reverse in any::<bool>()) {
        let plans = plans(&exchange, reverse);
        let bytes: Vec<usize> = (0..exchange.len()).map(|array| 4 << array).collect();
        let mut expected = HashMap::new();
        for (array, array_update) in exchange.iter().enumerate() {
            for (from, to, cells) in crossings(array_update) {
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

    #[test]
    fn rounds_of_a_grid_are_matchings(case in grid(), faces in any::<bool>(), reverse in any::<bool>()) {
        let neighbours = if faces { Neighbours::Faces } else { Neighbours::All };
        let exchange = [ArrayUpdate { array: case, neighbours, component_lists: None }];
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

/// Number of cells from rank to rank, counted per ghost cell.
fn crossings(array_update: &ArrayUpdate) -> Vec<(usize, usize, u64)> {
    let mut cells = HashMap::new();
    let chunks: &Chunks = array_update.array.chunks();
    for chunk in 0..chunks.count() {
        let owner = array_update.array.ownership().owner(chunk);
        let own = chunks.region(chunk);
        for cell in chunks.storage(chunk).points().filter(|cell| !own.contains(cell)) {
            let side = |axis: usize| i8::from(cell[axis] >= own.end[axis]) - i8::from(cell[axis] < own.start[axis]);
            let direction: Vec<i8> = (0..cell.axes()).map(side).collect();
            let image = array_update.array.to_global(owner, &(cell - own.start));
            if let Some(image) = image.filter(|_| array_update.takes(&direction, &cell)) {
                *cells.entry((array_update.array.holder(&image).unwrap().rank, owner.rank)).or_insert(0) += 1;
            }
        }
    }
    cells.into_iter().map(|((from, to), cells)| (from, to, cells)).collect()
}

fn line_array(extent: i64, split: Split, lo: i64, hi: i64, periodic: bool, ranks: usize) -> Placement {
    let layout = Layout::new([extent]).split([split]).ghost_sides([(lo, hi)]).periodic([periodic]);
    Placement::balanced(layout.resolve(ranks, 4, u64::MAX).unwrap(), ranks)
}

fn updated_cells(array: &Placement, chunk: usize) -> Vec<i64> {
    let mut memory = [zippy_testing::oracle::Memory::new(array, |chunk, cell| {
        if array.chunks().region(chunk).contains(&cell) { cell[0] } else { -1 }
    })];
    let plans: Vec<_> = (0..array.ranks()).map(|rank| ghosts(&[(array, &GhostSpec::all())], rank).unwrap()).collect();
    execute(&plans, &[Operand { placement: array, memory: 0 }], &mut memory, &|new, _| *new).unwrap();
    memory[0].chunk(array, chunk).to_vec()
}

#[test]
fn wide_ghost_cells_span_several_chunks() {
    let array = line_array(7, Split::from([2, 1, 0, 1, 3]), 3, 2, false, 3);
    assert_eq!(updated_cells(&array, 3), [0, 1, 2, 3, 4, 5]);
    assert_eq!(updated_cells(&array, 0), [-1, -1, -1, 0, 1, 2, 3]);
    assert_eq!(updated_cells(&array, 2), [0; 0], "an empty chunk has no ghosts");
}

#[test]
fn axis_shorter_than_its_ghost_width_has_several_images() {
    let alone = line_array(2, Split::Whole, 5, 3, true, 1);
    assert_eq!(updated_cells(&alone, 0), [1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
    let plan = ghosts(&[(&alone, &GhostSpec::all())], 0).unwrap();
    assert!(plan.sends.is_empty() && plan.receives.is_empty(), "a rank is its own neighbour without messages");
    let shared = line_array(3, Split::from([1, 2]), 4, 4, true, 2);
    assert_eq!(updated_cells(&shared, 0), [2, 0, 1, 2, 0, 1, 2, 0, 1]);
    assert_eq!(updated_cells(&shared, 1), [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
}

#[test]
fn reverse_update_sums_several_ghost_cells_of_one_cell() {
    let array = line_array(3, Split::from([1, 2]), 4, 4, true, 2);
    let mut memory = [zippy_testing::oracle::Memory::new(&array, |_, _| 1_i64)];
    let spec = GhostSpec::all().reversed();
    let plans: Vec<_> = (0..2).map(|rank| ghosts(&[(&array, &spec)], rank).unwrap()).collect();
    execute(&plans, &[Operand { placement: &array, memory: 0 }], &mut memory, &|a, b| a + b).unwrap();
    let own: Vec<i64> =
        [0, 1, 1].iter().zip([4, 4, 5]).map(|(&chunk, at)| memory[0].chunk(&array, chunk)[at]).collect();
    // Sum over all 9 + 10 stored cells, of which 3 are owned.
    assert_eq!(own.iter().sum::<i64>(), 9 + 10);
    assert_eq!(own, [7, 6, 6]);
}

#[test]
fn component_lists_follow_the_parity_of_the_step() {
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
