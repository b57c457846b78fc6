//! [`FramePacing`]: picture sizes for a constant frame time while the camera moves.

/// Target time of a frame in seconds.
const TARGET_SECS: f64 = 0.1;
/// Factor between consecutive picture sizes, and maximum number of steps. Few sizes occur, and
/// sides shrink at most to 1/16.
const STEP: f64 = 0.840_896_415_253_714_5; // 2^(-1/4)
const MAX_STEPS: i32 = 16;

/// Chooses picture sizes from the times of earlier frames.
#[derive(Debug, Clone, Default)]
pub struct FramePacing {
    /// Estimated number of pixels in a frame of the target time; `None` before the first frame.
    pixels: Option<f64>,
}

impl FramePacing {
    /// Returns the size of a fast picture with the aspect ratio of `full`.
    pub fn quick(&self, full: (u32, u32)) -> (u32, u32) {
        let share = self.pixels.unwrap_or(f64::INFINITY) / (f64::from(full.0) * f64::from(full.1));
        let steps = (share.sqrt().ln() / STEP.ln()).ceil().clamp(0.0, f64::from(MAX_STEPS)) as i32;
        let side = |side: u32| ((f64::from(side) * STEP.powi(steps)).round() as u32).max(1);
        (side(full.0), side(full.1))
    }

    /// Records that a picture of this size took `secs` seconds. A part of the time does not depend
    /// on the size, so that each frame changes the estimate only by the square root of its ratio.
    pub fn learn(&mut self, size: (u32, u32), secs: f64) {
        let found = f64::from(size.0) * f64::from(size.1) * TARGET_SECS / secs.max(1e-4);
        self.pixels = Some(self.pixels.map_or(found, |pixels| (pixels * found).sqrt()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_time_converges_to_target() {
        // Fixed time of a frame, and time of a pixel.
        for (each, pixel) in [(0.0, 1e-6), (0.03, 3e-7), (0.02, 4e-6), (0.0, 1e-9)] {
            let (mut pace, full) = (FramePacing::default(), (1200, 800));
            let secs = |(width, height): (u32, u32)| each + pixel * f64::from(width) * f64::from(height);
            assert_eq!(pace.quick(full), full);
            let mut size = full;
            for _ in 0..20 {
                pace.learn(size, secs(size));
                size = pace.quick(full);
            }
            let expected = if secs(full) < TARGET_SECS { secs(full) } else { TARGET_SECS };
            assert!((0.6 * expected..=1.1 * expected).contains(&secs(size)), "{size:?} takes {}", secs(size));
        }
    }

    #[test]
    fn pictures_keep_their_shape_and_some_pixels() {
        let mut pace = FramePacing::default();
        pace.learn((1600, 800), 1e6);
        assert_eq!(pace.quick((1600, 800)), (100, 50));
        assert_eq!(pace.quick((3, 1)), (1, 1));
    }
}
