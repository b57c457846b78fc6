//! Surfaces of a field, all isovalues at once.

use zippy::Result;

use super::triangles;
use super::vertices::{Crossed, Lister, Vertices};
use crate::field::attribute::Attribute;
use crate::field::view::View;
use crate::mesh::{Mesh, Totals};
use crate::messages::sums;
use crate::points::interpolate::{Places, values};
use crate::points::list::Points;
use crate::points::numbering::ON_EDGES;
use crate::points::piece::{Piece, number};
use crate::points::weld;

/// The surfaces of some isovalues, with values of further fields. Collective.
///
/// # Errors
/// A rank with too many vertices; an attribute of another shape; a transfer or a device fails.
pub fn surfaces(view: &View, isovalues: &[f32], attributes: &[&dyn Attribute]) -> Result<Vec<Mesh>> {
    let mut order: Vec<usize> = (0..isovalues.len()).collect();
    order.sort_by(|&a, &b| isovalues[a].total_cmp(&isovalues[b]));
    let ascending: Vec<f32> = order.iter().map(|&place| isovalues[place]).collect();
    let mut made: Vec<(usize, Mesh)> = order.into_iter().zip(ordered(view, &ascending, attributes)?).collect();
    made.sort_by_key(|(place, _)| *place);
    Ok(made.into_iter().map(|(_, mesh)| mesh).collect())
}

fn ordered(view: &View, isovalues: &[f32], attributes: &[&dyn Attribute]) -> Result<Vec<Mesh>> {
    let (world, meshes) = (view.world, isovalues.len());
    let lister = Lister { grid: view.grid, normals: view.normals, places: !attributes.is_empty() };
    let mut vertices: Vec<[Vertices; 2]> = (0..meshes).map(|_| Default::default()).collect();
    let mut crossed: Vec<Vec<Crossed>> = Vec::new();
    let pieces = world.failing("extracting an isosurface", || {
        let piece = |&(chunk, part, bricks)| {
            let mut piece = Piece::new(chunk, part, bricks, meshes, &|found| found.crossed_by(isovalues));
            let mut found: Vec<Crossed> = (0..meshes).map(|_| Crossed::default()).collect();
            view.samples.samples(chunk, &mut |part, samples| {
                lister.list(&mut piece, (part, samples), isovalues, &mut found, &mut vertices);
            })?;
            crossed.push(found);
            Ok(piece)
        };
        view.computing(|| view.chunks.iter().map(piece).collect::<Result<Vec<_>>>())
    });
    let mut pieces = pieces?;
    let counts = number(world, &mut pieces, meshes)?;
    let fitted = view.fitted(attributes)?;
    world.failing("extracting an isosurface", || {
        let (mut made, mut places) = (Vec::new(), Vec::new());
        for (mesh, vertices) in vertices.into_iter().enumerate() {
            // About as many as a closed surface has.
            let mut triangles = Vec::with_capacity(2 * counts[mesh][0] as usize);
            let (points, at) = view.computing(|| {
                for (piece, crossed) in pieces.iter().zip(&crossed) {
                    let (layer, mirrored) = (&piece.layers[mesh], view.mirrored);
                    let bases = [layer.before[0], counts[mesh][0] + layer.before[1]].map(|base| base as u32);
                    triangles::list(&piece.part, layer, &crossed[mesh], bases, mirrored, &mut triangles);
                }
                joined(vertices, counts[mesh][0] as usize)
            });
            made.push(Mesh { points, has_normals: view.normals, triangles, ..Mesh::default() });
            places.push(at);
        }
        for (name, field) in &fitted {
            let all = values(&pieces, ON_EDGES, &places, &**field)?;
            made.iter_mut().zip(all).for_each(|(mesh, values)| mesh.points.fields.push((name.clone(), values)));
        }
        place(view, &pieces, &mut made)?;
        let before: Vec<u64> = made.iter().map(Mesh::vertices_before).collect();
        let owned = (&**view.placement.chunks(), &**view.placement.ownership());
        let ghosts = weld::ghosts(world, owned, &pieces, ON_EDGES, &before)?;
        view.computing(|| {
            for (mesh, numbers) in made.iter_mut().zip(&ghosts) {
                mesh.points.weld(numbers, mesh.triangles.as_flattened_mut().iter_mut());
            }
        });
        Ok(made)
    })
}

/// All own vertices stand before all ghosts.
fn joined([mut own, ghosts]: [Vertices; 2], count: usize) -> (Points, [Places; 2]) {
    own.positions.extend(ghosts.positions);
    own.normals.extend(ghosts.normals);
    let points = Points { own: count, positions: own.positions, normals: own.normals, ..Points::default() };
    (points, [own.places, ghosts.places])
}

/// Finds where this rank's parts stand in the whole meshes. Collective.
fn place(view: &View, pieces: &[Piece<3>], meshes: &mut [Mesh]) -> Result<()> {
    let interior = |mesh: usize| {
        let numberings = pieces.iter().map(|piece| &piece.layers[mesh].numbering);
        numberings.flat_map(|numbering| &numbering.bricks).map(|brick| u64::from(brick.further)).sum()
    };
    let own = |(number, mesh): (usize, &Mesh)| [mesh.points.own as u64, interior(number), mesh.triangles.len() as u64];
    let own: Vec<[u64; 3]> = meshes.iter().enumerate().map(own).collect();
    let [before, all] = sums(view.world, own.as_flattened())?;
    for ((mesh, before), all) in meshes.iter_mut().zip(before.as_chunks::<3>().0).zip(all.as_chunks::<3>().0) {
        (mesh.points.before, mesh.triangles_before) = (before[0], before[2]);
        mesh.totals = Totals { vertices: all[0], interior: all[1], triangles: all[2] };
    }
    Ok(())
}
