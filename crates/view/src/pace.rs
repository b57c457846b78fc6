//! [`Pace`]: how large pictures are while the camera moves.

/// A frame should take so long, in seconds.
const TARGET: f64 = 0.1;
/// Sides shrink by powers of this, so that few sizes occur, and no further than 1/16.
const STEP: f64 = 0.840_896_415_253_714_5; // 2^(-1/4)
const MOST_STEPS: i32 = 16;

/// Chooses sizes from the times that frames took.
#[derive(Debug, Clone, Default)]
pub struct Pace {
    /// Pixels that take the target's time; unknown before the first frame.
    pixels: Option<f64>,
}

impl Pace {
    /// The size of a quick picture in place of one of size `full`.
    pub fn quick(&self, full: (u32, u32)) -> (u32, u32) {
        let share = self.pixels.unwrap_or(f64::INFINITY) / (f64::from(full.0) * f64::from(full.1));
        let steps = (share.sqrt().ln() / STEP.ln()).ceil().clamp(0.0, f64::from(MOST_STEPS)) as i32;
        let side = |side: u32| ((f64::from(side) * STEP.powi(steps)).round() as u32).max(1);
        (side(full.0), side(full.1))
    }

    /// A picture of this size took so many seconds. A part of that is there for any size, which is why a small picture says
    /// more about small ones: half of each answer is believed.
    pub fn learn(&mut self, size: (u32, u32), secs: f64) {
        let found = f64::from(size.0) * f64::from(size.1) * TARGET / secs.max(1e-4);
        self.pixels = Some(self.pixels.map_or(found, |pixels| (pixels * found).sqrt()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_to_take_a_tenth_of_a_second() {
        // What every frame takes, and what a pixel takes.
        for (each, pixel) in [(0.0, 1e-6), (0.03, 3e-7), (0.02, 4e-6), (0.0, 1e-9)] {
            let (mut pace, full) = (Pace::default(), (1200, 800));
            let secs = |(width, height): (u32, u32)| each + pixel * f64::from(width) * f64::from(height);
            assert_eq!(pace.quick(full), full);
            let mut size = full;
            for _ in 0..20 {
                pace.learn(size, secs(size));
                size = pace.quick(full);
            }
            let best = if secs(full) < TARGET { secs(full) } else { TARGET };
            assert!((0.6 * best..=1.1 * best).contains(&secs(size)), "{size:?} takes {}", secs(size));
        }
    }

    #[test]
    fn pictures_keep_their_shape_and_some_pixels() {
        let mut pace = Pace::default();
        pace.learn((1600, 800), 1e6);
        assert_eq!(pace.quick((1600, 800)), (100, 50));
        assert_eq!(pace.quick((3, 1)), (1, 1));
    }
}
