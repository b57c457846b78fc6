//! Typed handles of chunks in GPU buffers: global arrays, local arrays, and sections of both.
//!
//! This module does not communicate. Handles are cheap to clone. A typed handle wraps an
//! [`ArrayCore`] without static types, so that transfers and plans are compiled only once.

mod aligned;
mod argument;
mod cells;
mod core;
mod global;
mod growable;
mod local;
mod locate;
mod marks;
mod registry;
mod section;
mod select;
pub(crate) mod sequence;
mod zip_chunks;

pub(crate) use self::aligned::{AlignedBoxes, UntypedSection, align_sections};
pub use self::argument::{IntoGlobalSection, IntoLocalSection};
pub use self::core::ArrayCore;
pub(crate) use self::core::{ArrayContext, check_usages, chunk_bytes};
pub use self::global::{ChunkRef, GlobalArray, GlobalSection};
pub use self::growable::Growable;
pub use self::local::LocalArray;
pub use self::registry::ArrayId;
pub(crate) use self::registry::{Rearranged, Registry};
pub use self::section::LocalSection;
pub use self::select::{AxisRange, IndexSpace, Select, SelectAxis};
pub(crate) use self::sequence::CellSequence;
pub use self::sequence::{IntoSequence, Sequence};
pub use self::zip_chunks::{ZippedArrays, zip_chunks};
pub use zippy_base::ArrayKind;
