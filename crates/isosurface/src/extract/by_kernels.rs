//! Extraction by kernels: the same meshes as by the host, except for the rounding of `f32`.

use zippy::array::Growable;
use zippy::chunks::ChunkId;
use zippy::kernel::Binding;
use zippy::{Element, Result};

use super::interior;
use crate::cell;
use crate::field::part::Part;
use crate::field::values::difference;
use crate::field::view::{FittedField, View};
use crate::kernels::items::Items;
use crate::kernels::looking::{AmbiguousCell, Found};
use crate::kernels::making::{Making, Numbers, most_in_buffers};
use crate::kernels::{Kernels, Made};
use crate::mesh::Mesh;
use crate::points::list::Points;
use crate::points::numbering::Brick;
use crate::points::piece::{Piece, number};

/// Extracts several surfaces like [`by_host::meshes`](super::by_host::meshes); `None` on all ranks
/// if a buffer of some rank is too small. Collective.
///
/// # Errors
/// A transfer or a device fails.
pub fn meshes(
    view: &View,
    kernels: &Kernels,
    isovalues: &[f32],
    fields: &[FittedField],
) -> Result<Option<(Vec<Piece<3>>, Vec<Mesh>)>> {
    let Some(looked) = look(view, kernels, isovalues, true)? else { return Ok(None) };
    view.world.failing("extracting an isosurface", || {
        let made: Result<Vec<Mesh>> = view.computing(|| {
            kernels.take(&looked.counted.numbers)?;
            let fields: Vec<(&String, Vec<Binding>)> =
                fields.iter().map(|(name, field)| (name, sections(view, |chunk| field.section(chunk)))).collect();
            let Made { along, places, triangles } = &mut *kernels.made.borrow_mut();
            let mut made = Vec::new();
            for (mesh, [own, _]) in looked.counts.iter().enumerate() {
                let making = looked.making(view, kernels, mesh);
                making.positions(view.grid, places)?;
                let mut points = Points { own: *own as usize, positions: vectors(places)?, ..Points::default() };
                if view.normals {
                    making.normals(view.grid, places)?;
                    points.normals = vectors(places)?;
                }
                if !fields.is_empty() {
                    making.along(along)?;
                }
                for (name, samples) in &fields {
                    making.values(samples, along, places)?;
                    points.fields.push(((*name).clone(), places.all().read()?));
                }
                making.triangles(looked.counted.triangles[mesh], view.mirrored, triangles)?;
                let triangles = vectors(triangles)?;
                made.push(Mesh { points, has_normals: view.normals, triangles, ..Mesh::default() });
            }
            Ok(made)
        });
        Ok(Some((looked.pieces, made?)))
    })
}

fn vectors<T: Element>(list: &Growable<T>) -> Result<Vec<[T; 3]>> {
    Ok(list.all().read()?.as_chunks().0.to_vec())
}

/// Bricks, counts and numbers of meshes before their vertices and triangles are generated.
pub struct Looked<'a> {
    chunks: Vec<(&'a Part, Binding)>,
    pieces: Vec<Piece<3>>,
    items: Items,
    pub counted: Counted,
    /// Numbers of own vertices and ghosts of this rank, per mesh.
    pub counts: Vec<[u64; 2]>,
}

impl Looked<'_> {
    /// Generator of a mesh. The kernels must have [taken](Kernels::take) the numbers.
    pub fn making<'a>(&'a self, view: &'a View, kernels: &'a Kernels, mesh: usize) -> Making<'a> {
        let (meshes, [own, ghosts]) = (self.counts.len(), self.counts[mesh]);
        let inner = |piece: usize| &self.counted.numbers.inner[piece * meshes + mesh][..];
        Making {
            kernels,
            world: view.world,
            items: &self.items,
            chunks: &self.chunks,
            mesh,
            vertices: own + ghosts,
            inner: (0..self.pieces.len()).map(inner).collect(),
        }
    }
}

