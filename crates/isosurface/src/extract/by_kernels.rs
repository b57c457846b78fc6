//! Extraction by kernels: meshes equal to those of the host up to rounding to `f32`.

use zippy::array::Growable;
use zippy::chunks::ChunkId;
use zippy::collective::CollectiveWorld;
use zippy::kernel::Binding;
use zippy::{Element, Result};

use super::interior;
use crate::cell;
use crate::field::bricked_chunk::BrickedChunk;
use crate::field::values::difference;
use crate::field::view::{FittedField, View};
use crate::kernels::classify::{AmbiguousCell, BrickCounts};
use crate::kernels::generate::{ItemNumbers, MeshGenerator, max_items_in_buffers};
use crate::kernels::items::Items;
use crate::kernels::{Kernels, MeshArrays};
use crate::mesh::Mesh;
use crate::points::chunk_points::{ChunkPoints, number};
use crate::points::list::Points;
use crate::points::numbering::Brick;

/// Kernel version of [`by_host::meshes`](super::by_host::meshes); `None` on all ranks if a buffer
/// of some rank is too small. Collective.
pub(super) fn meshes(
    view: &View<'_>,
    kernels: &Kernels,
    isovalues: &[f32],
    fields: &[FittedField<'_>],
) -> Result<Option<(Vec<ChunkPoints<3>>, Vec<Mesh>)>> {
    let Some(classified) = classify(view, kernels, isovalues, true)? else { return Ok(None) };
    view.world.failing("extracting an isosurface", || {
        let made: Result<Vec<Mesh>> = view.timed(|| {
            kernels.upload(&classified.counted.numbers)?;
            let fields: Vec<(&String, Vec<Binding>)> =
                fields.iter().map(|(name, field)| (name, sections(view, |chunk| field.section(chunk)))).collect();
            let MeshArrays { along, vectors: output, triangles } = &mut *kernels.mesh_arrays.borrow_mut();
            let mut made = Vec::new();
            for (mesh, [own, _]) in classified.counts.iter().enumerate() {
                let generator = classified.generator(view, kernels, mesh);
                generator.positions(view.grid, output)?;
                let mut points = Points { own: *own as usize, positions: vectors(output)?, ..Points::default() };
                if view.normals {
                    generator.normals(view.grid, output)?;
                    points.normals = vectors(output)?;
                }
                if !fields.is_empty() {
                    generator.along(along)?;
                }
                for (name, samples) in &fields {
                    generator.values(samples, along, output)?;
                    points.fields.push(((*name).clone(), output.all().read()?));
                }
                generator.triangles(classified.counted.triangles[mesh], view.mirrored, triangles)?;
                let triangles = vectors(triangles)?;
                made.push(Mesh { points, has_normals: view.normals, triangles, ..Mesh::default() });
            }
            Ok(made)
        });
        Ok(Some((classified.chunk_points, made?)))
    })
}

fn vectors<T: Element>(list: &Growable<T>) -> Result<Vec<[T; 3]>> {
    Ok(list.all().read()?.as_chunks().0.to_vec())
}

/// Classified bricks of surfaces: the input of vertex and triangle generation.
pub(super) struct ClassifiedBricks<'a> {
    chunks: Vec<(&'a BrickedChunk, Binding)>,
    chunk_points: Vec<ChunkPoints<3>>,
    items: Items,
    pub counted: MeshCounts,
    /// Numbers of own vertices and ghosts of this rank, per mesh.
    pub counts: Vec<[u64; 2]>,
}

impl ClassifiedBricks<'_> {
    /// Generator of a mesh, for use after [`Kernels::upload`].
    pub(super) fn generator<'a>(&'a self, view: &'a View<'_>, kernels: &'a Kernels, mesh: usize) -> MeshGenerator<'a> {
        let (meshes, [own, ghosts]) = (self.counts.len(), self.counts[mesh]);
        let inner = |piece: usize| &self.counted.numbers.inner[piece * meshes + mesh][..];
        MeshGenerator {
            kernels,
            world: view.world,
            items: &self.items,
            chunks: &self.chunks,
            mesh,
            vertices: own + ghosts,
            inner: (0..self.chunk_points.len()).map(inner).collect(),
        }
    }
}

/// Classifies bricks that surfaces may cross and numbers their points. `None` on all ranks if a
/// buffer of some rank is too small. Collective.
pub(super) fn classify<'a>(
    view: &View<'a>,
    kernels: &Kernels,
    isovalues: &[f32],
    is_welded: bool,
) -> Result<Option<ClassifiedBricks<'a>>> {
    let (world, meshes) = (view.world, isovalues.len());
    let chunks = sections(view, |chunk| view.samples.section(chunk));
    let chunks: Vec<(&BrickedChunk, Binding)> = view.chunks.iter().map(|(_, part, _)| *part).zip(chunks).collect();
    let classified = world.failing("extracting an isosurface", || {
        view.timed(|| {
            let piece = |&(chunk, part, bricks)| {
                ChunkPoints::new(chunk, part, bricks, meshes, &|found| found.crossed_by(isovalues))
            };
            let chunk_points: Vec<ChunkPoints<3>> = view.chunks.iter().map(piece).collect();
            let items = Items::new(&chunk_points, meshes, is_welded);
            let found = kernels.classify(world, &items, &chunks, isovalues)?;
            Ok((chunk_points, items, found))
        })
    });
    let (mut chunk_points, items, found) = classified?;
    let most = max_items_in_buffers(world);
    let counted = view.timed(|| {
        let found = found.filter(|found| found.vertices(&items, meshes).iter().all(|&vertices| vertices <= most))?;
        let counted = count(&mut chunk_points, &items, &found, isovalues);
        counted.fits(&chunk_points, world.limits().buffer_bytes).then_some(counted)
    });
    let mut fits = [u64::from(counted.is_some())];
    world.group().all_reduce(&mut fits, |all, other| *all = (*all).min(*other))?;
    let Some(mut counted) = counted.filter(|_| fits == [1]) else { return Ok(None) };
    let counts = number(world, &mut chunk_points, meshes)?;
    counted.number(&chunk_points, &items, &counts);
    Ok(Some(ClassifiedBricks { chunks, chunk_points, items, counted, counts }))
}

