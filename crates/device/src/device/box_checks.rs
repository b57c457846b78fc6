//! Checks of the boxes of a transfer.

use super::boxes::{PackedBox, StridedBox};
use crate::error::DeviceError;

pub(super) fn check_element_size(operation: &str, element_bytes: usize) -> Result<(), DeviceError> {
    if matches!(element_bytes, 1 | 2) || (element_bytes > 0 && element_bytes.is_multiple_of(4)) {
        return Ok(());
    }
    Err(bad_box_error(operation, format!("elements of {element_bytes} bytes; 1, 2 and multiples of 4 can be moved")))
}

pub(super) fn check_box_in_buffer(
    operation: &str,
    view: &StridedBox,
    element_bytes: usize,
    buffer_bytes: u64,
) -> Result<(), DeviceError> {
    let end = view.end().map_err(|message| bad_box_error(operation, message))?;
    match end.checked_mul(element_bytes as u64) {
        _ if view.cells() == 0 => Ok(()),
        Some(end_bytes) if end_bytes <= buffer_bytes => Ok(()),
        _ => Err(bad_box_error(
            operation,
            format!(
                "a box of extents {} with strides {} from element {} on ends at element {end}, but the buffer holds {}",
                view.extents,
                view.strides,
                view.offset,
                buffer_bytes / element_bytes as u64
            ),
        )),
    }
}

/// Checks that no two cells of a destination box are the same element.
pub(super) fn check_destination_cells_are_distinct<'a>(
    operation: &str,
    views: impl Iterator<Item = &'a StridedBox>,
) -> Result<(), DeviceError> {
    for view in views {
        let mut axes = view.extents.iter().zip(view.strides.iter());
        if view.cells() > 0 && axes.any(|(&n, &stride)| n > 1 && stride == 0) {
            return Err(bad_box_error(
                operation,
                format!("strides {} make cells of a destination coincide", view.strides),
            ));
        }
    }
    Ok(())
}

pub(super) fn bad_box_error(operation: &str, message: String) -> DeviceError {
    DeviceError::BadBox { what: operation.to_string(), message }
}

/// Checks that packed boxes lie in their buffers and in the payload.
pub(super) fn check_packed_boxes(
    operation: &str,
    element_bytes: usize,
    pieces: &[PackedBox<'_>],
    payload_bytes: u64,
) -> Result<(), DeviceError> {
    check_element_size(operation, element_bytes)?;
    for piece in pieces {
        check_box_in_buffer(operation, &piece.view, element_bytes, piece.buffer.bytes())?;
        let bytes = piece.view.cells() * element_bytes as u64;
        let offset = piece.payload_offset;
        if !offset.is_multiple_of(4) {
            return Err(bad_box_error(operation, format!("payload offset {offset} is not a multiple of 4")));
        }
        if offset.checked_add(bytes).is_none_or(|end| end > payload_bytes) {
            return Err(bad_box_error(
                operation,
                format!("{bytes} bytes at payload offset {offset} leave the payload of {payload_bytes} bytes"),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_outside_buffer_and_unsupported_element_sizes_are_errors() {
        let strided = |offset, extents: [i64; 2], strides: [i64; 2]| StridedBox {
            offset,
            extents: extents.into(),
            strides: strides.into(),
        };
        assert!(check_box_in_buffer("t", &strided(4, [3, 2], [1, 10]), 4, 64).is_err());
        assert!(check_box_in_buffer("t", &strided(4, [3, 2], [1, 10]), 4, 68).is_ok());
        assert!(
            check_box_in_buffer("t", &strided(u64::MAX, [0, 1], [1, 1]), 8, 68).is_ok(),
            "no cell leaves the buffer"
        );
        assert!(check_box_in_buffer("t", &strided(u64::MAX / 4, [1, 1], [1, 1]), 8, 68).is_err());
        assert!(
            check_element_size("t", 3).is_err()
                && check_element_size("t", 0).is_err()
                && check_element_size("t", 20).is_ok()
        );
    }
}
