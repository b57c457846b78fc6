//! Legend below a picture: quantity, colour bar, values and step.

use zippy_io::image::Image;

/// Columns and rows of a letter, in font pixels.
const GLYPH_SIZE: [usize; 2] = [5, 7];
const GLYPH_ADVANCE: usize = GLYPH_SIZE[0] + 1;

/// Rows of each letter, five bits each.
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

const BACKGROUND_COLOUR: [f32; 4] = [0.08, 0.08, 0.09, 1.0];
const INK_COLOUR: [f32; 4] = [0.9, 0.9, 0.9, 1.0];

/// Quantity, values and step that a legend shows.
pub(crate) struct Legend<'a> {
    pub name: String,
    /// Values of the first and the last colour.
    pub range: [f64; 2],
    pub colour: &'a dyn Fn(f64) -> [f64; 3],
    pub steps: u64,
}

/// Side of a font pixel in picture pixels.
fn font_scale(width: usize) -> usize {
    (width / 640).max(1)
}

/// Height of a legend below a picture of `width` pixels, in pixels.
pub(crate) fn legend_height(width: usize) -> usize {
    (GLYPH_SIZE[1] + 8) * font_scale(width)
}

/// Minimum width of a picture with a complete legend, in pixels.
pub(crate) const MIN_WIDTH: usize = 320;

impl Legend<'_> {
    /// Appends the legend to a picture. A narrow picture has no step number, and a narrower picture
    /// no name.
    pub(crate) fn append_to(&self, image: Image) -> Image {
        let (width, top) = (image.width, image.height);
        let size = font_scale(width);
        let mut result = Image { width, height: top + legend_height(width), pixels: image.pixels };
        result.pixels.resize(width * result.height, BACKGROUND_COLOUR);
        let [low, high] = self.range.map(format_short);
        let steps = format!("step {}", self.steps);
        let text_width = |text: &str| text.len() * GLYPH_ADVANCE * size;
        let (gap, top_of_text) = (2 * GLYPH_ADVANCE * size, top + 4 * size);
        let least = text_width(&low) + text_width(&high) + gap + 24 * size;
        let has_name = width >= least + gap + text_width(&self.name) + gap;
        let has_step = has_name && width >= least + 2 * gap + text_width(&self.name) + text_width(&steps) + gap;
        let mut left = gap / 2;
        if has_name {
            draw_text(&mut result, [left, top_of_text], size, &self.name);
            left += text_width(&self.name) + gap;
        }
        let end = width.saturating_sub(gap / 2 + if has_step { text_width(&steps) + gap } else { 0 });
        if has_step {
            draw_text(&mut result, [end + gap, top_of_text], size, &steps);
        }
        draw_text(&mut result, [left, top_of_text], size, &low);
        left += text_width(&low) + gap / 2;
        let end = end.saturating_sub(text_width(&high));
        draw_text(&mut result, [end, top_of_text], size, &high);
        let bar = left..end.saturating_sub(gap / 2);
        for row in top_of_text..top_of_text + GLYPH_SIZE[1] * size {
            for column in bar.clone() {
                let share = (column - bar.start) as f64 / (bar.len() - 1).max(1) as f64;
                let [red, green, blue] = (self.colour)(share).map(|part| part as f32);
                result.pixels[row * width + column] = [red, green, blue, 1.0];
            }
        }
        result
    }
}

/// Formats a number with three digits.
pub(crate) fn format_short(value: f64) -> String {
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

/// Draws text with its upper left corner at a position, clipped to the picture.
fn draw_text(image: &mut Image, [left, top]: [usize; 2], size: usize, text: &str) {
    for (index, letter) in text.chars().enumerate() {
        let found = GLYPHS.iter().find(|(known, _)| *known == letter);
        let rows = found.map_or([31, 17, 17, 17, 17, 17, 31], |(_, rows)| *rows);
        for (y, x) in (0..GLYPH_SIZE[1] * size).flat_map(|y| (0..GLYPH_SIZE[0] * size).map(move |x| (y, x))) {
            let (row, column) = (top + y, left + index * GLYPH_ADVANCE * size + x);
            let is_set = rows[y / size] >> (GLYPH_SIZE[0] - 1 - x / size) & 1 == 1;
            if is_set && column < image.width && row < image.height {
                image.pixels[row * image.width + column] = INK_COLOUR;
            }
        }
    }
}
