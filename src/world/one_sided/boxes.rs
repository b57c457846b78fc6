//! Copies between boxes in dense host memory.

use crate::extents::Index;
use crate::region::Region;

/// Calls `copy_row` for each row of `part`, with the byte offset of the row in the dense box
/// `whole`, its byte offset in the dense box `part`, and its bytes.
fn for_each_row(whole: &Region, part: &Region, element_bytes: usize, mut copy_row: impl FnMut(usize, usize, usize)) {
    let extents = part.extents();
    if part.is_empty() {
        return;
    }
    let strides = whole.extents().dense_strides();
    let mut offset = (part.start - whole.start).dot(&strides);
    let length = extents[0] as usize * element_bytes;
    let count: i64 = extents.iter().skip(1).product();
    let mut position = Index::zeros(extents.axes());
    for index in 0..count as usize {
        copy_row(offset as usize * element_bytes, index * length, length);
        for axis in 1..extents.axes() {
            position[axis] += 1;
            offset += strides[axis];
            if position[axis] < extents[axis] {
                break;
            }
            position[axis] = 0;
            offset -= strides[axis] * extents[axis];
        }
    }
}

/// Appends the cells of `part` from the dense box `whole`, padded to 4 bytes.
pub(super) fn append_part(whole: &Region, data: &[u8], part: &Region, element_bytes: usize, out: &mut Vec<u8>) {
    for_each_row(whole, part, element_bytes, |offset, _, length| out.extend_from_slice(&data[offset..offset + length]));
    out.resize(out.len().next_multiple_of(4), 0);
}

/// Copies the dense cells of `part` to the dense box `whole`.
pub(super) fn write_part(whole: &Region, data: &mut [u8], part: &Region, element_bytes: usize, cells: &[u8]) {
    for_each_row(whole, part, element_bytes, |offset, from, length| {
        data[offset..offset + length].copy_from_slice(&cells[from..from + length]);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extracted_cells_are_inserted_at_same_position() {
        let region = |start: [i64; 3], end: [i64; 3]| Region { start: start.into(), end: end.into() };
        let whole = region([2, -1, 5], [7, 2, 9]);
        let data: Vec<u8> = (0..60).collect();
        let part = region([3, 0, 6], [6, 2, 8]);
        let mut cells = Vec::new();
        append_part(&whole, &data, &part, 1, &mut cells);
        assert_eq!(&cells[..6], [21, 22, 23, 26, 27, 28]);
        let mut back = vec![0; 60];
        write_part(&whole, &mut back, &part, 1, &cells);
        for (index, &value) in back.iter().enumerate() {
            let position = Index::from([index as i64 % 5 + 2, index as i64 / 5 % 3 - 1, index as i64 / 15 + 5]);
            assert_eq!(value, if part.contains(&position) { data[index] } else { 0 });
        }
    }
}
