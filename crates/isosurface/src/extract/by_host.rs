//! Extraction by the host.

use zippy::Result;
use zippy::collective::CollectiveWorld;

use super::triangles;
use super::vertices::{CrossedBricks, VertexLister, Vertices};
use crate::field::view::{FittedField, View};
use crate::mesh::Mesh;
use crate::points::chunk_points::{ChunkPoints, number};
use crate::points::interpolate::{PointPositions, values};
use crate::points::list::Points;
use crate::points::numbering::ON_EDGES;

/// Extracts surfaces; returns the points of each chunk, and the meshes before welding. Collective.
pub(super) fn meshes(
    view: &View<'_>,
    isovalues: &[f32],
    fields: &[FittedField<'_>],
) -> Result<(Vec<ChunkPoints<3>>, Vec<Mesh>)> {
    let (world, meshes) = (view.world, isovalues.len());
    let lister = VertexLister { grid: view.grid, normals: view.normals, keeps_point_positions: !fields.is_empty() };
    let mut vertices: Vec<[Vertices; 2]> = (0..meshes).map(|_| Default::default()).collect();
    let mut used = view.used.take();
    if let Some([own, _]) = vertices.first_mut() {
        own.positions = emptied(used.points.positions);
        if view.normals {
            own.normals = emptied(used.points.normals);
        }
    }
    let mut crossed: Vec<Vec<CrossedBricks>> = Vec::new();
    let chunk_points = world.failing("extracting an isosurface", || {
        let piece = |&(chunk, part, bricks)| {
            let mut piece = ChunkPoints::new(chunk, part, bricks, meshes, &|found| found.crossed_by(isovalues));
            let mut found: Vec<CrossedBricks> = (0..meshes).map(|_| CrossedBricks::default()).collect();
            view.samples.samples(chunk, &mut |part, samples| {
                lister.list(&mut piece, (part, samples), isovalues, &mut found, &mut vertices);
            })?;
            crossed.push(found);
            Ok(piece)
        };
        view.timed(|| view.chunks.iter().map(piece).collect::<Result<Vec<_>>>())
    });
    let mut chunk_points = chunk_points?;
    let counts = number(world, &mut chunk_points, meshes)?;
    world.failing("extracting an isosurface", || {
        let (mut made, mut point_positions) = (Vec::new(), Vec::new());
        for (mesh, vertices) in vertices.into_iter().enumerate() {
            // A closed surface has about two triangles per vertex.
            let mut triangles = emptied(std::mem::take(&mut used.triangles));
            let room = 2 * counts[mesh][0] as usize;
            if triangles.capacity() < room {
                // `reserve` would copy the old content.
                triangles = Vec::with_capacity(room);
            }
            let (points, at) = view.timed(|| {
                for (piece, crossed) in chunk_points.iter().zip(&crossed) {
                    let (layer, mirrored) = (&piece.layers[mesh], view.mirrored);
                    let bases = [layer.before[0], counts[mesh][0] + layer.before[1]].map(|base| base as u32);
                    triangles::list(&piece.part, layer, &crossed[mesh], bases, mirrored, &mut triangles);
                }
                joined(vertices, counts[mesh][0] as usize)
            });
            made.push(Mesh { points, has_normals: view.normals, triangles, ..Mesh::default() });
            point_positions.push(at);
        }
        for (name, field) in fields {
            let all = view.timed(|| values(&chunk_points, ON_EDGES, &point_positions, &**field))?;
            made.iter_mut().zip(all).for_each(|(mesh, values)| mesh.points.fields.push((name.clone(), values)));
        }
        Ok((chunk_points, made))
    })
}

fn emptied<V>(mut list: Vec<V>) -> Vec<V> {
    list.clear();
    list
}

/// Joins own vertices and ghosts, own vertices first.
fn joined([mut own, ghosts]: [Vertices; 2], count: usize) -> (Points, [PointPositions; 2]) {
    own.positions.extend(ghosts.positions);
    own.normals.extend(ghosts.normals);
    let points = Points { own: count, positions: own.positions, normals: own.normals, ..Points::default() };
    (points, [own.point_positions, ghosts.point_positions])
}
