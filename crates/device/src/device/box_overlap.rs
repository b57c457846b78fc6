//! [`BoxSet`]: test for overlaps of boxes in buffers.

use std::collections::HashMap;

use super::boxes::StridedBox;
use crate::extents::{Index, MAX_AXES};
use crate::region::{Region, levels};

/// Box of cells with the index of its buffer in a list of buffers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct IndexedBox {
    /// Index of the buffer in the list.
    pub buffer: usize,
    pub view: StridedBox,
}

/// Set of boxes in buffers, with the intervals that overlap tests compare.
pub(super) struct BoxSet {
    boxes: Vec<IndexedBox>,
    /// Start and extent of each box along the strides of all boxes of its buffer; `None` if the
    /// strides do not determine cells uniquely.
    intervals: Vec<Option<Intervals>>,
}

/// Start and extent of a box along each stride of its buffer, from the largest stride.
type Intervals = [(u64, u64); MAX_STRIDES];

/// Maximum number of distinct strides of the boxes of a buffer for exact comparisons.
const MAX_STRIDES: usize = MAX_AXES + 1;

impl BoxSet {
    pub(super) fn new(boxes: Vec<IndexedBox>) -> Self {
        let mut strides: HashMap<usize, Vec<u64>> = HashMap::new();
        for IndexedBox { buffer, view } in &boxes {
            let known = strides.entry(*buffer).or_insert_with(|| vec![1]);
            for axis in (0..view.extents.axes()).filter(|&axis| view.extents[axis] > 1) {
                let stride = view.strides[axis] as u64;
                if !known.contains(&stride) {
                    known.push(stride);
                }
            }
        }
        strides.values_mut().for_each(|known| known.sort_unstable_by(|x, y| y.cmp(x)));
        let intervals = boxes.iter().map(|indexed| intervals(&indexed.view, &strides[&indexed.buffer])).collect();
        Self { boxes, intervals }
    }

    /// True if two boxes of the set can have a common element. Exact for boxes of the same dense
    /// storage; otherwise compares the ranges from first to last element.
    pub(super) fn can_overlap(&self, first: usize, second: usize) -> bool {
        let (a, b) = (&self.boxes[first], &self.boxes[second]);
        if a.buffer != b.buffer || a.view.cells() == 0 || b.view.cells() == 0 {
            return false;
        }
        match (&self.intervals[first], &self.intervals[second]) {
            (Some(a), Some(b)) => a.iter().zip(b).all(|(a, b)| a.0 < b.0 + b.1 && b.0 < a.0 + a.1),
            _ => a.view.end().is_ok_and(|end| b.view.offset < end) && b.view.end().is_ok_and(|end| a.view.offset < end),
        }
    }

    /// Returns a region for each box: boxes of one buffer can overlap only if their regions do.
    /// Regions have one axis per stride if all boxes of the buffer have intervals, otherwise one
    /// axis.
    pub(super) fn regions(&self) -> Vec<Region> {
        let mut axes: HashMap<usize, usize> = HashMap::new();
        for (indexed, intervals) in self.boxes.iter().zip(&self.intervals) {
            let known = axes.entry(indexed.buffer).or_insert(MAX_AXES);
            *known = if intervals.is_some() { *known } else { 1 };
        }
        let region = |(indexed, intervals): (&IndexedBox, &Option<Intervals>)| {
            let (axes, view) = (axes[&indexed.buffer], indexed.view);
            match intervals {
                _ if view.cells() == 0 => Region::whole(Index::zeros(axes)),
                Some(intervals) if axes > 1 => Region::at(
                    Index::from_fn(axes, |axis| intervals[axis].0 as i64),
                    Index::from_fn(axes, |axis| intervals[axis].1 as i64),
                ),
                _ => Region::between([view.offset as i64].into(), [view.end().unwrap_or(u64::MAX / 2) as i64].into()),
            }
        };
        self.boxes.iter().zip(&self.intervals).map(region).collect()
    }
}

