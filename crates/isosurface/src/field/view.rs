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

/// Field with all sources of mesh data, independent of the sample type.
pub(crate) struct View<'a> {
    pub world: &'a World,
    pub placement: &'a Placement,
    /// Chunks of this rank with samples.
    pub chunks: Vec<(ChunkId, &'a BrickedChunk, &'a dyn Bricks)>,
    pub samples: &'a dyn Fitted,
    /// Kernels, unless the host is faster.
    pub kernels: Option<&'a Kernels>,
    pub grid: &'a SampleFrame,
    /// True if each chunk has the ghost cells for gradients at vertices.
    pub normals: bool,
    /// True if the grid is left-handed, which reverses the orientation of triangles.
    pub mirrored: bool,
    /// Computation time of this rank.
    pub computed: Cell<Duration>,
    /// Old mesh with reusable memory; allocation would take a tenth of an extraction.
    pub used: Cell<Mesh>,
}

pub(crate) type FittedField<'a> = (String, Box<dyn Fitted + 'a>);

impl<'a> View<'a> {
    pub(crate) fn timed<R>(&self, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.computed.set(self.computed.get() + start.elapsed());
        result
    }

    /// Further fields by name, with the cuts of this field. Collective.
    pub(crate) fn fitted(&self, attributes: &[&dyn Attribute]) -> Result<Vec<FittedField<'a>>> {
        attributes
            .iter()
            .map(|attribute| Ok((attribute.label(), attribute.fitted(self.world, self.placement)?)))
            .collect()
    }
}
