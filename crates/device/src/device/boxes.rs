//! Boxes in buffers, and the normal form in which they are moved.

use std::collections::HashMap;
use std::ops::Range;

use super::ChunkBuffer;
use crate::extents::{Index, MAX_AXES};
use crate::region::Region;

/// A box of elements in a buffer: the cell at position *p* is element `offset + Σ p·strides`.
///
/// Strides may be in any order (a permutation of axes) but not negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strided {
    /// The first element.
    pub offset: u64,
    /// Cells along each axis.
    pub extents: Index,
    /// Elements between neighbours along each axis.
    pub strides: Index,
}

impl Strided {
    /// A box that lies densely from `offset` on, axis 0 fastest.
    pub fn dense(offset: u64, extents: Index) -> Self {
        Self { offset, extents, strides: extents.dense_strides() }
    }

    /// Number of cells; 0 for a box that is not well formed, which every operation refuses.
    pub fn cells(&self) -> u64 {
        self.extents.product().unwrap_or(0)
    }

    /// Whether its cells lie one behind the other in memory, in the order of its axes.
    pub fn is_dense(&self) -> bool {
        let mut next = 1;
        self.extents.iter().zip(self.strides.iter()).all(|(&n, &stride)| {
            let follows = n == 1 || stride == next;
            next *= n;
            follows
        })
    }

    /// The elements from the first to the last one.
    pub fn range(&self) -> Range<u64> {
        if self.cells() == 0 {
            return self.offset..self.offset;
        }
        let last: u64 =
            self.extents.iter().zip(self.strides.iter()).map(|(&n, &stride)| ((n - 1) * stride) as u64).sum();
        self.offset..self.offset + last + 1
    }

    /// A part of the box, in coordinates that begin at its first cell.
    pub fn part(&self, part: &Region) -> Self {
        let offset = self.offset + part.start.dot(&self.strides) as u64;
        Self { offset, extents: part.extents(), strides: self.strides }
    }

    /// Parts of at most `most` cells (at least one), cut along the slowest axes, and how many cells come before each:
    /// their cells, part by part, come in the order of the box's own.
    pub fn cut(&self, most: u64) -> impl Iterator<Item = (Self, u64)> + use<> {
        let (whole, mut before) = (*self, 0);
        Region::whole(self.extents).cut(most).into_iter().map(move |part| {
            let at = before;
            before += part.cells();
            (whole.part(&part), at)
        })
    }

    /// One past the last element, or what is wrong with the box.
    pub(super) fn end(&self) -> Result<u64, String> {
        if self.extents.axes() != self.strides.axes() {
            return Err(format!("{} extents and {} strides", self.extents.axes(), self.strides.axes()));
        }
        let Some(cells) = self.extents.product() else {
            return Err(format!("extents {} are negative or overflow", self.extents));
        };
        if self.strides.iter().any(|&stride| stride < 0) {
            return Err(format!("negative strides {}", self.strides));
        }
        if cells == 0 {
            return Ok(self.offset);
        }
        let last =
            self.extents.iter().zip(self.strides.iter()).try_fold(self.offset, |last, (&n, &stride)| {
                last.checked_add((n as u64 - 1).checked_mul(stride as u64)?)
            });
        last.and_then(|last| last.checked_add(1)).ok_or_else(|| format!("strides {} overflow", self.strides))
    }
}

/// A box of a chunk buffer and where its cells stand in a payload: densely, the view's axis 0 fastest.
#[derive(Debug, Clone, Copy)]
pub struct PackedBox<'a> {
    /// The buffer.
    pub buffer: &'a ChunkBuffer,
    /// The box in it.
    pub view: Strided,
    /// Where the box begins in the payload, in bytes; a multiple of 4.
    pub payload_offset: u64,
}

impl<'a> PackedBox<'a> {
    /// Those with cells, by the buffer that they lie in, in order of appearance.
    pub(super) fn by_buffer<'b>(pieces: &'b [Self]) -> Vec<(&'a wgpu::Buffer, Vec<&'b Self>)> {
        let mut numbers = HashMap::new();
        let mut out: Vec<(&wgpu::Buffer, Vec<&Self>)> = Vec::new();
        for piece in pieces.iter().filter(|piece| piece.view.cells() > 0) {
            let number = *numbers.entry(piece.buffer.id()).or_insert_with(|| {
                out.push((piece.buffer.raw(), Vec::new()));
                out.len() - 1
            });
            out[number].1.push(piece);
        }
        out
    }
}

