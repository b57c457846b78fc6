//! The strip below a picture: what is shown, its colours and their values.

use zippy_io::image::Image;

/// A letter's columns and rows, and a column between two.
const GLYPH: [usize; 2] = [5, 7];
const ADVANCE: usize = GLYPH[0] + 1;

/// Rows of a letter, five bits each.
const GLYPHS: [(char, [u8; 7]); 41] = [
    ('0', [14, 17, 19, 21, 25, 17, 14]),
    ('1', [4, 12, 4, 4, 4, 4, 14]),
    ('2', [14, 17, 1, 2, 4, 8, 31]),
    ('3', [31, 2, 4, 2, 1, 17, 14]),
    ('4', [2, 6, 10, 18, 31, 2, 2]),
    ('5', [31, 16, 30, 1, 1, 17, 14]),
    ('6', [6, 8, 16, 30, 17, 17, 14]),
    ('7', [31, 1, 2, 4, 8, 8, 8]),
    ('8', [14, 17, 17, 14, 17, 17, 14]),
    ('9', [14, 17, 17, 15, 1, 2, 12]),
    ('a', [0, 0, 14, 1, 15, 17, 15]),
    ('b', [16, 16, 22, 25, 17, 17, 30]),
    ('c', [0, 0, 14, 16, 16, 17, 14]),
    ('d', [1, 1, 13, 19, 17, 17, 15]),
    ('e', [0, 0, 14, 17, 31, 16, 14]),
    ('f', [6, 9, 8, 28, 8, 8, 8]),
    ('g', [0, 15, 17, 17, 15, 1, 14]),
    ('h', [16, 16, 22, 25, 17, 17, 17]),
    ('i', [4, 0, 12, 4, 4, 4, 14]),
    ('j', [2, 0, 6, 2, 2, 18, 12]),
    ('k', [16, 16, 18, 20, 24, 20, 18]),
    ('l', [12, 4, 4, 4, 4, 4, 14]),
    ('m', [0, 0, 26, 21, 21, 17, 17]),
    ('n', [0, 0, 22, 25, 17, 17, 17]),
    ('o', [0, 0, 14, 17, 17, 17, 14]),
    ('p', [0, 0, 30, 17, 30, 16, 16]),
    ('q', [0, 0, 13, 19, 15, 1, 1]),
    ('r', [0, 0, 22, 25, 16, 16, 16]),
    ('s', [0, 0, 14, 16, 14, 1, 30]),
    ('t', [8, 8, 28, 8, 8, 9, 6]),
    ('u', [0, 0, 17, 17, 17, 19, 13]),
    ('v', [0, 0, 17, 17, 17, 10, 4]),
    ('w', [0, 0, 17, 17, 21, 21, 10]),
    ('x', [0, 0, 17, 10, 4, 10, 17]),
    ('y', [0, 0, 17, 17, 15, 1, 14]),
    ('z', [0, 0, 31, 2, 4, 8, 31]),
    ('.', [0, 0, 0, 0, 0, 12, 12]),
    ('-', [0, 0, 0, 31, 0, 0, 0]),
    ('+', [0, 4, 4, 31, 4, 4, 0]),
    ('=', [0, 0, 31, 0, 31, 0, 0]),
    (' ', [0; 7]),
];

const BEHIND: [f32; 4] = [0.08, 0.08, 0.09, 1.0];
const INK: [f32; 4] = [0.9, 0.9, 0.9, 1.0];

/// What is to be said of a picture.
pub struct Legend<'a> {
    pub name: String,
    /// The values of the first and the last colour.
    pub range: [f64; 2],
    pub colour: &'a dyn Fn(f64) -> [f64; 3],
    pub steps: u64,
}

/// How many pixels of a picture of this width a pixel of a letter is.
fn size(width: usize) -> usize {
    (width / 640).max(1)
}

/// The rows of a legend.
pub fn rows(width: usize) -> usize {
    (GLYPH[1] + 8) * size(width)
}

/// The least width that has room for all of a legend.
pub const WIDTH: usize = 320;

impl Legend<'_> {
    /// The picture with the legend below it. What there is no room for is left out: first the number of steps, then the name.
    pub fn below(&self, image: Image) -> Image {
        let (width, top) = (image.width, image.height);
        let size = size(width);
        let mut whole = Image { width, height: top + rows(width), pixels: image.pixels };
        whole.pixels.resize(width * whole.height, BEHIND);
        let [low, high] = self.range.map(short);
        let steps = format!("step {}", self.steps);
        let long = |text: &str| text.len() * ADVANCE * size;
        let (gap, middle) = (2 * ADVANCE * size, top + 4 * size);
        let least = long(&low) + long(&high) + gap + 24 * size;
        let named = width >= least + gap + long(&self.name) + gap;
        let stepped = named && width >= least + 2 * gap + long(&self.name) + long(&steps) + gap;
        let mut at = gap / 2;
        if named {
            text(&mut whole, [at, middle], size, &self.name);
            at += long(&self.name) + gap;
        }
        let end = width.saturating_sub(gap / 2 + if stepped { long(&steps) + gap } else { 0 });
        if stepped {
            text(&mut whole, [end + gap, middle], size, &steps);
        }
        text(&mut whole, [at, middle], size, &low);
        at += long(&low) + gap / 2;
        let end = end.saturating_sub(long(&high));
        text(&mut whole, [end, middle], size, &high);
        let bar = at..end.saturating_sub(gap / 2);
        for row in middle..middle + GLYPH[1] * size {
            for column in bar.clone() {
                let share = (column - bar.start) as f64 / (bar.len() - 1).max(1) as f64;
                let [red, green, blue] = (self.colour)(share).map(|part| part as f32);
                whole.pixels[row * width + column] = [red, green, blue, 1.0];
            }
        }
        whole
    }
}

/// A number in few letters.
pub fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if (1e-3..1e4).contains(&size) => {
            let digits = (2.0 - size.log10().floor()).clamp(0.0, 6.0) as usize;
            let text = format!("{value:.digits$}");
            if digits > 0 { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
        }
        _ => {
            let text = format!("{value:.2e}");
            text.replace(".00e", "e").replace("0e", "e")
        }
    }
}

/// Draws letters from their upper left corner on; beyond the picture nothing.
fn text(image: &mut Image, [left, top]: [usize; 2], size: usize, text: &str) {
    for (number, letter) in text.chars().enumerate() {
        let found = GLYPHS.iter().find(|(known, _)| *known == letter);
        let rows = found.map_or([31, 17, 17, 17, 17, 17, 31], |(_, rows)| *rows);
        for (y, x) in (0..GLYPH[1] * size).flat_map(|y| (0..GLYPH[0] * size).map(move |x| (y, x))) {
            let (row, column) = (top + y, left + number * ADVANCE * size + x);
            let inked = rows[y / size] >> (GLYPH[0] - 1 - x / size) & 1 == 1;
            if inked && column < image.width && row < image.height {
                image.pixels[row * image.width + column] = INK;
            }
        }
    }
}
