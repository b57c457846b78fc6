//! Long payloads in slices, so that staging memory stays bounded.

use crate::device::boxes::{PackedBox, Strided};

/// A box of one piece that lies contiguously in the payload, and where it stands in the staging memory of its slice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Part {
    /// Which piece.
    pub piece: usize,
    /// The box in the piece's buffer.
    pub view: Strided,
    /// First byte in the payload.
    pub payload: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// First byte in staging memory; a multiple of 4.
    pub staged: u64,
}

/// Parts that go through staging memory together.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Slice {
    pub parts: Vec<Part>,
    /// Staging memory needed, a multiple of 4.
    pub bytes: u64,
}

/// Cuts pieces into slices of at most `limit` bytes each, every slice laid out by itself, its parts at multiples of
/// `align`. A single cell larger than `limit` is a slice of its own.
pub(super) fn slices(pieces: &[PackedBox], element_bytes: u64, limit: u64, align: u64) -> Vec<Slice> {
    let mut out = vec![Slice::default()];
    for (piece, of) in pieces.iter().enumerate().filter(|(_, p)| p.view.cells() > 0) {
        for (view, before) in of.view.cut(limit / element_bytes) {
            let (payload, bytes) = (of.payload_offset + before * element_bytes, view.cells() * element_bytes);
            let mut last = out.len() - 1;
            if out[last].bytes + bytes > limit && out[last].bytes > 0 {
                out.push(Slice::default());
                last += 1;
            }
            let slice = &mut out[last];
            slice.parts.push(Part { piece, view, payload, bytes, staged: slice.bytes });
            slice.bytes = (slice.bytes + bytes).next_multiple_of(align);
        }
    }
    out.retain(|slice| !slice.parts.is_empty());
    out
}

/// The slice of payloads short enough to be staged as they are: staging offsets are payload offsets.
pub(super) fn whole(pieces: &[PackedBox], element_bytes: u64, payload_bytes: u64) -> Slice {
    let parts = pieces.iter().enumerate().filter(|(_, p)| p.view.cells() > 0).map(|(piece, of)| {
        let (bytes, at) = (of.view.cells() * element_bytes, of.payload_offset);
        Part { piece, view: of.view, payload: at, bytes, staged: at }
    });
    Slice { parts: parts.collect(), bytes: payload_bytes.next_multiple_of(16) }
}
