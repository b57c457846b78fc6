//! [`BoxPair`]: normal form of a transfer between two boxes.

use super::boxes::StridedBox;
use crate::extents::MAX_AXES;

/// Maximum number of axes of a box pair: those of a box, and one for the words of an element.
pub(super) const MAX_PAIR_AXES: usize = MAX_AXES + 1;

/// Source and destination box of a transfer, in normal form: without axes of extent 1, sorted by
/// destination stride, with axes merged that are contiguous in both boxes. Offsets and strides
/// count units: elements, words or groups of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BoxPair {
    pub src_offset: u64,
    pub dst_offset: u64,
    /// Number of axes.
    pub axes: usize,
    pub extents: [u64; MAX_PAIR_AXES],
    pub src_strides: [u64; MAX_PAIR_AXES],
    pub dst_strides: [u64; MAX_PAIR_AXES],
}

impl BoxPair {
    const WITHOUT_AXES: Self = Self {
        src_offset: 0,
        dst_offset: 0,
        axes: 0,
        extents: [1; MAX_PAIR_AXES],
        src_strides: [0; MAX_PAIR_AXES],
        dst_strides: [0; MAX_PAIR_AXES],
    };

    /// Creates the normal form of two boxes of equal extents, which the caller has checked.
    pub(super) fn new(src: &StridedBox, dst: &StridedBox) -> Self {
        let mut out = Self { src_offset: src.offset, dst_offset: dst.offset, ..Self::WITHOUT_AXES };
        for axis in 0..src.extents.axes() {
            out.push_axis(src.extents[axis] as u64, src.strides[axis] as u64, dst.strides[axis] as u64);
        }
        out.normalized()
    }

    fn push_axis(&mut self, extent: u64, src_stride: u64, dst_stride: u64) {
        self.extents[self.axes] = extent;
        self.src_strides[self.axes] = src_stride;
        self.dst_strides[self.axes] = dst_stride;
        self.axes += 1;
    }

    fn normalized(&self) -> Self {
        let mut order = [0; MAX_PAIR_AXES];
        let mut count = 0;
        for axis in (0..self.axes).filter(|&axis| self.extents[axis] != 1) {
            order[count] = axis;
            count += 1;
        }
        order[..count].sort_by_key(|&axis| (self.dst_strides[axis], self.src_strides[axis]));
        let mut out = Self { src_offset: self.src_offset, dst_offset: self.dst_offset, ..Self::WITHOUT_AXES };
        for &axis in &order[..count] {
            let (extent, src_stride, dst_stride) = (self.extents[axis], self.src_strides[axis], self.dst_strides[axis]);
            if let Some(last) = out.axes.checked_sub(1)
                && out.src_strides[last] * out.extents[last] == src_stride
                && out.dst_strides[last] * out.extents[last] == dst_stride
            {
                out.extents[last] *= extent;
                continue;
            }
            out.push_axis(extent, src_stride, dst_stride);
        }
        if out.axes == 0 {
            out.push_axis(1, 1, 1);
        }
        out
    }

    /// Returns the pair with offsets and strides in smaller units: `count` new units per old unit.
    pub(super) fn split_units(&self, count: u64) -> Self {
        if count == 1 {
            return *self;
        }
        let mut out = *self;
        (out.src_offset, out.dst_offset, out.axes) = (self.src_offset * count, self.dst_offset * count, 0);
        out.push_axis(count, 1, 1);
        for axis in 0..self.axes {
            out.push_axis(self.extents[axis], self.src_strides[axis] * count, self.dst_strides[axis] * count);
        }
        out.normalized()
    }

    /// Returns the pair with offsets and strides in units of four old units; `None` if rows,
    /// offsets or strides are not multiples of four.
    pub(super) fn join_four_units(&self) -> Option<Self> {
        let has_rows = self.src_strides[0] == 1 && self.dst_strides[0] == 1 && self.extents[0].is_multiple_of(4);
        let fits = |value: u64| value.is_multiple_of(4);
        let fit_strides = (1..self.axes).all(|axis| fits(self.src_strides[axis]) && fits(self.dst_strides[axis]));
        if !(has_rows && fit_strides && fits(self.src_offset) && fits(self.dst_offset)) {
            return None;
        }
        let mut out = *self;
        (out.src_offset, out.dst_offset) = (self.src_offset / 4, self.dst_offset / 4);
        out.extents[0] = self.extents[0] / 4;
        for axis in 1..self.axes {
            (out.src_strides[axis], out.dst_strides[axis]) = (self.src_strides[axis] / 4, self.dst_strides[axis] / 4);
        }
        Some(out)
    }

    pub(super) fn cells(&self) -> u64 {
        self.extents[..self.axes].iter().product()
    }

    /// Returns the number of units from the first to the last unit of the source.
    pub(super) fn src_span(&self) -> u64 {
        1 + (0..self.axes).map(|a| (self.extents[a].max(1) - 1) * self.src_strides[a]).sum::<u64>()
    }

