//! [`Attribute`]: a further field, interpolated at the vertices of a mesh.

use zippy::chunks::ChunkId;
use zippy::element::ElementInfo;
use zippy::error::{ArrayError, ErrorKind};
use zippy::kernel::Binding;
use zippy::locate::Placement;
use zippy::{ArrayOptions, GlobalArray, Layout, Ownership, Result, World};

use super::block::Samples;
use super::bricked_chunk::BrickedChunk;
use super::memory::with_samples;
use crate::error::IsosurfaceError;
use crate::sample::Sample;

/// Field to interpolate at the vertices of a mesh: a 3-D global array of the shape of the surface's
/// field, with any cuts and sample type.
pub trait Attribute: sealed::Sealed {
    /// Name of the array and of the values in the mesh.
    fn label(&self) -> String;

    #[doc(hidden)]
    fn fitted<'w>(&self, world: &'w World, like: &Placement) -> Result<Box<dyn sealed::Fitted + 'w>>;
}

pub(crate) mod sealed {
    use super::*;

    pub trait Sealed {}

    /// Array with the cuts of the surface's field and ghost cells after each chunk.
    pub trait Fitted {
        fn samples(&self, chunk: ChunkId, f: &mut dyn FnMut(&BrickedChunk, &dyn Samples)) -> Result<()>;

        /// Element type, if the field is an array.
        fn element(&self) -> Option<&'static ElementInfo> {
            None
        }

        /// Binding of a chunk for kernels; positions count from the chunk's first own sample.
        fn section(&self, _chunk: ChunkId) -> Option<Binding> {
            None
        }
    }
}

pub(crate) use sealed::Fitted;

/// Field, or its copy, with the required cuts and ghost cells.
pub(crate) struct FittedArray<'w, T> {
    pub world: &'w World,
    pub array: GlobalArray<T, 3>,
}

impl<'w, T: Sample> FittedArray<'w, T> {
    /// The field, or an up-to-date copy, with the given ghost widths before and after each chunk.
    /// Collective.
    pub(crate) fn new(
        world: &'w World,
        field: &GlobalArray<T, 3>,
        like: &Placement,
        widths: (i64, i64),
    ) -> Result<Self> {
        let array = ghosted(world, field, like, widths)?;
        refreshed(world, field, &array)?;
        Ok(Self { world, array })
    }
}

impl<T: Sample> Fitted for FittedArray<'_, T> {
    fn samples(&self, chunk: ChunkId, f: &mut dyn FnMut(&BrickedChunk, &dyn Samples)) -> Result<()> {
        let Some(chunk) = self.array.chunks().find(|local| local.id() == chunk) else { return Ok(()) };
        let part = BrickedChunk::new(&chunk.region(), &chunk.with_ghosts().region()?, self.array.shape());
        with_samples(self.world, &self.array, &chunk, |samples| f(&part, samples))
    }

    fn element(&self) -> Option<&'static ElementInfo> {
        Some(&T::INFO)
    }

    fn section(&self, chunk: ChunkId) -> Option<Binding> {
        Some(self.array.chunks().find(|local| local.id() == chunk)?.all().into())
    }
}

impl<T: Sample> sealed::Sealed for GlobalArray<T, 3> {}

impl<T: Sample> Attribute for GlobalArray<T, 3> {
    fn label(&self) -> String {
        self.name().to_string()
    }

    fn fitted<'w>(&self, world: &'w World, like: &Placement) -> Result<Box<dyn Fitted + 'w>> {
        let (wanted, found) = (like.chunks().shape(), self.core().chunks().shape());
        let checked = if wanted == found {
            Ok(())
        } else {
            Err(IsosurfaceError::Shape { name: self.label(), found, wanted }.into())
        };
        world.agree(&format!("values of {:?} on a mesh", self.name()), checked)?;
        Ok(Box::new(FittedArray::new(world, self, like, (0, 1))?))
    }
}

/// Returns the field itself if it has the required cuts and ghost cells along cut axes, otherwise a
/// new array that has them.
fn ghosted<T: Sample>(
    world: &World,
    field: &GlobalArray<T, 3>,
    like: &Placement,
    widths: (i64, i64),
) -> Result<GlobalArray<T, 3>> {
    let (chunks, owners) = (like.chunks(), like.ownership());
    let own = field.core().chunks();
    let all = || (0..chunks.count()).map(|chunk| chunks.region(chunk));
    let is_cut = |axis: usize| {
        all().any(|region| !region.is_empty() && region.end[axis] - region.start[axis] < chunks.shape()[axis])
    };
    let enough = |axis: usize| own.ghost_lo()[axis] >= widths.0 && own.ghost_hi()[axis] >= widths.1;
    let same = own.same_cuts(chunks) && field.core().ownership() == owners;
    if same && (0..3).all(|axis| enough(axis) || !is_cut(axis)) {
        return Ok(field.clone());
    }
    let layout = Layout::new(field.shape()).boxes(all().collect()).ghost_sides([widths; 3]);
    let ranks: Vec<usize> = (0..chunks.count()).map(|chunk| owners.owner(chunk).rank).collect();
    let mut number = 0;
    loop {
        let name = format!("{}.isosurface.{number}", field.name());
        match world
            .array::<T, 3>(&name, ArrayOptions::new(&layout).owned_by(Ownership::table(ranks.clone(), world.size())?))
        {
            // Another extractor has an array with this name.
            Err(error) if matches!(error.kind(), ErrorKind::Array(ArrayError::NameTaken { .. })) => number += 1,
            made => return made,
        }
    }
}

/// Updates the array from [`ghosted`].
pub(crate) fn refreshed<T: Sample>(
    world: &World,
    field: &GlobalArray<T, 3>,
    ghosted: &GlobalArray<T, 3>,
) -> Result<()> {
    if !ghosted.core().is_alias_of(field.core()) {
        world.copy(field.at(..), ghosted.at(..))?;
    }
    if ghosted.core().chunks().has_ghosts() {
        world.ghosts(ghosted)?;
    }
    Ok(())
}
