//! Area, enclosed volume and bounding box.

use zippy::algorithms::reduce::ExactSum;
use zippy::{Result, World};

use crate::grid::cross;
use crate::mesh::Mesh;

pub struct Measured {
    pub area: f64,
    pub volume: f64,
    pub bounds: Option<[[f32; 3]; 2]>,
}

/// Collective. Each triangle is rounded by itself, their sums only at the end.
pub fn measure(world: &World, mesh: &Mesh) -> Result<Measured> {
    let (mut area, mut volume) = (ExactSum::default(), ExactSum::default());
    for triangle in mesh.triangles() {
        let [a, b, c] = triangle.map(|vertex| mesh.positions()[vertex as usize].map(f64::from));
        let side = |to: [f64; 3]| std::array::from_fn(|axis| to[axis] - a[axis]);
        let across = cross(side(b), side(c));
        area.add(0.5 * across.iter().map(|x| x * x).sum::<f64>().sqrt());
        volume.add((0..3).map(|axis| a[axis] * across[axis]).sum::<f64>() / 6.0);
    }
    let sum = |sum: ExactSum| {
        let mut words = sum.into_words();
        world.group().all_reduce(&mut words, |sum, more| *sum += more)?;
        Ok::<f64, zippy::Error>(ExactSum::from_words(&words).into_f64())
    };
    let (area, volume) = (sum(area)?, sum(volume)?);
    let mut corners = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
    for position in &mesh.positions()[..mesh.own_vertices()] {
        for axis in 0..3 {
            corners[0][axis] = corners[0][axis].min(position[axis]);
            corners[1][axis] = corners[1][axis].max(position[axis]);
        }
    }
    // One operation for both: the highest corner by its negative.
    let mut least: Vec<f32> = corners[0].into_iter().chain(corners[1].map(|x| -x)).collect();
    world.group().all_reduce(&mut least, |mine, theirs| *mine = mine.min(*theirs))?;
    let found = [std::array::from_fn(|axis| least[axis]), std::array::from_fn(|axis| -least[axis + 3])];
    Ok(Measured { area, volume, bounds: (mesh.vertices() > 0).then_some(found) })
}
