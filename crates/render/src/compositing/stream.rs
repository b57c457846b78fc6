//! Streams of run-length coded pixels, and the host's coder, equivalent to `shaders/compositing`.
//!
//! A stream is a table of line offsets, followed by the lines. The table has one word per line and
//! one for the end; offsets count words from the start of the stream.
//!
//! A line has at most [`LINE`] pixels of a row, as runs. The first word of a run holds the number
//! of empty pixels before the run (low half) and the number of its pixels (high half); the pixels
//! follow. Empty pixels after the last run are not coded.

use zippy::region::Region;

use super::pixel::Pixel;
use super::plan::BlendRule;

/// Maximum number of pixels per line; lines are processed in parallel.
pub(super) const LINE: i64 = 256;

pub(super) const fn words<P>() -> usize {
    size_of::<P>() / 4
}

/// First pixel and length of each line of a region.
pub(super) fn lines(region: &Region) -> impl Iterator<Item = ([i64; 2], i64)> + use<> {
    let ([left, right], [top, bottom]) = ([region.start[0], region.end[0]], [region.start[1], region.end[1]]);
    (top..bottom).flat_map(move |y| (left..right).step_by(LINE as usize).map(move |x| ([x, y], LINE.min(right - x))))
}

pub(super) fn line_count(region: &Region) -> u64 {
    let extents = region.extents();
    (extents[0] as u64).div_ceil(LINE as u64) * extents[1] as u64
}

/// Maximum number of words of a region's lines with their table words: alternating empty pixels
/// need no more than full pixels.
pub(super) fn capacity<P>(region: &Region) -> u64 {
    region.cells() * words::<P>() as u64 + 2 * line_count(region)
}

/// Writer of a stream.
pub(super) struct Writer<'a> {
    words: &'a mut [u32],
    line: usize,
    end: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(words: &'a mut [u32], lines: u64) -> Self {
        let end = lines as usize + 1;
        words[0] = end as u32;
        Self { words, line: 0, end }
    }

    /// Resumes a stream at a line, after `end` words.
    pub(super) fn resume(words: &'a mut [u32], line: u64, end: u64) -> Self {
        Self { words, line: line as usize, end: end as usize }
    }

    pub(super) fn write<P: Pixel>(&mut self, pixels: &[P]) {
        let empty = P::zeroed();
        let mut at = 0;
        loop {
            let skip = pixels[at..].iter().take_while(|&&pixel| pixel == empty).count();
            let from = at + skip;
            if from == pixels.len() {
                break;
            }
            let run = pixels[from..].iter().take_while(|&&pixel| pixel != empty).count();
            let size = run * words::<P>();
            self.words[self.end] = (skip | run << 16) as u32;
            self.words[self.end + 1..][..size].copy_from_slice(bytemuck::cast_slice(&pixels[from..from + run]));
            self.end += 1 + size;
            at = from + run;
        }
        self.line += 1;
        self.words[self.line] = self.end as u32;
    }

    pub(super) fn len(&self) -> u64 {
        self.end as u64
    }
}

/// Blends line `line` of a stream onto pixels. A pixel becomes opaque if a blend behind it raises
/// its opacity to `opaque`.
pub(super) fn blend<P: Pixel>(stream: &[u32], line: usize, onto: &mut [P], way: BlendRule, opaque: Option<f32>) {
    match way {
        BlendRule::Alone => each_run(stream, line, onto, |run, onto| onto.copy_from_slice(run)),
        BlendRule::InFront => each_run(stream, line, onto, P::blend_over),
        BlendRule::Behind => each_run(stream, line, onto, |run, onto| P::blend_under(run, onto, opaque)),
    }
}

