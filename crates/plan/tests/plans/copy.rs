//! Plans of copy and composite, compared with the truth for random arrays, owners and regions.

use std::collections::{HashMap, HashSet};

use petgraph::algo::maximum_matching;
use petgraph::graph::UnGraph;
use proptest::prelude::*;
use zippy::error::PlanError;
use zippy::extents::Index;
use zippy::layout::{Layout, Split};
use zippy::locate::Placement;
use zippy::plan::{CopySpec, Moved, RankPlan, copy};
use zippy::region::Region;
use zippy_testing::oracle::truth::{self, Cells};
use zippy_testing::oracle::{Operand, check, execute};
use zippy_testing::random::merge_in_order;

use super::random;

/// Copy between two arrays with the same number of axes.
#[derive(Debug, Clone)]
struct Case {
    src: Placement,
    src_region: Region,
    dst: Placement,
    dst_region: Region,
    order: Option<Vec<usize>>,
    aliased: bool,
}

impl Case {
    fn spec(&self) -> CopySpec<'_> {
        CopySpec {
            src: &self.src,
            src_region: self.src_region,
            dst: &self.dst,
            dst_region: self.dst_region,
            aliased: self.aliased,
            permutation: self.order.as_deref(),
        }
    }

    fn order(&self) -> Vec<usize> {
        self.order.clone().unwrap_or_else(|| (0..self.src.chunks().axes()).collect())
    }

    fn plans(&self) -> Vec<RankPlan> {
        (0..self.src.ranks()).map(|rank| copy(&self.spec(), rank).unwrap()).collect()
    }
}

fn regions(src: Vec<i64>, dst: Vec<i64>, order: Vec<usize>) -> impl Strategy<Value = (Region, Region)> {
    let limit = (0..dst.len()).map(|axis| dst[axis].min(src[order[axis]])).collect();
    random::extents(limit).prop_flat_map(move |extents| {
        let mut permuted = extents.clone();
        (0..extents.len()).for_each(|axis| permuted[order[axis]] = extents[axis]);
        (random::region_of(&src, &permuted), random::region_of(&dst, &extents))
    })
}

fn order(axes: usize) -> impl Strategy<Value = Option<Vec<usize>>> {
    prop_oneof![Just(None), Just((0..axes).collect::<Vec<_>>()).prop_shuffle().prop_map(Some)]
}

fn copy_between_arrays() -> impl Strategy<Value = Case> {
    (random::axes(), random::ranks()).prop_flat_map(|(axes, ranks)| {
        (random::shape(axes), random::shape(axes), order(axes)).prop_flat_map(move |(from, to, order)| {
            let axes = order.clone().unwrap_or_else(|| (0..from.len()).collect());
            let arrays = (random::placed(from.clone(), None, ranks), random::placed(to.clone(), None, ranks));
            (arrays, regions(from, to, axes)).prop_map(move |((src, dst), (src_region, dst_region))| {
                let order = order.clone();
                Case { src, src_region, dst, dst_region, order, aliased: false }
            })
        })
    })
}

fn copy_within_array() -> impl Strategy<Value = Case> {
    let array = random::ranks().prop_flat_map(random::array);
    array.prop_flat_map(|array| {
        let shape = array.chunks().shape().to_vec();
        let axes: Vec<usize> = (0..shape.len()).collect();
        let count = array.chunks().count();
        let swaps = prop::collection::vec((0..count, 0..count), 0..6);
        (Just(array), swaps, order(axes.len())).prop_flat_map(move |(array, swaps, order)| {
            let mut permutation: Vec<usize> = (0..count).collect();
            let extents = |chunk| array.chunks().region(chunk).extents();
            swaps.iter().filter(|(a, b)| extents(*a) == extents(*b)).for_each(|&(a, b)| permutation.swap(a, b));
            let dst = array.reassigned(&permutation).unwrap();
            let along = order.clone().unwrap_or_else(|| axes.clone());
            regions(shape.clone(), shape.clone(), along).prop_map(move |(src_region, dst_region)| Case {
                src: array.clone(),
                src_region,
                dst: dst.clone(),
                dst_region,
                order: order.clone(),
                aliased: true,
            })
        })
    })
}

