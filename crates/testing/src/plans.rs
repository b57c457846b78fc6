//! Random layouts, owners and regions of few cells with 1 to 7 axes.

use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;
use zippy_plan::chunks::Chunks;
use zippy_plan::extents::Index;
use zippy_plan::layout::{Layout, Split};
use zippy_plan::locate::Placement;
use zippy_plan::ownership::Ownership;
use zippy_plan::plan::RankPlan;
use zippy_plan::region::Region;

use crate::oracle::Memory;

/// Maximum extent by number of axes: arrays have at most a few thousand cells.
const EXTENT: [i64; 7] = [40, 13, 9, 6, 4, 3, 3];
/// Maximum ghost width by number of axes; wider than a chunk, and often than an axis.
const GHOST: [i64; 7] = [45, 9, 4, 3, 2, 1, 1];

pub fn axes() -> impl Strategy<Value = usize> {
    1_usize..=7
}

pub fn shape(axes: usize) -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(prop_oneof![1 => Just(0), 40 => 1..=EXTENT[axes - 1]], axes)
}

const PARTS: [usize; 7] = [5, 5, 5, 4, 3, 2, 2];

fn split(extent: i64, axes: usize) -> impl Strategy<Value = Split> {
    let sizes = prop::collection::vec(0..=extent, 0..PARTS[axes - 1]).prop_map(move |mut cuts| {
        cuts.extend([0, extent]);
        cuts.sort_unstable();
        Split::Sizes(cuts.windows(2).map(|pair| pair[1] - pair[0]).collect())
    });
    prop_oneof![Just(Split::Whole), (1..=PARTS[axes - 1]).prop_map(Split::Even), sizes]
}

/// Random k-d cut into boxes, in random order: each step cuts a box along an axis.
fn boxes(shape: Vec<i64>) -> impl Strategy<Value = Vec<Region>> {
    let steps = prop::collection::vec((any::<prop::sample::Index>(), 0..shape.len(), 0_i64..=8), 0..12);
    let cut = move |steps: Vec<(prop::sample::Index, usize, i64)>| {
        let mut boxes = vec![Region::whole(Index::new(&shape))];
        for (which, axis, eighths) in steps {
            let at = which.index(boxes.len());
            let mut rest = boxes[at];
            boxes[at].end[axis] = rest.start[axis] + (rest.end[axis] - rest.start[axis]) * eighths / 8;
            rest.start[axis] = boxes[at].end[axis];
            boxes.push(rest);
        }
        boxes
    };
    steps.prop_map(cut).prop_shuffle()
}

pub fn cuts(shape: Vec<i64>) -> BoxedStrategy<Layout> {
    let grid = {
        let shape = shape.clone();
        let splits: Vec<_> = shape.iter().map(|&extent| split(extent, shape.len())).collect();
        splits.prop_map(move |splits| Layout::from_shape(&shape).split_list(splits))
    };
    let cover = boxes(shape.clone()).prop_map(move |boxes| Layout::from_shape(&shape).boxes(boxes));
    prop_oneof![2 => grid, 1 => cover].boxed()
}

/// Random ghost widths before and after a chunk, on at most three axes, so that storage with seven
/// axes stays small. Axis `without` has none.
fn widths(axes: usize, without: Option<usize>) -> impl Strategy<Value = (Vec<i64>, Vec<i64>)> {
    let width = move || prop_oneof![2 => 0..=GHOST[axes - 1].min(2), 1 => 0..=GHOST[axes - 1]];
    let side = move || prop::collection::vec(width(), axes);
    let which = prop::sample::subsequence((0..axes).collect::<Vec<_>>(), 0..=axes.min(3));
    (side(), side(), which).prop_map(move |(lo, hi, which)| {
        let keep = |widths: Vec<i64>| {
            let kept = |(axis, width)| if which.contains(&axis) && without != Some(axis) { width } else { 0 };
            widths.into_iter().enumerate().map(kept).collect()
        };
        (keep(lo), keep(hi))
    })
}

