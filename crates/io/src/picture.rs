//! Conversion of a rendered picture to the numbers of a PNG file.

use std::path::Path;

use crate::IoError;
use crate::image::Image;

/// Bits of each component in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// 256 levels.
    #[default]
    Eight,
    /// 65,536 levels.
    Sixteen,
}

/// Background of a picture that is not opaque.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Behind {
    /// Red, green and blue, 0 to 1, blended under the picture; the file has no alpha.
    Colour([f32; 3]),
    /// No background: the file has alpha. Colours are stored without premultiplication, as PNG
    /// requires.
    Nothing,
}

/// Storage of a picture in a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// Bits of each component.
    pub depth: Depth,
    /// Background.
    pub behind: Behind,
}

impl Default for Style {
    /// 8 bits, over black.
    fn default() -> Self {
        Self { depth: Depth::Eight, behind: Behind::Colour([0.0; 3]) }
    }
}

impl Style {
    /// Components of all pixels, row by row, each rounded to the nearest level; 16 bits have their
    /// high byte first.
    pub(super) fn bytes(self, image: &Image) -> Vec<u8> {
        let components = if self.behind == Behind::Nothing { 4 } else { 3 };
        let mut out =
            Vec::with_capacity(image.pixels.len() * components * if self.depth == Depth::Eight { 1 } else { 2 });
        for pixel in &image.pixels {
            for component in &self.blend(*pixel)[..components] {
                match self.depth {
                    Depth::Eight => out.push((component.clamp(0.0, 1.0) * 255.0 + 0.5) as u8),
                    Depth::Sixteen => {
                        out.extend(((component.clamp(0.0, 1.0) * 65535.0 + 0.5) as u16).to_be_bytes());
                    }
                }
            }
        }
        out
    }

    /// Blends a premultiplied pixel over the background, or converts it to straight alpha.
    fn blend(self, [red, green, blue, alpha]: [f32; 4]) -> [f32; 4] {
        match self.behind {
            Behind::Colour([r, g, b]) => {
                let rest = 1.0 - alpha;
                [red + rest * r, green + rest * g, blue + rest * b, 1.0]
            }
            Behind::Nothing if alpha > 0.0 => [red / alpha, green / alpha, blue / alpha, alpha],
            Behind::Nothing => [0.0; 4],
        }
    }

    pub(super) fn encoder<W: std::io::Write>(
        self,
        path: &Path,
        to: W,
        image: &Image,
    ) -> Result<png::Encoder<'static, W>, IoError> {
        let (width, height) = size(path, image)?;
        let mut encoder = png::Encoder::new(to, width, height);
        encoder.set_color(if self.behind == Behind::Nothing { png::ColorType::Rgba } else { png::ColorType::Rgb });
        encoder.set_depth(match self.depth {
            Depth::Eight => png::BitDepth::Eight,
            Depth::Sixteen => png::BitDepth::Sixteen,
        });
        Ok(encoder)
    }
}

/// Checks the number of pixels.
pub(super) fn size(path: &Path, image: &Image) -> Result<(u32, u32), IoError> {
    let (width, height, found) = (image.width, image.height, image.pixels.len());
    match (u32::try_from(width), u32::try_from(height)) {
        (Ok(w), Ok(h)) if width.checked_mul(height) == Some(found) && found > 0 => Ok((w, h)),
        _ => {
            let message = format!("a picture of {width} x {height} pixels needs as many (not none), not {found}");
            Err(IoError::request(path, message))
        }
    }
}

/// Converts an encoder error, with the operating system's reason if there is one.
pub(super) fn encoder_error(path: &Path, error: png::EncodingError) -> IoError {
    match error {
        png::EncodingError::IoError(error) => IoError::system(path, "write", &error),
        error => IoError::request(path, format!("cannot encode the picture: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_become_levels() {
        let pixels = vec![[0.25, 0.0, 0.5, 0.5], [0.0; 4], [2.0, -1.0, f32::NAN, 1.0]];
        let image = Image { width: 3, height: 1, pixels };
        let over = Style { depth: Depth::Eight, behind: Behind::Colour([0.0, 1.0, 1.0]) };
        assert_eq!(over.bytes(&image), [64, 128, 255, 0, 255, 255, 255, 0, 0]);
        let clear = Style { depth: Depth::Eight, behind: Behind::Nothing };
        assert_eq!(clear.bytes(&image), [128, 0, 255, 128, 0, 0, 0, 0, 255, 0, 0, 255]);
        // 0.5 of 65535 levels is between 32767 and 32768: up.
        let fine = Style { depth: Depth::Sixteen, behind: Behind::Nothing };
        assert_eq!(fine.bytes(&image)[..8], [0x80, 0, 0, 0, 0xff, 0xff, 0x80, 0]);
        assert_eq!(fine.bytes(&image).len(), 24);
        let plain = Style { depth: Depth::Sixteen, ..Style::default() };
        assert_eq!(plain.bytes(&image)[..6], [0x40, 0, 0, 0, 0x80, 0]);
    }
}
