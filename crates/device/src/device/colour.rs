//! The arithmetic of premultiplied colours, the only one: of operators, of pixels and of the ray caster. A colour is four
//! floats, red, green, blue and opacity, or a word with 8 bits of each (`rgba8`), red lowest, rounded to nearest.
//!
//! The twin of `shaders/colour.wgsl`, whose functions have the names that they have here, and the same bits.

use bytemuck::Pod;

/// The same in WGSL, for shaders that blend as the operators do.
pub const WGSL: &str = include_str!("../../shaders/colour.wgsl");

/// A colour in front of another.
#[inline]
pub fn over(front: [f32; 4], back: [f32; 4]) -> [f32; 4] {
    let through = 1.0 - front[3];
    std::array::from_fn(|c| front[c] + through * back[c])
}

/// The opacity becomes exactly 1 where it is `opaque` or more, so that whatever comes behind later adds nothing.
#[inline]
pub fn closed(colour: [f32; 4], opaque: f32) -> [f32; 4] {
    let [red, green, blue, opacity] = colour;
    [red, green, blue, if opacity >= opaque { 1.0 } else { opacity }]
}

/// [`over`] of 8 bits a component; sums beyond 255 stay there.
#[inline]
pub fn over_rgba8(front: u32, back: u32) -> u32 {
    // Two components at a time, each in 16 bits.
    let every_other = |shift: u32| {
        let product = ((back >> shift) & 0x00ff_00ff) * (255 - (front >> 24)) + 0x0080_0080;
        let dimmed = ((product + ((product >> 8) & 0x00ff_00ff)) >> 8) & 0x00ff_00ff;
        let sum = ((front >> shift) & 0x00ff_00ff) + dimmed;
        (sum | (((sum >> 8) & 0x0001_0001) * 255)) & 0x00ff_00ff
    };
    every_other(0) | (every_other(8) << 8)
}

/// [`closed`] of 8 bits a component: the opacity becomes 255.
#[inline]
pub fn closed_rgba8(colour: u32, opaque: u32) -> u32 {
    if colour >> 24 >= opaque { colour | 0xff00_0000 } else { colour }
}

/// The smallest opacity of 8 bits that reaches a threshold; 256 where none does.
pub fn opaque_rgba8(threshold: f32) -> u32 {
    let near = (threshold * 255.0) as u32;
    (near.saturating_sub(1)..=255).find(|&opacity| opacity as f32 / 255.0 >= threshold).unwrap_or(256)
}

