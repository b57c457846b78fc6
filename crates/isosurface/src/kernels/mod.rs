//! Extraction by kernels, for devices that are not the host: chunks stay on the device.
//!
//! 1. The host selects the bricks that a surface may cross, with the tree.
//! 2. Kernels classify all of these bricks and count their vertices and triangles; one read-back.
//! 3. The host turns counts into offsets, decides ambiguous cells, whose samples come with the
//!    counts, and allocates arrays of the exact size.
//! 4. Kernels write vertices and triangles.

pub(crate) mod classify;
pub(crate) mod generate;
pub(crate) mod items;
mod source;
#[cfg(test)]
mod source_tests;
mod table;

use std::cell::RefCell;
use std::rc::Rc;

use zippy::array::Growable;
use zippy::chunks::{ChunkId, Chunks};
use zippy::collective::CollectiveWorld;
use zippy::element::{Capabilities, ElementInfo};
use zippy::kernel::{Binding, Call};
use zippy::{Kernel, Layout, LocalArray, Result, World};

use self::items::LANES;
use self::source::SampleKernel;
use crate::field::block::BRICK;
use crate::field::bricked_chunk::BrickedChunk;
use crate::field::tree::{Extremes, Tree};
use crate::grid::SampleFrame;

const MAX_SAMPLES: i64 = 1 << 24;

const MAX_COORDINATE: f64 = f32::MAX as f64 / 8.0;

const MAX_BRICKS: i64 = i32::MAX as i64 / LANES as i64;

/// Kernels of an extractor, and their work arrays.
pub(crate) struct Kernels {
    sample_kernels: RefCell<Vec<(&'static str, Rc<SampleKernels>)>>,
    triangles: Kernel,
    shapes: LocalArray<u32, 1>,
    work: RefCell<WorkArrays>,
    /// Arrays from which meshes are read back.
    pub mesh_arrays: RefCell<MeshArrays>,
    /// Common capabilities of all ranks' adapters.
    formats: Capabilities,
}

struct SampleKernels {
    tree: Kernel,
    inside: Kernel,
    vertices: Kernel,
    interior: Kernel,
}

struct WorkArrays {
    items: Growable<[u32; 4]>,
    words: Growable<u32>,
    slots: Growable<u32>,
    found: Growable<u32>,
    starts: Growable<[u32; 4]>,
    ambiguous: Growable<u32>,
    inner: Growable<[u32; 4]>,
}

pub(crate) struct MeshArrays {
    pub along: Growable<f32>,
    pub vectors: Growable<f32>,
    pub triangles: Growable<u32>,
}

impl Kernels {
    /// Creates kernels for fields with these chunks and grid. Collective. `None` if some rank's
    /// device is the host, which is then faster; if `f32` cannot represent the field's indices or
    /// coordinates; or if a chunk exceeds a dispatch.
    pub(crate) fn new(world: &World, chunks: &Chunks, grid: &SampleFrame) -> Result<Option<Self>> {
        let gpu = world.gpu();
        let own = Capabilities::from(gpu.features());
        let mut all = [!gpu.is_host(), own.f16].map(u64::from);
        world.group().all_reduce(&mut all, |all, other| *all = (*all).min(*other))?;
        if all[0] == 0 || !is_representable(chunks, grid) {
            return Ok(None);
        }
        let formats = Capabilities { f16: all[1] == 1, ..Capabilities::default() };
        world.failing("preparing isosurfaces", || Self::local(world, formats)).map(Some)
    }

    fn local(world: &World, formats: Capabilities) -> Result<Self> {
        let table = table::table_words();
        let shapes = world.local_array("isosurface.shapes", &Layout::new([table.len() as i64]))?;
        shapes.all().write(&table)?;
        let work = WorkArrays {
            items: world.growable("isosurface.items")?,
            words: world.growable("isosurface.words")?,
            slots: world.growable("isosurface.slots")?,
            found: world.growable("isosurface.found")?,
            starts: world.growable("isosurface.starts")?,
            ambiguous: world.growable("isosurface.ambiguous")?,
            inner: world.growable("isosurface.inner")?,
        };
        let made = MeshArrays {
            along: world.growable("isosurface.along")?,
            vectors: world.growable("isosurface.vectors")?,
            triangles: world.growable("isosurface.triangles")?,
        };
        let triangles = world.kernel(source::triangles()?)?;
        Ok(Self {
            sample_kernels: RefCell::default(),
            triangles,
            shapes,
            work: RefCell::new(work),
            mesh_arrays: RefCell::new(made),
            formats,
        })
    }

    /// True if kernels can read this element type on all ranks.
    pub(crate) fn read(&self, element: &ElementInfo) -> bool {
        element.supported_by(self.formats, "").is_ok()
    }

    fn sample_kernels(&self, world: &World, element: &'static ElementInfo) -> Result<Rc<SampleKernels>> {
        let mut known = self.sample_kernels.borrow_mut();
        if let Some((_, found)) = known.iter().find(|(name, _)| *name == element.name) {
            return Ok(found.clone());
        }
        let made = Rc::new(SampleKernels {
            tree: world.kernel(SampleKernel::Tree.source(element)?)?,
            inside: world.kernel(SampleKernel::Inside.source(element)?)?,
            vertices: world.kernel(SampleKernel::Vertices.source(element)?)?,
            interior: world.kernel(SampleKernel::Interior.source(element)?)?,
        });
        known.push((element.name, made.clone()));
        Ok(made)
    }

    /// Builds the tree of a chunk with these samples.
    pub(crate) fn tree(&self, world: &World, part: &BrickedChunk, samples: Binding) -> Result<Tree> {
        let kernels = self.sample_kernels(world, samples.element)?;
        let bricks = part.brick_count();
        let found = &mut self.work.borrow_mut().found;
        found.set_len(2 * bricks as u64)?;
        let call = kernels.tree.call().read("samples", samples).write("extremes", found.all());
        with_chunk(call, part).over([bricks * LANES]).run()?;
        let keys = found.all().read()?;
        Ok(Tree::over(part, keys.as_chunks().0.iter().map(|&keys| Extremes::of_keys(keys)).collect()))
    }
}

/// True if `f32` can represent the field and a dispatch covers every chunk.
fn is_representable(chunks: &Chunks, grid: &SampleFrame) -> bool {
    let shape: [i64; 3] = std::array::from_fn(|axis| chunks.shape()[axis]);
    let along = |axis: usize| grid.steps[axis].map(|step| step * shape[axis].max(1) as f64);
    let lengths = [grid.origin, along(0), along(1), along(2)];
    // Including the bricks after the chunk.
    let bricks = |chunk: ChunkId| {
        let extents = chunks.region(chunk).extents();
        (0..3).map(|axis| extents[axis] / BRICK[axis] as i64 + 2).product::<i64>()
    };
    shape.iter().all(|&extent| extent <= MAX_SAMPLES)
        && lengths.as_flattened().iter().all(|length| length.abs() <= MAX_COORDINATE)
        && (0..chunks.count()).all(|chunk| bricks(chunk) <= MAX_BRICKS)
}

fn with_chunk<'k>(call: Call<'k>, part: &BrickedChunk) -> Call<'k> {
    let field = part.field();
    let small = |at: [i64; 3]| at.map(|at| at as i32);
    call.param("part.start", small(part.start))
        .param("part.own", small(part.own))
        .param("part.reach", small(part.reach))
        .param("part.own_bricks", small(part.own_bricks()))
        .param("part.bricks", small(part.bricks()))
        .param("part.first", small(field.start))
        .param("part.last", small(field.end.map(|end| end - 1)))
}
