//! [`View`]: a field that is cut, whatever its samples are.

use std::cell::Cell;
use std::time::{Duration, Instant};

use zippy::chunks::ChunkId;
use zippy::locate::Placement;
use zippy::{Result, World};

use super::attribute::{Attribute, Fitted};
use super::part::Part;
use super::tree::Bricks;
use crate::grid::SampleFrame;
use crate::kernels::Kernels;
use crate::mesh::Mesh;

/// A field with all that meshes are made of.
pub struct View<'a> {
    pub world: &'a World,
    /// Its chunks and their owners.
    pub placement: &'a Placement,
    /// This rank's chunks that have samples.
    pub chunks: Vec<(ChunkId, &'a Part, &'a dyn Bricks)>,
    pub samples: &'a dyn Fitted,
    /// Where kernels can be faster than the host.
    pub kernels: Option<&'a Kernels>,
    pub grid: &'a SampleFrame,
    /// Whether there are samples enough around each chunk for gradients at vertices.
    pub normals: bool,
    /// Whether what runs counterclockwise in indices runs clockwise as meshes want it.
    pub mirrored: bool,
    /// How long this rank has computed.
    pub computed: Cell<Duration>,
    /// A mesh whose memory the host can use again: to get it anew from the system takes a tenth of an extraction.
    pub used: Cell<Mesh>,
}

/// A further field, by name.
pub type FittedField<'a> = (String, Box<dyn Fitted + 'a>);

impl<'a> View<'a> {
    /// Does a part of the work that no other rank takes part in.
    pub fn computing<R>(&self, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.computed.set(self.computed.get() + start.elapsed());
        result
    }

    /// Further fields, by name, cut like this one. Collective.
    ///
    /// # Errors
    /// An array of another shape; a transfer or a device fails.
    pub fn fitted(&self, attributes: &[&dyn Attribute]) -> Result<Vec<FittedField<'a>>> {
        attributes.iter().map(|one| Ok((one.label(), one.fitted(self.world, self.placement)?))).collect()
    }
}
