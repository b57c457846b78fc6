//! What a mesh of cells is like as a whole.

use zippy::error::CallSite;
use zippy::{Result, World};
use zippy_io::mesh::CellCounts;

use super::measure::{bounds, volume};
use crate::volume_mesh::VolumeMesh;

/// A mesh of cells in numbers: the same on all ranks, and the same bits for every cut.
#[derive(Debug, Clone, PartialEq)]
pub struct VolumeStatistics {
    /// Points, each counted once.
    pub points: u64,
    /// Cells of each kind.
    pub cells: CellCounts,
    /// Sum of the cells' volumes, without rounding in between.
    pub volume: f64,
    /// The least box that has all points, by its lowest and highest corner; `None` without points.
    pub bounds: Option<[[f32; 3]; 2]>,
}

/// Looks at all of a mesh. Collective.
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
