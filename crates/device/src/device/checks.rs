//! What is wrong with boxes.

use super::boxes::{PackedBox, Strided};
use crate::error::DeviceError;

/// `Err` unless the element size can be moved.
pub(super) fn check_element(what: &str, element_bytes: usize) -> Result<(), DeviceError> {
    if matches!(element_bytes, 1 | 2) || (element_bytes > 0 && element_bytes.is_multiple_of(4)) {
        return Ok(());
    }
    Err(bad(what, format!("elements of {element_bytes} bytes; 1, 2 and multiples of 4 can be moved")))
}

/// `Err` unless the box lies in `bytes` bytes.
pub(super) fn check_view(what: &str, view: &Strided, element_bytes: usize, bytes: u64) -> Result<(), DeviceError> {
    let end = view.end().map_err(|message| bad(what, message))?;
    match end.checked_mul(element_bytes as u64) {
        _ if view.cells() == 0 => Ok(()),
        Some(end_bytes) if end_bytes <= bytes => Ok(()),
        _ => Err(bad(
            what,
            format!(
                "a box of extents {} with strides {} from element {} on ends at element {end}, but the buffer holds {}",
                view.extents,
                view.strides,
                view.offset,
                bytes / element_bytes as u64
            ),
        )),
    }
}

/// `Err` where the cells of one box coincide.
pub(super) fn check_destinations<'a>(what: &str, views: impl Iterator<Item = &'a Strided>) -> Result<(), DeviceError> {
    for view in views {
        let mut axes = view.extents.iter().zip(view.strides.iter());
        if view.cells() > 0 && axes.any(|(&n, &stride)| n > 1 && stride == 0) {
            return Err(bad(what, format!("strides {} make cells of a destination coincide", view.strides)));
        }
    }
    Ok(())
}

pub(super) fn bad(what: &str, message: String) -> DeviceError {
    DeviceError::BadBox { what: what.to_string(), message }
}

/// Checks pieces against their buffers and the payload; the transfer of each between chunk (source) and payload
/// (destination, offset 0 at the piece's own begin), empty ones left out.
pub(super) fn check_pieces(
    what: &str,
    element_bytes: usize,
    pieces: &[PackedBox],
    payload_bytes: u64,
) -> Result<(), DeviceError> {
    check_element(what, element_bytes)?;
    for piece in pieces {
        check_view(what, &piece.view, element_bytes, piece.buffer.bytes())?;
        let bytes = piece.view.cells() * element_bytes as u64;
        let offset = piece.payload_offset;
        if !offset.is_multiple_of(4) {
            return Err(bad(what, format!("payload offset {offset} is not a multiple of 4")));
        }
        if offset.checked_add(bytes).is_none_or(|end| end > payload_bytes) {
            return Err(bad(
                what,
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
    fn bad_boxes_are_told() {
        let strided = |offset, extents: [i64; 2], strides: [i64; 2]| Strided {
            offset,
            extents: extents.into(),
            strides: strides.into(),
        };
        assert!(check_view("t", &strided(4, [3, 2], [1, 10]), 4, 64).is_err());
        assert!(check_view("t", &strided(4, [3, 2], [1, 10]), 4, 68).is_ok());
        assert!(check_view("t", &strided(u64::MAX, [0, 1], [1, 1]), 8, 68).is_ok(), "no cell leaves the buffer");
        assert!(check_view("t", &strided(u64::MAX / 4, [1, 1], [1, 1]), 8, 68).is_err());
        assert!(check_element("t", 3).is_err() && check_element("t", 0).is_err() && check_element("t", 20).is_ok());
    }
}
