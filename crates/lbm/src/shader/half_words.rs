//! Words of two 16-bit populations.
//!
//! Stored halves are populations × 2¹⁵, because halves have few digits near zero. Stochastic
//! rounding is up or down in proportion to the distance: a steady flow has noise and no force. The
//! random number depends only on cell, population and step. Values out of the range of halves
//! become NaN on every device.

use zippy::kernel::WgslModule;
use zippy::wgsl_module;

/// Functions that unpack, round and pack halves.
pub(super) const HALF_WORDS: WgslModule = wgsl_module!("../../shaders/half_words.wgsl");
