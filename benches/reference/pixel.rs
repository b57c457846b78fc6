//! Pixels with premultiplied alpha: the operator "over", and run-length encoding of empty pixels.

use bytemuck::Pod;

/// A pixel with premultiplied alpha that consists of whole words.
pub(crate) trait Pixel: Pod {
    const WORDS: usize = size_of::<Self>() / 4;

    /// True for a fully transparent pixel.
    fn is_empty(self) -> bool;

    /// Blends this pixel over `back`.
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

/// Red (lowest), green, blue and alpha with 8 bits each.
impl Pixel for u32 {
    fn is_empty(self) -> bool {
        self >> 24 == 0
    }

    #[inline(always)]
    fn over(self, back: Self) -> Self {
        const PAIR: u32 = 0x00ff_00ff;
        let through = 255 - (self >> 24);
        // Two components at a time, rounded to nearest.
        let dimmed = |pair: u32| {
            let product = pair * through + 0x0080_0080;
            (product + ((product >> 8) & PAIR)) >> 8 & PAIR
        };
        self + (dimmed(back & PAIR) | dimmed(back >> 8 & PAIR) << 8)
    }
}

/// Encodes the runs of pixels that are not empty.
///
/// `words` gets the number of runs; for each run the number of empty pixels before it and its
/// length; then the pixels of all runs.
pub(crate) fn encode<P: Pixel>(pixels: &[P], runs: &mut Vec<u32>, words: &mut Vec<u32>) {
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

/// Calls `run` with the index of the first pixel and the pixels of each run.
pub(crate) fn decode<P: Pixel>(words: &[u32], mut run: impl FnMut(usize, &[P])) {
    let count = words[0] as usize;
    let (runs, pixels) = words[1..].split_at(2 * count);
    let mut pixels: &[P] = bytemuck::cast_slice(pixels);
    let mut at = 0;
    for pair in runs.chunks_exact(2) {
        at += pair[0] as usize;
        let (run_pixels, rest) = pixels.split_at(pair[1] as usize);
        run(at, run_pixels);
        pixels = rest;
        at += run_pixels.len();
    }
}