pub(super) fn sections(view: &View<'_>, section: impl Fn(ChunkId) -> Option<Binding>) -> Vec<Binding> {
    view.chunks.iter().map(|(chunk, ..)| section(*chunk).expect("a chunk of an array of this rank")).collect()
}

/// Item numbers and triangle counts of meshes, including ambiguous cells.
pub(super) struct MeshCounts {
    pub numbers: ItemNumbers,
    pub triangles: Vec<u64>,
}

/// Computes running numbers over the items, and decides ambiguous cells.
fn count(chunk_points: &mut [ChunkPoints<3>], items: &Items, found: &BrickCounts, isovalues: &[f32]) -> MeshCounts {
    let meshes = isovalues.len();
    let mut triangles = vec![0_u64; meshes];
    let mut numbers = ItemNumbers { inner: vec![Vec::new(); chunk_points.len() * meshes], ..ItemNumbers::default() };
    let mut remaining = &found.cells[..];
    for (index, (item, &[vertices, plain, _])) in items.all.iter().zip(&found.counts).enumerate() {
        let own = remaining.partition_point(|cell| cell.item as usize <= index);
        let (cells, others) = remaining.split_at(own);
        remaining = others;
        let first_ambiguous = numbers.ambiguous.len() as u32;
        let (mut inner, mut more) = (Vec::new(), 0);
        let piece = &mut chunk_points[item.chunk];
        let start = piece.part.samples(item.at).start;
        for cell in cells {
            let (number, values) = shape_and_values(cell, isovalues[item.mesh]);
            let shape = cell::table().numbered(number);
            numbers.ambiguous.push(u32::from(number));
            more += shape.triangles.len() as u64;
            for &edges in &shape.interior {
                let at = std::array::from_fn(|axis| (start[axis] + cell.at[axis] as i64) as u32);
                inner.push((at, interior::vertex(&values, edges).map(|x| (x as f32).to_bits())));
            }
        }
        let (numbering, further) = (&mut piece.layers[item.mesh].numbering, inner.len() as u32);
        let first = numbering.count(&piece.part, item.at, vertices, further);
        let records = (first + vertices..).zip(inner).map(|(number, (at, index))| record(at, number, index));
        numbers.inner[item.chunk * meshes + item.mesh].extend(records);
        if let Some(border) = item.border {
            let words = found.borders[border as usize];
            numbering.put(&piece.part, Brick::new(item.at, first, words, further));
        }
        numbers.starts.push([first, triangles[item.mesh] as u32, first_ambiguous, first + vertices]);
        triangles[item.mesh] += u64::from(plain) + more;
    }
    MeshCounts { numbers, triangles }
}

impl MeshCounts {
    /// Computes running numbers over the chunks, own vertices before ghosts.
    fn number(&mut self, chunk_points: &[ChunkPoints<3>], items: &Items, counts: &[[u64; 2]]) {
        for (start, item) in self.numbers.starts.iter_mut().zip(&items.all) {
            let piece = &chunk_points[item.chunk];
            let before = piece.layers[item.mesh].before;
            let base = if piece.part.is_own(item.at) { before[0] } else { counts[item.mesh][0] + before[1] };
            start[0] += base as u32;
            start[3] += base as u32;
        }
        for (index, inner) in self.numbers.inner.iter_mut().enumerate() {
            let before = chunk_points[index / counts.len()].layers[index % counts.len()].before[0];
            inner.iter_mut().for_each(|[cell, _]| cell[3] += before as u32);
        }
    }

    fn fits(&self, chunk_points: &[ChunkPoints<3>], buffer_bytes: u64) -> bool {
        let vertices = |mesh: usize| -> u64 {
            let numberings = chunk_points.iter().map(|piece| &piece.layers[mesh].numbering);
            numberings.map(|numbering| numbering.own + numbering.ghosts).sum()
        };
        let inner = self.numbers.inner.iter().map(|inner| size_of_val(&inner[..]) as u64).max();
        let lists = self.triangles.iter().enumerate().map(|(mesh, &triangles)| 12 * triangles.max(vertices(mesh)));
        lists.chain(inner).all(|bytes| bytes <= buffer_bytes)
    }
}

fn record([x, y, z]: [u32; 3], number: u32, [a, b, c]: [u32; 3]) -> [[u32; 4]; 2] {
    [[x, y, z, number], [a, b, c, 0]]
}

/// Shape of an ambiguous cell, and its values minus the isovalue.
fn shape_and_values(cell: &AmbiguousCell, isovalue: f32) -> (cell::ShapeNumber, [f64; 8]) {
    let values = cell.samples.map(|sample| difference(sample, isovalue));
    let case = values.iter().enumerate().fold(0, |case, (corner, &value)| case | u8::from(value >= 0.0) << corner);
    (cell::table().shape(case, &values), values)
}
