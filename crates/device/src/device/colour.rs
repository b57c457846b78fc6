//! [`Colour`]: arithmetic of premultiplied colours, for operators, pixels and the ray caster.
//!
//! A colour is four floats (red, green, blue and opacity), or a word with 8 bits per component
//! (`rgba8`), red in the lowest bits, rounded to nearest. `shaders/colour.wgsl` has functions with
//! the same names and the same bits.

use bytemuck::Pod;

use crate::wgsl::WgslModule;

/// WGSL functions of the colour arithmetic in this module.
pub const WGSL: WgslModule = wgsl_module!("../../shaders/colour.wgsl");

/// Blends the colour `front` over the colour `back`.
#[inline]
pub fn over(front: [f32; 4], back: [f32; 4]) -> [f32; 4] {
    let through = 1.0 - front[3];
    std::array::from_fn(|c| front[c] + through * back[c])
}

/// Sets an opacity of at least `min_opacity` to exactly 1, so that colours blended under the result
/// do not change it.
#[inline]
pub fn saturate_opacity(colour: [f32; 4], min_opacity: f32) -> [f32; 4] {
    let [red, green, blue, opacity] = colour;
    [red, green, blue, if opacity >= min_opacity { 1.0 } else { opacity }]
}

/// Blends the colour `front` over the colour `back`, both with 8 bits per component. Sums saturate
/// at 255.
#[inline]
#[doc(hidden)]
pub fn over_rgba8(front: u32, back: u32) -> u32 {
    // Two components at a time, each in 16 bits.
    let blend_pair = |shift: u32| {
        let product = ((back >> shift) & 0x00ff_00ff) * (255 - (front >> 24)) + 0x0080_0080;
        let dimmed = ((product + ((product >> 8) & 0x00ff_00ff)) >> 8) & 0x00ff_00ff;
        let sum = ((front >> shift) & 0x00ff_00ff) + dimmed;
        (sum | (((sum >> 8) & 0x0001_0001) * 255)) & 0x00ff_00ff
    };
    blend_pair(0) | (blend_pair(8) << 8)
}

/// Sets an opacity of at least `min_opacity` to 255, in a colour with 8 bits per component.
#[inline]
pub(crate) fn saturate_opacity_rgba8(colour: u32, min_opacity: u32) -> u32 {
    if colour >> 24 >= min_opacity { colour | 0xff00_0000 } else { colour }
}

/// Returns the smallest opacity from 0 to 255 that is at least `threshold`; 256 if there is none.
pub(crate) fn min_opaque_byte(threshold: f32) -> u32 {
    let estimate = (threshold * 255.0) as u32;
    (estimate.saturating_sub(1)..=255).find(|&opacity| opacity as f32 / 255.0 >= threshold).unwrap_or(256)
}

