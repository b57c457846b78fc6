//! Pictures on the host, and their comparison.

use crate::IoError;

/// Picture of premultiplied red, green, blue and alpha, 0 to 1, row by row from the top.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Pixels per row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// `width * height` pixels.
    pub pixels: Vec<[f32; 4]>,
}

/// Difference of two pictures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Maximum difference of a component of a pixel.
    pub max_abs: f64,
    /// Peak signal-to-noise ratio over all components for a peak of 1, in dB; infinite for equal
    /// pictures.
    pub psnr_db: f64,
}

impl Image {
    /// Transparent black picture.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![[0.0; 4]; width * height] }
    }

    /// Compares the components of two pictures of the same size. A NaN counts as the maximum
    /// difference.
    ///
    /// # Errors
    /// The sizes differ.
    pub fn difference(&self, other: &Self) -> Result<Difference, IoError> {
        if (self.width, self.height) != (other.width, other.height) {
            return Err(IoError::Sizes {
                left_width: self.width,
                left_height: self.height,
                right_width: other.width,
                right_height: other.height,
            });
        }
        let pairs = self.pixels.as_flattened().iter().zip(other.pixels.as_flattened());
        Ok(difference(pairs.map(|(&a, &b)| f64::from(a) - f64::from(b)), 1.0))
    }

    /// Blends the picture over an opaque background: 8 bits each of red, green and blue, rounded to
    /// nearest.
    pub fn over_background(&self, background: [f32; 3]) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.pixels.len() * 3);
        for pixel in &self.pixels {
            for (component, background_component) in background.iter().enumerate() {
                let value = pixel[component] + (1.0 - pixel[3]) * background_component;
                out.push((value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8);
            }
        }
        out
    }
}

/// Compares two 8-bit pictures of the same length by components, for a peak of 255.
pub fn difference_8bit(left: &[u8], right: &[u8]) -> Difference {
    debug_assert_eq!(left.len(), right.len());
    difference(left.iter().zip(right).map(|(&a, &b)| f64::from(a) - f64::from(b)), 255.0)
}

fn difference(deltas: impl Iterator<Item = f64>, peak: f64) -> Difference {
    let (mut max_abs, mut sum, mut count) = (0.0_f64, 0.0, 0_u64);
    for delta in deltas {
        let delta = if delta.is_nan() { f64::INFINITY } else { delta.abs() };
        max_abs = max_abs.max(delta);
        sum += delta * delta;
        count += 1;
    }
    let mean = sum / count.max(1) as f64;
    Difference { max_abs, psnr_db: 10.0 * (peak * peak / mean).log10() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_follow_their_definitions() {
        let mut a = Image::new(2, 1);
        let b = Image::new(2, 1);
        let equal = a.difference(&b).unwrap();
        assert_eq!((equal.max_abs, equal.psnr_db), (0.0, f64::INFINITY));
        a.pixels[1][2] = 0.5;
        // Mean square 0.25 / 8: 10 log10(32).
        let different = a.difference(&b).unwrap();
        assert_eq!(different.max_abs, 0.5);
        assert!((different.psnr_db - 10.0 * 32_f64.log10()).abs() < 1e-12);
        a.pixels[0][0] = f32::NAN;
        assert_eq!(a.difference(&b).unwrap().max_abs, f64::INFINITY);
        assert!(a.difference(&Image::new(1, 2)).is_err());
        let eight = difference_8bit(&[0, 10], &[0, 20]);
        assert!((eight.psnr_db - 10.0 * (255.0_f64 * 255.0 / 50.0).log10()).abs() < 1e-12);
    }

    #[test]
    fn background_shows_through() {
        let image = Image { width: 1, height: 1, pixels: vec![[0.25, 0.0, 0.5, 0.5]] };
        assert_eq!(image.over_background([0.0, 1.0, 1.0]), [64, 128, 255]);
    }
}
