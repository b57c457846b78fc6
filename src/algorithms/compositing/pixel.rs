//! What layers are made of.

use crate::element::Element;
use crate::world::Operator;

/// A pixel that can be blended: `[f32; 4]`, or `u32` with 8 bits each of red (lowest), green, blue and opacity. Colours
/// are premultiplied by opacity; zero is transparent.
pub trait Pixel: Element + PartialEq {
    /// What blends a source in front of a destination.
    #[doc(hidden)]
    fn over() -> Operator;

    /// What blends a source behind a destination, which becomes opaque where its opacity then is one minus `termination`.
    #[doc(hidden)]
    fn under(termination: f32) -> Operator;
}

impl Pixel for [f32; 4] {
    fn over() -> Operator {
        Operator::Over
    }

    fn under(termination: f32) -> Operator {
        if termination == 0.0 {
            return Operator::custom(
                "under",
                "fn combine(src: vec4<f32>, dst: vec4<f32>) -> vec4<f32> { return dst + (1.0 - dst.w) * src; }",
            );
        }
        let opaque = 1.0 - termination;
        Operator::custom(
            format!("under({opaque})"),
            format!(
                "fn combine(src: vec4<f32>, dst: vec4<f32>) -> vec4<f32> {{
                    let sum = dst + (1.0 - dst.w) * src;
                    return vec4(sum.xyz, select(sum.w, 1.0, sum.w >= {opaque:?}));
                }}"
            ),
        )
    }
}

/// Four products of 8 bits, divided by 255 and rounded to the nearest, two at a time in halves of a word.
const BYTES: &str = "
    fn rest(front: u32, back: u32) -> u32 {
        let keep = 255u - (front >> 24u);
        var even = (back & 0x00ff00ffu) * keep + 0x00800080u;
        var odd = ((back >> 8u) & 0x00ff00ffu) * keep + 0x00800080u;
        even = ((even + ((even >> 8u) & 0x00ff00ffu)) >> 8u) & 0x00ff00ffu;
        odd = (odd + ((odd >> 8u) & 0x00ff00ffu)) & 0xff00ff00u;
        return even | odd;
    }";

impl Pixel for u32 {
    fn over() -> Operator {
        let combine = "fn combine(src: u32, dst: u32) -> u32 { return src + rest(src, dst); }";
        Operator::custom("over of 8 bits", format!("{combine}{BYTES}"))
    }

    fn under(_: f32) -> Operator {
        let combine = "fn combine(src: u32, dst: u32) -> u32 { return dst + rest(dst, src); }";
        Operator::custom("under of 8 bits", format!("{combine}{BYTES}"))
    }
}
