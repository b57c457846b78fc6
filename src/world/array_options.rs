//! [`ArrayOptions`]: cells, owners and buffer usages of a new array.

use crate::layout::Layout;
use crate::ownership::Ownership;

/// Cells of a new array, optional owners of its chunks, and additional usages of its buffers. A
/// `&Layout` converts to options.
#[derive(Debug, Clone)]
pub struct ArrayOptions<'a> {
    pub(super) cells: ArrayCells<'a>,
    pub(super) ownership: Option<Ownership>,
    pub(super) usages: wgpu::BufferUsages,
}

/// Definition of the cells of a new array.
#[derive(Debug, Clone, Copy)]
pub(super) enum ArrayCells<'a> {
    Layout(&'a Layout),
    /// Number of cells on this rank.
    Length(u64),
}

impl<'a> ArrayOptions<'a> {
    /// Options for an array with a layout. The ranks get contiguous runs of chunks of balanced
    /// length.
    pub fn new(layout: &'a Layout) -> Self {
        Self::with_cells(ArrayCells::Layout(layout))
    }

    /// Options for a 1-D array with one chunk of `length` cells on this rank. Each rank passes its
    /// own length, which costs one all-gather.
    pub fn of_length(length: u64) -> Self {
        Self::with_cells(ArrayCells::Length(length))
    }

    fn with_cells(cells: ArrayCells<'a>) -> Self {
        Self { cells, ownership: None, usages: wgpu::BufferUsages::empty() }
    }

    /// Sets the owners of the chunks. A rank may own no chunk.
    pub fn owned_by(self, ownership: Ownership) -> Self {
        Self { ownership: Some(ownership), ..self }
    }

    /// Adds usages of the buffers: `VERTEX`, `INDEX`, `INDIRECT`.
    ///
    /// A kernel writes vertices, indices or draw arguments, and a render pass of the caller reads
    /// them from [`LocalArray::lease`](crate::LocalArray::lease) without a copy.
    pub fn with_usages(self, usages: wgpu::BufferUsages) -> Self {
        Self { usages, ..self }
    }
}

impl<'a> From<&'a Layout> for ArrayOptions<'a> {
    fn from(layout: &'a Layout) -> Self {
        Self::new(layout)
    }
}
