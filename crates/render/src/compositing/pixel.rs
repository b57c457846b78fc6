//! What layers are made of.

use zippy::element::Element;
use zippy::world::Operator;

/// A pixel that can be blended: `[f32; 4]`, or `u32` with 8 bits each of red (lowest), green, blue and opacity. Colours
/// are premultiplied by opacity; zero is transparent.
pub trait Pixel: Element + PartialEq {
    /// The type of the pixels in kernels, and what kernels do with them: blend, load from a stream, store in a stream.
    #[doc(hidden)]
    const WGSL: [&'static str; 4];

    /// What blends a source behind a destination, which becomes opaque where its opacity then is `opaque` or more.
    #[doc(hidden)]
    fn under(opaque: f32) -> Operator;

    /// [`Operator::Over`] on the host.
    #[doc(hidden)]
    fn over_pixel(front: Self, back: Self) -> Self;

    /// [`under`](Self::under) on the host.
    #[doc(hidden)]
    fn under_pixel(back: Self, front: Self, opaque: f32) -> Self;
}

/// An opacity that no pixel has.
const NEVER: f32 = 1e30;

/// The opacity from which on pixels become opaque.
pub(super) fn opaque(termination: f32) -> f32 {
    if termination == 0.0 { NEVER } else { 1.0 - termination }
}

const FLOAT: &str = include_str!("../../shaders/compositing/pixel_float.wgsl");
const BYTES: &str = include_str!("../../shaders/compositing/pixel_bytes.wgsl");

impl Pixel for [f32; 4] {
    const WGSL: [&'static str; 4] = [
        "vec4<f32>",
        FLOAT,
        "fn load_pixel(at: i32) -> vec4<f32> {
          return bitcast<vec4<f32>>(vec4(stream_load(at), stream_load(at + 1), stream_load(at + 2), stream_load(at + 3)));
        }",
        "fn store_pixel(at: i32, pixel: vec4<f32>) {
          let words = bitcast<vec4<u32>>(pixel);
          stream_store(at, words.x);
          stream_store(at + 1, words.y);
          stream_store(at + 2, words.z);
          stream_store(at + 3, words.w);
        }",
    ];

    fn under(opaque: f32) -> Operator {
        if opaque == NEVER { Operator::Under } else { Operator::under_opaque_from(opaque) }
    }

    #[inline]
    fn over_pixel(front: Self, back: Self) -> Self {
        let through = 1.0 - front[3];
        std::array::from_fn(|c| front[c] + through * back[c])
    }

    #[inline]
    fn under_pixel(back: Self, front: Self, opaque: f32) -> Self {
        let mut sum = Self::over_pixel(front, back);
        sum[3] = if sum[3] >= opaque { 1.0 } else { sum[3] };
        sum
    }
}

impl Pixel for u32 {
    const WGSL: [&'static str; 4] = [
        "u32",
        BYTES,
        "fn load_pixel(at: i32) -> u32 { return stream_load(at); }",
        "fn store_pixel(at: i32, pixel: u32) { stream_store(at, pixel); }",
    ];

    fn under(_: f32) -> Operator {
        Operator::Under
    }

    #[inline]
    fn over_pixel(front: Self, back: Self) -> Self {
        // Two components at a time, each in 16 bits.
        let every_other = |shift: u32| {
            let product = ((back >> shift) & 0x00ff_00ff) * (255 - (front >> 24)) + 0x0080_0080;
            let dimmed = ((product + ((product >> 8) & 0x00ff_00ff)) >> 8) & 0x00ff_00ff;
            let sum = ((front >> shift) & 0x00ff_00ff) + dimmed;
            // Sums beyond 255 stay there.
            (sum | (((sum >> 8) & 0x0001_0001) * 255)) & 0x00ff_00ff
        };
        every_other(0) | (every_other(8) << 8)
    }

    #[inline]
    fn under_pixel(back: Self, front: Self, _: f32) -> Self {
        Self::over_pixel(front, back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every opacity, colour in front and colour behind, against the division and the limit that are meant.
    #[test]
    fn bytes_are_blended_to_the_nearest_and_stay_within_255() {
        for alpha in 0..=255_u32 {
            for back in 0..=255_u32 {
                let product = (back * (255 - alpha) * 2 + 255) / 510;
                for front in 0..=255_u32 {
                    let colours = |byte: u32| byte | byte << 8 | byte << 16;
                    let blended = u32::over_pixel(alpha << 24 | colours(front), colours(back) | back << 24);
                    let expected = colours((front + product).min(255)) | (alpha + product) << 24;
                    assert_eq!(blended, expected, "{alpha} {front} {back}");
                }
            }
        }
        assert_eq!(u32::over_pixel(0x80_10_20_30, 0x80_40_40_40), 0xc0_30_40_50);
        assert_eq!(u32::over_pixel(0x80_ff_ff_ff, 0xff_ff_ff_ff), 0xff_ff_ff_ff);
    }

    #[test]
    fn floats_become_opaque_at_the_threshold() {
        let [front, back] = [[0.25, 0.0, 0.0, 0.5], [0.0, 0.5, 0.0, 0.75]];
        assert_eq!(<[f32; 4]>::under_pixel(back, front, 0.875), [0.25, 0.25, 0.0, 1.0]);
        assert_eq!(<[f32; 4]>::under_pixel(back, front, NEVER), [0.25, 0.25, 0.0, 0.875]);
    }
}
