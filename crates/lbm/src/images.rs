//! Images of bodies along periodic axes.

use crate::problem::{Place, Problem};

/// The number of cells after which a box repeats along each axis, if it does.
pub type Periods = [Option<i64>; 3];

/// Position of the point of a cell from its middle: more than rounding errors of positions, in
/// cells.
const OFFSET: f64 = 1e-6;

/// Offset of a cell from the nearest image of a position.
pub fn nearest(periods: Periods, at: Place, from: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| {
        let far = at[axis] as f64 - from[axis];
        periods[axis].map_or(far, |period| far - period as f64 * (far / period as f64).round())
    })
}

/// Whether a cell is between two positions along an axis, or between their images: from the first
/// one on and before the second one, so that n cells fit between positions n cells apart.
pub fn within(period: Option<i64>, at: i64, [from, to]: [f64; 2]) -> bool {
    let far = at as f64 + OFFSET - from;
    let far = period.map_or(far, |period| far.rem_euclid(period as f64));
    (0.0..to - from).contains(&far)
}

impl Problem {
    /// The number of cells after which the box repeats along each axis of its lattice.
    pub(crate) fn periods(&self) -> Periods {
        let repeats = |axis: usize| axis < self.set.axes() && self.periodic(axis);
        std::array::from_fn(|axis| repeats(axis).then_some(self.extents[axis]))
    }
}

#[cfg(test)]
mod tests {
    use super::{nearest, within};

    #[test]
    fn interval_of_n_cells_has_n_cells_wherever_it_begins() {
        for step in -40..40 {
            let from = f64::from(step) * 0.1;
            for n in 1..7_i64 {
                let to = from + n as f64;
                let count = |period, cells: std::ops::Range<i64>| {
                    cells.filter(|&at| within(period, at, [from, to])).count() as i64
                };
                assert_eq!(count(None, -20..20), n, "{from}");
                assert_eq!(count(Some(9), 0..9), n, "{from}");
            }
        }
        assert_eq!((0..9).filter(|&at| within(Some(9), at, [-3.0, 8.0])).count(), 9);
    }

    #[test]
    fn nearest_image_is_less_than_half_a_period_away() {
        assert_eq!(nearest([Some(10), None, Some(4)], [9, 9, 3], [0.5, 0.5, 2.0]), [-1.5, 8.5, 1.0]);
        assert_eq!(nearest([Some(10), None, None], [1, 0, 0], [-17.0, 0.0, 0.0]), [-2.0, 0.0, 0.0]);
    }
}
