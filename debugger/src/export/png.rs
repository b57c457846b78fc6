//! Export of pictures as PNG.

use crate::imaging::Rgba;

/// Maximum number of pixels along an edge of a picture.
pub const MAX_EDGE: usize = 1 << 15;

/// Encodes a picture.
///
/// # Errors
/// The picture has no pixel or too many.
pub fn png(picture: &Rgba) -> Result<Vec<u8>, String> {
    let (width, height) = (picture.width, picture.height);
    let edge = |length: usize| u32::try_from(length).ok().filter(|_| (1..=MAX_EDGE).contains(&length));
    let (Some(columns), Some(rows)) = (edge(width), edge(height)) else {
        return Err(format!("a picture has 1 to {MAX_EDGE} pixels along an edge, and not {width} x {height}"));
    };
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, columns, rows);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&picture.pixels));
    written.map_err(|error| format!("the picture cannot be encoded: {error}"))?;
    Ok(out)
}
