//! Statistics of whole meshes.

mod components;
mod edges;
mod measure;
mod shared;
mod volume;

use zippy::collective::CollectiveWorld;
use zippy::error::CallSite;
use zippy::{Result, World};

pub use self::components::components;
pub use self::volume::{VolumeStatistics, volume_statistics};

use self::shared::Shared;
use crate::mesh::Mesh;

/// Statistics of a mesh: equal on all ranks, and bit-identical for every cut.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Number of vertices, each counted once.
    pub vertices: u64,
    /// Number of vertices inside cells, not on grid edges.
    pub interior_vertices: u64,
    /// Number of triangles.
    pub triangles: u64,
    /// Number of edges, each counted once.
    pub edges: u64,
    /// Euler characteristic: vertices minus edges plus triangles.
    pub euler: i64,
    /// Number of connected components.
    pub components: u64,
    /// Number of edges with one triangle: the border of an open surface.
    pub open_edges: u64,
    /// Number of edges with more than two triangles, or with two in the same direction.
    pub nonmanifold_edges: u64,
    /// Sum of the triangles' areas, exact until the final rounding.
    pub area: f64,
    /// Enclosed volume, by the divergence theorem: positive around higher values, meaningless for
    /// surfaces with open edges.
    pub volume: f64,
    /// Lowest and highest corner of the bounding box; `None` without vertices.
    pub bounds: Option<[[f32; 3]; 2]>,
}

/// Computes the statistics of a mesh. Collective.
///
/// # Errors
/// A transfer fails.
#[track_caller]
pub fn statistics(world: &World, mesh: &Mesh) -> Result<Statistics> {
    let _call = CallSite::enter();
    world.failing("statistics of a mesh", || {
        let shared = Shared::new(world, mesh)?;
        let edges = edges::count(world, mesh, &shared)?;
        let labels = components::labels(world, mesh, &shared)?;
        let own = (0..mesh.own_vertices() as u32).filter(|&vertex| labels[vertex as usize] == mesh.number(vertex));
        let mut components = [own.count() as u64];
        world.group().all_reduce(&mut components, |sum, more| *sum += more)?;
        let [area, volume] = measure::measure(world, mesh)?;
        let bounds = measure::bounds(world, &mesh.points, mesh.vertices())?;
        let (vertices, triangles) = (mesh.vertices(), mesh.triangle_count());
        Ok(Statistics {
            vertices,
            interior_vertices: mesh.interior_vertices(),
            triangles,
            edges: edges.all,
            euler: vertices as i64 - edges.all as i64 + triangles as i64,
            components: components[0],
            open_edges: edges.open,
            nonmanifold_edges: edges.nonmanifold,
            area,
            volume,
            bounds,
        })
    })
}