/// Floats as 8 bits a component. Light may add more colour than there is opacity, for which there is no room.
pub fn rgba8_of(colour: [f32; 4]) -> u32 {
    let eight_bits = |part: f32| (part.min(colour[3]).clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    u32::from_le_bytes(colour.map(eight_bits))
}

/// Words that are blended together.
const WORDS: usize = 16;

/// [`over_rgba8`] of a block, in vector registers: products of 8 bits fit halves of words, and these are multiplied best.
#[inline]
fn block_over_rgba8(front: [u32; WORDS], back: [u32; WORDS]) -> [u32; WORDS] {
    type Halves = [u16; 2 * WORDS];
    let through: Halves = bytemuck::cast(front.map(|front| (255 - (front >> 24)) * 0x0001_0001));
    let dimmed = |shift: u32| -> [u32; WORDS] {
        let mut halves: Halves = bytemuck::cast(back.map(|back| (back >> shift) & 0x00ff_00ff));
        for (half, through) in halves.iter_mut().zip(through) {
            let product = half.wrapping_mul(through).wrapping_add(128);
            *half = product.wrapping_add(product >> 8) >> 8;
        }
        bytemuck::cast(halves)
    };
    let (even, odd) = (dimmed(0), dimmed(8));
    let both: [u32; WORDS] = std::array::from_fn(|i| even[i] | (odd[i] << 8));
    let (mut out, front): ([u8; 4 * WORDS], [u8; 4 * WORDS]) = (bytemuck::cast(both), bytemuck::cast(front));
    for (out, front) in out.iter_mut().zip(front) {
        *out = out.saturating_add(front);
    }
    bytemuck::cast(out)
}

/// A premultiplied colour: `[f32; 4]`, or `u32` with 8 bits each of red (lowest), green, blue and opacity.
pub trait Colour: Pod {
    /// Its components from 0 to 1.
    fn floats(self) -> [f32; 4];

    /// Puts colours in front of those that are there. Both are the bytes of whole colours, anywhere in memory.
    fn over_all(front: &[u8], onto: &mut [u8]);

    /// Puts colours behind those that are there, which become wholly opaque where their opacity then is `opaque` or
    /// more. Both are the bytes of whole colours, anywhere in memory.
    fn under_all(back: &[u8], onto: &mut [u8], opaque: Option<f32>);
}

impl Colour for [f32; 4] {
    fn floats(self) -> [f32; 4] {
        self
    }

    fn over_all(front: &[u8], onto: &mut [u8]) {
        blend_floats(front, onto, over);
    }

    fn under_all(back: &[u8], onto: &mut [u8], opaque: Option<f32>) {
        match opaque {
            None => blend_floats(back, onto, |back, onto| over(onto, back)),
            Some(opaque) => blend_floats(back, onto, |back, onto| closed(over(onto, back), opaque)),
        }
    }
}

impl Colour for u32 {
    fn floats(self) -> [f32; 4] {
        self.to_le_bytes().map(|part| f32::from(part) / 255.0)
    }

    fn over_all(front: &[u8], onto: &mut [u8]) {
        blend_rgba8(front, onto, block_over_rgba8, over_rgba8);
    }

    fn under_all(back: &[u8], onto: &mut [u8], opaque: Option<f32>) {
        let Some(opaque) = opaque.map(opaque_rgba8) else {
            let under = |back, onto| over_rgba8(onto, back);
            return blend_rgba8(back, onto, |back, onto| block_over_rgba8(onto, back), under);
        };
        let block = |back, onto| block_over_rgba8(onto, back).map(|colour| closed_rgba8(colour, opaque));
        blend_rgba8(back, onto, block, |back, onto| closed_rgba8(over_rgba8(onto, back), opaque));
    }
}

#[inline]
fn blend_floats(from: &[u8], onto: &mut [u8], one: impl Fn([f32; 4], [f32; 4]) -> [f32; 4]) {
    let (from, onto) = blocks::<[[f32; 4]; 4], 64>(from, onto, |a, b| std::array::from_fn(|i| one(a[i], b[i])));
    blocks::<_, 16>(from, onto, one);
}

#[inline]
fn blend_rgba8(
    from: &[u8],
    onto: &mut [u8],
    block: impl Fn([u32; WORDS], [u32; WORDS]) -> [u32; WORDS],
    one: impl Fn(u32, u32) -> u32,
) {
    let (from, onto) = blocks::<_, 64>(from, onto, block);
    let (from, onto) = blocks::<[u32; 4], 16>(from, onto, |a, b| std::array::from_fn(|i| one(a[i], b[i])));
    blocks::<_, 4>(from, onto, one);
}

/// `onto = f(from, onto)`, block by block of `SIZE` bytes. Returns what is left of both.
#[inline]
fn blocks<'a, T: Pod, const SIZE: usize>(
    from: &'a [u8],
    onto: &'a mut [u8],
    f: impl Fn(T, T) -> T,
) -> (&'a [u8], &'a mut [u8]) {
    let ((blocks, from), (onto_blocks, onto)) = (from.as_chunks::<SIZE>(), onto.as_chunks_mut::<SIZE>());
    for (onto, from) in onto_blocks.iter_mut().zip(blocks) {
        *onto = bytemuck::cast(f(bytemuck::cast(*from), bytemuck::cast(*onto)));
    }
    (from, onto)
}

#[cfg(test)]
mod tests;
