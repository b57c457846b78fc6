//! [`Extractor`]: extracts surfaces of one field.

mod by_host;
mod by_kernels;
mod interior;
mod on_device;
pub(crate) mod surfaces;
mod triangles;
mod vertices;

use std::cell::Cell;
use std::time::Duration;

use zippy::array::ChunkRef;
use zippy::chunks::ChunkId;
use zippy::collective::CollectiveWorld;
use zippy::error::CallSite;
use zippy::{GlobalArray, Grid, Result, World};

use self::surfaces::surfaces;
use crate::cell;
use crate::device_mesh::DeviceMesh;
use crate::error::IsosurfaceError;
use crate::field::attribute::{Attribute, FittedArray, refreshed};
use crate::field::bricked_chunk::BrickedChunk;
use crate::field::memory::with_samples;
use crate::field::tree::{Bricks, Tree};
use crate::field::view::View;
use crate::grid::SampleFrame;
use crate::kernels::Kernels;
use crate::mesh::Mesh;
use crate::sample::Sample;

/// Extractor of isosurfaces of a field, a 3-D global array with any cuts. The extractor keeps a
/// tree of least and greatest values over bricks of 32 x 4 x 4 samples; the cost of a surface is
/// proportional to the bricks that it crosses.
pub struct Extractor<'w, T> {
    world: &'w World,
    field: GlobalArray<T, 3>,
    /// The field, or a copy with the required ghost cells.
    fitted: FittedArray<'w, T>,
    grid: SampleFrame,
    normals: bool,
    kernels: Option<Kernels>,
    parts: Vec<(ChunkId, BrickedChunk, Tree)>,
    computed: Cell<Duration>,
}

impl<'w, T: Sample> Extractor<'w, T> {
    /// Creates an extractor without normals. Collective; updates the field's ghost cells.
    ///
    /// The field needs one ghost cell after each chunk along cut axes; otherwise the extractor
    /// copies it. The surface ends at the ends of the array, also along a periodic axis.
    ///
    /// A change of the field requires [`update`](Self::update); an outdated tree can cause holes
    /// without an error.
    ///
    /// # Errors
    /// A grid without distinct positions of the samples; a transfer or a device fails.
    #[track_caller]
    pub fn new(world: &'w World, field: &GlobalArray<T, 3>, grid: Grid) -> Result<Self> {
        let _call = CallSite::enter();
        Self::prepared(world, field, grid, false)
    }

    /// Creates an extractor with normals, interpolated from differences of neighbouring samples.
    /// Collective; updates the field's ghost cells.
    ///
    /// The field needs one ghost cell before and two after each chunk; otherwise the extractor
    /// copies it. Other conditions as for [`new`](Self::new).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[track_caller]
    pub fn with_normals(world: &'w World, field: &GlobalArray<T, 3>, grid: Grid) -> Result<Self> {
        let _call = CallSite::enter();
        Self::prepared(world, field, grid, true)
    }

    fn prepared(world: &'w World, field: &GlobalArray<T, 3>, grid: Grid, normals: bool) -> Result<Self> {
        let frame = SampleFrame::new(&grid, field.shape()).map_err(Into::into);
        let call = format!("Extractor::new({:?} on {grid:?})", field.name());
        let grid = world.agree(&call, frame)?;
        // Takes several milliseconds, once per process.
        cell::table();
        let widths = if normals { (1, 2) } else { (0, 1) };
        let fitted = FittedArray::new(world, field, field.core().placement(), widths)?;
        let kernels =
            Kernels::new(world, fitted.array.core().chunks(), &grid)?.filter(|kernels| kernels.read(&T::INFO));
        let (parts, computed) = (Vec::new(), Cell::default());
        let mut extractor = Self { world, field: field.clone(), fitted, grid, normals, kernels, parts, computed };
        extractor.build_trees()?;
        Ok(extractor)
    }

