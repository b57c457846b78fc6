//! [`Extractor`]: surfaces of one field.

mod block;
mod crossed;
mod crossings;
mod generate;
mod interior;
mod part;
mod tree;
mod values;
mod weld;

use zippy::array::ChunkRef;
use zippy::error::ArrayError;
use zippy::extents::Index;
use zippy::{Error, GlobalArray, Layout, Ownership, Result, World};

use self::block::{Block, Samples, Slice};
use self::crossed::Crossed;
use self::generate::Maker;
use self::part::Part;
use self::tree::Tree;
use self::weld::Piece;
use crate::cell;
use crate::error::IsosurfaceError;
use crate::grid::Grid;
use crate::mesh::Mesh;
use crate::sample::Sample;

/// Surfaces of a field of samples, a 3-D global array of any cut. What does not depend on the isovalue is worked out
/// once: a tree of least and largest values over bricks of 32 x 4 x 4 samples, so that a surface costs what it crosses.
pub struct Extractor<'w, T> {
    world: &'w World,
    field: GlobalArray<T, 3>,
    /// The field, or a copy of it that has the ghost cells.
    ghosted: GlobalArray<T, 3>,
    grid: Grid,
    normals: bool,
    parts: Vec<(ChunkRef<T, 3>, Part, Tree)>,
}

impl<'w, T: Sample> Extractor<'w, T> {
    /// Prepares surfaces without normals. Collective; the field's ghost cells are updated. Along each axis that is cut it
    /// needs a ghost cell behind each chunk; otherwise it is copied. It ends where the array ends, also along a periodic
    /// axis.
    ///
    /// The field must not be changed while this lives, or [`update`](Self::update) be called: the tree would be that of
    /// the old samples, and surfaces might have holes, which is not always noticed.
    ///
    /// # Errors
    /// A grid in which samples do not have places of their own; a transfer or a device fails.
    pub fn new(world: &'w World, field: &GlobalArray<T, 3>, grid: Grid) -> Result<Self> {
        Self::prepared(world, field, grid, false)
    }

    /// Prepares surfaces with normals: differences of neighbouring samples, across chunks too, interpolated. Likewise;
    /// needs one ghost cell before and two behind each chunk.
    ///
    /// # Errors
    /// Likewise.
    pub fn with_normals(world: &'w World, field: &GlobalArray<T, 3>, grid: Grid) -> Result<Self> {
        Self::prepared(world, field, grid, true)
    }

    fn prepared(world: &'w World, field: &GlobalArray<T, 3>, grid: Grid, normals: bool) -> Result<Self> {
        world.agree(&format!("preparing isosurfaces on {grid:?}"), grid.check(field.shape()).map_err(Into::into))?;
        // Some milliseconds, once in a process.
        cell::table();
        let ghosted = ghosted(world, field, if normals { (1, 2) } else { (0, 1) })?;
        let mut extractor = Self { world, field: field.clone(), ghosted, grid, normals, parts: Vec::new() };
        extractor.update()?;
        Ok(extractor)
    }

    /// Takes the field as it is now, after it has been changed. Collective; costs what preparing costs.
    ///
    /// # Errors
    /// A transfer or a device fails.
    pub fn update(&mut self) -> Result<()> {
        let Self { world, field, ghosted, .. } = self;
        if !ghosted.core().is_alias_of(field.core()) {
            world.copy(field.at(..), ghosted.at(..))?;
        }
        if ghosted.core().chunks().has_ghosts() {
            world.ghosts(ghosted)?;
        }
        let parts = world.failing("preparing isosurfaces", || {
            let part = |chunk: ChunkRef<T, 3>| {
                let (own, storage) = (chunk.region(), chunk.with_ghosts().region()?);
                let part = Part::new(&own, &storage, ghosted.shape());
                let tree = with_samples(world, ghosted, &chunk, |samples| Tree::new(&part, samples))?;
                Ok((chunk, part, tree))
            };
            ghosted.chunks().filter(|chunk| !chunk.region().is_empty()).map(part).collect::<Result<Vec<_>>>()
        });
        self.parts = parts?;
        Ok(())
    }

    /// The surface where the trilinear interpolant of the samples is `isovalue`. Samples that are not below it are
    /// inside. Collective; on return every rank has its part. Sends 8 bytes for each vertex on a border between chunks of
    /// two ranks.
    ///
    /// A sample that equals the isovalue is inside; one that is no number, or minus infinity, is outside. So every closed
    /// field has a closed surface. It passes an infinite sample at its neighbour.
    ///
    /// # Errors
    /// An isovalue that is not finite; a rank with 2^32 vertices or more, its neighbours' that it uses among them; a
    /// transfer or a device fails.
    pub fn extract(&self, isovalue: f32) -> Result<Mesh> {
        let checked = if isovalue.is_finite() { Ok(()) } else { Err(IsosurfaceError::Isovalue(isovalue).into()) };
        // Also finds ranks that ask for different surfaces.
        self.world.agree(&format!("extracting the isosurface {isovalue}"), checked)?;
        let pieces = self.world.failing("extracting an isosurface", || self.pieces(isovalue))?;
        let most = u64::from(u32::MAX);
        let many = pieces.iter().map(|piece| piece.crossed.own + piece.crossed.ghosts).sum::<u64>() > most;
        let counted = match many {
            true => Err(IsosurfaceError::TooManyVertices { rank: self.world.rank(), most }.into()),
            false => Ok(()),
        };
        self.world.agree("numbering vertices", counted)?;
        self.world.failing("extracting an isosurface", || {
            let mut mesh = self.made(&pieces, isovalue)?;
            mesh.place(self.world)?;
            let core = self.ghosted.core();
            let owned = (&**core.chunks(), &**core.ownership());
            mesh.weld(&weld::ghosts(self.world, owned, &pieces, mesh.vertices_before)?);
            Ok(mesh)
        })
    }

