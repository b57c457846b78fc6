//! Array files on the host: formats, metadata, byte layouts, and access to cells.
//!
//! The functions of this module are local. The crate `zippy-store` saves and loads global arrays
//! with them, all ranks together.

mod describe;
mod description;
mod file_plan;
mod format;
mod leaves;
mod metadata;
mod nrrd;
mod outline;
mod plain;
mod series_index;
mod source;
mod vti;

pub use describe::describe_header;
pub use description::{ArrayDescription, Description};
pub use file_plan::FilePlan;
pub use format::Format;
pub use metadata::{Axis, Metadata};
pub use outline::Outline;
pub use series_index::{SeriesEntry, TimeStep, time_steps};
pub use source::{CellSource, OpenedArray};
pub use vti::{VtkImage, index_stem, piece_sources};

pub use crate::axis_order::{AxisOrder, strides};
/// Maximum number of pieces in an index.
pub use crate::vti::index::MOST as MOST_PIECES;