    /// Moves all extraction to the host, in `f64`, from copies of chunks. Local; must be called on
    /// all ranks or none.
    ///
    /// By default, kernels extract surfaces if no rank's device is the host itself (a software
    /// adapter). Their meshes have the same vertices and triangles in the same order, but positions
    /// and normals rounded to `f32`: positions by about 2^-22 of the greatest coordinate. The host
    /// also extracts surfaces that exceed the buffers of a device (see
    /// [`extract_on_device`](Self::extract_on_device)).
    #[must_use]
    pub fn on_host(mut self) -> Self {
        self.kernels = None;
        self
    }

    /// Reads the field again after a change. Collective; as expensive as creation.
    ///
    /// # Errors
    /// A transfer or a device fails.
    #[track_caller]
    pub fn update(&mut self) -> Result<()> {
        let _call = CallSite::enter();
        refreshed(self.world, &self.field, &self.fitted.array)?;
        self.build_trees()
    }

    fn build_trees(&mut self) -> Result<()> {
        let (world, array) = (self.world, &self.fitted.array);
        let parts = world.failing("preparing isosurfaces", || {
            let part = |chunk: ChunkRef<T, 3>| {
                let part = BrickedChunk::new(&chunk.region(), &chunk.with_ghosts().region()?, array.shape());
                let tree = match &self.kernels {
                    Some(kernels) => kernels.tree(world, &part, chunk.all().into())?,
                    None => with_samples(world, array, &chunk, |samples| Tree::new(&part, samples))?,
                };
                Ok((chunk.id(), part, tree))
            };
            array.chunks().filter(|chunk| !chunk.region().is_empty()).map(part).collect::<Result<Vec<_>>>()
        });
        self.parts = parts?;
        Ok(())
    }

    /// Extracts the surface where the trilinear interpolant of the samples equals `isovalue`.
    /// Collective; on return every rank has its part. Sends 8 bytes per vertex on a border between
    /// chunks of two ranks.
    ///
    /// Samples that equal or exceed the isovalue are inside; NaN and minus infinity are outside.
    /// Hence every closed field has a closed surface. Next to an infinite sample, the surface
    /// passes through the neighbour.
    ///
    /// # Errors
    /// An isovalue that is not finite; a rank with 2^32 vertices or more, including ghosts; a
    /// transfer or a device fails.
    #[track_caller]
    pub fn extract(&self, isovalue: f32) -> Result<Mesh> {
        let _call = CallSite::enter();
        self.extract_with(isovalue, &[])
    }

    /// [`extract`](Self::extract) with values of further fields, interpolated at the vertices.
    /// Arrays with other cuts, or without a ghost cell after each chunk, are copied at each call.
    ///
    /// # Errors
    /// As [`extract`](Self::extract); an array of another shape.
    #[track_caller]
    pub fn extract_with(&self, isovalue: f32, attributes: &[&dyn Attribute]) -> Result<Mesh> {
        let _call = CallSite::enter();
        let meshes = self.surfaces(&format!("extract({isovalue})"), &[isovalue], attributes, Mesh::default())?;
        Ok(meshes.into_iter().next().expect("a mesh for each isovalue"))
    }

    /// [`extract`](Self::extract) into the memory of an old mesh, for frequent changes such as a
    /// dragged isovalue. Collective; after an error the mesh is empty. Only the host reuses memory;
    /// kernels allocate as in [`extract`](Self::extract).
    ///
    /// # Errors
    /// As [`extract`](Self::extract).
    #[track_caller]
    pub fn extract_into(&self, isovalue: f32, mesh: &mut Mesh) -> Result<()> {
        let _call = CallSite::enter();
        let call = format!("extract_into({isovalue})");
        let used = std::mem::take(mesh);
        *mesh = self.surfaces(&call, &[isovalue], &[], used)?.pop().expect("a mesh for each isovalue");
        Ok(())
    }