/// Calls `blend` with the bytes of each run and of its destination pixels.
fn each_run<P: Pixel>(stream: &[u32], line: usize, onto: &mut [P], blend: impl Fn(&[u8], &mut [u8])) {
    let (mut at, end) = (stream[line] as usize, stream[line + 1] as usize);
    let mut x = 0;
    while at < end {
        let (skip, run) = ((stream[at] & 0xffff) as usize, (stream[at] >> 16) as usize);
        let pixels = &stream[at + 1..][..run * words::<P>()];
        blend(bytemuck::cast_slice(pixels), bytemuck::cast_slice_mut(&mut onto[x + skip..][..run]));
        x += skip + run;
        at += 1 + run * words::<P>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zippy::extents::Index;

    fn region(width: i64, height: i64) -> Region {
        Region::whole(Index::new(&[width, height]))
    }

    #[test]
    fn lines_cover_a_region() {
        let found: Vec<_> = lines(&region(2 * LINE + 3, 2)).collect();
        assert_eq!(found[..4], [([0, 0], LINE), ([LINE, 0], LINE), ([2 * LINE, 0], 3), ([0, 1], LINE)]);
        assert_eq!(found.len() as u64, line_count(&region(2 * LINE + 3, 2)));
        assert_eq!(line_count(&region(0, 5)), 0);
    }

    #[test]
    fn stream_has_documented_run_layout() {
        let mut words = [77; 12];
        let mut writer = Writer::new(&mut words, 2);
        writer.write(&[0_u32, 0, 5, 6, 0, 7, 0]);
        writer.write(&[0_u32, 0]);
        assert_eq!(writer.len(), 8);
        assert_eq!(words[..9], [3, 8, 8, 2 | 2 << 16, 5, 6, 1 | 1 << 16, 7, 77]);
    }

    fn count<P: Pixel>(pixels: &[P]) -> usize {
        let runs = pixels.chunk_by(|a, b| (*a == P::zeroed()) == (*b == P::zeroed()));
        runs.filter(|run| run[0] != P::zeroed()).map(|run| 1 + run.len() * words::<P>()).sum()
    }

    /// Blending of the stream restores the coded pixels, and the stream fits its capacity.
    #[test]
    fn every_pattern_comes_back_and_fits() {
        for length in 1_usize..9 {
            for pattern in 0_u32..1 << length {
                let value =
                    |x: usize| [x as f32, 0.5, 0.25, 0.0].map(|c| if pattern >> x & 1 == 1 { c + 1.0 } else { 0.0 });
                let pixels: Vec<[f32; 4]> = (0..length).map(value).collect();
                let capacity = capacity::<[f32; 4]>(&region(length as i64, 1)) as usize + 1;
                let mut words = vec![0; capacity];
                let mut writer = Writer::new(&mut words, 1);
                writer.write(&pixels);
                assert_eq!(writer.len() as usize, 2 + count(&pixels));
                let mut back = vec![[0.0_f32; 4]; length];
                blend(&words, 0, &mut back, BlendRule::Alone, None);
                assert_eq!(back, pixels);
                let bytes: Vec<u32> = pixels.iter().map(|p| p[0] as u32).collect();
                let mut words = vec![0; super::capacity::<u32>(&region(length as i64, 1)) as usize + 1];
                Writer::new(&mut words, 1).write(&bytes);
                let mut back = vec![0_u32; length];
                blend(&words, 0, &mut back, BlendRule::InFront, None);
                assert_eq!(back, bytes);
            }
        }
    }

    #[test]
    fn stream_blends_in_front_behind_and_until_opaque() {
        let mut words = [0; 20];
        Writer::new(&mut words, 1).write(&[[0.0; 4], [0.25, 0.0, 0.0, 0.5]]);
        let start = [[9.0; 4], [0.0, 0.5, 0.0, 0.75]];
        let blended = |way, opaque| {
            let mut pixels = start;
            blend(&words, 0, &mut pixels, way, opaque);
            assert_eq!(pixels[0], start[0]);
            pixels[1]
        };
        assert_eq!(blended(BlendRule::InFront, None), [0.25, 0.25, 0.0, 0.875]);
        assert_eq!(blended(BlendRule::Behind, None), [0.0625, 0.5, 0.0, 0.875]);
        assert_eq!(blended(BlendRule::Behind, Some(0.875)), [0.0625, 0.5, 0.0, 1.0]);
        assert_eq!(blended(BlendRule::Alone, Some(0.25)), [0.25, 0.0, 0.0, 0.5]);
    }
}
