//! Extraction of several isovalues of a field at once.

use zippy::Result;
use zippy::collective::CollectiveWorld;

use super::{by_host, by_kernels};
use crate::field::attribute::Attribute;
use crate::field::view::View;
use crate::mesh::{Mesh, Totals};
use crate::messages::prefix_sums;
use crate::points::chunk_points::ChunkPoints;
use crate::points::numbering::ON_EDGES;
use crate::points::weld;

/// Extracts surfaces of several isovalues, with values of further fields. Collective.
pub(crate) fn surfaces(view: &View<'_>, isovalues: &[f32], attributes: &[&dyn Attribute]) -> Result<Vec<Mesh>> {
    let mut order: Vec<usize> = (0..isovalues.len()).collect();
    order.sort_by(|&a, &b| isovalues[a].total_cmp(&isovalues[b]));
    let ascending: Vec<f32> = order.iter().map(|&index| isovalues[index]).collect();
    let mut made: Vec<(usize, Mesh)> = order.into_iter().zip(ordered(view, &ascending, attributes)?).collect();
    made.sort_by_key(|(place, _)| *place);
    Ok(made.into_iter().map(|(_, mesh)| mesh).collect())
}

fn ordered(view: &View<'_>, isovalues: &[f32], attributes: &[&dyn Attribute]) -> Result<Vec<Mesh>> {
    let world = view.world;
    let fields = view.fitted(attributes)?;
    let mut all = fields.iter().map(|(_, field)| &**field).chain([view.samples]);
    let by =
        view.kernels.filter(|kernels| all.all(|field| field.element().is_some_and(|element| kernels.read(element))));
    let by_kernels = match by {
        Some(kernels) => by_kernels::meshes(view, kernels, isovalues, &fields)?,
        None => None,
    };
    let (chunk_points, mut made) = match by_kernels {
        Some(made) => made,
        None => by_host::meshes(view, isovalues, &fields)?,
    };
    world.failing("extracting an isosurface", || {
        set_offsets(view, &chunk_points, &mut made)?;
        let before: Vec<u64> = made.iter().map(Mesh::vertices_before).collect();
        let owned = (&**view.placement.chunks(), &**view.placement.ownership());
        let ghosts = weld::ghosts(world, owned, &chunk_points, ON_EDGES, &before)?;
        view.timed(|| {
            for (mesh, numbers) in made.iter_mut().zip(&ghosts) {
                mesh.points.weld(numbers, mesh.triangles.as_flattened_mut().iter_mut());
            }
        });
        Ok(made)
    })
}

/// Computes the offsets of this rank's parts in the whole meshes. Collective.
fn set_offsets(view: &View<'_>, chunk_points: &[ChunkPoints<3>], meshes: &mut [Mesh]) -> Result<()> {
    let interior = |mesh: usize| chunk_points.iter().map(|piece| piece.layers[mesh].numbering.further).sum();
    let own = |(number, mesh): (usize, &Mesh)| [mesh.points.own as u64, interior(number), mesh.triangles.len() as u64];
    let own: Vec<[u64; 3]> = meshes.iter().enumerate().map(own).collect();
    let [before, all] = prefix_sums(view.world, own.as_flattened())?;
    for ((mesh, before), all) in meshes.iter_mut().zip(before.as_chunks::<3>().0).zip(all.as_chunks::<3>().0) {
        (mesh.points.before, mesh.triangles_before) = (before[0], before[2]);
        mesh.totals = Totals { vertices: all[0], interior: all[1], triangles: all[2] };
    }
    Ok(())
}
