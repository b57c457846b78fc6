//! Shapes that become solid cells.

use zippy::{Result, World};

use super::placement::Placement;
use super::solid_mask::SolidMask;
use super::voxelization_box::VoxelizationBox;

/// Shape that can become solid cells.
pub trait SolidShape {
    /// The least and the greatest coordinate along each axis, in the unit of the shape.
    fn bounds(&self) -> [[f64; 3]; 2];

    /// Finds the cells with their centres inside the shape, by the rules of [`VoxelizationBox`].
    /// Parts beyond a side that is not periodic are cut off, with a warning in
    /// [`SolidMask::warnings`]. Each rank classifies its share of the cells; on return, all ranks
    /// have all cells, one bit for each cell of the box around the shape. Collective.
    ///
    /// # Errors
    /// An invalid placement; no solid cell; errors of the shape's file. The same on every rank.
    fn voxelize(&self, world: &World, placement: &Placement, voxelization_box: &VoxelizationBox) -> Result<SolidMask>;

    /// Placement around `centre` in which the longest edge of the bounds has `longest` cells.
    fn fit(&self, longest: f64, centre: [f64; 3]) -> Placement {
        let [low, high] = self.bounds();
        let edge = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
        Placement { scale: longest / edge, centre }
    }
}
