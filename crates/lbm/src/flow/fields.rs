//! Fields of density and velocity.

use zippy::GlobalArray;

/// Density and velocity of each cell of the lattice; zero in cells without fluid. The arrays have
/// the chunks and ghost widths of the flow; ghost cells are not filled.
#[derive(Clone)]
pub struct Fields {
    /// Density minus 1; a third of it is the pressure.
    pub excess: GlobalArray<f32, 3>,
    /// Velocity in cells per step, with the axes x, y, z and component.
    pub velocity: GlobalArray<f32, 4>,
}
