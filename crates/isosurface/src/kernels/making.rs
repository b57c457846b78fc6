//! Vertices and triangles by kernels.

use std::ops::Range;

use zippy::array::Growable;
use zippy::kernel::{Binding, Call};
use zippy::{Result, World};

use super::items::Items;
use super::{Kernels, LANES, Room, with_part};
use crate::field::part::Part;
use crate::grid::SampleFrame;

/// So many vertices, or triangles, of a mesh a rank can have: three words each in one buffer. The same on all ranks.
pub fn most_in_buffers(world: &World) -> u64 {
    world.buffer_bytes() / 12
}

/// What kernels need to know beside what they have found themselves.
#[derive(Default)]
pub struct Numbers {
    /// Of each item the numbers in its mesh, on this rank, of its first vertex, triangle, ambiguous cell (in the list
    /// below) and interior vertex.
    pub starts: Vec<[u32; 4]>,
    /// The shapes of ambiguous cells, item by item.
    pub ambiguous: Vec<u32>,
    /// Vertices inside cells, of each chunk and mesh: the cell, counted from the chunk's first sample, and the vertex's
    /// number; then its place in the cell.
    pub inner: Vec<Vec<[[u32; 4]; 2]>>,
}

/// A mesh that is being made.
pub struct Making<'a> {
    pub kernels: &'a Kernels,
    pub world: &'a World,
    pub items: &'a Items,
    /// This rank's chunks, with the samples that the surface is of.
    pub chunks: &'a [(&'a Part, Binding)],
    pub mesh: usize,
    /// How many vertices it has here, ghosts among them.
    pub vertices: u64,
    pub inner: Vec<&'a [[[u32; 4]; 2]]>,
}

impl Kernels {
    /// Takes numbers for all items.
    ///
    /// # Errors
    /// A device fails.
    pub fn take(&self, numbers: &Numbers) -> Result<()> {
        let room = &mut *self.room.borrow_mut();
        room.starts.clear();
        room.starts.append(&numbers.starts)?;
        room.ambiguous.clear();
        room.ambiguous.append(&numbers.ambiguous)
    }
}

/// What is written for each vertex.
#[derive(Clone, Copy)]
enum Written<'a> {
    Positions(&'a SampleFrame),
    Normals(&'a SampleFrame),
    Along,
    /// Which are so far along their edges.
    Values(&'a Growable<f32>),
}

impl Making<'_> {
    /// Writes where its vertices stand, three numbers each.
    ///
    /// # Errors
    /// A device fails.
    pub fn positions(&self, grid: &SampleFrame, to: &mut Growable<f32>) -> Result<()> {
        self.write(Written::Positions(grid), &self.samples(), to)
    }

    /// Writes its normals, three numbers each.
    ///
    /// # Errors
    /// A device fails.
    pub fn normals(&self, grid: &SampleFrame, to: &mut Growable<f32>) -> Result<()> {
        self.write(Written::Normals(grid), &self.samples(), to)
    }

    /// How far along their edges its vertices are, which [`values`](Self::values) have to know.
    ///
    /// # Errors
    /// A device fails.
    pub fn along(&self, to: &mut Growable<f32>) -> Result<()> {
        self.write(Written::Along, &self.samples(), to)
    }

    /// Writes the values of a further field, whose samples in each chunk are given.
    ///
    /// # Errors
    /// A device fails.
    pub fn values(&self, samples: &[Binding], along: &Growable<f32>, to: &mut Growable<f32>) -> Result<()> {
        self.write(Written::Values(along), samples, to)
    }

    fn samples(&self) -> Vec<Binding> {
        self.chunks.iter().map(|(_, samples)| samples.clone()).collect()
    }

    /// Writes something for all vertices.
    fn write(&self, what: Written, samples: &[Binding], places: &mut Growable<f32>) -> Result<()> {
        let room = &mut *self.kernels.room.borrow_mut();
        let (name, each, grid) = match what {
            Written::Positions(grid) => ("positions", 3, Some(grid)),
            Written::Normals(grid) => ("normals", 3, Some(grid)),
            Written::Along => ("parts", 1, None),
            Written::Values(_) => ("values", 1, None),
        };
        places.clear();
        places.set_len(each * self.vertices)?;
        for (piece, ((part, _), samples)) in self.chunks.iter().zip(samples).enumerate() {
            let kernels = self.kernels.of_samples(self.world, samples.element)?;
            let [own, others] = self.items.of_mesh(piece, self.mesh);
            let range = own.start..others.end;
            if !range.is_empty() {
                let kernel = kernels.vertices.entry(name)?;
                let call = kernel.call().read("samples", samples.clone()).write("places", places.all());
                let call = match what {
                    Written::Values(along) => call.read("along", along.all()),
                    _ => call,
                };
                let call = on_items(call, room, &range).read("starts", room.starts.all());
                let call = with_part(with_grid(call, grid), part).param("first_item", range.start as i32);
                call.over([range.len() * LANES]).run()?;
            }
            let inner = self.inner[piece];
            if !inner.is_empty() && !matches!(what, Written::Along) {
                room.inner.clear();
                room.inner.append(inner.as_flattened())?;
                let kernel = kernels.interior.entry(name)?;
                let call = kernel.call().read("inner", room.inner.all()).write("places", places.all());
                let call = match what {
                    Written::Positions(_) => with_part(call, part),
                    Written::Normals(_) => with_part(call, part).read("samples", samples.clone()),
                    _ => call.read("samples", samples.clone()),
                };
                with_grid(call, grid).over([inner.len()]).run()?;
            }
        }
        Ok(())
    }

    /// Writes so many triangles, three vertices each.
    ///
    /// # Errors
    /// A device fails.
    pub fn triangles(&self, count: u64, mirrored: bool, to: &mut Growable<u32>) -> Result<()> {
        let room = &*self.kernels.room.borrow();
        to.clear();
        to.set_len(3 * count)?;
        for (piece, (part, _)) in self.chunks.iter().enumerate() {
            let [own, _] = self.items.of_mesh(piece, self.mesh);
            if own.is_empty() {
                continue;
            }
            let call = self.kernels.triangles.call().read("shapes", self.kernels.shapes.all());
            let call = on_items(call, room, &own).read("starts", room.starts.all()).read("slots", room.slots.all());
            let call = call.read("ambiguous", room.ambiguous.all()).write("triangles", to.all());
            let call = with_part(call, part).param("turn.first", own.start as i32);
            call.param("turn.mirrored", u32::from(mirrored)).over([own.len() * LANES]).run()?;
        }
        Ok(())
    }
}

fn on_items<'k>(call: Call<'k>, room: &Room, range: &Range<usize>) -> Call<'k> {
    call.read("items", room.items.at(range.start as u64..range.end as u64)).read("words", room.words.all())
}

fn with_grid<'k>(call: Call<'k>, grid: Option<&SampleFrame>) -> Call<'k> {
    let Some(grid) = grid else { return call };
    let (origin, steps) = (grid.origin.map(|x| x as f32), grid.steps.map(|step| step.map(|x| x as f32)));
    call.param("grid.origin", origin).param("grid.steps", steps).param("grid.normals", grid.normals())
}