/// Axes of a transfer: those of a box, and the words of an element.
pub(super) const AXES: usize = MAX_AXES + 1;

/// Cells to be copied from one box to another, in normal form: no axis of extent 1, sorted by destination stride, axes
/// that follow each other in both boxes merged into one. Offsets and strides count units (elements, later words).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BoxPair {
    pub src: u64,
    pub dst: u64,
    pub axes: usize,
    pub n: [u64; AXES],
    pub s: [u64; AXES],
    pub d: [u64; AXES],
}

impl BoxPair {
    /// Between boxes of equal extents, already checked.
    pub fn new(src: &Strided, dst: &Strided) -> Self {
        let mut out = Self { src: src.offset, dst: dst.offset, axes: 0, n: [1; AXES], s: [0; AXES], d: [0; AXES] };
        for axis in 0..src.extents.axes() {
            out.push(src.extents[axis] as u64, src.strides[axis] as u64, dst.strides[axis] as u64);
        }
        out.merged()
    }

    fn push(&mut self, n: u64, s: u64, d: u64) {
        (self.n[self.axes], self.s[self.axes], self.d[self.axes]) = (n, s, d);
        self.axes += 1;
    }

    fn merged(&self) -> Self {
        let mut order = [0; AXES];
        let mut count = 0;
        for axis in (0..self.axes).filter(|&axis| self.n[axis] != 1) {
            order[count] = axis;
            count += 1;
        }
        order[..count].sort_by_key(|&axis| (self.d[axis], self.s[axis]));
        let mut out = Self { axes: 0, n: [1; AXES], s: [0; AXES], d: [0; AXES], ..*self };
        for &axis in &order[..count] {
            let (n, s, d) = (self.n[axis], self.s[axis], self.d[axis]);
            if let Some(last) = out.axes.checked_sub(1)
                && out.s[last] * out.n[last] == s
                && out.d[last] * out.n[last] == d
            {
                out.n[last] *= n;
                continue;
            }
            out.push(n, s, d);
        }
        if out.axes == 0 {
            out.push(1, 1, 1);
        }
        out
    }

    /// The same in smaller units, `k` to the old one.
    pub fn in_units_of(&self, k: u64) -> Self {
        if k == 1 {
            return *self;
        }
        let mut out = *self;
        (out.src, out.dst, out.axes) = (self.src * k, self.dst * k, 0);
        out.push(k, 1, 1);
        for axis in 0..self.axes {
            out.push(self.n[axis], self.s[axis] * k, self.d[axis] * k);
        }
        out.merged()
    }

    /// The same in units of four, where rows, offsets and strides allow.
    pub fn in_fours(&self) -> Option<Self> {
        let row = self.s[0] == 1 && self.d[0] == 1 && self.n[0].is_multiple_of(4);
        let fours = |value: u64| value.is_multiple_of(4);
        let rest = (1..self.axes).all(|axis| fours(self.s[axis]) && fours(self.d[axis]));
        if !(row && rest && fours(self.src) && fours(self.dst)) {
            return None;
        }
        let mut out = *self;
        (out.src, out.dst, out.n[0]) = (self.src / 4, self.dst / 4, self.n[0] / 4);
        for axis in 1..self.axes {
            (out.s[axis], out.d[axis]) = (self.s[axis] / 4, self.d[axis] / 4);
        }
        Some(out)
    }

    pub fn cells(&self) -> u64 {
        self.n[..self.axes].iter().product()
    }

    /// Distance from the first to the last unit of the source, and one.
    pub fn src_span(&self) -> u64 {
        1 + (0..self.axes).map(|a| (self.n[a].max(1) - 1) * self.s[a]).sum::<u64>()
    }

    /// Distance from the first to the last unit of the destination, and one.
    pub fn dst_span(&self) -> u64 {
        1 + (0..self.axes).map(|a| (self.n[a].max(1) - 1) * self.d[a]).sum::<u64>()
    }

    /// Cut into `[0, at)` and the rest along an axis.
    pub fn split(&self, axis: usize, at: u64) -> [Self; 2] {
        let (mut low, mut high) = (*self, *self);
        low.n[axis] = at;
        high.n[axis] = self.n[axis] - at;
        high.src += at * self.s[axis];
        high.dst += at * self.d[axis];
        [low.merged(), high.merged()]
    }

