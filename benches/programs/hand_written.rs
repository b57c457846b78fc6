//! Programs by hand with wgpu: buffers with the initial cells, kernels, and the cells of a result.

use wgpu::Buffer;
use zippy::device::Device;

use super::super::reference::programs::ByHand;
use super::values::{Values, hash};

/// Cells of a buffer's words, in the order of their indices.
type CellsOfWords = Box<dyn Fn(&[u32]) -> Vec<f64>>;

/// A program by hand and the buffers that hold its cells in turn.
pub struct HandWritten {
    kernels: ByHand,
    /// Buffer with the cells after each step of the kernels' cycle.
    results: Vec<Buffer>,
    cells: CellsOfWords,
    read: f64,
}

impl HandWritten {
    pub fn new(kernels: ByHand, results: &[&Buffer], cells: impl Fn(&[u32]) -> Vec<f64> + 'static) -> Self {
        let results = results.iter().copied().cloned().collect();
        Self { kernels, results, cells: Box::new(cells), read: 0.0 }
    }

    /// Submits a number of steps.
    pub fn steps(&mut self, count: usize) {
        self.read = self.kernels.steps(count);
    }

    /// The cells now, and the number that the last step has read.
    pub fn values(&self) -> Values {
        let last = (self.kernels.steps_done() + self.results.len() - 1) % self.results.len();
        let words = self.kernels.words(&self.results[last]);
        Values::of_cells((self.cells)(&words)).with_read(self.read)
    }
}

/// A grid of equal edges with a border around it, as a buffer holds it.
#[derive(Debug, Clone, Copy)]
pub struct Bordered {
    pub edge: usize,
    pub axes: u32,
    pub border: usize,
}

impl Bordered {
    /// Cells with the border.
    pub fn stored(self) -> usize {
        (self.edge + 2 * self.border).pow(self.axes)
    }

    /// Index in the buffer of each cell, in the order of the cells.
    pub fn places(self) -> impl Iterator<Item = usize> {
        let Self { edge, axes, border } = self;
        let row = edge + 2 * border;
        (0..edge.pow(axes))
            .map(move |cell| (0..axes).map(|axis| (cell / edge.pow(axis) % edge + border) * row.pow(axis)).sum())
    }

    /// Cells by their index, and a border of zeros.
    pub fn hashed(self, array: u64) -> Vec<f32> {
        let mut stored = vec![0.0; self.stored()];
        (0..).zip(self.places()).for_each(|(index, place)| stored[place] = hash(array, index));
        stored
    }

    /// The cells of a buffer's words.
    pub fn cells(self) -> impl Fn(&[u32]) -> Vec<f64> {
        move |words| self.places().map(|place| f32::from_bits(words[place]).into()).collect()
    }

    /// Workgroups of 64 cells along axis 0.
    pub fn groups(self) -> [u32; 3] {
        let edge = self.edge as u32;
        [edge.div_ceil(64), edge, if self.axes == 3 { edge } else { 1 }]
    }
}

/// An empty cycle of kernels, and the number of cells along an edge as a uniform buffer.
pub fn kernels(gpu: &Device, edge: usize) -> (ByHand, Buffer) {
    let kernels = ByHand::new(gpu);
    let edge = kernels.uniform(edge as u32);
    (kernels, edge)
}
