//! Surfaces by kernels: the same meshes as by the host, but for the rounding of `f32`.

use zippy::Result;
use zippy::chunks::ChunkId;
use zippy::kernel::Binding;

use super::interior;
use crate::cell;
use crate::error::IsosurfaceError;
use crate::field::part::Part;
use crate::field::values::difference;
use crate::field::view::{FittedField, View};
use crate::kernels::Kernels;
use crate::kernels::items::Items;
use crate::kernels::looking::{AmbiguousCell, Found};
use crate::kernels::making::{MOST_VERTICES, Making, Numbers};
use crate::mesh::Mesh;
use crate::points::list::Points;
use crate::points::numbering::Brick;
use crate::points::piece::{Piece, number};

/// As [`by_host::meshes`](super::by_host::meshes). Collective.
///
/// # Errors
/// A rank with too many vertices; a transfer or a device fails.
pub fn meshes(
    view: &View,
    kernels: &Kernels,
    isovalues: &[f32],
    fields: &[FittedField],
) -> Result<(Vec<Piece<3>>, Vec<Mesh>)> {
    let (world, meshes) = (view.world, isovalues.len());
    let chunks = sections(view, |chunk| view.samples.section(chunk));
    let chunks: Vec<(&Part, Binding)> = view.chunks.iter().map(|(_, part, _)| *part).zip(chunks).collect();
    let looked = world.failing("extracting an isosurface", || {
        view.computing(|| {
            let piece =
                |&(chunk, part, bricks)| Piece::new(chunk, part, bricks, meshes, &|found| found.crossed_by(isovalues));
            let pieces: Vec<Piece<3>> = view.chunks.iter().map(piece).collect();
            let items = Items::new(&pieces, meshes);
            let found = kernels.look(world, &items, &chunks, isovalues)?;
            Ok((pieces, items, found))
        })
    });
    let (mut pieces, items, found) = looked?;
    let mut counted = view.computing(|| count(&mut pieces, &items, &found, isovalues));
    world.agree("numbering triangles", counted.check(world.rank()))?;
    let counts = number(world, &mut pieces, meshes, MOST_VERTICES)?;
    counted.number(&pieces, &items, &counts);
    world.failing("extracting an isosurface", || {
        view.computing(|| {
            kernels.take(&counted.numbers)?;
            let fields: Vec<(&String, Vec<Binding>)> =
                fields.iter().map(|(name, field)| (name, sections(view, |chunk| field.section(chunk)))).collect();
            let samples: Vec<&[Binding]> = fields.iter().map(|(_, samples)| &samples[..]).collect();
            let mut made = Vec::new();
            for (mesh, [own, ghosts]) in counts.iter().enumerate() {
                let inner: Vec<_> =
                    (0..pieces.len()).map(|piece| &counted.numbers.inner[piece * meshes + mesh][..]).collect();
                let making = Making {
                    kernels,
                    world,
                    items: &items,
                    chunks: &chunks,
                    mesh,
                    vertices: own + ghosts,
                    inner: &inner,
                };
                let positions = making.positions(view.grid)?;
                let normals = if view.normals { making.normals(view.grid)? } else { Vec::new() };
                let values = making.values(&samples)?;
                let names = fields.iter().map(|(name, _)| (*name).clone());
                let points = Points {
                    own: *own as usize,
                    positions,
                    normals,
                    fields: names.zip(values).collect(),
                    ..Points::default()
                };
                let triangles = making.triangles(counted.triangles[mesh], view.mirrored)?;
                made.push(Mesh { points, has_normals: view.normals, triangles, ..Mesh::default() });
            }
            Ok((pieces, made))
        })
    })
}

/// This rank's chunks as kernels see them.
fn sections(view: &View, section: impl Fn(ChunkId) -> Option<Binding>) -> Vec<Binding> {
    view.chunks.iter().map(|(chunk, ..)| section(*chunk).expect("a chunk of an array of this rank")).collect()
}

/// What is known when the host has decided ambiguous cells.
struct Counted {
    numbers: Numbers,
    /// Triangles of each mesh.
    triangles: Vec<u64>,
}

/// Counts on from item to item, and decides ambiguous cells.
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
    /// Numbers on from chunk to chunk, and own vertices before ghosts.
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

    /// # Errors
    /// More triangles of a mesh than kernels can number.
    fn check(&self, rank: usize) -> Result<()> {
        let most = MOST_VERTICES;
        match self.triangles.iter().any(|&count| count > most) {
            true => Err(IsosurfaceError::TooMany { rank, what: "triangles", most }.into()),
            false => Ok(()),
        }
    }
}

fn record([x, y, z]: [u32; 3], number: u32, [a, b, c]: [u32; 3]) -> [[u32; 4]; 2] {
    [[x, y, z, number], [a, b, c, 0]]
}

/// The shape of an ambiguous cell, and its values less the isovalue.
fn decided(cell: &AmbiguousCell, isovalue: f32) -> (cell::ShapeNumber, [f64; 8]) {
    let values = cell.samples.map(|sample| difference(sample, isovalue));
    let case = values.iter().enumerate().fold(0, |case, (corner, &value)| case | u8::from(value >= 0.0) << corner);
    (cell::table().shape(case, &values), values)
}
