//! The host's part of reductions: blocks of cells, on all threads of a rank.

mod blocks;
mod float_sums;
mod host_bins;
mod integer_sums;
mod order;
mod span;

pub(super) use blocks::{BLOCK, CellBlock, HostBox, split_into_tasks};
pub(super) use float_sums::{add_float_products, add_floats, widened, widened_block};
pub(super) use host_bins::HostBins;
pub(super) use integer_sums::{narrow_sum, signed_halves, unsigned_halves, wide_sum};
pub(super) use order::extrema_within;
