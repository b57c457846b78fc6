//! [`paint`]: converts values to a picture.

use zippy_protocol::ScalarValue;

use super::colours::{ColourMap, MapKind, SPECIAL_COLOURS};
use super::norm::{Scale, Share};
use super::slice::Slice;
use super::values::Values;

/// Colour map with the scale that maps numbers to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Colouring {
    /// Colour map.
    pub map: &'static ColourMap,
    /// Range and norm. Categorical maps have a colour for every number and ignore the scale.
    pub scale: Scale,
}

/// Picture with four 8-bit components per pixel: red, green, blue and alpha.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rgba {
    pub width: usize,
    pub height: usize,
    /// Red, green, blue and alpha of each pixel, not premultiplied, with the upper row first.
    pub pixels: Vec<u8>,
}

impl Colouring {
    /// Returns the colour of a number.
    pub fn of(&self, value: impl Into<ScalarValue>) -> [u8; 3] {
        let value = value.into();
        match self.scale.share(value) {
            Share::Nan => SPECIAL_COLOURS.nan,
            Share::PlusInfinity => SPECIAL_COLOURS.plus_infinity,
            Share::MinusInfinity => SPECIAL_COLOURS.minus_infinity,
            _ if self.map.kind == MapKind::Categorical => self.map.class(value),
            Share::Within(share) => self.map.at(share),
            Share::Below => SPECIAL_COLOURS.below,
            Share::Above => SPECIAL_COLOURS.above,
        }
    }

    /// Returns the colour at a fraction of the range.
    pub fn at(&self, share: f64) -> [u8; 3] {
        match self.map.kind {
            MapKind::Categorical => self.map.class(self.scale.value(share)),
            _ if self.scale.range().0 == self.scale.range().1 => self.map.at(0.5),
            _ => self.map.at(share.clamp(0.0, 1.0)),
        }
    }

    /// Returns a bar with the colours from the lower to the upper end, of `width` × `height`
    /// pixels.
    pub fn bar(&self, width: usize, height: usize) -> Rgba {
        let last = width.saturating_sub(1).max(1) as f64;
        let mut picture = Rgba::filled(width, height, [0; 3]);
        for column in 0..width {
            let colour = self.at(column as f64 / last);
            (0..height).for_each(|row| picture.set(column, row, colour));
        }
        picture
    }
}

impl Rgba {
    /// Creates a picture of one colour.
    pub fn filled(width: usize, height: usize, [red, green, blue]: [u8; 3]) -> Self {
        Self { width, height, pixels: [red, green, blue, 255].repeat(width * height) }
    }

    /// Arranges pictures in a grid of `columns` columns, row by row from the upper left, with a gap
    /// between them.
    pub fn tiled(pictures: &[Self], columns: usize, gap: usize, background: [u8; 3]) -> Self {
        let most = |edge: fn(&Self) -> usize| pictures.iter().map(edge).max().unwrap_or(0);
        let (width, height) = (most(|picture| picture.width), most(|picture| picture.height));
        let columns = columns.clamp(1, pictures.len().max(1));
        let rows = pictures.len().div_ceil(columns);
        let along = |count: usize, edge: usize| (count * (edge + gap)).saturating_sub(gap);
        let mut whole = Self::filled(along(columns, width), along(rows, height), background);
        for (number, picture) in pictures.iter().enumerate() {
            let (left, upper) = (number % columns * (width + gap), number / columns * (height + gap));
            for (line, pixels) in picture.pixels.chunks_exact((picture.width * 4).max(1)).enumerate() {
                let to = ((upper + line) * whole.width + left) * 4;
                whole.pixels[to..to + pixels.len()].copy_from_slice(pixels);
            }
        }
        whole
    }

    /// Returns the pixel in a column and a row, counted from the upper left. `None` outside of the
    /// picture.
    pub fn get(&self, column: usize, row: usize) -> Option<[u8; 4]> {
        let inside = column < self.width && row < self.height;
        let at = (row * self.width + column) * 4;
        inside.then(|| self.pixels.get(at..at + 4)?.try_into().ok()).flatten()
    }

    /// Sets the colour of an opaque pixel. Pixels outside of the picture are ignored.
    pub fn set(&mut self, column: usize, row: usize, [red, green, blue]: [u8; 3]) {
        if column < self.width && row < self.height {
            let at = (row * self.width + column) * 4;
            self.pixels[at..at + 4].copy_from_slice(&[red, green, blue, 255]);
        }
    }

    /// Returns the picture with each pixel enlarged to `times` × `times` pixels.
    #[must_use]
    pub fn enlarged(&self, times: usize) -> Self {
        let mut pixels = Vec::with_capacity(self.pixels.len() * times * times);
        for row in self.pixels.chunks_exact((self.width * 4).max(1)) {
            let wide: Vec<u8> = row.chunks_exact(4).flat_map(|pixel| pixel.repeat(times)).collect();
            (0..times).for_each(|_| pixels.extend(&wide));
        }
        Self { width: self.width * times, height: self.height * times, pixels }
    }
}

/// Paints a slice of a view: one pixel per sampled cell, with the last cell upwards in the upper
/// row. Along an axis that the slice does not show, the slice's index selects the sampled cell at
/// or before it; a view with a single index along the axis uses that index.
///
/// # Errors
/// The view has other axes than the slice, or does not contain the slice.
pub fn paint(values: &Values, slice: &Slice, colouring: &Colouring) -> Result<Rgba, String> {
    let axes = values.extents.len();
    if slice.at.len() != axes || slice.across >= axes || slice.up.is_some_and(|up| up >= axes) {
        return Err(format!("a view of {axes} axes has no slice of {}", slice.at.len()));
    }
    let mut strides = vec![1_usize; axes];
    for axis in 1..axes {
        strides[axis] = strides[axis - 1] * values.extents[axis - 1].max(0) as usize;
    }
    let mut first = 0;
    for axis in slice.fixed() {
        let (start, stride) = (values.of.start[axis], values.of.stride[axis]);
        let position = match values.extents[axis] {
            1 => 0,
            extent => {
                let position = slice.at[axis].saturating_sub(start).div_euclid(stride);
                let missing = || format!("the view has no slice at {} along axis {axis}", slice.at[axis]);
                (0..extent).contains(&position).then_some(position).ok_or_else(missing)?
            }
        };
        first += position as usize * strides[axis];
    }
    let width = values.extents[slice.across].max(0) as usize;
    let height = slice.up.map_or(1, |up| values.extents[up].max(0) as usize);
    let mut picture = Rgba::filled(width, height, SPECIAL_COLOURS.nothing);
    for row in 0..height {
        let above = slice.up.map_or(0, |up| (height - 1 - row) * strides[up]);
        for column in 0..width {
            if let Some(value) = values.scalar(first + above + column * strides[slice.across]) {
                picture.set(column, row, colouring.of(value));
            }
        }
    }
    Ok(picture)
}
