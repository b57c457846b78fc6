//! [`StagingSlice`]: part of a long payload, so that the size of staging memory is bounded.

use crate::device::boxes::{PackedBox, StridedBox};

/// Part of a packed box that is contiguous in the payload and in staging memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SlicePart {
    /// Index of the packed box in the list of the call.
    pub piece: usize,
    /// The cells in the buffer of the packed box.
    pub view: StridedBox,
    /// Offset of the part's cells in the payload, in bytes.
    pub payload_offset: u64,
    pub bytes: u64,
    /// Offset of the part's cells in staging memory, in bytes; a multiple of 4.
    pub staged_offset: u64,
}

/// Parts of packed boxes that are in staging memory at the same time.
#[derive(Debug, Default, PartialEq)]
pub(super) struct StagingSlice {
    pub parts: Vec<SlicePart>,
    /// Size of the staging memory, in bytes; a multiple of 4.
    pub bytes: u64,
}

/// Cuts packed boxes into slices of at most `limit` bytes, with parts at multiples of `align`. A
/// single cell that is larger than `limit` is a slice of its own.
pub(super) fn cut_slices(pieces: &[PackedBox<'_>], element_bytes: u64, limit: u64, align: u64) -> Vec<StagingSlice> {
    let mut slices = vec![StagingSlice::default()];
    for (index, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.view.cells() > 0) {
        for (view, cells_before) in piece.view.cut(limit / element_bytes) {
            let payload_offset = piece.payload_offset + cells_before * element_bytes;
            let bytes = view.cells() * element_bytes;
            let mut last = slices.len() - 1;
            if slices[last].bytes + bytes > limit && slices[last].bytes > 0 {
                slices.push(StagingSlice::default());
                last += 1;
            }
            let slice = &mut slices[last];
            slice.parts.push(SlicePart { piece: index, view, payload_offset, bytes, staged_offset: slice.bytes });
            slice.bytes = (slice.bytes + bytes).next_multiple_of(align);
        }
    }
    slices.retain(|slice| !slice.parts.is_empty());
    slices
}

/// Returns a slice with all packed boxes of a payload, at staging offsets equal to their payload
/// offsets.
pub(super) fn whole_payload_slice(pieces: &[PackedBox<'_>], element_bytes: u64, payload_bytes: u64) -> StagingSlice {
    let pieces = pieces.iter().enumerate().filter(|(_, piece)| piece.view.cells() > 0);
    let parts = pieces.map(|(index, piece)| {
        let (bytes, offset) = (piece.view.cells() * element_bytes, piece.payload_offset);
        SlicePart { piece: index, view: piece.view, payload_offset: offset, bytes, staged_offset: offset }
    });
    StagingSlice { parts: parts.collect(), bytes: payload_bytes.next_multiple_of(16) }
}
