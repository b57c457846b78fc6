//! Hand-written wgpu programs: initial buffers, kernels, and extraction of the resulting cells.

use wgpu::Buffer;
use zippy::device::Device;

use super::super::reference::programs::KernelCycle;
use super::values::{Values, hash};

/// Extracts the cells from a buffer's words, in index order.
type CellsOfWords = Box<dyn Fn(&[u32]) -> Vec<f64>>;

pub(crate) struct HandWritten {
    kernels: KernelCycle,
    /// Buffer with the cells after each step of the cycle.
    results: Vec<Buffer>,
    extract_cells: CellsOfWords,
    scalar: f64,
}

impl HandWritten {
    pub(crate) fn new(kernels: KernelCycle, results: &[&Buffer], cells: impl Fn(&[u32]) -> Vec<f64> + 'static) -> Self {
        let results = results.iter().copied().cloned().collect();
        Self { kernels, results, extract_cells: Box::new(cells), scalar: 0.0 }
    }

    pub(crate) fn steps(&mut self, count: usize) {
        self.scalar = self.kernels.steps(count);
    }

    /// Sums of the current cells, and the scalar result of the last step.
    pub(crate) fn values(&self) -> Values {
        let last = (self.kernels.steps_done() + self.results.len() - 1) % self.results.len();
        let words = self.kernels.words(&self.results[last]);
        Values::of_cells((self.extract_cells)(&words)).with_scalar(self.scalar)
    }
}

/// A grid with equal edges and a border, stored in a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bordered {
    pub edge: usize,
    pub axes: u32,
    pub border: usize,
}

impl Bordered {
    pub(crate) fn stored(self) -> usize {
        (self.edge + 2 * self.border).pow(self.axes)
    }

    /// Index in the buffer of each cell without the border, in cell order.
    pub(crate) fn offsets(self) -> impl Iterator<Item = usize> {
        let Self { edge, axes, border } = self;
        let row = edge + 2 * border;
        (0..edge.pow(axes))
            .map(move |cell| (0..axes).map(|axis| (cell / edge.pow(axis) % edge + border) * row.pow(axis)).sum())
    }

    /// Cells with [`hash`] values, and a border of zeros.
    pub(crate) fn hashed(self, array: u64) -> Vec<f32> {
        let mut stored = vec![0.0; self.stored()];
        (0..).zip(self.offsets()).for_each(|(index, offset)| stored[offset] = hash(array, index));
        stored
    }

    pub(crate) fn cells(self) -> impl Fn(&[u32]) -> Vec<f64> {
        move |words| self.offsets().map(|offset| f32::from_bits(words[offset]).into()).collect()
    }

    /// Number of workgroups along each axis, for workgroups of 64 cells along axis 0.
    pub(crate) fn groups(self) -> [u32; 3] {
        let edge = self.edge as u32;
        [edge.div_ceil(64), edge, if self.axes == 3 { edge } else { 1 }]
    }
}

/// Creates an empty cycle, and a uniform buffer with the number of cells along an edge.
pub(crate) fn kernels(gpu: &Device, edge: usize) -> (KernelCycle, Buffer) {
    let kernels = KernelCycle::new(gpu);
    let edge = kernels.uniform(edge as u32);
    (kernels, edge)
}