    /// What the surface crosses, with vertices numbered on this rank.
    fn pieces(&self, isovalue: f32) -> Result<Vec<Piece>> {
        let (mut pieces, mut before) = (Vec::new(), [0; 2]);
        for (chunk, part, tree) in &self.parts {
            let crossed = with_samples(self.world, &self.ghosted, chunk, |samples| {
                Crossed::new(part, tree, samples, isovalue, &mut Block::new())
            })?;
            let after = [before[0] + crossed.own, before[1] + crossed.ghosts];
            pieces.push(Piece { chunk: chunk.id(), part: part.clone(), crossed, before });
            before = after;
        }
        Ok(pieces)
    }

    /// This rank's part of the mesh, but for what other ranks know.
    fn made(&self, pieces: &[Piece], isovalue: f32) -> Result<Mesh> {
        let own: u64 = pieces.iter().map(|piece| piece.crossed.own).sum();
        let interior = pieces.iter().map(|piece| piece.crossed.interior).sum();
        let mut mesh = Mesh { own: own as usize, own_interior: interior, has_normals: self.normals, ..Mesh::default() };
        // All own vertices stand before all ghosts.
        for own_ones in [true, false] {
            for ((chunk, ..), piece) in self.parts.iter().zip(pieces) {
                with_samples(self.world, &self.ghosted, chunk, |samples| {
                    let bases = [piece.before[0], own + piece.before[1]].map(|base| base as u32);
                    let Piece { part, crossed, .. } = piece;
                    let (grid, normals) = (&self.grid, self.normals);
                    let maker = Maker { part, crossed, samples, isovalue, grid, normals, bases };
                    let mut block = Block::new();
                    if own_ones {
                        maker.own_vertices(&mut mesh, &mut block);
                        maker.triangles(&mut mesh);
                    } else {
                        maker.ghost_vertices(&mut mesh, &mut block);
                    }
                })?;
            }
        }
        Ok(mesh)
    }
}

/// The field itself if it has this many ghost cells before and behind each chunk, else an array like it that has them.
fn ghosted<T: Sample>(world: &World, field: &GlobalArray<T, 3>, widths: (i64, i64)) -> Result<GlobalArray<T, 3>> {
    let (chunks, owners) = (field.core().chunks(), field.core().ownership());
    let all = || (0..chunks.count()).map(|chunk| chunks.region(chunk));
    let is_cut =
        |axis: usize| all().any(|own| !own.is_empty() && own.end[axis] - own.start[axis] < chunks.shape()[axis]);
    let enough = |axis: usize| chunks.ghost_lo()[axis] >= widths.0 && chunks.ghost_hi()[axis] >= widths.1;
    if (0..3).all(|axis| enough(axis) || !is_cut(axis)) {
        return Ok(field.clone());
    }
    let layout = Layout::new(field.shape()).boxes(all().collect()).ghost_sides([widths; 3]);
    let ranks: Vec<usize> = (0..chunks.count()).map(|chunk| owners.owner(chunk).rank).collect();
    let mut number = 0;
    loop {
        let name = format!("{}.isosurface.{number}", field.name());
        match world.array_owned::<T, 3>(&name, &layout, Ownership::table(ranks.clone(), world.size())?) {
            // Of another extractor.
            Err(Error::Array(ArrayError::NameTaken { .. })) => number += 1,
            made => return made,
        }
    }
}

/// Calls `f` with the samples of a chunk, ghost cells included: as they lie in memory where the device is the host, else
/// with a copy of them.
fn with_samples<T: Sample, R>(
    world: &World,
    field: &GlobalArray<T, 3>,
    chunk: &ChunkRef<T, 3>,
    f: impl FnOnce(&dyn Samples) -> R,
) -> Result<R> {
    let (gpu, section) = (world.gpu(), chunk.with_ghosts());
    let storage = section.region()?;
    if let Some(lease) = chunk.lease()?.filter(|_| gpu.is_host()) {
        let lies = field.core().strided(chunk.id(), &storage);
        let strides = std::array::from_fn(|axis| lies.strides[axis] as usize);
        return Ok(gpu.lend([&lease], |[bytes]| {
            f(&Slice { cells: &bytemuck::cast_slice::<u8, T>(bytes)[lies.offset as usize..], strides })
        })?);
    }
    let dense: Index = storage.extents().dense_strides();
    Ok(f(&Slice { cells: &section.read()?, strides: std::array::from_fn(|axis| dense[axis] as usize) }))
}
