//! [`Extractor`]: surfaces of one field.

mod attribute;
mod block;
mod crossed;
mod crossings;
mod generate;
mod interior;
mod memory;
mod part;
mod tree;
mod values;
mod weld;

use zippy::array::ChunkRef;
use zippy::{GlobalArray, Result, World};

pub use self::attribute::Attribute;

use self::attribute::sealed::Fitted;
use self::attribute::{ghosted, refreshed};
use self::block::{Block, Samples};
use self::crossed::Crossed;
use self::generate::{Maker, interpolate};
use self::memory::with_samples;
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
        let ghosted = ghosted(world, field, field.core().placement(), if normals { (1, 2) } else { (0, 1) })?;
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
        refreshed(world, field, ghosted)?;
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
        self.extract_with(isovalue, &[])
    }

    /// [`extract`](Self::extract) with the values of further fields at the vertices, interpolated like positions. Arrays that
    /// are cut in another way, or lack a ghost cell behind each chunk, are copied each time.
    ///
    /// # Errors
    /// As [`extract`](Self::extract); an array of another shape.
    pub fn extract_with(&self, isovalue: f32, attributes: &[&dyn Attribute]) -> Result<Mesh> {
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
        let like = self.ghosted.core().placement();
        let fitted = attributes.iter().map(|one| Ok((one.label(), one.fitted(self.world, like)?)));
        let fitted = fitted.collect::<Result<Vec<_>>>()?;
        self.world.failing("extracting an isosurface", || {
            let mut mesh = self.made(&pieces, isovalue)?;
            for (name, field) in &fitted {
                mesh.fields.push((name.clone(), self.values(&pieces, isovalue, &**field)?));
            }
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
                    let maker = self.maker(piece, samples, isovalue, bases);
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

    fn maker<'a>(&'a self, piece: &'a Piece, samples: &'a dyn Samples, isovalue: f32, bases: [u32; 2]) -> Maker<'a> {
        let Piece { part, crossed, .. } = piece;
        Maker { part, crossed, samples, isovalue, grid: &self.grid, normals: self.normals, bases }
    }

    /// The values of a field at own vertices, and then at ghosts.
    fn values(&self, pieces: &[Piece], isovalue: f32, field: &dyn Fitted) -> Result<Vec<f32>> {
        let mut values = Vec::new();
        for own_ones in [true, false] {
            for ((chunk, ..), piece) in self.parts.iter().zip(pieces) {
                let places = with_samples(self.world, &self.ghosted, chunk, |samples| {
                    self.maker(piece, samples, isovalue, [0; 2]).places(own_ones)
                })?;
                field.samples(chunk.id(), &mut |part, samples| interpolate(part, samples, &places, &mut values))?;
            }
        }
        Ok(values)
    }
}