/// Returns the dispatch level of each box: one more than the largest level of the earlier boxes
/// that overlap the box. Boxes of one level do not overlap, so one dispatch can write them.
pub(super) fn dispatch_levels(boxes: Vec<IndexedBox>) -> Vec<usize> {
    let boxes = BoxSet::new(boxes);
    let writes: Vec<_> =
        boxes.boxes.iter().zip(boxes.regions()).map(|(indexed, region)| (indexed.buffer, region, true)).collect();
    levels(&writes)
}

/// Returns start and extent of a box along each stride, from the largest stride. `None` if an
/// interval exceeds the next larger stride, so that intervals do not distinguish cells.
fn intervals(view: &StridedBox, strides: &[u64]) -> Option<Intervals> {
    if strides.len() > MAX_STRIDES {
        return None;
    }
    let mut out = [(0, 1); MAX_STRIDES];
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
    let mut last_offset = 0;
    for (k, &stride) in strides.iter().enumerate().rev() {
        last_offset += (out[k].0 + out[k].1 - 1) * stride;
        if k > 0 && last_offset >= strides[k - 1] {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(offset: u64, extents: [i64; 2], strides: [i64; 2]) -> StridedBox {
        StridedBox { offset, extents: extents.into(), strides: strides.into() }
    }

    fn boxes_in(buffer: usize, views: &[StridedBox]) -> Vec<IndexedBox> {
        views.iter().map(|&view| IndexedBox { buffer, view }).collect()
    }

    #[test]
    fn overlap_of_boxes_in_one_storage_is_exact() {
        let pitch = 10;
        let views: Vec<StridedBox> = (0..6)
            .flat_map(|y| (0..7).map(move |x| view(y * 10 + x, [3, 2], [1, pitch])))
            .chain((0..5).map(|y| view(y * 10 + 1, [2, 3], [pitch, 1])))
            .chain([view(3, [1, 6], [7, pitch]), view(12, [8, 1], [1, 4])])
            .collect();
        let cells = |v: &StridedBox| -> Vec<u64> {
            let element = |x: i64, y: i64| v.offset + (x * v.strides[0] + y * v.strides[1]) as u64;
            (0..v.extents[1]).flat_map(|y| (0..v.extents[0]).map(move |x| element(x, y))).collect()
        };
        let set = BoxSet::new([boxes_in(3, &views), boxes_in(4, &views[..1])].concat());
        for (i, a) in views.iter().enumerate() {
            for (j, b) in views.iter().enumerate() {
                let expected = cells(a).iter().any(|cell| cells(b).contains(cell));
                assert_eq!(set.can_overlap(i, j), expected, "{a:?} {b:?}");
            }
            assert!(!set.can_overlap(i, views.len()), "another buffer");
        }
        let odd = BoxSet::new(boxes_in(0, &[view(0, [0, 2], [1, 10]), views[0], view(5, [2, 3], [3, 7])]));
        assert!(!odd.can_overlap(0, 1) && odd.can_overlap(1, 2), "incompatible strides: comparison of ranges");
    }

    #[test]
    fn dispatch_level_exceeds_levels_of_overlapping_earlier_boxes() {
        // Storages of different pitch, a box without cells, and incompatible strides.
        let offset = |i: u64| (i * 37) % 60 / 10 * 10 + (i * 37) % 8;
        let spread = |i: u64| view(offset(i), [1 + (i % 3) as i64, 1 + (i % 4) as i64], [1, 10]);
        let mut boxes: Vec<_> = (0..60).map(|i| IndexedBox { buffer: (i % 2) as usize, view: spread(i) }).collect();
        boxes.push(IndexedBox { buffer: 1, view: view(0, [0, 3], [1, 10]) });
        for odd in [None, Some(IndexedBox { buffer: 0, view: view(5, [2, 3], [3, 7]) })] {
            boxes.extend(odd);
            let set = BoxSet::new(boxes.clone());
            let levels = dispatch_levels(boxes.clone());
            for i in 0..boxes.len() {
                let min_level = (0..i).filter(|&j| set.can_overlap(i, j)).map(|j| levels[j] + 1).max().unwrap_or(0);
                if odd.is_none() || boxes[i].buffer == 1 {
                    assert_eq!(levels[i], min_level, "exact comparisons give the least number of levels");
                }
                assert!(levels[i] >= min_level);
            }
            assert!(levels.iter().max() > Some(&2));
        }
    }
}
