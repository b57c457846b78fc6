//! Errors of regions, grids, layouts and the operands of operations.

mod grid;
mod layout;
mod plan;
mod region;

pub use grid::GridError;
pub use layout::LayoutError;
pub use plan::PlanError;
pub use region::RegionError;
