//! In which order copies within one device run, so that all behave as if every source were read before anything is
//! written, with as little temporary memory as the overlaps allow.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::boxes::Strided;
use crate::extents::{Index, MAX_AXES};
use crate::region::{Region, RegionTree, levels};

/// One copy: a box of one buffer to a box of another or the same; buffers are numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Copy {
    pub src: (usize, Strided),
    pub dst: (usize, Strided),
}

/// Copies are given by their number.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// Straight from source to destination, in any order or at once.
    Direct(Vec<usize>),
    /// All sources into temporary memory, then all destinations from it.
    Staged(Vec<usize>),
    /// The source into temporary memory, which stays.
    Hold(usize),
    /// The destination from memory held.
    Release(usize),
}

/// Boxes that may lie in several buffers, ready to be compared with each other.
pub(super) struct Boxes {
    boxes: Vec<(usize, Strided)>,
    /// Position and extent along every stride that boxes of the same buffer have, where they are unambiguous.
    intervals: Vec<Option<Intervals>>,
}

/// Along each stride of a buffer, from the largest.
type Intervals = [(u64, u64); MOST_STRIDES];

/// Boxes of one buffer that have more strides than this are compared by their ends only.
const MOST_STRIDES: usize = MAX_AXES + 1;

impl Boxes {
    pub fn new(boxes: Vec<(usize, Strided)>) -> Self {
        let mut strides: HashMap<usize, Vec<u64>> = HashMap::new();
        for (buffer, view) in &boxes {
            let known = strides.entry(*buffer).or_insert_with(|| vec![1]);
            for axis in (0..view.extents.axes()).filter(|&axis| view.extents[axis] > 1) {
                let stride = view.strides[axis] as u64;
                if !known.contains(&stride) {
                    known.push(stride);
                }
            }
        }
        strides.values_mut().for_each(|known| known.sort_unstable_by(|x, y| y.cmp(x)));
        let intervals = boxes.iter().map(|(buffer, view)| intervals(view, &strides[buffer])).collect();
        Self { boxes, intervals }
    }

    /// Whether two boxes may have an element in common; exact for boxes of the same dense storage.
    pub fn overlap(&self, i: usize, j: usize) -> bool {
        let ((buffer_a, a), (buffer_b, b)) = (&self.boxes[i], &self.boxes[j]);
        if buffer_a != buffer_b || a.cells() == 0 || b.cells() == 0 {
            return false;
        }
        match (&self.intervals[i], &self.intervals[j]) {
            (Some(a), Some(b)) => a.iter().zip(b).all(|(a, b)| a.0 < b.0 + b.1 && b.0 < a.0 + a.1),
            _ => a.end().is_ok_and(|end| b.offset < end) && b.end().is_ok_and(|end| a.offset < end),
        }
    }
}

/// A region for every box, such that boxes of one buffer may overlap only where their regions do: positions along strides
/// where all boxes of the buffer have them, else the elements from first to last.
fn regions(boxes: &Boxes) -> Vec<Region> {
    let mut axes: HashMap<usize, usize> = HashMap::new();
    for ((buffer, _), intervals) in boxes.boxes.iter().zip(&boxes.intervals) {
        let known = axes.entry(*buffer).or_insert(MAX_AXES);
        *known = if intervals.is_some() { *known } else { 1 };
    }
    let region = |((buffer, view), intervals): (&(usize, Strided), &Option<Intervals>)| {
        let axes = axes[buffer];
        match intervals {
            _ if view.cells() == 0 => Region::whole(Index::zeros(axes)),
            Some(intervals) if axes > 1 => Region::at(
                Index::from_fn(axes, |axis| intervals[axis].0 as i64),
                Index::from_fn(axes, |axis| intervals[axis].1 as i64),
            ),
            _ => Region::between([view.offset as i64].into(), [view.end().unwrap_or(u64::MAX / 2) as i64].into()),
        }
    };
    boxes.boxes.iter().zip(&boxes.intervals).map(region).collect()
}

/// For every box (buffer and view), how many dispatches must come before its own: one more than any earlier box that it
/// overlaps.
pub(super) fn layers(boxes: Vec<(usize, Strided)>) -> Vec<usize> {
    let boxes = Boxes::new(boxes);
    let writes: Vec<_> = boxes.boxes.iter().zip(regions(&boxes)).map(|(of, region)| (of.0, region, true)).collect();
    levels(&writes)
}