fn check_equals_truth(case: &Case, combine: &dyn Fn(&u64, &u64) -> u64) -> Result<(), TestCaseError> {
    let mut memories = vec![random::memory(&case.src, 0)];
    if !case.aliased {
        memories.push(random::memory(&case.dst, 1));
    }
    let target = memories.len() - 1;
    let src_before = Cells::of(&memories[0], &case.src);
    let dst_before = Cells::of(&memories[target], &case.dst);
    let src = (&**case.src.chunks(), &src_before, &case.src_region);
    let dst = (&**case.dst.chunks(), &dst_before, &case.dst_region);
    let expected = truth::copy(src, dst, &case.order(), combine);
    let operands = [Operand { placement: &case.src, memory: 0 }, Operand { placement: &case.dst, memory: target }];
    execute(&case.plans(), &operands, &mut memories, combine).unwrap();
    prop_assert_eq!(Cells::of(&memories[target], &case.dst), expected);
    if !case.aliased {
        prop_assert_eq!(Cells::of(&memories[0], &case.src), src_before, "the source has changed");
    }
    Ok(())
}

fn check_rounds_are_matchings(plans: &[RankPlan]) -> Result<(), TestCaseError> {
    let mut by_round: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
    for plan in plans {
        let sends = plan.sends.iter().map(|message| (message.round, (plan.rank, message.peer)));
        sends.for_each(|(round, edge)| by_round.entry(round).or_default().push(edge));
    }
    for (round, edges) in &by_round {
        let (from, to): (HashSet<_>, HashSet<_>) = edges.iter().copied().unzip();
        prop_assert!(from.len() == edges.len() && to.len() == edges.len(), "round {} is {:?}", round, edges);
        // A maximum matching of a matching has all its edges.
        let nodes = edges.iter().map(|&(from, to)| (from as u32, (plans.len() + to) as u32));
        let graph = UnGraph::<(), ()>::from_edges(nodes);
        prop_assert_eq!(maximum_matching(&graph).edges().count(), edges.len());
    }
    let busiest = plans.iter().map(|plan| plan.sends.len().max(plan.receives.len())).max().unwrap_or(0);
    for plan in plans {
        let talks = !(plan.sends.is_empty() && plan.receives.is_empty());
        prop_assert_eq!(plan.rounds, if talks { busiest } else { 0 });
    }
    Ok(())
}

fn check_sums_and_tables(case: &Case, plans: &[RankPlan]) -> Result<(), TestCaseError> {
    let bytes = [12, 12];
    let moved: Vec<Moved> = plans.iter().map(|plan| plan.moved(&bytes)).collect();
    let (local, network) = moved.iter().fold((0, 0), |(l, n), m| (l + m.bytes_local, n + m.bytes_network));
    prop_assert_eq!(local + network, case.dst_region.cells() * 12);
    // Expected values, cell by cell: bytes that stay on their rank, and pairs of other ranks.
    let order = case.order();
    let (mut stays, mut pairs) = (0, HashSet::new());
    for cell in case.dst_region.points() {
        let mut from = case.src_region.start;
        (0..cell.axes()).for_each(|axis| from[order[axis]] += cell[axis] - case.dst_region.start[axis]);
        let ends = (case.src.holder(&from).unwrap().rank, case.dst.holder(&cell).unwrap().rank);
        if ends.0 == ends.1 { stays += 12 } else { pairs.extend([ends]) }
    }
    prop_assert_eq!(local, stays);
    prop_assert_eq!(moved.iter().map(|moved| moved.messages).sum::<u64>(), pairs.len() as u64);
    let table = crate::random::explain_all(plans, &bytes);
    prop_assert_eq!(table.lines().last().unwrap(), format!("inside ranks: {local} bytes"));
    for (plan, moved) in plans.iter().zip(&moved) {
        let text = plan.explain(&bytes);
        let head = format!("rank {}: {} moves inside ({} bytes)", plan.rank, plan.local.len(), moved.bytes_local);
        prop_assert!(text.starts_with(&head), "{}", text);
        let lines = plan.sends.len() + plan.receives.len();
        prop_assert_eq!(text.lines().count(), if lines == 0 { 1 } else { 2 + lines });
    }
    Ok(())
}