/// Random chunks of a shape, with ghost cells and periodic axes; no ghost cells along `without`.
pub fn chunks(shape: Vec<i64>, without: Option<usize>) -> impl Strategy<Value = Arc<Chunks>> {
    let axes = shape.len();
    let periodic = prop::collection::vec(any::<bool>(), axes);
    (cuts(shape), widths(axes, without), periodic).prop_map(|(layout, (lo, hi), periodic)| {
        let layout = layout.ghost_lists(&lo, &hi).periodic_list(&periodic);
        Arc::new(layout.resolve(1, 4, u64::MAX).unwrap())
    })
}

/// Random owners: balanced runs, or any table, which can leave ranks without chunks.
pub fn owners(count: usize, ranks: usize) -> BoxedStrategy<Arc<Ownership>> {
    let table = move |below: usize| {
        let table = prop::collection::vec(0..below, count);
        table.prop_map(move |table| Arc::new(Ownership::table(table, ranks).unwrap()))
    };
    let balanced = Just(Arc::new(Ownership::balanced(count, ranks)));
    prop_oneof![balanced, table(ranks), table(ranks.div_ceil(2))].boxed()
}

pub fn placed(shape: Vec<i64>, without: Option<usize>, ranks: usize) -> impl Strategy<Value = Placement> {
    chunks(shape, without).prop_flat_map(move |chunks| {
        owners(chunks.count(), ranks).prop_map(move |owners| Placement::new(chunks.clone(), owners).unwrap())
    })
}

pub fn array(ranks: usize) -> impl Strategy<Value = Placement> {
    axes().prop_flat_map(shape).prop_flat_map(move |shape| placed(shape, None, ranks))
}

pub fn ranks() -> impl Strategy<Value = usize> {
    1_usize..=7
}

/// The extents must fit into the shape.
pub fn region_of(shape: &[i64], extents: &[i64]) -> impl Strategy<Value = Region> + use<> {
    let start: Vec<_> = shape.iter().zip(extents).map(|(whole, part)| 0..=whole - part).collect();
    let extents = Index::new(extents);
    start.prop_map(move |start| Region::at(Index::new(&start), extents))
}

/// Random extents of at most `limit`, usually not zero.
pub fn extents(limit: Vec<i64>) -> impl Strategy<Value = Vec<i64>> {
    limit.into_iter().map(|most| prop_oneof![1 => 0..=most, 20 => 1.min(most)..=most]).collect::<Vec<_>>()
}

pub fn region(shape: Vec<i64>) -> impl Strategy<Value = Region> {
    extents(shape.clone()).prop_flat_map(move |extents| region_of(&shape, &extents))
}

/// Fills each stored cell, also each ghost cell, with a unique value.
pub fn memory(placement: &Placement, array: u64) -> Memory<u64> {
    Memory::new(placement, |chunk, cell| {
        let position = cell.iter().fold(7_u64, |code, &x| code * 101 + (x + 50) as u64);
        position << 12 | (chunk as u64) << 2 | array
    })
}

/// Returns the plans of all ranks as one table: bytes and messages per pair of ranks, and per
/// round.
pub fn explain_all(plans: &[RankPlan], element_bytes: &[usize]) -> String {
    let mut out = String::from("  from    to  round  boxes         bytes\n");
    let rounds = plans.iter().map(|plan| plan.rounds).max().unwrap_or(0);
    let mut per_round = vec![(0_u64, 0_u64); rounds];
    for plan in plans {
        for message in &plan.sends {
            let (bytes, boxes) = (message.bytes(element_bytes), message.moves.len());
            let _ =
                writeln!(out, "{:>6}  {:>4}  {:>5}  {boxes:>5}  {bytes:>12}", plan.rank, message.peer, message.round);
            per_round[message.round].0 += 1;
            per_round[message.round].1 += bytes;
        }
    }
    out.push_str(" round  messages         bytes\n");
    for (round, (messages, bytes)) in per_round.iter().enumerate().filter(|(_, (messages, _))| *messages > 0) {
        let _ = writeln!(out, "{round:>6}  {messages:>8}  {bytes:>12}");
    }
    let local: u64 = plans.iter().map(|plan| plan.moved(element_bytes).bytes_local).sum();
    let _ = writeln!(out, "inside ranks: {local} bytes");
    out
}
