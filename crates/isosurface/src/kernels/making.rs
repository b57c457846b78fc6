//! Vertices and triangles by kernels.

use std::ops::Range;

use zippy::array::Growable;
use zippy::kernel::{Binding, Call};
use zippy::{Element, Result, World};

use super::items::Items;
use super::{Kernels, LANES, Room, with_part};
use crate::field::part::Part;
use crate::grid::Grid;

/// Numbers that kernels write, and count places by.
pub const MOST_VERTICES: u64 = i32::MAX as u64 / 3;

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
    pub inner: &'a [&'a [[[u32; 4]; 2]]],
}

impl Kernels {
    /// Takes numbers for all items.
    ///
    /// # Errors
    /// A device fails.
    pub fn take(&self, numbers: &Numbers) -> Result<()> {
        let room = &mut *self.room.borrow_mut();
        replace(&mut room.starts, &numbers.starts)?;
        replace(&mut room.ambiguous, &numbers.ambiguous)
    }
}

fn replace<T: Element>(list: &mut Growable<T>, values: &[T]) -> Result<()> {
    list.set_len(0)?;
    list.append(values)
}

/// What is written for each vertex.
#[derive(Clone, Copy)]
enum Written<'a> {
    Positions(&'a Grid),
    Normals(&'a Grid),
    Along,
    Values,
}

impl Making<'_> {
    /// Where its vertices stand.
    ///
    /// # Errors
    /// A device fails.
    pub fn positions(&self, grid: &Grid) -> Result<Vec<[f32; 3]>> {
        self.vectors(Written::Positions(grid))
    }

    /// Its normals.
    ///
    /// # Errors
    /// A device fails.
    pub fn normals(&self, grid: &Grid) -> Result<Vec<[f32; 3]>> {
        self.vectors(Written::Normals(grid))
    }

    fn vectors(&self, what: Written) -> Result<Vec<[f32; 3]>> {
        let room = &mut *self.kernels.room.borrow_mut();
        self.write(room, what, &self.samples())?;
        Ok(room.places.all().read()?.as_chunks().0.to_vec())
    }

    /// The values of further fields, whose samples in each chunk are given.
    ///
    /// # Errors
    /// A device fails.
    pub fn values(&self, fields: &[&[Binding]]) -> Result<Vec<Vec<f32>>> {
        let room = &mut *self.kernels.room.borrow_mut();
        if !fields.is_empty() {
            self.write(room, Written::Along, &self.samples())?;
            std::mem::swap(&mut room.along, &mut room.places);
        }
        let values = |samples: &&[Binding]| {
            self.write(room, Written::Values, samples)?;
            room.places.all().read()
        };
        fields.iter().map(values).collect()
    }

    fn samples(&self) -> Vec<Binding> {
        self.chunks.iter().map(|(_, samples)| samples.clone()).collect()
    }

    /// Writes something for all vertices to the places.
    fn write(&self, room: &mut Room, what: Written, samples: &[Binding]) -> Result<()> {
        let (name, each, grid) = match what {
            Written::Positions(grid) => ("positions", 3, Some(grid)),
            Written::Normals(grid) => ("normals", 3, Some(grid)),
            Written::Along => ("parts", 1, None),
            Written::Values => ("values", 1, None),
        };
        room.places.set_len(each * self.vertices)?;
        for (piece, ((part, _), samples)) in self.chunks.iter().zip(samples).enumerate() {
            let kernels = self.kernels.of_samples(self.world, samples.element)?;
            let [own, others] = self.items.of_mesh(piece, self.mesh);
            let range = own.start..others.end;
            if !range.is_empty() {
                let kernel = kernels.vertices.entry(name)?;
                let call = kernel.call().read("samples", samples.clone()).write("places", room.places.all());
                let call = match what {
                    Written::Values => call.read("along", room.along.all()),
                    _ => call,
                };
                let call = on_items(call, room, &range).read("starts", room.starts.all());
                let call = with_part(with_grid(call, grid), part).param("first_item", range.start as i32);
                call.over([range.len() * LANES]).run()?;
            }
            let inner = self.inner[piece];
            if !inner.is_empty() && !matches!(what, Written::Along) {
                replace(&mut room.inner, inner.as_flattened())?;
                let kernel = kernels.interior.entry(name)?;
                let call = kernel.call().read("inner", room.inner.all()).write("places", room.places.all());
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

    /// So many triangles.
    ///
    /// # Errors
    /// A device fails.
    pub fn triangles(&self, count: u64, mirrored: bool) -> Result<Vec<[u32; 3]>> {
        let room = &mut *self.kernels.room.borrow_mut();
        room.triangles.set_len(3 * count)?;
        for (piece, (part, _)) in self.chunks.iter().enumerate() {
            let [own, _] = self.items.of_mesh(piece, self.mesh);
            if own.is_empty() {
                continue;
            }
            let call = self.kernels.triangles.call().read("shapes", self.kernels.shapes.all());
            let call = on_items(call, room, &own).read("starts", room.starts.all()).read("slots", room.slots.all());
            let call = call.read("ambiguous", room.ambiguous.all()).write("triangles", room.triangles.all());
            let call = with_part(call, part).param("turn.first", own.start as i32);
            call.param("turn.mirrored", u32::from(mirrored)).over([own.len() * LANES]).run()?;
        }
        Ok(room.triangles.all().read()?.as_chunks().0.to_vec())
    }
}

fn on_items<'k>(call: Call<'k>, room: &Room, range: &Range<usize>) -> Call<'k> {
    call.read("items", room.items.at(range.start as u64..range.end as u64)).read("words", room.words.all())
}

fn with_grid<'k>(call: Call<'k>, grid: Option<&Grid>) -> Call<'k> {
    let Some(grid) = grid else { return call };
    let (origin, steps) = (grid.origin.map(|x| x as f32), grid.steps.map(|step| step.map(|x| x as f32)));
    call.param("grid.origin", origin).param("grid.steps", steps).param("grid.normals", grid.normals())
}
