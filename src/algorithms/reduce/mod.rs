//! Exact reductions over sections: sums, extremes and others, with the same bits for every
//! decomposition.
//!
//! Every rank's device reduces its cells to a few words with integer arithmetic only. The words are
//! then combined over the ranks, and floating-point results are rounded once at the end, so that
//! the order of operations does not matter. The host replaces the device, with the same result, for
//! `f64`, `i64` and `u64`, which few devices support well, and on software adapters, where it is
//! several times faster than the kernels.

mod cell_position;
mod differing;
mod exact;
mod extremes;
mod fold_on_host;
mod format;
mod histogram;
mod host;
mod lengths;
mod located;
mod number;
mod numbers;
mod operand;
mod reduced;
#[cfg(test)]
mod reference_tests;
mod source;
#[cfg(test)]
mod source_tests;
mod sums;
mod total;

pub(crate) use cell_position::CellPosition;
pub(crate) use differing::count_differing;
pub use exact::ExactSum;
pub use extremes::{Extremes, strided_extremes};
pub(crate) use extremes::{KeyRange, PartialExtremes, local_extremes};
pub(crate) use histogram::local_histogram;
pub use histogram::{Bins, Histogram, strided_histogram};
pub(crate) use lengths::Lengths;
pub use located::Located;
pub use number::{Factor, Number, Reducible};
pub(crate) use operand::LocalOperand;
pub use operand::Stride;
pub(crate) use reduced::Reduced;
pub use sums::SumOf;
pub(crate) use sums::{rounded, sum_words};
