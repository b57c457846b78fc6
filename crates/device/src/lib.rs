//! Devices, chunk buffers, and WGSL kernels over them, on GPUs and on processors.
//!
//! Nothing here communicates with other ranks. Programs use this crate through the package
//! `zippy-ga`.
//!
//! * [`device`]: one GPU as seen by one rank, its memory, and transfers of boxes of cells.
//! * [`kernel`]: compute kernels over local sections.
//! * [`wgsl`]: texts of kernels, before naga can parse them.
//! * [`history`]: records of operations on chunks.

#[macro_use]
pub mod wgsl;

pub mod device;
pub mod history;
pub mod kernel;

use zippy_base::{element, error, trace};
use zippy_plan::{chunks, extents, locate, plan, region};
