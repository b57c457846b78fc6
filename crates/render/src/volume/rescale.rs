//! Linear map from stored numbers to values.

use super::distribution::{Distribution, Values};
use super::transfer::TransferFunction;

/// Linear map from a stored number to its value: `slope * stored + intercept`. Files define such
/// maps ([`zippy_io::volume::VolumeFile::rescale`]); numbers that f32 cannot distinguish are stored
/// minus an offset. Voxels keep their stored numbers; distributions and transfer functions are
/// converted.
///
/// ```
/// use zippy_render::volume::Rescale;
///
/// let hounsfield = Rescale { slope: 1.0, intercept: -1024.0 };
/// assert_eq!((hounsfield.value(1064.0), hounsfield.stored(40.0)), (40.0, 1064.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rescale {
    /// Value of one stored unit; not zero.
    pub slope: f64,
    /// Value of a stored zero.
    pub intercept: f64,
}

impl Default for Rescale {
    fn default() -> Self {
        Self { slope: 1.0, intercept: 0.0 }
    }
}

impl Rescale {
    /// Value of a stored number.
    pub fn value(&self, stored: f64) -> f64 {
        self.slope * stored + self.intercept
    }

    /// Stored number of a value.
    pub fn stored(&self, value: f64) -> f64 {
        (value - self.intercept) / self.slope
    }

    /// Composition: the map after `inner`.
    pub fn of(&self, inner: Self) -> Self {
        Self { slope: self.slope * inner.slope, intercept: self.value(inner.intercept) }
    }

    /// Map from values to stored numbers.
    pub fn inverse(&self) -> Self {
        Self { slope: 1.0 / self.slope, intercept: -self.intercept / self.slope }
    }

    /// Distribution of values, from the distribution of stored numbers.
    pub fn distribution(&self, stored: &Distribution) -> Distribution {
        let (min, max) = (self.value(stored.min), self.value(stored.max));
        let counts = stored.counts.clone();
        if self.slope < 0.0 {
            Distribution { min: max, max: min, counts: counts.into_iter().rev().collect() }
        } else {
            Distribution { min, max, counts }
        }
    }

    /// Distributions of values of all components.
    pub fn values(&self, stored: &Values) -> Values {
        let components = stored.components.iter().map(|component| self.distribution(component)).collect();
        Values { components, left_out: stored.left_out }
    }

    /// Transfer function of stored numbers, from a transfer function of values.
    pub fn transfer(&self, values: &TransferFunction) -> TransferFunction {
        TransferFunction {
            opacity: self.points(&values.opacity),
            colour: self.points(&values.colour),
            unit_distance: values.unit_distance,
        }
    }

    fn points<const N: usize>(&self, points: &[[f64; N]]) -> Vec<[f64; N]> {
        let mut points = points.to_vec();
        points.iter_mut().for_each(|point| point[0] = self.stored(point[0]));
        if self.slope < 0.0 {
            points.reverse();
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOUBLED: Rescale = Rescale { slope: 2.0, intercept: -1000.0 };
    const NEGATIVE: Rescale = Rescale { slope: -0.5, intercept: 30.0 };

    #[test]
    fn rescaled_transfer_function_of_stored_numbers_equals_that_of_values() {
        let values = TransferFunction {
            opacity: vec![[-900.0, 0.0], [-100.0, 0.25], [40.0, 1.0]],
            colour: vec![[-500.0, 0.5, 0.0, 1.0], [20.0, 0.0, 1.0, 0.5]],
            unit_distance: 3.0,
        };
        for rescale in [Rescale::default(), DOUBLED, NEGATIVE] {
            let stored = rescale.transfer(&values);
            assert_eq!((stored.check(), stored.unit_distance), (Ok(()), 3.0));
            for value in [-2000.0, -900.0, -433.0, -100.0, 0.0, 39.0, 50.0] {
                let number = rescale.stored(value);
                assert!((rescale.value(number) - value).abs() < 1e-9);
                assert!((stored.opacity_at(number) - values.opacity_at(value)).abs() < 1e-12, "{rescale:?}, {value}");
                let [found, wanted] = [stored.colour_at(number), values.colour_at(value)];
                assert!((0..3).all(|part| (found[part] - wanted[part]).abs() < 1e-12), "{rescale:?}, {value}");
            }
        }
    }

    #[test]
    fn distributions_keep_their_voxels() {
        let stored = Distribution { min: 100.0, max: 500.0, counts: vec![7, 0, 2, 1] };
        let found = DOUBLED.distribution(&stored);
        assert_eq!(found, Distribution { min: -800.0, max: 0.0, counts: vec![7, 0, 2, 1] });
        let found = NEGATIVE.distribution(&stored);
        assert_eq!(found, Distribution { min: -220.0, max: -20.0, counts: vec![1, 2, 0, 7] });
    }

    #[test]
    fn composed_rescales_equal_one_rescale() {
        let both = DOUBLED.of(NEGATIVE);
        for stored in [-3.0, 0.0, 17.5] {
            assert_eq!(both.value(stored), DOUBLED.value(NEGATIVE.value(stored)));
            assert_eq!(both.inverse().value(both.value(stored)), stored);
        }
    }
}