fn check_payloads_are_dense(plans: &[RankPlan]) -> Result<(), TestCaseError> {
    for message in plans.iter().flat_map(|plan| &plan.sends) {
        for bytes in [1, 2, 12] {
            let (starts, end) = message.offsets(&[bytes, bytes]);
            let lengths = message.moves.iter().map(|this| this.cells() * bytes as u64);
            let ends = starts.iter().skip(1).copied().chain([end]);
            for ((start, end), length) in starts.iter().zip(ends).zip(lengths) {
                prop_assert!(
                    start % 4 == 0 && (0..4).contains(&(end - start - length)),
                    "{} {} {}",
                    start,
                    end,
                    length
                );
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn copy_between_arrays_equals_truth(case in copy_between_arrays()) {
        check_equals_truth(&case, &|arriving, _| *arriving)?;
    }

    #[test]
    fn copy_inside_an_array_reads_before_it_writes(case in copy_within_array()) {
        check_equals_truth(&case, &|arriving, _| *arriving)?;
    }

    #[test]
    fn composite_combines_each_cell_once(case in prop_oneof![copy_between_arrays(), copy_within_array()]) {
        check_equals_truth(&case, &merge_in_order)?;
    }

    #[test]
    fn schedule_totals_and_table_equal_cell_counts(case in prop_oneof![copy_between_arrays(), copy_within_array()]) {
        let plans = case.plans();
        check(&plans, &[&case.src, &case.dst]).unwrap();
        check_rounds_are_matchings(&plans)?;
        check_sums_and_tables(&case, &plans)?;
        check_payloads_are_dense(&plans)?;
        // Plans depend only on the content of arrays.
        let again = Placement::new(case.src.chunks().as_ref().clone().into(), case.src.ownership().as_ref().clone().into());
        let again = Case { src: again.unwrap(), ..case.clone() };
        prop_assert_eq!(again.plans(), plans);
    }

    #[test]
    fn rank_without_cells_of_regions_has_empty_plan(case in copy_between_arrays()) {
        for (rank, plan) in case.plans().iter().enumerate() {
            let reads = case.src.held_by(rank).any(|(_, held)| held.intersects(&case.src_region));
            let writes = case.dst.held_by(rank).any(|(_, held)| held.intersects(&case.dst_region));
            prop_assert_eq!(plan.is_empty(), !(reads || writes) || case.dst_region.is_empty());
        }
    }

    #[test]
    fn check_refuses_broken_plan(case in copy_between_arrays(), which in any::<prop::sample::Index>()) {
        let plans = case.plans();
        let talking: Vec<usize> = (0..plans.len()).filter(|&rank| !plans[rank].sends.is_empty()).collect();
        prop_assume!(!talking.is_empty());
        let rank = talking[which.index(talking.len())];
        let broken = |change: &dyn Fn(&mut RankPlan)| {
            let mut plans = plans.clone();
            change(&mut plans[rank]);
            matches!(check(&plans, &[&case.src, &case.dst]), Err(PlanError::Disagree(_)))
        };
        prop_assert!(!broken(&|_| ()));
        prop_assert!(broken(&|plan| drop(plan.sends.pop())));
        prop_assert!(broken(&|plan| plan.sends[0].moves.clear()));
        prop_assert!(broken(&|plan| plan.sends[0].round += 1));
        prop_assert!(broken(&|plan| plan.sends[0].peer = plan.rank));
        prop_assert!(broken(&|plan| plan.sends[0].moves[0].src.end[0] += 1));
        prop_assert!(broken(&|plan| plan.sends.push(plan.sends[0].clone())));
        prop_assert!(broken(&|plan| plan.rank += 1));
    }
}

#[test]
fn invalid_copies_are_errors_on_every_rank() {
    let balanced = |layout: Layout, ranks| Placement::balanced(layout.resolve(ranks, 4, u64::MAX).unwrap(), ranks);
    let a = balanced(Layout::new([8, 6]).split_all(Split::Even(2)).ghost([1, 1]), 3);
    let b = balanced(Layout::new([6, 8]).split_all(Split::Whole), 3);
    let at = |start: [i64; 2], end: [i64; 2]| Region { start: Index::from(start), end: Index::from(end) };
    let whole = at([0, 0], [6, 6]);
    let good = CopySpec { src: &a, src_region: whole, dst: &b, dst_region: whole, aliased: false, permutation: None };
    let text = |spec: CopySpec<'_>| {
        let all: Vec<_> = (0..3).map(|rank| copy(&spec, rank).unwrap_err().to_string()).collect();
        assert!(all.iter().all(|text| *text == all[0]), "{all:?}");
        all[0].clone()
    };
    assert!((0..3).all(|rank| copy(&good, rank).is_ok()));
    let region = |src_region| text(CopySpec { src_region, ..good });
    assert!(region(at([0, 0], [9, 6])).contains("the source: region"));
    assert!(region(at([-1, 0], [5, 6])).contains("on axis 0"), "ghost cells cannot be named");
    assert!(region(at([2, 0], [0, 6])).contains("backwards"));
    assert!(region(at([i64::MIN, 0], [i64::MAX, 6])).contains("overflows"));
    assert!(region(at([0, 0], [6, 5])).contains("6 x 5"));
    assert!(text(CopySpec { dst_region: at([0, 3], [6, 9]), ..good }).contains("the destination: region"));
    assert!(text(CopySpec { permutation: Some(&[0, 0]), ..good }).contains("[0, 0] does not re-order 2 axes"));
    assert!(text(CopySpec { permutation: Some(&[0]), ..good }).contains("[0] does not"));
    let wide = CopySpec { src_region: at([0, 0], [8, 6]), dst_region: at([0, 0], [6, 8]), ..good };
    assert!(text(wide).contains("they must agree axis by axis"));
    assert!(copy(&CopySpec { permutation: Some(&[1, 0]), ..wide }, 0).is_ok());
    let other = balanced(Layout::new([6, 8]), 2);
    assert!(text(CopySpec { dst: &other, ..good }).contains("2 ranks where 3"));
    let line = balanced(Layout::new([6]), 3);
    let line_region = Region::whole(Index::from([6]));
    assert!(
        text(CopySpec { dst: &line, dst_region: line_region, ..good })
            .contains("the source has 2 axes, the destination 1")
    );
    assert!(matches!(copy(&good, 3), Err(PlanError::NoSuchRank { rank: 3, ranks: 3 })));
}

#[test]
fn re_arranged_chunks_are_exchanged_in_place() {
    let layout = Layout::new([8]).split([Split::Even(4)]);
    let src = Placement::balanced(layout.resolve(1, 4, u64::MAX).unwrap(), 1);
    let dst = src.reassigned(&[2, 3, 1, 0]).unwrap();
    let at = |start: i64, end: i64| Region::new(&[start], &[end]).unwrap();
    let case = Case { src, src_region: at(0, 4), dst, dst_region: at(4, 8), order: None, aliased: true };
    check_equals_truth(&case, &|arriving, _| *arriving).unwrap();
    let mut memory = [zippy_testing::oracle::Memory::new(&case.src, |_, cell| cell[0])];
    let operands = [&case.src, &case.dst].map(|placement| Operand { placement, memory: 0 });
    execute(&case.plans(), &operands, &mut memory, &|arriving, _| *arriving).unwrap();
    let now: Vec<i64> = (0..4).flat_map(|chunk| memory[0].chunk(&case.src, chunk).to_vec()).collect();
    assert_eq!(now, [2, 3, 0, 1, 4, 5, 6, 7]);
}
