//! [`Extractor`]: surfaces of one field.

mod by_host;
mod by_kernels;
mod interior;
mod on_device;
pub mod surfaces;
mod triangles;
mod vertices;

use std::cell::Cell;
use std::time::Duration;

use zippy::array::ChunkRef;
use zippy::chunks::ChunkId;
use zippy::error::CallSite;
use zippy::{GlobalArray, Grid, Result, World};

use self::surfaces::surfaces;
use crate::cell;
use crate::device_mesh::DeviceMesh;
use crate::error::IsosurfaceError;
use crate::field::attribute::{Attribute, FittedArray, refreshed};
use crate::field::memory::with_samples;
use crate::field::part::Part;
use crate::field::tree::{Bricks, Tree};
use crate::field::view::View;
use crate::grid::SampleFrame;
use crate::kernels::Kernels;
use crate::mesh::Mesh;
use crate::sample::Sample;

/// Surfaces of a field of samples, a 3-D global array of any cut. What does not depend on the isovalue is worked out
/// once: a tree of least and largest values over bricks of 32 x 4 x 4 samples, so that a surface costs what it crosses.
pub struct Extractor<'w, T> {
    world: &'w World,
    field: GlobalArray<T, 3>,
    /// The field, or a copy of it that has the ghost cells.
    fitted: FittedArray<'w, T>,
    grid: SampleFrame,
    normals: bool,
    kernels: Option<Kernels>,
    parts: Vec<(ChunkId, Part, Tree)>,
    computed: Cell<Duration>,
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
    #[track_caller]
    pub fn new(world: &'w World, field: &GlobalArray<T, 3>, grid: Grid) -> Result<Self> {
        let _call = CallSite::enter();
        Self::prepared(world, field, grid, false)
    }

    /// Prepares surfaces with normals: differences of neighbouring samples, across chunks too, interpolated. Likewise;
    /// needs one ghost cell before and two behind each chunk.
    ///
    /// # Errors
    /// Likewise.
    #[track_caller]
    pub fn with_normals(world: &'w World, field: &GlobalArray<T, 3>, grid: Grid) -> Result<Self> {
        let _call = CallSite::enter();
        Self::prepared(world, field, grid, true)
    }

    fn prepared(world: &'w World, field: &GlobalArray<T, 3>, grid: Grid, normals: bool) -> Result<Self> {
        let frame = SampleFrame::new(&grid, field.shape()).map_err(Into::into);
        let call = format!("Extractor::new({:?} on {grid:?})", field.name());
        let grid = world.agree(&call, frame)?;
        // Some milliseconds, once in a process.
        cell::table();
        let widths = if normals { (1, 2) } else { (0, 1) };
        let fitted = FittedArray::new(world, field, field.core().placement(), widths)?;
        let kernels =
            Kernels::new(world, fitted.array.core().chunks(), &grid)?.filter(|kernels| kernels.read(&T::INFO));
        let (parts, computed) = (Vec::new(), Cell::default());
        let mut extractor = Self { world, field: field.clone(), fitted, grid, normals, kernels, parts, computed };
        extractor.plant()?;
        Ok(extractor)
    }

    /// Makes surfaces on the host, in `f64`, from copies of chunks, also where kernels would. Local; the same on all ranks.
    ///
    /// Kernels are the way where a device is not the host itself, as a software adapter is. They make the same vertices and
    /// triangles in the same order. Positions are rounded as `f32` is, by some 2^-22 of the largest coordinate, and normals
    /// likewise, whose direction means little where the gradients of both ends of an edge cancel. What buffers of a rank's
    /// device cannot hold (see [`extract_on_device`](Self::extract_on_device)), the host makes here as well.
    #[must_use]
    pub fn on_host(mut self) -> Self {
        self.kernels = None;
        self
    }

    /// Takes the field as it is now, after it has been changed. Collective; costs what preparing costs.
    ///
    /// # Errors
    /// A transfer or a device fails.
    #[track_caller]
    pub fn update(&mut self) -> Result<()> {
        let _call = CallSite::enter();
        refreshed(self.world, &self.field, &self.fitted.array)?;
        self.plant()
    }

    /// Makes the tree of each chunk.
    fn plant(&mut self) -> Result<()> {
        let (world, array) = (self.world, &self.fitted.array);
        let parts = world.failing("preparing isosurfaces", || {
            let part = |chunk: ChunkRef<T, 3>| {
                let part = Part::new(&chunk.region(), &chunk.with_ghosts().region()?, array.shape());
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
    #[track_caller]
    pub fn extract(&self, isovalue: f32) -> Result<Mesh> {
        let _call = CallSite::enter();
        self.extract_with(isovalue, &[])
    }

    /// [`extract`](Self::extract) with the values of further fields at the vertices, interpolated like positions. Arrays that
    /// are cut in another way, or lack a ghost cell behind each chunk, are copied each time.
    ///
    /// # Errors
    /// As [`extract`](Self::extract); an array of another shape.
    #[track_caller]
    pub fn extract_with(&self, isovalue: f32, attributes: &[&dyn Attribute]) -> Result<Mesh> {
        let _call = CallSite::enter();
        let meshes = self.surfaces(&format!("extract({isovalue})"), &[isovalue], attributes, Mesh::default())?;
        Ok(meshes.into_iter().next().expect("a mesh for each isovalue"))
    }

    /// [`extract`](Self::extract) in the memory of a mesh that is no longer needed: for a surface that changes again and
    /// again, as while an isovalue is dragged. Only the host uses it again, and keeps as much as the largest surface took; where
    /// kernels make the surface, it is as after [`extract`](Self::extract). Collective; after an error the mesh is empty.
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

    /// The surfaces of several isovalues, in the order given, each as [`extract`](Self::extract) makes it. Collective. The
    /// tree is walked through once for all of them, samples are looked at once, and ranks exchange as many messages as for
    /// one: near each other they cost less than by themselves.
    ///
    /// # Errors
    /// As [`extract`](Self::extract), for any of the isovalues.
    #[track_caller]
    pub fn extract_several(&self, isovalues: &[f32]) -> Result<Vec<Mesh>> {
        let _call = CallSite::enter();
        self.extract_several_with(isovalues, &[])
    }

    /// [`extract_several`](Self::extract_several) with the values of further fields, as
    /// [`extract_with`](Self::extract_with) gives them.
    ///
    /// # Errors
    /// As [`extract_with`](Self::extract_with), for any of the isovalues.
    #[track_caller]
    pub fn extract_several_with(&self, isovalues: &[f32], attributes: &[&dyn Attribute]) -> Result<Vec<Mesh>> {
        let _call = CallSite::enter();
        self.surfaces(&format!("extract_several({isovalues:?})"), isovalues, attributes, Mesh::default())
    }

    /// Whether kernels make surfaces of this field, so that they can [stay on the device](Self::extract_on_device): where no
    /// rank's device is the host itself, as a software adapter is. Elsewhere [`extract`](Self::extract) makes them, in the
    /// memory that both have. Local; the same on all ranks.
    pub fn by_kernels(&self) -> bool {
        self.kernels.is_some()
    }

    /// The surface of an isovalue as [`extract`](Self::extract) makes it, in arrays of each rank's device, where it stays: only
    /// counts, and what is ambiguous, come to the host. With the values of a further field, if one is given. Collective; on
    /// return every rank has its part, and after an error none. What was in the arrays is lost, their memory is used again.
    ///
    /// # Errors
    /// No [kernels](Self::by_kernels), for this field or for the further one; an isovalue that is not finite; more on a rank
    /// than a buffer holds, which is 178 million vertices or triangles (12 bytes each), 53 million ambiguous cells (40 bytes)
    /// or 4 million crossed bricks (504 bytes) in 2 GiB; an array of another shape; no memory; a transfer or a device fails.
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

    /// Also finds ranks that ask for different surfaces. Collective.
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

    /// How long this rank has computed in the last extraction; in the rest of the time it sent, received and waited. Local.
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