/// Classifies the bricks that surfaces may cross and numbers their points. `None` on all ranks if a
/// buffer of some rank is too small. Collective.
///
/// # Errors
/// A device fails.
pub fn look<'a>(view: &View<'a>, kernels: &Kernels, isovalues: &[f32], is_welded: bool) -> Result<Option<Looked<'a>>> {
    let (world, meshes) = (view.world, isovalues.len());
    let chunks = sections(view, |chunk| view.samples.section(chunk));
    let chunks: Vec<(&Part, Binding)> = view.chunks.iter().map(|(_, part, _)| *part).zip(chunks).collect();
    let looked = world.failing("extracting an isosurface", || {
        view.computing(|| {
            let piece =
                |&(chunk, part, bricks)| Piece::new(chunk, part, bricks, meshes, &|found| found.crossed_by(isovalues));
            let pieces: Vec<Piece<3>> = view.chunks.iter().map(piece).collect();
            let items = Items::new(&pieces, meshes, is_welded);
            let found = kernels.look(world, &items, &chunks, isovalues)?;
            Ok((pieces, items, found))
        })
    });
    let (mut pieces, items, found) = looked?;
    let most = most_in_buffers(world);
    let counted = view.computing(|| {
        let found = found.filter(|found| found.vertices(&items, meshes).iter().all(|&vertices| vertices <= most))?;
        let counted = count(&mut pieces, &items, &found, isovalues);
        counted.fits(&pieces, world.buffer_bytes()).then_some(counted)
    });
    let mut fits = [u64::from(counted.is_some())];
    world.group().all_reduce(&mut fits, |all, other| *all = (*all).min(*other))?;
    let Some(mut counted) = counted.filter(|_| fits == [1]) else { return Ok(None) };
    let counts = number(world, &mut pieces, meshes)?;
    counted.number(&pieces, &items, &counts);
    Ok(Some(Looked { chunks, pieces, items, counted, counts }))
}

/// Bindings of this rank's chunks.
pub fn sections(view: &View, section: impl Fn(ChunkId) -> Option<Binding>) -> Vec<Binding> {
    view.chunks.iter().map(|(chunk, ..)| section(*chunk).expect("a chunk of an array of this rank")).collect()
}

/// Numbers and triangle counts after the host has decided ambiguous cells.
pub struct Counted {
    pub numbers: Numbers,
    /// Number of triangles of each mesh.
    pub triangles: Vec<u64>,
}

/// Computes running numbers over the items, and decides ambiguous cells.
fn count(pieces: &mut [Piece<3>], items: &Items, found: &Found, isovalues: &[f32]) -> Counted {
    let meshes = isovalues.len();
    let mut triangles = vec![0_u64; meshes];
    let mut numbers = Numbers { inner: vec![Vec::new(); pieces.len() * meshes], ..Numbers::default() };
    let mut left = &found.cells[..];
    for (place, (item, &[vertices, plain, _])) in items.all.iter().zip(&found.counts).enumerate() {
        let own = left.partition_point(|cell| cell.item as usize <= place);
        let (cells, others) = left.split_at(own);
        left = others;
        let first_ambiguous = numbers.ambiguous.len() as u32;
        let (mut inner, mut more) = (Vec::new(), 0);
        let piece = &mut pieces[item.piece];
        let start = piece.part.samples(item.at).start;
        for cell in cells {
            let (number, values) = decided(cell, isovalues[item.mesh]);
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
        let records = (first + vertices..).zip(inner).map(|(number, (at, place))| record(at, number, place));
        numbers.inner[item.piece * meshes + item.mesh].extend(records);
        if let Some(border) = item.border {
            let words = found.borders[border as usize];
            numbering.put(&piece.part, Brick::new(item.at, first, words, further));
        }
        numbers.starts.push([first, triangles[item.mesh] as u32, first_ambiguous, first + vertices]);
        triangles[item.mesh] += u64::from(plain) + more;
    }
    Counted { numbers, triangles }
}

impl Counted {
    /// Computes running numbers over the chunks, own vertices before ghosts.
    fn number(&mut self, pieces: &[Piece<3>], items: &Items, counts: &[[u64; 2]]) {
        for (start, item) in self.numbers.starts.iter_mut().zip(&items.all) {
            let piece = &pieces[item.piece];
            let before = piece.layers[item.mesh].before;
            let base = if piece.part.is_own(item.at) { before[0] } else { counts[item.mesh][0] + before[1] };
            start[0] += base as u32;
            start[3] += base as u32;
        }
        for (place, inner) in self.numbers.inner.iter_mut().enumerate() {
            let before = pieces[place / counts.len()].layers[place % counts.len()].before[0];
            inner.iter_mut().for_each(|[cell, _]| cell[3] += before as u32);
        }
    }

    /// True if buffers of `buffer_bytes` hold the result.
    fn fits(&self, pieces: &[Piece<3>], buffer_bytes: u64) -> bool {
        let vertices = |mesh: usize| -> u64 {
            let numberings = pieces.iter().map(|piece| &piece.layers[mesh].numbering);
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
fn decided(cell: &AmbiguousCell, isovalue: f32) -> (cell::ShapeNumber, [f64; 8]) {
    let values = cell.samples.map(|sample| difference(sample, isovalue));
    let case = values.iter().enumerate().fold(0, |case, (corner, &value)| case | u8::from(value >= 0.0) << corner);
    (cell::table().shape(case, &values), values)
}
