//! Pixels of premultiplied colour: how one is laid over another, and runs of pixels that are not empty.

use bytemuck::Pod;

/// A premultiplied pixel that is made of whole words.
pub trait Pixel: Pod {
    /// Words in a pixel.
    const WORDS: usize = size_of::<Self>() / 4;

    /// Whether nothing is seen in it.
    fn is_empty(self) -> bool;

    /// This one in front of another.
    fn over(self, back: Self) -> Self;
}

impl Pixel for [f32; 4] {
    fn is_empty(self) -> bool {
        self[3] == 0.0
    }

    #[inline(always)]
    fn over(self, back: Self) -> Self {
        let through = 1.0 - self[3];
        std::array::from_fn(|part| self[part] + through * back[part])
    }
}

/// 8 bits each of red (lowest), green, blue and alpha.
impl Pixel for u32 {
    fn is_empty(self) -> bool {
        self >> 24 == 0
    }

    #[inline(always)]
    fn over(self, back: Self) -> Self {
        const PAIR: u32 = 0x00ff_00ff;
        let through = 255 - (self >> 24);
        // Two components at a time, rounded to the nearest.
        let dimmed = |pair: u32| {
            let product = pair * through + 0x0080_0080;
            (product + ((product >> 8) & PAIR)) >> 8 & PAIR
        };
        self + (dimmed(back & PAIR) | dimmed(back >> 8 & PAIR) << 8)
    }
}

/// Runs of pixels, as words: their number; for each the empty pixels before it and its length; the pixels of all.
pub fn encode<P: Pixel>(pixels: &[P], runs: &mut Vec<u32>, words: &mut Vec<u32>) {
    runs.clear();
    words.clear();
    let mut at = 0;
    while at < pixels.len() {
        let start = at + pixels[at..].iter().take_while(|pixel| pixel.is_empty()).count();
        if start == pixels.len() {
            break;
        }
        let length = pixels[start..].iter().take_while(|pixel| !pixel.is_empty()).count();
        runs.extend([(start - at) as u32, length as u32]);
        at = start + length;
    }
    words.push(runs.len() as u32 / 2);
    words.extend_from_slice(runs);
    let mut at = 0;
    for run in runs.chunks_exact(2) {
        let start = at + run[0] as usize;
        at = start + run[1] as usize;
        words.extend_from_slice(bytemuck::cast_slice(&pixels[start..at]));
    }
}

/// Calls with the place and the pixels of each run.
pub fn decode<P: Pixel>(words: &[u32], mut run: impl FnMut(usize, &[P])) {
    let count = words[0] as usize;
    let (runs, pixels) = words[1..].split_at(2 * count);
    let mut pixels: &[P] = bytemuck::cast_slice(pixels);
    let mut at = 0;
    for pair in runs.chunks_exact(2) {
        at += pair[0] as usize;
        let (these, rest) = pixels.split_at(pair[1] as usize);
        run(at, these);
        pixels = rest;
        at += these.len();
    }
}
