//! Images of bodies along periodic axes.

use crate::cell_index::CellIndex;
use crate::problem::Problem;

/// Cells of a period along each periodic axis.
pub(crate) type Periods = [Option<i64>; 3];

/// Offset of the tested point of a cell from its centre, in cells: larger than rounding errors of
/// positions.
const POINT_OFFSET: f64 = 1e-6;

pub(crate) fn nearest_offset(periods: Periods, cell: CellIndex, position: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| {
        let offset = cell[axis] as f64 - position[axis];
        periods[axis].map_or(offset, |period| offset - period as f64 * (offset / period as f64).round())
    })
}

/// True if a cell coordinate is in a half-open interval or one of its images. An interval of n
/// cells contains n cells at any position.
pub(crate) fn within_interval(period: Option<i64>, coordinate: i64, [from, to]: [f64; 2]) -> bool {
    let offset = coordinate as f64 + POINT_OFFSET - from;
    let offset = period.map_or(offset, |period| offset.rem_euclid(period as f64));
    (0.0..to - from).contains(&offset)
}

impl Problem {
    pub(crate) fn periods(&self) -> Periods {
        let repeats = |axis: usize| axis < self.set.axes() && self.is_periodic(axis);
        std::array::from_fn(|axis| repeats(axis).then_some(self.extents[axis]))
    }
}

#[cfg(test)]
mod tests {
    use super::{nearest_offset, within_interval};

    #[test]
    fn interval_of_n_cells_contains_n_cells_at_any_position() {
        for step in -40..40 {
            let from = f64::from(step) * 0.1;
            for n in 1..7_i64 {
                let to = from + n as f64;
                let count = |period, cells: std::ops::Range<i64>| {
                    cells.filter(|&cell| within_interval(period, cell, [from, to])).count() as i64
                };
                assert_eq!(count(None, -20..20), n, "{from}");
                assert_eq!(count(Some(9), 0..9), n, "{from}");
            }
        }
        assert_eq!((0..9).filter(|&cell| within_interval(Some(9), cell, [-3.0, 8.0])).count(), 9);
    }

    #[test]
    fn nearest_image_is_at_most_half_a_period_away() {
        assert_eq!(nearest_offset([Some(10), None, Some(4)], [9, 9, 3], [0.5, 0.5, 2.0]), [-1.5, 8.5, 1.0]);
        assert_eq!(nearest_offset([Some(10), None, None], [1, 0, 0], [-17.0, 0.0, 0.0]), [-2.0, 0.0, 0.0]);
    }
}