    /// Returns the number of units from the first to the last unit of the destination.
    pub(super) fn dst_span(&self) -> u64 {
        1 + (0..self.axes).map(|a| (self.extents[a].max(1) - 1) * self.dst_strides[a]).sum::<u64>()
    }

    /// Splits the pair along an axis into two pairs: the cells before index `at`, and the others.
    fn split(&self, axis: usize, at: u64) -> [Self; 2] {
        let (mut low, mut high) = (*self, *self);
        low.extents[axis] = at;
        high.extents[axis] = self.extents[axis] - at;
        high.src_offset += at * self.src_strides[axis];
        high.dst_offset += at * self.dst_strides[axis];
        [low.normalized(), high.normalized()]
    }

    /// Halves the pair along the axis of largest `weight`, repeatedly, until all parts satisfy
    /// `fits`.
    fn halve(self, fits: &impl Fn(&Self) -> bool, weight: &impl Fn(&Self, usize) -> u64, out: &mut Vec<Self>) {
        if fits(&self) {
            out.push(self);
            return;
        }
        let axis = (0..self.axes).filter(|&a| self.extents[a] > 1).max_by_key(|&a| weight(&self, a));
        let Some(axis) = axis else {
            out.push(self);
            return;
        };
        for part in self.split(axis, self.extents[axis] / 2) {
            part.halve(fits, weight, out);
        }
    }

    /// Cuts the pair into parts with a source span of at most `src_limit` units and a destination
    /// span of at most `dst_limit` units.
    pub(super) fn cut_to_spans(self, src_limit: u64, dst_limit: u64, out: &mut Vec<Self>) {
        let fits = |pair: &Self| pair.src_span() <= src_limit && pair.dst_span() <= dst_limit;
        let weight = |pair: &Self, axis: usize| {
            let span = |stride: u64, is_too_long: bool| if is_too_long { (pair.extents[axis] - 1) * stride } else { 0 };
            span(pair.src_strides[axis], pair.src_span() > src_limit)
                .max(span(pair.dst_strides[axis], pair.dst_span() > dst_limit))
        };
        self.halve(&fits, &weight, out);
    }

    /// Cuts the pair along its slowest axes into parts of at most `limit` cells.
    pub(super) fn cut_to_cells(self, limit: u64, out: &mut Vec<Self>) {
        self.halve(&|pair| pair.cells() <= limit, &|_, axis| axis as u64 + 1, out);
    }
}

pub(super) fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x.max(1) * b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided<const D: usize>(offset: u64, extents: [i64; D], strides: [i64; D]) -> StridedBox {
        StridedBox { offset, extents: extents.into(), strides: strides.into() }
    }

    #[test]
    fn axes_contiguous_in_both_boxes_are_merged() {
        let whole = strided(5, [4, 3, 2], [1, 4, 12]);
        let t = BoxPair::new(&whole, &whole);
        assert_eq!((t.axes, t.extents[0], t.src_strides[0], t.dst_strides[0]), (1, 24, 1, 1));
        let face = BoxPair::new(&strided(0, [1, 3, 2], [1, 6, 18]), &StridedBox::dense(0, [1, 3, 2].into()));
        assert_eq!((face.axes, face.extents[0], face.src_strides[0]), (1, 6, 6));
        let turned = BoxPair::new(&strided(0, [3, 4], [4, 1]), &StridedBox::dense(0, [3, 4].into()));
        assert_eq!((turned.axes, turned.extents[0], turned.src_strides[0], turned.src_strides[1]), (2, 3, 4, 1));
    }

    #[test]
    fn elements_of_three_words_become_rows_of_words() {
        let t = BoxPair::new(&strided(1, [2, 2], [1, 5]), &StridedBox::dense(0, [2, 2].into())).split_units(3);
        assert_eq!((t.src_offset, t.axes, t.extents[0], t.src_strides[1], t.dst_strides[1]), (3, 2, 6, 15, 6));
        assert_eq!((t.cells(), t.src_span(), t.dst_span()), (12, 21, 12));
    }

    #[test]
    fn cut_parts_have_every_cell_once() {
        let t = BoxPair::new(&strided(3, [5, 7, 3], [1, 6, 50]), &StridedBox::dense(2, [5, 7, 3].into()));
        for limit in [1, 4, 17, 40, 1000] {
            let (mut spans, mut cells) = (Vec::new(), Vec::new());
            t.cut_to_spans(limit, u64::MAX, &mut spans);
            t.cut_to_cells(limit, &mut cells);
            assert!(spans.iter().all(|p| p.src_span() <= limit) && cells.iter().all(|p| p.cells() <= limit));
            for parts in [spans, cells] {
                let mut seen = vec![0; 110];
                for p in parts {
                    for i in 0..p.cells() {
                        let (mut rest, mut dst) = (i, p.dst_offset);
                        for a in 0..p.axes {
                            dst += rest % p.extents[a] * p.dst_strides[a];
                            rest /= p.extents[a];
                        }
                        seen[dst as usize] += 1;
                    }
                }
                assert!(seen[2..107].iter().all(|&n| n == 1) && seen.iter().sum::<i32>() == 105);
            }
        }
    }
}
