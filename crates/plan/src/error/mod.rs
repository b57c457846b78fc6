//! What can be wrong with a region, a grid, a layout or the operands of an operation.

mod grid;
mod layout;
mod plan;
mod region;

pub use grid::GridError;
pub use layout::LayoutError;
pub use plan::PlanError;
pub use region::RegionError;
