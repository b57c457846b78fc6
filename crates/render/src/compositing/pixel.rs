//! What layers are made of.

use zippy::device::colour::Colour;
use zippy::element::Element;
use zippy::world::Operator;

/// A pixel that can be blended: `[f32; 4]`, or `u32` with 8 bits each of red (lowest), green, blue and opacity. Colours
/// are premultiplied by opacity; zero is transparent.
pub trait Pixel: Element + Colour + PartialEq {
    /// What kernels know about them: the type `Pixel`, its words, and how it is blended.
    #[doc(hidden)]
    const WGSL: &'static str;

    /// Whether pixels that are nearly opaque become opaque.
    #[doc(hidden)]
    const CLOSES: bool;
}

impl Pixel for [f32; 4] {
    const WGSL: &'static str = include_str!("../../shaders/compositing/pixel_f32.wgsl");
    const CLOSES: bool = true;
}

impl Pixel for u32 {
    const WGSL: &'static str = include_str!("../../shaders/compositing/pixel_rgba8.wgsl");
    const CLOSES: bool = false;
}

/// The opacity from which on pixels become opaque, if they do.
pub(super) fn opaque<P: Pixel>(termination: f32) -> Option<f32> {
    (P::CLOSES && termination != 0.0).then_some(1.0 - termination)
}

/// What blends a source behind a destination.
pub(super) fn under(opaque: Option<f32>) -> Operator {
    opaque.map_or(Operator::Under, Operator::under_opaque_from)
}
