//! [`order_copies`]: order of the copies of a call on one device. The result is the same as if all
//! sources were read before the first write. Only copies that overlap use temporary memory.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::box_overlap::{BoxSet, IndexedBox};
use crate::region::{Region, RegionTree};

/// Copy from one box to another, in the same or another buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BoxCopy {
    pub src: IndexedBox,
    pub dst: IndexedBox,
}

/// Step of a sequence of copies. Each step holds indices of copies.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CopyStep {
    /// Copies from sources to destinations, in any order or concurrently.
    Direct(Vec<usize>),
    /// Copies all sources to temporary memory, then the temporary memory to all destinations.
    Staged(Vec<usize>),
    /// Copies the source to temporary memory, for a later [`CopyStep::Release`].
    Hold(usize),
    /// Copies the held source to the destination.
    Release(usize),
}

/// Calls `visit(writer, reader)` for each pair of copies in which the destination of `writer`
/// overlaps the source of `reader`.
fn visit_hazards(copies: &[BoxCopy], visit: &mut dyn FnMut(usize, usize) -> ControlFlow<()>) -> ControlFlow<()> {
    let count = copies.len();
    let boxes = BoxSet::new(copies.iter().map(|copy| copy.src).chain(copies.iter().map(|copy| copy.dst)).collect());
    let regions = boxes.regions();
    let mut readers: HashMap<usize, Vec<usize>> = HashMap::new();
    for (j, copy) in copies.iter().enumerate() {
        readers.entry(copy.src.buffer).or_default().push(j);
    }
    let written: HashSet<usize> = copies.iter().map(|copy| copy.dst.buffer).collect();
    readers.retain(|buffer, _| written.contains(buffer));
    let tree = |readers: Vec<usize>| {
        let sources: Vec<Region> = readers.iter().map(|&j| regions[j]).collect();
        (readers, RegionTree::new(&sources))
    };
    let trees: HashMap<usize, _> = readers.into_iter().map(|(buffer, readers)| (buffer, tree(readers))).collect();
    for (i, copy) in copies.iter().enumerate() {
        let Some((readers, tree)) = trees.get(&copy.dst.buffer) else { continue };
        tree.visit(&regions[count + i], &mut |item, _| match readers[item] {
            j if boxes.can_overlap(count + i, j) => visit(i, j),
            _ => ControlFlow::Continue(()),
        })?;
    }
    ControlFlow::Continue(())
}

/// Copies whose sources the destination of one copy overlaps.
#[derive(Clone, Default)]
struct Hazards {
    /// Indices of the other copies with an overlapping source.
    other_readers: Vec<usize>,
    /// True if the destination overlaps the source of the same copy.
    has_self_overlap: bool,
}

fn find_hazards(copies: &[BoxCopy]) -> Vec<Hazards> {
    let mut hazards = vec![Hazards::default(); copies.len()];
    let _ = visit_hazards(copies, &mut |i, j| {
        if i == j {
            hazards[i].has_self_overlap = true
        } else {
            hazards[i].other_readers.push(j)
        }
        ControlFlow::Continue(())
    });
    hazards
}

/// True if the destination of any copy overlaps the source of any copy.
pub(super) fn has_hazard(copies: &[BoxCopy]) -> bool {
    visit_hazards(copies, &mut |_, _| ControlFlow::Break(())).is_break()
}

/// Cuts each copy along its slowest axes into copies of at most `limit` cells.
pub(super) fn cut_copies(copies: &[BoxCopy], limit: u64) -> Vec<BoxCopy> {
    let parts = |copy: &BoxCopy| {
        let BoxCopy { src, dst } = *copy;
        let views = src.view.cut(limit).zip(dst.view.cut(limit));
        views.map(move |((src_view, _), (dst_view, _))| BoxCopy {
            src: IndexedBox { view: src_view, ..src },
            dst: IndexedBox { view: dst_view, ..dst },
        })
    };
    copies.iter().flat_map(parts).collect()
}

