//! Numbers of the cells of a box, x fastest.

use crate::cell_index::CellIndex;

pub(super) fn cell_number([x, y, z]: CellIndex, [nx, ny, _]: [i64; 3]) -> u64 {
    (x + nx * (y + ny * z)) as u64
}

pub(super) fn cell_with_number(number: u64, [nx, ny, _]: [i64; 3]) -> CellIndex {
    let number = number as i64;
    [number % nx, number / nx % ny, number / nx / ny]
}

#[cfg(test)]
mod tests {
    use super::{cell_number, cell_with_number};

    #[test]
    fn cell_of_a_number_has_this_number() {
        let extents = [3, 4, 5];
        for number in 0..60 {
            assert_eq!(cell_number(cell_with_number(number, extents), extents), number);
        }
    }
}
