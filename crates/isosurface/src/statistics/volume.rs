//! Statistics of whole meshes of cells.

use zippy::collective::CollectiveWorld;
use zippy::error::CallSite;
use zippy::{Result, World};
use zippy_io::mesh::CellCounts;

use super::measure::{bounds, volume};
use crate::volume_mesh::VolumeMesh;

/// Statistics of a mesh of cells: equal on all ranks, and bit-identical for every cut.
#[derive(Debug, Clone, PartialEq)]
pub struct VolumeStatistics {
    /// Number of points, each counted once.
    pub points: u64,
    /// Number of cells of each kind.
    pub cells: CellCounts,
    /// Sum of the cells' volumes, exact until the final rounding.
    pub volume: f64,
    /// Lowest and highest corner of the bounding box; `None` without points.
    pub bounds: Option<[[f32; 3]; 2]>,
}

/// Computes the statistics of a mesh of cells. Collective.
///
/// # Errors
/// A transfer fails.
#[track_caller]
pub fn volume_statistics(world: &World, mesh: &VolumeMesh) -> Result<VolumeStatistics> {
    let _call = CallSite::enter();
    world.failing("statistics of a mesh", || {
        let points = mesh.point_count();
        let (volume, bounds) = (volume(world, mesh)?, bounds(world, &mesh.points, points)?);
        Ok(VolumeStatistics { points, cells: mesh.cell_count(), volume, bounds })
    })
}