    /// Extracts the surfaces of several isovalues, in the given order, each equal to that of
    /// [`extract`](Self::extract). Collective. Reads the tree and the samples once and sends as
    /// many messages as for one surface.
    ///
    /// # Errors
    /// As [`extract`](Self::extract), for any of the isovalues.
    #[track_caller]
    pub fn extract_several(&self, isovalues: &[f32]) -> Result<Vec<Mesh>> {
        let _call = CallSite::enter();
        self.extract_several_with(isovalues, &[])
    }

    /// [`extract_several`](Self::extract_several) with values of further fields, as in
    /// [`extract_with`](Self::extract_with).
    ///
    /// # Errors
    /// As [`extract_with`](Self::extract_with), for any of the isovalues.
    #[track_caller]
    pub fn extract_several_with(&self, isovalues: &[f32], attributes: &[&dyn Attribute]) -> Result<Vec<Mesh>> {
        let _call = CallSite::enter();
        self.surfaces(&format!("extract_several({isovalues:?})"), isovalues, attributes, Mesh::default())
    }

    /// True if kernels extract surfaces of this field, a condition of
    /// [`extract_on_device`](Self::extract_on_device): no rank's device is the host itself (a
    /// software adapter). Local; equal on all ranks.
    pub fn by_kernels(&self) -> bool {
        self.kernels.is_some()
    }

    /// Extracts the surface of an isovalue, equal to that of [`extract`](Self::extract), into
    /// arrays of each rank's device, with the values of an optional further field. Only counts and
    /// ambiguous cells are copied to the host. Collective; on return every rank has its part. The
    /// mesh's previous content is lost and its memory reused; after an error the mesh is empty.
    ///
    /// # Errors
    /// - No [kernels](Self::by_kernels) for this field or for the further field.
    /// - An isovalue that is not finite.
    /// - A rank's part exceeds a buffer. A buffer of 2 GiB holds 178 million vertices or triangles
    ///   (12 bytes each), 53 million ambiguous cells (40 bytes) or 4 million crossed bricks (504
    ///   bytes).
    /// - An array of another shape.
    /// - No memory; a transfer or a device fails.
    #[track_caller]
    pub fn extract_on_device(&self, isovalue: f32, field: Option<&dyn Attribute>, mesh: &mut DeviceMesh) -> Result<()> {
        let _call = CallSite::enter();
        mesh.clear();
        self.check(&format!("extract_on_device({isovalue})"), &[isovalue])?;
        let view = self.view();
        let made = on_device::fill(&view, isovalue, field, mesh);
        self.computed.set(view.computed.get());
        if made.is_err() {
            mesh.clear();
        }
        made
    }

    /// Checks isovalues and their equality on all ranks. Collective.
    fn check(&self, call: &str, isovalues: &[f32]) -> Result<()> {
        let checked = match isovalues.iter().find(|isovalue| !isovalue.is_finite()) {
            Some(&isovalue) => Err(IsosurfaceError::Isovalue(isovalue).into()),
            None => Ok(()),
        };
        self.world.agree(call, checked)
    }

    fn surfaces(&self, call: &str, isovalues: &[f32], attributes: &[&dyn Attribute], used: Mesh) -> Result<Vec<Mesh>> {
        self.check(call, isovalues)?;
        let view = View { used: Cell::new(used), ..self.view() };
        let made = surfaces(&view, isovalues, attributes);
        self.computed.set(view.computed.get());
        made
    }

    /// Computation time of this rank in the last extraction, without communication. Local.
    pub fn computed(&self) -> Duration {
        self.computed.get()
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            world: self.world,
            placement: self.fitted.array.core().placement(),
            chunks: self.parts.iter().map(|(chunk, part, tree)| (*chunk, part, tree as &dyn Bricks)).collect(),
            samples: &self.fitted,
            kernels: self.kernels.as_ref(),
            grid: &self.grid,
            normals: self.normals,
            mirrored: self.grid.is_mirrored(),
            computed: Cell::default(),
            used: Cell::default(),
        }
    }

    pub(crate) fn world(&self) -> &'w World {
        self.world
    }

    pub(crate) fn field(&self) -> &GlobalArray<T, 3> {
        &self.field
    }
}
