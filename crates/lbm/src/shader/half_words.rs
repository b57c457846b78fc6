//! Words of two 16-bit populations.
//!
//! Stored halves are populations × 2¹⁵, because halves have few digits near zero. Stochastic
//! rounding is up or down in proportion to the distance: a steady flow has noise and no force. The
//! random number depends only on cell, population and step. Values out of the range of halves
//! become NaN on every device.
//! the same for every cut. Values out of the range of halves become NaN on every device.

pub(super) const HALF_WORDS_WGSL: &str = include_str!("../../shaders/half_words.wgsl");
