//! [`Chunks`]: the boxes of an array, without their owners, from a resolved layout.

mod cuts;
mod images;

pub use cuts::ChunkId;
pub(crate) use cuts::{AxisCuts, BoxCuts, Cuts, write_list};
pub use images::Neighbour;

use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;

use crate::extents::{Index, MAX_AXES};
use crate::region::Region;

/// Maximum number of chunks of an array, 2²⁴.
pub(crate) const MAX_CHUNKS: usize = 1 << 24;

/// Chunks of an array: disjoint boxes that cover its shape, with ghost widths and periodic axes.
///
/// Immutable, compared and hashed by content. Cuts of a grid cost memory per axis, not per chunk.
/// The cost of a query is proportional to its results.
#[derive(Debug, Clone)]
pub struct Chunks {
    shape: Index,
    cuts: Cuts,
    ghost_lo: Index,
    ghost_hi: Index,
    periodic: [bool; MAX_AXES],
    fingerprint: u64,
}

impl Chunks {
    /// Chunks from valid cuts of [`Layout::resolve`](crate::layout::Layout::resolve).
    pub(crate) fn from_cuts(
        shape: Index,
        cuts: Cuts,
        ghost_lo: Index,
        ghost_hi: Index,
        periodic: [bool; MAX_AXES],
    ) -> Self {
        let mut hash = Fnv::default();
        (shape, &cuts, ghost_lo, ghost_hi, periodic).hash(&mut hash);
        Self { shape, cuts, ghost_lo, ghost_hi, periodic, fingerprint: hash.finish() }
    }

    /// One chunk without ghost cells, as for a local array.
    pub fn single(shape: Index) -> Self {
        let cuts = (0..shape.axes()).map(|axis| AxisCuts::even(shape[axis], 1)).collect();
        let none = Index::zeros(shape.axes());
        Self::from_cuts(shape, Cuts::Grid(cuts), none, none, [false; MAX_AXES])
    }

    /// Number of axes.
    pub fn axes(&self) -> usize {
        self.shape.axes()
    }

    /// Number of cells along each axis of the array.
    pub fn shape(&self) -> Index {
        self.shape
    }

    /// Region of all cells of the array, without ghost cells.
    pub fn whole(&self) -> Region {
        Region::whole(self.shape)
    }

    /// Number of chunks, including empty chunks.
    pub fn count(&self) -> usize {
        self.cuts.count()
    }

    /// Cells of a chunk without its ghost cells. The region can be empty.
    ///
    /// # Panics
    /// For a chunk that does not exist.
    pub fn region(&self, chunk: ChunkId) -> Region {
        assert!(chunk < self.count(), "chunk {chunk} of {}", self.count());
        self.cuts.region(chunk)
    }

    /// Cells of a chunk with its ghost cells, whose coordinates can be outside of the shape. The
    /// storage of an empty chunk is empty.
    pub fn storage(&self, chunk: ChunkId) -> Region {
        let region = self.region(chunk);
        if region.is_empty() { region } else { region.grow(&self.ghost_lo, &self.ghost_hi) }
    }

    /// Ghost width before a chunk, per axis.
    pub fn ghost_lo(&self) -> Index {
        self.ghost_lo
    }

    /// Ghost width after a chunk, per axis.
    pub fn ghost_hi(&self) -> Index {
        self.ghost_hi
    }

    /// True if chunks have ghost cells on a side of an axis.
    pub fn has_ghosts(&self) -> bool {
        self.ghost_lo.iter().chain(self.ghost_hi.iter()).any(|&width| width > 0)
    }

    /// Per axis, true if it is periodic.
    pub fn periodic(&self) -> &[bool] {
        &self.periodic[..self.axes()]
    }

    /// True if another array has the same shape and the same description of cuts. Different
    /// descriptions can give the same boxes.
    pub fn same_cuts(&self, other: &Self) -> bool {
        self.shape == other.shape && self.cuts == other.cuts
    }

    /// Number of chunks along each axis, or `None` for a cut by boxes.
    pub fn grid(&self) -> Option<Index> {
        match &self.cuts {
            Cuts::Grid(axes) => Some(Index::from_fn(axes.len(), |axis| axes[axis].count() as i64)),
            Cuts::Boxes(_) => None,
        }
    }

    /// Calls `found(chunk, part)` for each chunk with cells of `region`, in ascending order. `part`
    /// is the common region. Cells outside of the shape belong to no chunk.
    pub fn touching(&self, region: &Region, mut found: impl FnMut(ChunkId, Region)) {
        let _ = self.visit(region, &mut |chunk, part| {
            found(chunk, part);
            ControlFlow::Continue(())
        });
    }

    /// [`touching`](Self::touching) until `found` breaks.
    pub fn visit(&self, region: &Region, found: &mut dyn FnMut(ChunkId, Region) -> ControlFlow<()>) -> ControlFlow<()> {
        self.cuts.visit(region, found)
    }

    /// Chunk of a cell, or `None` outside of the shape.
    pub fn chunk_at(&self, cell: &Index) -> Option<ChunkId> {
        let region = Region { start: *cell, end: Index::from_fn(self.axes(), |axis| cell[axis].saturating_add(1)) };
        let mut holder = None;
        self.touching(&region, |chunk, _| holder = Some(chunk));
        holder
    }

    /// Hash of the content, equal on all ranks.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

/// Maximum length of a list in a text. Longer lists end with a fingerprint.
pub(crate) const MAX_WRITTEN_ITEMS: usize = 16;

/// Writes the shape, the sizes along each axis or the boxes, and the ghost widths and periodic axes
/// if there are any.
impl Display for Chunks {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} cut in ", self.shape)?;
        if !self.cuts.write(f, MAX_WRITTEN_ITEMS)? {
            write!(f, " #{:04x}", self.fingerprint as u16)?;
        }
        if self.has_ghosts() {
            write!(f, ", ghosts {} and {}", self.ghost_lo, self.ghost_hi)?;
        }
        if self.periodic.contains(&true) {
            let axes: Vec<usize> = (0..self.axes()).filter(|&axis| self.periodic[axis]).collect();
            write!(f, ", axes {axes:?} periodic")?;
        }
        Ok(())
    }
}

impl PartialEq for Chunks {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
            || self.fingerprint == other.fingerprint
                && (self.shape, self.ghost_lo, self.ghost_hi, self.periodic)
                    == (other.shape, other.ghost_lo, other.ghost_hi, other.periodic)
                && self.cuts == other.cuts
    }
}

impl Eq for Chunks {}

impl Hash for Chunks {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fingerprint.hash(state);
    }
}

/// FNV-1a hash, equal in all processes in contrast to the hash of the standard library.
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    fn finish(&self) -> u64 {
        self.0
    }
}
