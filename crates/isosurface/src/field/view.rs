//! [`View`]: a distributed field, independent of its sample type.

use std::cell::Cell;
use std::time::{Duration, Instant};

use zippy::chunks::ChunkId;
use zippy::locate::Placement;
use zippy::{Result, World};

use super::attribute::{Attribute, Fitted};
use super::bricked_chunk::BrickedChunk;
use super::tree::Bricks;
use crate::grid::SampleFrame;
use crate::kernels::Kernels;
use crate::mesh::Mesh;

/// Field with all sources of mesh data.
pub(crate) struct View<'a> {
    pub world: &'a World,
    /// Chunks and their owners.
    pub placement: &'a Placement,
    /// Chunks of this rank with samples.
    pub chunks: Vec<(ChunkId, &'a BrickedChunk, &'a dyn Bricks)>,
    pub samples: &'a dyn Fitted,
    /// Kernels, if they can be faster than the host.
    pub kernels: Option<&'a Kernels>,
    pub grid: &'a SampleFrame,
    /// True if each chunk has the ghost cells that gradients at vertices need.
    pub normals: bool,
    /// True if the grid is left-handed, which reverses the orientation of triangles.
    pub mirrored: bool,
    /// Computation time of this rank.
    pub computed: Cell<Duration>,
    /// Old mesh whose memory the host can reuse; allocation would take a tenth of an extraction.
    pub used: Cell<Mesh>,
}

/// Name and access of a further field.
pub(crate) type FittedField<'a> = (String, Box<dyn Fitted + 'a>);

impl<'a> View<'a> {
    /// Runs local work and adds its time to the computation time.
    pub(crate) fn timed<R>(&self, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.computed.set(self.computed.get() + start.elapsed());
        result
    }

    /// Further fields by name, with the cuts of this one. Collective.
    ///
    /// # Errors
    /// An array of another shape; a transfer or a device fails.
    pub(crate) fn fitted(&self, attributes: &[&dyn Attribute]) -> Result<Vec<FittedField<'a>>> {
        attributes
            .iter()
            .map(|attribute| Ok((attribute.label(), attribute.fitted(self.world, self.placement)?)))
            .collect()
    }
}
