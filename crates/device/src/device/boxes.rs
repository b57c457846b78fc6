//! Boxes of cells in buffers: [`StridedBox`], [`BufferBox`] and [`PackedBox`].

use std::collections::HashMap;
use std::ops::Range;

use super::ChunkBuffer;
use crate::extents::Index;
use crate::region::Region;

/// Box of cells in a buffer: the cell at position *p* is the element `offset + Σ p·strides`.
///
/// Strides are not negative; their order is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StridedBox {
    /// Index of the first element.
    pub offset: u64,
    /// Number of cells along each axis.
    pub extents: Index,
    /// Distance of adjacent cells along each axis, in elements.
    pub strides: Index,
}

impl StridedBox {
    /// Returns a box whose cells are contiguous in memory from element `offset`, axis 0 fastest.
    pub fn dense(offset: u64, extents: Index) -> Self {
        Self { offset, extents, strides: extents.dense_strides() }
    }

    /// Returns the number of cells; 0 for a malformed box, which every operation reports as an
    /// error.
    pub fn cells(&self) -> u64 {
        self.extents.product().unwrap_or(0)
    }

    /// True if the cells are contiguous in memory, axis 0 fastest.
    pub fn is_dense(&self) -> bool {
        let mut dense_stride = 1;
        self.extents.iter().zip(self.strides.iter()).all(|(&n, &stride)| {
            let is_dense = n == 1 || stride == dense_stride;
            dense_stride *= n;
            is_dense
        })
    }

    /// Returns the range of element indices from the first to the last cell.
    pub fn range(&self) -> Range<u64> {
        if self.cells() == 0 {
            return self.offset..self.offset;
        }
        let last: u64 =
            self.extents.iter().zip(self.strides.iter()).map(|(&n, &stride)| ((n - 1) * stride) as u64).sum();
        self.offset..self.offset + last + 1
    }

    /// Returns the sub-box of a region whose coordinates count from the first cell of the box.
    pub fn part(&self, part: &Region) -> Self {
        let offset = self.offset + part.start.dot(&self.strides) as u64;
        Self { offset, extents: part.extents(), strides: self.strides }
    }

    /// Cuts the box along its slowest axes into parts of at most `max_cells` cells (at least 1), in
    /// the order of the cells. Returns each part with the number of cells in the parts before it.
    pub fn cut(&self, max_cells: u64) -> impl Iterator<Item = (Self, u64)> + use<> {
        let (whole, mut cells_before) = (*self, 0);
        Region::whole(self.extents).cut(max_cells).into_iter().map(move |part| {
            let start = cells_before;
            cells_before += part.cells();
            (whole.part(&part), start)
        })
    }

    /// Returns the index of the element after the last cell.
    ///
    /// # Errors
    /// The box is malformed; the text says why.
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

/// Box of cells in a chunk buffer.
#[derive(Debug, Clone, Copy)]
pub struct BufferBox<'a> {
    /// The chunk buffer.
    pub buffer: &'a ChunkBuffer,
    /// The cells in the buffer.
    pub view: StridedBox,
}

/// Box of cells in a chunk buffer, and the offset in a payload at which its cells are packed:
/// contiguous, axis 0 of the box fastest.
#[derive(Debug, Clone, Copy)]
pub struct PackedBox<'a> {
    /// The chunk buffer.
    pub buffer: &'a ChunkBuffer,
    /// The cells in the buffer.
    pub view: StridedBox,
    /// Offset of the packed cells in the payload, in bytes; a multiple of 4.
    pub payload_offset: u64,
}

impl<'a> PackedBox<'a> {
    /// Groups the boxes that have cells by their buffers, in the order of the first box of each
    /// buffer.
    pub(super) fn group_by_buffer<'b>(pieces: &'b [Self]) -> Vec<(&'a wgpu::Buffer, Vec<&'b Self>)> {
        let mut indices = HashMap::new();
        let mut out: Vec<(&wgpu::Buffer, Vec<&Self>)> = Vec::new();
        for piece in pieces.iter().filter(|piece| piece.view.cells() > 0) {
            let index = *indices.entry(piece.buffer.id()).or_insert_with(|| {
                out.push((piece.buffer.raw(), Vec::new()));
                out.len() - 1
            });
            out[index].1.push(piece);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided<const D: usize>(offset: u64, extents: [i64; D], strides: [i64; D]) -> StridedBox {
        StridedBox { offset, extents: extents.into(), strides: strides.into() }
    }

    #[test]
    fn end_of_malformed_box_is_error() {
        assert!(strided(0, [2, -1], [1, 2]).end().is_err());
        assert!(strided(0, [2, 2], [1, -2]).end().is_err());
        assert!(strided(0, [i64::MAX, 2], [1, 2]).end().is_err());
        assert!(strided(0, [i64::MAX, 1], [i64::MAX, 2]).end().is_err());
        assert_eq!(strided(u64::MAX, [0, 3], [1, 2]).end(), Ok(u64::MAX));
        assert_eq!(strided(4, [3, 2], [1, 10]).end(), Ok(17));
    }
}
