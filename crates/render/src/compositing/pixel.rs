//! Pixel formats of layers.

use zippy::Operator;
use zippy::device::colour::Colour;
use zippy::element::Element;
use zippy::kernel::WgslModule;
use zippy::wgsl_module;

/// Pixel format for blending: `[f32; 4]`, or `u32` with 8 bits each of red (lowest), green, blue
/// and opacity. Colours are premultiplied by opacity; zero is transparent.
pub trait Pixel: Element + Colour + PartialEq {
    /// WGSL definitions: the type `Pixel`, its words, and its blend functions.
    #[doc(hidden)]
    const WGSL: WgslModule;

    /// True if nearly opaque pixels become opaque.
    #[doc(hidden)]
    const CLOSES: bool;
}

impl Pixel for [f32; 4] {
    const WGSL: WgslModule = wgsl_module!("../../shaders/compositing/pixel_f32.wgsl");
    const CLOSES: bool = true;
}

impl Pixel for u32 {
    const WGSL: WgslModule = wgsl_module!("../../shaders/compositing/pixel_rgba8.wgsl");
    const CLOSES: bool = false;
}

/// Opacity from which pixels become opaque, if the format supports it.
pub(super) fn opaque<P: Pixel>(termination: f32) -> Option<f32> {
    (P::CLOSES && termination != 0.0).then_some(1.0 - termination)
}

/// Operator that blends a source behind a destination.
pub(super) fn under(opaque: Option<f32>) -> Operator {
    opaque.map_or(Operator::Under, Operator::under_opaque_from)
}