    /// Cut in halves along the axis that `weight` (of an axis) finds heaviest, until `fits`.
    fn halve(self, fits: &impl Fn(&Self) -> bool, weight: &impl Fn(&Self, usize) -> u64, out: &mut Vec<Self>) {
        if fits(&self) {
            out.push(self);
            return;
        }
        let axis = (0..self.axes).filter(|&a| self.n[a] > 1).max_by_key(|&a| weight(&self, a));
        let Some(axis) = axis else {
            out.push(self);
            return;
        };
        for part in self.split(axis, self.n[axis] / 2) {
            part.halve(fits, weight, out);
        }
    }

    /// Parts whose source spans at most `src_limit` units and destination `dst_limit`.
    pub fn cut_to_spans(self, src_limit: u64, dst_limit: u64, out: &mut Vec<Self>) {
        let fits = |t: &Self| t.src_span() <= src_limit && t.dst_span() <= dst_limit;
        let weight = |t: &Self, a: usize| {
            let span = |stride: u64, too_long: bool| if too_long { (t.n[a] - 1) * stride } else { 0 };
            span(t.s[a], t.src_span() > src_limit).max(span(t.d[a], t.dst_span() > dst_limit))
        };
        self.halve(&fits, &weight, out);
    }

    /// Parts of at most `limit` cells, cut along the slowest axes.
    pub fn cut_to_cells(self, limit: u64, out: &mut Vec<Self>) {
        self.halve(&|t| t.cells() <= limit, &|_, axis| axis as u64 + 1, out);
    }
}

/// The smallest length that both steps divide.
pub(super) fn common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x.max(1) * b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided<const D: usize>(offset: u64, extents: [i64; D], strides: [i64; D]) -> Strided {
        Strided { offset, extents: extents.into(), strides: strides.into() }
    }

    #[test]
    fn axes_that_follow_each_other_are_merged() {
        let whole = strided(5, [4, 3, 2], [1, 4, 12]);
        let t = BoxPair::new(&whole, &whole);
        assert_eq!((t.axes, t.n[0], t.s[0], t.d[0]), (1, 24, 1, 1));
        let face = BoxPair::new(&strided(0, [1, 3, 2], [1, 6, 18]), &Strided::dense(0, [1, 3, 2].into()));
        assert_eq!((face.axes, face.n[0], face.s[0]), (1, 6, 6));
        let turned = BoxPair::new(&strided(0, [3, 4], [4, 1]), &Strided::dense(0, [3, 4].into()));
        assert_eq!((turned.axes, turned.n[0], turned.s[0], turned.s[1]), (2, 3, 4, 1));
    }

    #[test]
    fn elements_of_several_words_are_words_in_rows() {
        let t = BoxPair::new(&strided(1, [2, 2], [1, 5]), &Strided::dense(0, [2, 2].into())).in_units_of(3);
        assert_eq!((t.src, t.axes, t.n[0], t.s[1], t.d[1]), (3, 2, 6, 15, 6));
        assert_eq!((t.cells(), t.src_span(), t.dst_span()), (12, 21, 12));
    }

    #[test]
    fn cutting_keeps_every_cell_once() {
        let t = BoxPair::new(&strided(3, [5, 7, 3], [1, 6, 50]), &Strided::dense(2, [5, 7, 3].into()));
        for limit in [1, 4, 17, 40, 1000] {
            let (mut spans, mut cells) = (Vec::new(), Vec::new());
            t.cut_to_spans(limit, u64::MAX, &mut spans);
            t.cut_to_cells(limit, &mut cells);
            assert!(spans.iter().all(|p| p.src_span() <= limit) && cells.iter().all(|p| p.cells() <= limit));
            for parts in [spans, cells] {
                let mut seen = vec![0; 110];
                for p in parts {
                    for i in 0..p.cells() {
                        let (mut rest, mut dst) = (i, p.dst);
                        for a in 0..p.axes {
                            dst += rest % p.n[a] * p.d[a];
                            rest /= p.n[a];
                        }
                        seen[dst as usize] += 1;
                    }
                }
                assert!(seen[2..107].iter().all(|&n| n == 1) && seen.iter().sum::<i32>() == 105);
            }
        }
    }

    #[test]
    fn bad_boxes_are_told() {
        assert!(strided(0, [2, -1], [1, 2]).end().is_err());
        assert!(strided(0, [2, 2], [1, -2]).end().is_err());
        assert!(strided(0, [i64::MAX, 2], [1, 2]).end().is_err());
        assert!(strided(0, [i64::MAX, 1], [i64::MAX, 2]).end().is_err());
        assert_eq!(strided(u64::MAX, [0, 3], [1, 2]).end(), Ok(u64::MAX));
        assert_eq!(strided(4, [3, 2], [1, 10]).end(), Ok(17));
    }
}
