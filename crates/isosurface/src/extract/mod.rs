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
use zippy::extents::Index;
use zippy::{Exchange, GlobalArray, Layout, Result, World};

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
    /// The field, or a copy of it that has the ghost cells.
    field: GlobalArray<T, 3>,
    grid: Grid,
    normals: bool,
    parts: Vec<(ChunkRef<T, 3>, Part, Tree)>,
}

impl<'w, T: Sample> Extractor<'w, T> {
    /// Prepares surfaces without normals. Collective; the field's ghost cells are updated. A field of several chunks
    /// needs one ghost cell behind each chunk along each axis; otherwise it is copied. What is changed in the field later
    /// is not seen. The field ends where the array ends, also along a periodic axis.
    ///
    /// # Errors
    /// A grid in which samples do not have places of their own; a transfer or a device fails.
    pub fn new(world: &'w World, field: &GlobalArray<T, 3>, grid: Grid) -> Result<Self> {
        Self::prepared(world, field, grid, false)
    }

    /// Prepares surfaces with normals, from differences of neighbouring samples, across chunks too. Likewise; needs one
    /// ghost cell before and two behind each chunk.
    ///
    /// # Errors
    /// Likewise.
    pub fn with_normals(world: &'w World, field: &GlobalArray<T, 3>, grid: Grid) -> Result<Self> {
        Self::prepared(world, field, grid, true)
    }

    fn prepared(world: &'w World, field: &GlobalArray<T, 3>, grid: Grid, normals: bool) -> Result<Self> {
        grid.check()?;
        // Some milliseconds, once in a process.
        cell::table();
        let field = with_ghosts(world, field, if normals { (1, 2) } else { (0, 1) })?;
        let prepared = world.failing("extracting isosurfaces", || {
            let part = |chunk: ChunkRef<T, 3>| {
                let (own, storage) = (chunk.region(), chunk.with_ghosts().region()?);
                let part = Part::new(&own, &storage, field.shape());
                let tree = with_samples(world, &field, &chunk, |samples| Tree::new(&part, samples))?;
                Ok((chunk, part, tree))
            };
            field.chunks().filter(|chunk| !chunk.region().is_empty()).map(part).collect::<Result<Vec<_>>>()
        });
        let parts = prepared?;
        Ok(Self { world, field, grid, normals, parts })
    }

    /// The surface where the trilinear interpolant of the samples is `isovalue`. Samples that are not below it are
    /// inside. Collective; on return every rank has its part. Sends 8 bytes for each vertex on a border between chunks of
    /// two ranks.
    ///
    /// A sample that equals the isovalue is inside; one that is no number, or minus infinity, is outside. So every closed
    /// field has a closed surface. It passes an infinite sample at its neighbour.
    ///
    /// # Errors
    /// An isovalue that is not finite; a rank with 2^32 vertices or more; a transfer or a device fails.
    pub fn extract(&self, isovalue: f32) -> Result<Mesh> {
        if !isovalue.is_finite() {
            return Err(IsosurfaceError::Isovalue(isovalue).into());
        }
        self.world.failing("extracting an isosurface", || {
            let pieces = self.pieces(isovalue)?;
            let mut mesh = self.made(&pieces, isovalue)?;
            mesh.place(self.world)?;
            let core = self.field.core();
            let owned = (&**core.chunks(), &**core.ownership());
            mesh.weld(&weld::ghosts(self.world, owned, &pieces, mesh.vertices_before)?);
            Ok(mesh)
        })
    }

    /// What the surface crosses, with vertices numbered on this rank.
    fn pieces(&self, isovalue: f32) -> Result<Vec<Piece>> {
        let (mut pieces, mut before) = (Vec::new(), [0; 2]);
        for (chunk, part, tree) in &self.parts {
            let crossed = with_samples(self.world, &self.field, chunk, |samples| {
                Crossed::new(part, tree, samples, isovalue, &mut Block::new())
            })?;
            let after = [before[0] + crossed.own, before[1] + crossed.ghosts];
            pieces.push(Piece { chunk: chunk.id(), part: part.clone(), crossed, before });
            before = after;
        }
        let most = u64::from(u32::MAX);
        if before[0] + before[1] > most {
            return Err(IsosurfaceError::TooManyVertices { rank: self.world.rank(), most }.into());
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
                with_samples(self.world, &self.field, chunk, |samples| {
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

/// The field with this many ghost cells before and behind each chunk, filled: itself, or a copy.
fn with_ghosts<T: Sample>(world: &World, field: &GlobalArray<T, 3>, widths: (i64, i64)) -> Result<GlobalArray<T, 3>> {
    let (chunks, owners) = (field.core().chunks(), field.core().ownership());
    let enough = (0..3).all(|axis| chunks.ghost_lo()[axis] >= widths.0 && chunks.ghost_hi()[axis] >= widths.1);
    if chunks.count() == 1 {
        return Ok(field.clone());
    }
    if enough {
        world.ghosts(field)?;
        return Ok(field.clone());
    }
    let boxes = (0..chunks.count()).map(|chunk| chunks.region(chunk)).collect();
    let layout = Layout::new(field.shape()).boxes(boxes).ghost_sides([widths; 3]);
    let ranks = (0..chunks.count()).map(|chunk| owners.owner(chunk).rank).collect();
    let name = format!("{}.isosurface", field.name());
    let copy = world.array_owned::<T, 3>(&name, &layout, zippy::Ownership::table(ranks, world.size())?)?;
    world.exchange(Exchange::new().copy(field.at(..), copy.at(..)))?;
    world.ghosts(&copy)?;
    Ok(copy)
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
