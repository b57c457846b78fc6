//! What can be wrong with a region, a layout or the operands of an operation.

mod layout;
mod plan;
mod region;

pub use layout::LayoutError;
pub use plan::PlanError;
pub use region::RegionError;
