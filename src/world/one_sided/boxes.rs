//! Boxes of dense host data.

use crate::extents::Index;
use crate::region::Region;

/// Copies the cells of `part` between a dense box `whole` and a dense box `part`, row by row: calls `row` with the byte
/// ranges of each row in the whole and in the part.
fn rows(whole: &Region, part: &Region, element_bytes: usize, mut row: impl FnMut(usize, usize, usize)) {
    let extents = part.extents();
    if part.is_empty() {
        return;
    }
    let strides = whole.extents().dense_strides();
    let mut at = (part.start - whole.start).dot(&strides);
    let length = extents[0] as usize * element_bytes;
    let count: i64 = extents.iter().skip(1).product();
    let mut position = Index::zeros(extents.axes());
    for index in 0..count as usize {
        row(at as usize * element_bytes, index * length, length);
        for axis in 1..extents.axes() {
            position[axis] += 1;
            at += strides[axis];
            if position[axis] < extents[axis] {
                break;
            }
            position[axis] = 0;
            at -= strides[axis] * extents[axis];
        }
    }
}

/// Appends the cells of `part` out of the dense box `whole`, padded to whole words.
pub(super) fn take(whole: &Region, data: &[u8], part: &Region, element_bytes: usize, out: &mut Vec<u8>) {
    rows(whole, part, element_bytes, |at, _, length| out.extend_from_slice(&data[at..at + length]));
    out.resize(out.len().next_multiple_of(4), 0);
}

/// Puts the dense cells of `part` into the dense box `whole`.
pub(super) fn place(whole: &Region, data: &mut [u8], part: &Region, element_bytes: usize, cells: &[u8]) {
    rows(whole, part, element_bytes, |at, from, length| {
        data[at..at + length].copy_from_slice(&cells[from..from + length]);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_can_be_placed() {
        let region = |start: [i64; 3], end: [i64; 3]| Region { start: start.into(), end: end.into() };
        let whole = region([2, -1, 5], [7, 2, 9]);
        let data: Vec<u8> = (0..60).collect();
        let part = region([3, 0, 6], [6, 2, 8]);
        let mut cells = Vec::new();
        take(&whole, &data, &part, 1, &mut cells);
        assert_eq!(&cells[..6], [21, 22, 23, 26, 27, 28]);
        let mut back = vec![0; 60];
        place(&whole, &mut back, &part, 1, &cells);
        for (index, &value) in back.iter().enumerate() {
            let position = Index::from([index as i64 % 5 + 2, index as i64 / 5 % 3 - 1, index as i64 / 15 + 5]);
            assert_eq!(value, if part.contains(&position) { data[index] } else { 0 });
        }
    }
}