/// Computes an order of copies in which no write changes a source before its read. Each
/// [`CopyStep::Staged`] of several copies has at most `limit` cells.
pub(super) fn order_copies(copies: &[BoxCopy], limit: u64) -> Vec<CopyStep> {
    let hazards = find_hazards(copies);
    // A copy is ready when all other readers of its destination have read.
    let mut pending_readers: Vec<usize> = hazards.iter().map(|hazards| hazards.other_readers.len()).collect();
    let mut waiting_writers = vec![Vec::new(); copies.len()];
    for (i, hazards) in hazards.iter().enumerate() {
        hazards.other_readers.iter().for_each(|&j| waiting_writers[j].push(i));
    }
    let mut held = vec![false; copies.len()];
    let mut read = vec![false; copies.len()];
    let mut ready: Vec<usize> = (0..copies.len()).filter(|&i| pending_readers[i] == 0).collect();
    let mut next_held = 0;
    let mut steps = Vec::new();
    loop {
        let mut now = std::mem::take(&mut ready);
        now.sort_unstable();
        let (releasing, unread): (Vec<_>, Vec<_>) = now.into_iter().partition(|&i| held[i]);
        steps.extend(releasing.into_iter().map(CopyStep::Release));
        let (staged, direct): (Vec<_>, Vec<_>) = unread.iter().copied().partition(|&i| hazards[i].has_self_overlap);
        if !direct.is_empty() {
            steps.push(CopyStep::Direct(direct));
        }
        let mut batch = Vec::new();
        let mut cells = 0;
        for i in staged {
            let copy_cells = copies[i].src.view.cells();
            if cells + copy_cells > limit && !batch.is_empty() {
                steps.push(CopyStep::Staged(std::mem::take(&mut batch)));
                cells = 0;
            }
            batch.push(i);
            cells += copy_cells;
        }
        if !batch.is_empty() {
            steps.push(CopyStep::Staged(batch));
        }
        let mut just_read = unread;
        if just_read.is_empty() {
            // Only cycles are left: hold the source of one copy.
            while next_held < copies.len() && read[next_held] {
                next_held += 1;
            }
            if next_held == copies.len() {
                return steps;
            }
            held[next_held] = true;
            steps.push(CopyStep::Hold(next_held));
            just_read.push(next_held);
        }
        for j in just_read {
            read[j] = true;
            for &i in &waiting_writers[j] {
                pending_readers[i] -= 1;
                if pending_readers[i] == 0 {
                    ready.push(i);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::box_pair::BoxPair;
    use crate::device::boxes::StridedBox;
    use crate::device::host_transfers::copy_cells::copy_cells;

    fn view(offset: u64, extents: [i64; 2], strides: [i64; 2]) -> StridedBox {
        StridedBox { offset, extents: extents.into(), strides: strides.into() }
    }

    /// Runs the steps on vectors, and compares the result with copies that read all sources first.
    fn run_and_check(copies: &[BoxCopy], buffers: usize, len: usize, limit: u64) -> Vec<CopyStep> {
        let start: Vec<Vec<u8>> = (0..buffers).map(|b| (0..len).map(|i| (b * 97 + i * 7) as u8).collect()).collect();
        let mut expected = start.clone();
        for copy in copies {
            let transfer = BoxPair::new(&copy.src.view, &copy.dst.view);
            copy_cells(&start[copy.src.buffer], &mut expected[copy.dst.buffer], 1, &transfer);
        }
        let parts = cut_copies(copies, limit);
        let steps = order_copies(&parts, limit);
        let mut state = start;
        let mut staged: Vec<Option<Vec<u8>>> = vec![None; parts.len()];
        let mut writes = 0;
        for step in &steps {
            // A direct step can run in any order: backwards here.
            let (reads, writes_of_step) = match step {
                CopyStep::Direct(all) => (vec![], all.iter().rev().copied().collect()),
                CopyStep::Staged(all) => (all.clone(), all.clone()),
                CopyStep::Hold(i) => (vec![*i], vec![]),
                CopyStep::Release(i) => (vec![], vec![*i]),
            };
            reads.into_iter().for_each(|i| staged[i] = Some(state[parts[i].src.buffer].clone()));
            for i in writes_of_step {
                let from = staged[i].clone().unwrap_or_else(|| state[parts[i].src.buffer].clone());
                let transfer = BoxPair::new(&parts[i].src.view, &parts[i].dst.view);
                copy_cells(&from, &mut state[parts[i].dst.buffer], 1, &transfer);
                writes += 1;
            }
        }
        assert_eq!(writes, parts.len());
        assert_eq!(state, expected);
        steps
    }

    fn copy(src: (usize, StridedBox), dst: (usize, StridedBox)) -> BoxCopy {
        let [src, dst] = [src, dst].map(|(buffer, view)| IndexedBox { buffer, view });
        BoxCopy { src, dst }
    }

    #[test]
    fn disjoint_copies_are_direct() {
        let (a, b) = (view(0, [4, 5], [1, 10]), view(4, [4, 5], [1, 10]));
        let steps = run_and_check(&[copy((0, a), (0, b)), copy((1, b), (1, a))], 2, 100, 1000);
        assert_eq!(steps, [CopyStep::Direct(vec![0, 1])]);
    }

    #[test]
    fn shifts_in_every_direction_hold_nothing() {
        for from in [0, 1, 9, 10, 11, 12, 20, 22] {
            for to in [0, 1, 9, 10, 11, 12, 20, 22] {
                let (a, b) = (view(from, [7, 8], [1, 10]), view(to, [7, 8], [1, 10]));
                let steps = run_and_check(&[copy((0, a), (0, b))], 1, 120, 14);
                assert!(!steps.iter().any(|s| matches!(s, CopyStep::Hold(_))), "{steps:?}");
            }
        }
    }

    #[test]
    fn cycles_and_transpositions_give_correct_cells() {
        let (a, b, c) = (view(0, [4, 4], [1, 10]), view(5, [4, 4], [1, 10]), view(50, [4, 4], [1, 10]));
        run_and_check(&[copy((0, a), (0, b)), copy((0, b), (0, c)), copy((0, c), (0, a))], 1, 100, 8);
        run_and_check(&[copy((0, a), (1, b)), copy((1, b), (0, a))], 2, 100, 100);
        let transposed = view(0, [4, 4], [10, 1]);
        run_and_check(&[copy((0, a), (0, transposed))], 1, 100, 4);
        let whole = view(0, [9, 9], [1, 10]);
        run_and_check(
            &[
                copy((0, whole), (0, view(11, [9, 9], [1, 10]))),
                copy((1, view(50, [9, 1], [1, 10])), (0, view(0, [9, 1], [1, 10]))),
            ],
            2,
            130,
            9,
        );
    }
}
