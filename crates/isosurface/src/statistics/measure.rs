//! Area, volume and bounding box.

use zippy::algorithms::reduce::ExactSum;
use zippy::{Result, World};

use crate::filter::tetrahedra::corners;
use crate::grid::cross;
use crate::mesh::Mesh;
use crate::points::list::Points;
use crate::volume_mesh::VolumeMesh;

/// Area of a surface, and the enclosed volume. Collective. Sums are exact until the final rounding;
/// only the terms of single triangles are rounded.
pub(super) fn measure(world: &World, mesh: &Mesh) -> Result<[f64; 2]> {
    let (mut area, mut volume) = (ExactSum::default(), ExactSum::default());
    for triangle in mesh.triangles() {
        let [a, b, c] = triangle.map(|vertex| mesh.positions()[vertex as usize].map(f64::from));
        let across = cross(side(a, b), side(a, c));
        area.add(0.5 * across.iter().map(|x| x * x).sum::<f64>().sqrt());
        volume.add((0..3).map(|axis| a[axis] * across[axis]).sum::<f64>() / 6.0);
    }
    Ok([sum(world, area)?, sum(world, volume)?])
}

/// Volume of all cells. Collective. The sum is exact until the final rounding; only the volumes of
/// single cells are rounded.
pub(super) fn volume(world: &World, mesh: &VolumeMesh) -> Result<f64> {
    let at = |point: u32| mesh.positions()[point as usize].map(f64::from);
    let mut volume = ExactSum::default();
    for cell in mesh.hexahedra() {
        let [a, b, d, c, e, f, h, g] = cell.map(at);
        let corner = [a, b, c, d, e, f, g, h];
        volume.add(
            corners().map(|four| six_volumes(four.map(|place| corner[usize::from(place)]))).iter().sum::<f64>() / 6.0,
        );
    }
    mesh.tetrahedra().iter().for_each(|cell| volume.add(six_volumes(cell.map(at)) / 6.0));
    sum(world, volume)
}

/// Six times the volume of a tetrahedron: a whole number for unit cells.
fn six_volumes([a, b, c, d]: [[f64; 3]; 4]) -> f64 {
    let (across, up) = (cross(side(a, b), side(a, c)), side(a, d));
    (0..3).map(|axis| across[axis] * up[axis]).sum()
}

fn side(from: [f64; 3], to: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| to[axis] - from[axis])
}

fn sum(world: &World, sum: ExactSum) -> Result<f64> {
    let mut words = sum.into_words();
    world.group().all_reduce(&mut words, |sum, more| *sum += more)?;
    Ok(ExactSum::from_words(&words).into_f64())
}

/// Bounding box of `count` points of all ranks. Collective.
pub(super) fn bounds(world: &World, points: &Points, count: u64) -> Result<Option<[[f32; 3]; 2]>> {
    let mut corners = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
    for position in &points.positions[..points.own] {
        for axis in 0..3 {
            corners[0][axis] = corners[0][axis].min(position[axis]);
            corners[1][axis] = corners[1][axis].max(position[axis]);
        }
    }
    // One reduction for both corners: the highest is negated.
    let mut least: Vec<f32> = corners[0].into_iter().chain(corners[1].map(|x| -x)).collect();
    world.group().all_reduce(&mut least, |mine, theirs| *mine = mine.min(*theirs))?;
    let found = [std::array::from_fn(|axis| least[axis]), std::array::from_fn(|axis| -least[axis + 3])];
    Ok((count > 0).then_some(found))
}