/// Position and extent along each stride (sorted from the largest), if no position carries over into the next larger
/// stride, so that they tell cells apart.
fn intervals(view: &Strided, strides: &[u64]) -> Option<Intervals> {
    if strides.len() > MOST_STRIDES {
        return None;
    }
    let mut out = [(0, 1); MOST_STRIDES];
    let mut rest = view.offset;
    for (k, &stride) in strides.iter().enumerate() {
        if stride == 0 {
            return None;
        }
        out[k].0 = rest / stride;
        rest %= stride;
        for axis in (0..view.extents.axes()).filter(|&a| view.extents[a] > 1 && view.strides[a] as u64 == stride) {
            if out[k].1 > 1 {
                return None;
            }
            out[k].1 = view.extents[axis] as u64;
        }
    }
    let mut reach = 0;
    for (k, &stride) in strides.iter().enumerate().rev() {
        reach += (out[k].0 + out[k].1 - 1) * stride;
        if k > 0 && reach >= strides[k - 1] {
            return None;
        }
    }
    Some(out)
}

/// Calls with every copy whose destination overlaps a source, and whose that is.
fn visit_hazards(copies: &[Copy], found: &mut dyn FnMut(usize, usize) -> ControlFlow<()>) -> ControlFlow<()> {
    let n = copies.len();
    let boxes = Boxes::new(copies.iter().map(|copy| copy.src).chain(copies.iter().map(|copy| copy.dst)).collect());
    let regions = regions(&boxes);
    let mut readers: HashMap<usize, Vec<usize>> = HashMap::new();
    for (j, copy) in copies.iter().enumerate() {
        readers.entry(copy.src.0).or_default().push(j);
    }
    let written: HashSet<usize> = copies.iter().map(|copy| copy.dst.0).collect();
    readers.retain(|buffer, _| written.contains(buffer));
    let tree = |readers: Vec<usize>| {
        let sources: Vec<Region> = readers.iter().map(|&j| regions[j]).collect();
        (readers, RegionTree::new(&sources))
    };
    let trees: HashMap<usize, _> = readers.into_iter().map(|(buffer, readers)| (buffer, tree(readers))).collect();
    for (i, copy) in copies.iter().enumerate() {
        let Some((readers, tree)) = trees.get(&copy.dst.0) else { continue };
        tree.visit(&regions[n + i], &mut |item, _| match readers[item] {
            j if boxes.overlap(n + i, j) => found(i, j),
            _ => ControlFlow::Continue(()),
        })?;
    }
    ControlFlow::Continue(())
}

/// For every copy, the others whose source its destination overlaps, and whether it overlaps its own.
fn hazards(copies: &[Copy]) -> (Vec<Vec<usize>>, Vec<bool>) {
    let (mut of_others, mut of_self) = (vec![Vec::new(); copies.len()], vec![false; copies.len()]);
    let _ = visit_hazards(copies, &mut |i, j| {
        if i == j {
            of_self[i] = true
        } else {
            of_others[i].push(j)
        }
        ControlFlow::Continue(())
    });
    (of_others, of_self)
}

/// Whether any destination overlaps any source.
pub(super) fn any_hazard(copies: &[Copy]) -> bool {
    visit_hazards(copies, &mut |_, _| ControlFlow::Break(())).is_break()
}

/// Copies cut along their slowest destination axis into ones of at most `limit` cells.
pub(super) fn cut(copies: &[Copy], limit: u64) -> Vec<Copy> {
    let parts = |copy: &Copy| {
        let Copy { src: (from, src), dst: (to, dst) } = *copy;
        let both = src.cut(limit).zip(dst.cut(limit));
        both.map(move |((src, _), (dst, _))| Copy { src: (from, src), dst: (to, dst) })
    };
    copies.iter().flat_map(parts).collect()
}

