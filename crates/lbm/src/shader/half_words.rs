//! Words of two 16-bit populations.
//!
//! Stored halves are populations × 2¹⁵, because populations are small and halves have few digits
//! near zero. Stochastic rounding goes up or down in proportion to the distance, so that a steady
//! flow has noise and no force. The random number depends only on cell, population and step, and is
//! the same for every cut. Values out of the range of halves become NaN on every device.

/// Functions that unpack, round and pack halves.
pub(super) const HALF_WORDS_WGSL: &str = include_str!("../../shaders/half_words.wgsl");
