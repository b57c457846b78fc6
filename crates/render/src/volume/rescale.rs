//! What stored numbers stand for.

use super::distribution::{Distribution, Values};
use super::transfer::TransferFunction;

/// How a stored number becomes the value that it stands for: `slope * stored + intercept`. Files give such pairs
/// ([`zippy_io::volume::VolumeFile::rescale`]), and numbers that 32-bit floats cannot tell apart are stored less an
/// offset. Voxels stay as they are; distributions and transfer functions go from one side to the other.
///
/// ```
/// use zippy_render::volume::Rescale;
///
/// let hounsfield = Rescale { slope: 1.0, intercept: -1024.0 };
/// assert_eq!((hounsfield.value(1064.0), hounsfield.stored(40.0)), (40.0, 1064.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rescale {
    /// The value of one stored unit; not zero.
    pub slope: f64,
    /// The value of a stored zero.
    pub intercept: f64,
}

impl Default for Rescale {
    /// Numbers that stand for themselves.
    fn default() -> Self {
        Self { slope: 1.0, intercept: 0.0 }
    }
}

impl Rescale {
    /// What a stored number stands for.
    pub fn value(&self, stored: f64) -> f64 {
        self.slope * stored + self.intercept
    }

    /// The number that is stored for a value.
    pub fn stored(&self, value: f64) -> f64 {
        (value - self.intercept) / self.slope
    }

    /// What is left to do to a number that `inner` has been applied to.
    pub fn of(&self, inner: Self) -> Self {
        Self { slope: self.slope * inner.slope, intercept: self.value(inner.intercept) }
    }

    /// From values back to the numbers that are stored for them.
    pub fn inverse(&self) -> Self {
        Self { slope: 1.0 / self.slope, intercept: -self.intercept / self.slope }
    }

    /// The distribution of the values that stored numbers stand for.
    pub fn distribution(&self, stored: &Distribution) -> Distribution {
        let (min, max) = (self.value(stored.min), self.value(stored.max));
        let counts = stored.counts.clone();
        if self.slope < 0.0 {
            Distribution { min: max, max: min, counts: counts.into_iter().rev().collect() }
        } else {
            Distribution { min, max, counts }
        }
    }

    /// The same component by component.
    pub fn values(&self, stored: &Values) -> Values {
        let components = stored.components.iter().map(|component| self.distribution(component)).collect();
        Values { components, left_out: stored.left_out }
    }

    /// The function of stored numbers that is `values` of what they stand for.
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
    fn a_function_is_the_same_of_stored_numbers_and_of_their_values() {
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
    fn one_after_the_other_is_one() {
        let both = DOUBLED.of(NEGATIVE);
        for stored in [-3.0, 0.0, 17.5] {
            assert_eq!(both.value(stored), DOUBLED.value(NEGATIVE.value(stored)));
            assert_eq!(both.inverse().value(both.value(stored)), stored);
        }
    }
}