/// The order. Temporary memory of one `Staged` step is at most `limit` cells, unless one copy alone has more.
pub(super) fn order(copies: &[Copy], limit: u64) -> Vec<Step> {
    let (of_others, of_self) = hazards(copies);
    let mut blockers: Vec<usize> = of_others.iter().map(Vec::len).collect();
    let mut blocks = vec![Vec::new(); copies.len()];
    for (i, others) in of_others.iter().enumerate() {
        others.iter().for_each(|&j| blocks[j].push(i));
    }
    let mut held = vec![false; copies.len()];
    let mut read = vec![false; copies.len()];
    let mut ready: Vec<usize> = (0..copies.len()).filter(|&i| blockers[i] == 0).collect();
    let mut next_held = 0;
    let mut steps = Vec::new();
    loop {
        let mut now = std::mem::take(&mut ready);
        now.sort_unstable();
        let (releasing, fresh): (Vec<_>, Vec<_>) = now.into_iter().partition(|&i| held[i]);
        steps.extend(releasing.into_iter().map(Step::Release));
        let (staged, direct): (Vec<_>, Vec<_>) = fresh.iter().copied().partition(|&i| of_self[i]);
        if !direct.is_empty() {
            steps.push(Step::Direct(direct));
        }
        let mut batch = Vec::new();
        let mut cells = 0;
        for i in staged {
            let more = copies[i].src.1.cells();
            if cells + more > limit && !batch.is_empty() {
                steps.push(Step::Staged(std::mem::take(&mut batch)));
                cells = 0;
            }
            batch.push(i);
            cells += more;
        }
        if !batch.is_empty() {
            steps.push(Step::Staged(batch));
        }
        let mut just_read = fresh;
        if just_read.is_empty() {
            // Only cycles are left: one of them goes through memory that is held.
            while next_held < copies.len() && read[next_held] {
                next_held += 1;
            }
            if next_held == copies.len() {
                return steps;
            }
            held[next_held] = true;
            steps.push(Step::Hold(next_held));
            just_read.push(next_held);
        }
        for j in just_read {
            read[j] = true;
            for &i in &blocks[j] {
                blockers[i] -= 1;
                if blockers[i] == 0 {
                    ready.push(i);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::boxes::BoxPair;
    use crate::device::mapped::copy as host_copy;

    fn view(offset: u64, extents: [i64; 2], strides: [i64; 2]) -> Strided {
        Strided { offset, extents: extents.into(), strides: strides.into() }
    }

    #[test]
    fn overlaps_in_one_storage_are_exact() {
        let pitch = 10;
        let boxes: Vec<Strided> = (0..6)
            .flat_map(|y| (0..7).map(move |x| view(y * 10 + x, [3, 2], [1, pitch])))
            .chain((0..5).map(|y| view(y * 10 + 1, [2, 3], [pitch, 1])))
            .chain([view(3, [1, 6], [7, pitch]), view(12, [8, 1], [1, 4])])
            .collect();
        let cells = |v: &Strided| -> Vec<u64> {
            let at = |x: i64, y: i64| v.offset + (x * v.strides[0] + y * v.strides[1]) as u64;
            (0..v.extents[1]).flat_map(|y| (0..v.extents[0]).map(move |x| at(x, y))).collect()
        };
        let compared = Boxes::new(boxes.iter().map(|view| (3, *view)).chain([(4, boxes[0])]).collect());
        for (i, a) in boxes.iter().enumerate() {
            for (j, b) in boxes.iter().enumerate() {
                let truth = cells(a).iter().any(|cell| cells(b).contains(cell));
                assert_eq!(compared.overlap(i, j), truth, "{a:?} {b:?}");
            }
            assert!(!compared.overlap(i, boxes.len()), "another buffer");
        }
        let odd = Boxes::new(vec![(0, view(0, [0, 2], [1, 10])), (0, boxes[0]), (0, view(5, [2, 3], [3, 7]))]);
        assert!(!odd.overlap(0, 1) && odd.overlap(1, 2), "ends decide where strides do not go together");
    }

    /// Runs the steps on plain vectors and compares with reading everything first.
    fn check(copies: &[Copy], buffers: usize, len: usize, limit: u64) -> Vec<Step> {
        let start: Vec<Vec<u8>> = (0..buffers).map(|b| (0..len).map(|i| (b * 97 + i * 7) as u8).collect()).collect();
        let mut expected = start.clone();
        for copy in copies {
            let t = BoxPair::new(&copy.src.1, &copy.dst.1);
            host_copy::copy(&start[copy.src.0], &mut expected[copy.dst.0], 1, &t);
        }
        let parts = cut(copies, limit);
        let steps = order(&parts, limit);
        let mut state = start;
        let mut kept: Vec<Option<Vec<u8>>> = vec![None; parts.len()];
        let mut writes = 0;
        for step in &steps {
            // A direct step may run in any order: backwards here.
            let (reads, put) = match step {
                Step::Direct(all) => (vec![], all.iter().rev().copied().collect()),
                Step::Staged(all) => (all.clone(), all.clone()),
                Step::Hold(i) => (vec![*i], vec![]),
                Step::Release(i) => (vec![], vec![*i]),
            };
            reads.into_iter().for_each(|i| kept[i] = Some(state[parts[i].src.0].clone()));
            for i in put {
                let from = kept[i].clone().unwrap_or_else(|| state[parts[i].src.0].clone());
                let t = BoxPair::new(&parts[i].src.1, &parts[i].dst.1);
                host_copy::copy(&from, &mut state[parts[i].dst.0], 1, &t);
                writes += 1;
            }
        }
        assert_eq!(writes, parts.len());
        assert_eq!(state, expected);
        steps
    }

    fn copy(src: (usize, Strided), dst: (usize, Strided)) -> Copy {
        Copy { src, dst }
    }

    #[test]
    fn layers_come_after_what_they_overlap() {
        // Storages of different pitch, a box without cells, strides that do not go together.
        let at = |i: u64| (i * 37) % 60 / 10 * 10 + (i * 37) % 8;
        let spread = |i: u64| view(at(i), [1 + (i % 3) as i64, 1 + (i % 4) as i64], [1, 10]);
        let mut boxes: Vec<(usize, Strided)> = (0..60).map(|i| ((i % 2) as usize, spread(i))).collect();
        boxes.push((1, view(0, [0, 3], [1, 10])));
        for odd in [None, Some((0, view(5, [2, 3], [3, 7])))] {
            boxes.extend(odd);
            let compared = Boxes::new(boxes.clone());
            let layers = layers(boxes.clone());
            for i in 0..boxes.len() {
                let before = (0..i).filter(|&j| compared.overlap(i, j)).map(|j| layers[j] + 1).max().unwrap_or(0);
                if odd.is_none() || boxes[i].0 == 1 {
                    assert_eq!(layers[i], before, "as few as there can be");
                }
                assert!(layers[i] >= before);
            }
            assert!(layers.iter().max() > Some(&2));
        }
    }

    #[test]
    fn disjoint_copies_need_no_memory() {
        let (a, b) = (view(0, [4, 5], [1, 10]), view(4, [4, 5], [1, 10]));
        let steps = check(&[copy((0, a), (0, b)), copy((1, b), (1, a))], 2, 100, 1000);
        assert_eq!(steps, [Step::Direct(vec![0, 1])]);
    }

    #[test]
    fn shifts_in_every_direction_keep_to_the_limit() {
        for from in [0, 1, 9, 10, 11, 12, 20, 22] {
            for to in [0, 1, 9, 10, 11, 12, 20, 22] {
                let (a, b) = (view(from, [7, 8], [1, 10]), view(to, [7, 8], [1, 10]));
                let steps = check(&[copy((0, a), (0, b))], 1, 120, 14);
                assert!(!steps.iter().any(|s| matches!(s, Step::Hold(_))), "{steps:?}");
            }
        }
    }

    #[test]
    fn cycles_and_turns_are_right() {
        let (a, b, c) = (view(0, [4, 4], [1, 10]), view(5, [4, 4], [1, 10]), view(50, [4, 4], [1, 10]));
        check(&[copy((0, a), (0, b)), copy((0, b), (0, c)), copy((0, c), (0, a))], 1, 100, 8);
        check(&[copy((0, a), (1, b)), copy((1, b), (0, a))], 2, 100, 100);
        let turned = view(0, [4, 4], [10, 1]);
        check(&[copy((0, a), (0, turned))], 1, 100, 4);
        let everywhere = view(0, [9, 9], [1, 10]);
        check(
            &[
                copy((0, everywhere), (0, view(11, [9, 9], [1, 10]))),
                copy((1, view(50, [9, 1], [1, 10])), (0, view(0, [9, 1], [1, 10]))),
            ],
            2,
            130,
            9,
        );
    }
}
