//! Generation of vertices and triangles by kernels.

use std::ops::Range;

use zippy::array::Growable;
use zippy::kernel::{Binding, Call};
use zippy::{Result, World};

use super::items::{Items, LANES};
use super::{Kernels, WorkArrays, with_chunk};
use crate::field::bricked_chunk::BrickedChunk;
use crate::grid::SampleFrame;

/// Maximum number of vertices or triangles of a mesh on a rank: three words each in one buffer.
/// Equal on all ranks.
pub(crate) fn max_items_in_buffers(world: &World) -> u64 {
    world.limits().buffer_bytes / 12
}

/// Numbers that the host computes for the kernels, per item.
#[derive(Default)]
pub(crate) struct ItemNumbers {
    /// Per item: index of the first vertex, triangle, ambiguous cell and interior vertex.
    pub starts: Vec<[u32; 4]>,
    pub ambiguous: Vec<u32>,
    /// Interior vertices per chunk and mesh: cell relative to the chunk's first sample, vertex
    /// number, position in the cell.
    pub inner: Vec<Vec<[[u32; 4]; 2]>>,
}

/// Generator of one mesh.
pub(crate) struct MeshGenerator<'a> {
    pub kernels: &'a Kernels,
    pub world: &'a World,
    pub items: &'a Items,
    pub chunks: &'a [(&'a BrickedChunk, Binding)],
    pub mesh: usize,
    pub vertices: u64,
    pub inner: Vec<&'a [[[u32; 4]; 2]]>,
}

impl Kernels {
    pub(crate) fn upload(&self, numbers: &ItemNumbers) -> Result<()> {
        let work = &mut *self.work.borrow_mut();
        work.starts.clear();
        work.starts.append(&numbers.starts)?;
        work.ambiguous.clear();
        work.ambiguous.append(&numbers.ambiguous)
    }
}

#[derive(Clone, Copy)]
enum VertexOutput<'a> {
    Positions(&'a SampleFrame),
    Normals(&'a SampleFrame),
    Along,
    /// Values, with the positions of vertices along their edges.
    Values(&'a Growable<f32>),
}

impl MeshGenerator<'_> {
    /// Writes vertex positions, three numbers each.
    pub(crate) fn positions(&self, grid: &SampleFrame, to: &mut Growable<f32>) -> Result<()> {
        self.write(VertexOutput::Positions(grid), &self.samples(), to)
    }

    /// Writes normals, three numbers each.
    pub(crate) fn normals(&self, grid: &SampleFrame, to: &mut Growable<f32>) -> Result<()> {
        self.write(VertexOutput::Normals(grid), &self.samples(), to)
    }

    /// Writes the positions of vertices along their edges, the input of [`values`](Self::values).
    pub(crate) fn along(&self, to: &mut Growable<f32>) -> Result<()> {
        self.write(VertexOutput::Along, &self.samples(), to)
    }

    /// Writes the values of a further field with the chunks `samples`.
    pub(crate) fn values(&self, samples: &[Binding], along: &Growable<f32>, to: &mut Growable<f32>) -> Result<()> {
        self.write(VertexOutput::Values(along), samples, to)
    }

    fn samples(&self) -> Vec<Binding> {
        self.chunks.iter().map(|(_, samples)| samples.clone()).collect()
    }

    /// Writes one output for all vertices.
    fn write(&self, output: VertexOutput<'_>, samples: &[Binding], values: &mut Growable<f32>) -> Result<()> {
        let work = &mut *self.kernels.work.borrow_mut();
        let (name, each, grid) = match output {
            VertexOutput::Positions(grid) => ("positions", 3, Some(grid)),
            VertexOutput::Normals(grid) => ("normals", 3, Some(grid)),
            VertexOutput::Along => ("fractions", 1, None),
            VertexOutput::Values(_) => ("values", 1, None),
        };
        values.clear();
        values.set_len(each * self.vertices)?;
        for (piece, ((part, _), samples)) in self.chunks.iter().zip(samples).enumerate() {
            let kernels = self.kernels.sample_kernels(self.world, samples.element)?;
            let [own, others] = self.items.of_mesh(piece, self.mesh);
            let range = own.start..others.end;
            if !range.is_empty() {
                let kernel = kernels.vertices.entry(name)?;
                let call = kernel.call().read("samples", samples.clone()).write("output", values.all());
                let call = match output {
                    VertexOutput::Values(along) => call.read("along", along.all()),
                    _ => call,
                };
                let call = on_items(call, work, &range).read("starts", work.starts.all());
                let call = with_chunk(with_grid(call, grid), part).param("first_item", range.start as i32);
                call.over([range.len() * LANES]).run()?;
            }
            let inner = self.inner[piece];
            if !inner.is_empty() && !matches!(output, VertexOutput::Along) {
                work.inner.clear();
                work.inner.append(inner.as_flattened())?;
                let kernel = kernels.interior.entry(name)?;
                let call = kernel.call().read("inner", work.inner.all()).write("output", values.all());
                let call = match output {
                    VertexOutput::Positions(_) => with_chunk(call, part),
                    VertexOutput::Normals(_) => with_chunk(call, part).read("samples", samples.clone()),
                    _ => call.read("samples", samples.clone()),
                };
                with_grid(call, grid).over([inner.len()]).run()?;
            }
        }
        Ok(())
    }

    /// Writes `count` triangles, three vertex indices each.
    pub(crate) fn triangles(&self, count: u64, mirrored: bool, to: &mut Growable<u32>) -> Result<()> {
        let work = &*self.kernels.work.borrow();
        to.clear();
        to.set_len(3 * count)?;
        for (piece, (part, _)) in self.chunks.iter().enumerate() {
            let [own, _] = self.items.of_mesh(piece, self.mesh);
            if own.is_empty() {
                continue;
            }
            let call = self.kernels.triangles.call().read("shapes", self.kernels.shapes.all());
            let call = on_items(call, work, &own).read("starts", work.starts.all()).read("slots", work.slots.all());
            let call = call.read("ambiguous", work.ambiguous.all()).write("triangles", to.all());
            let call = with_chunk(call, part).param("dispatch.first", own.start as i32);
            call.param("dispatch.mirrored", u32::from(mirrored)).over([own.len() * LANES]).run()?;
        }
        Ok(())
    }
}

fn on_items<'k>(call: Call<'k>, work: &WorkArrays, range: &Range<usize>) -> Call<'k> {
    call.read("items", work.items.at(range.start as u64..range.end as u64)).read("words", work.words.all())
}

fn with_grid<'k>(call: Call<'k>, grid: Option<&SampleFrame>) -> Call<'k> {
    let Some(grid) = grid else { return call };
    let (origin, steps) = (grid.origin.map(|x| x as f32), grid.steps.map(|step| step.map(|x| x as f32)));
    call.param("grid.origin", origin).param("grid.steps", steps).param("grid.normals", grid.normals())
}