/// Converts a colour of floats to 8 bits per component. Red, green and blue are limited to the
/// opacity: with lighting they can be larger.
#[doc(hidden)]
pub fn to_rgba8(colour: [f32; 4]) -> u32 {
    let eight_bits = |part: f32| (part.min(colour[3]).clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    u32::from_le_bytes(colour.map(eight_bits))
}

/// Number of colours of 4 bytes that a vectorized blend processes at a time.
const COLOURS_PER_BLOCK: usize = 16;

/// Applies [`over_rgba8`] to a block of colours, in vector registers: products of 8 bits fit in 16
/// bits, which have the fastest multiplication.
#[inline]
fn block_over_rgba8(front: [u32; COLOURS_PER_BLOCK], back: [u32; COLOURS_PER_BLOCK]) -> [u32; COLOURS_PER_BLOCK] {
    type Halves = [u16; 2 * COLOURS_PER_BLOCK];
    let through: Halves = bytemuck::cast(front.map(|front| (255 - (front >> 24)) * 0x0001_0001));
    let dimmed = |shift: u32| -> [u32; COLOURS_PER_BLOCK] {
        let mut halves: Halves = bytemuck::cast(back.map(|back| (back >> shift) & 0x00ff_00ff));
        for (half, through) in halves.iter_mut().zip(through) {
            let product = half.wrapping_mul(through).wrapping_add(128);
            *half = product.wrapping_add(product >> 8) >> 8;
        }
        bytemuck::cast(halves)
    };
    let (even, odd) = (dimmed(0), dimmed(8));
    let both: [u32; COLOURS_PER_BLOCK] = std::array::from_fn(|i| even[i] | (odd[i] << 8));
    let (mut out, front): ([u8; 4 * COLOURS_PER_BLOCK], [u8; 4 * COLOURS_PER_BLOCK]) =
        (bytemuck::cast(both), bytemuck::cast(front));
    for (out, front) in out.iter_mut().zip(front) {
        *out = out.saturating_add(front);
    }
    bytemuck::cast(out)
}

/// Premultiplied colour type: `[f32; 4]`, or `u32` with 8 bits each of red (lowest), green, blue
/// and opacity.
pub trait Colour: Pod {
    /// Returns red, green, blue and opacity, from 0 to 1.
    fn to_floats(self) -> [f32; 4];

    /// Blends each colour of `front` over the colour at the same index of `target`. Both slices are
    /// bytes of any alignment with a whole number of colours.
    fn blend_over(front: &[u8], target: &mut [u8]);

    /// Blends each colour of `target` over the colour at the same index of `back`, then applies
    /// [`saturate_opacity`] with `min_opacity` if present. Both slices are bytes of any alignment
    /// with a whole number of colours.
    fn blend_under(back: &[u8], target: &mut [u8], min_opacity: Option<f32>);
}

impl Colour for [f32; 4] {
    fn to_floats(self) -> [f32; 4] {
        self
    }

    fn blend_over(front: &[u8], target: &mut [u8]) {
        blend_floats(front, target, over);
    }

    fn blend_under(back: &[u8], target: &mut [u8], min_opacity: Option<f32>) {
        match min_opacity {
            None => blend_floats(back, target, |back, target| over(target, back)),
            Some(min_opacity) => {
                blend_floats(back, target, |back, target| saturate_opacity(over(target, back), min_opacity))
            }
        }
    }
}

impl Colour for u32 {
    fn to_floats(self) -> [f32; 4] {
        self.to_le_bytes().map(|part| f32::from(part) / 255.0)
    }

    fn blend_over(front: &[u8], target: &mut [u8]) {
        blend_rgba8(front, target, block_over_rgba8, over_rgba8);
    }

    fn blend_under(back: &[u8], target: &mut [u8], min_opacity: Option<f32>) {
        let Some(min_opacity) = min_opacity.map(min_opaque_byte) else {
            let under = |back, target| over_rgba8(target, back);
            return blend_rgba8(back, target, |back, target| block_over_rgba8(target, back), under);
        };
        let block =
            |back, target| block_over_rgba8(target, back).map(|colour| saturate_opacity_rgba8(colour, min_opacity));
        blend_rgba8(back, target, block, |back, target| saturate_opacity_rgba8(over_rgba8(target, back), min_opacity));
    }
}

#[inline]
fn blend_floats(source: &[u8], target: &mut [u8], blend: impl Fn([f32; 4], [f32; 4]) -> [f32; 4]) {
    let (source, target) =
        blend_blocks::<[[f32; 4]; 4], 64>(source, target, |a, b| std::array::from_fn(|i| blend(a[i], b[i])));
    blend_blocks::<_, 16>(source, target, blend);
}

#[inline]
fn blend_rgba8(
    source: &[u8],
    target: &mut [u8],
    blend_block: impl Fn([u32; COLOURS_PER_BLOCK], [u32; COLOURS_PER_BLOCK]) -> [u32; COLOURS_PER_BLOCK],
    blend: impl Fn(u32, u32) -> u32,
) {
    let (source, target) = blend_blocks::<_, 64>(source, target, blend_block);
    let (source, target) =
        blend_blocks::<[u32; 4], 16>(source, target, |a, b| std::array::from_fn(|i| blend(a[i], b[i])));
    blend_blocks::<_, 4>(source, target, blend);
}

/// Applies `target = f(source, target)` to each block of `SIZE` bytes. Returns the remaining bytes
/// of both slices.
#[inline]
fn blend_blocks<'a, T: Pod, const SIZE: usize>(
    source: &'a [u8],
    target: &'a mut [u8],
    f: impl Fn(T, T) -> T,
) -> (&'a [u8], &'a mut [u8]) {
    let ((source_blocks, source), (target_blocks, target)) =
        (source.as_chunks::<SIZE>(), target.as_chunks_mut::<SIZE>());
    for (target, source) in target_blocks.iter_mut().zip(source_blocks) {
        *target = bytemuck::cast(f(bytemuck::cast(*source), bytemuck::cast(*target)));
    }
    (source, target)
}

#[cfg(test)]
mod tests;
