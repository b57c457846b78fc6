//! What every message says beside its payload: the number of its exchange and the fingerprint of its sender's calls.

use crate::transport::Tag;

/// A label as bytes: behind the payload of a message that is sent whole, or alone ahead of one that is sent from where it
/// lies. The two are told apart by their lengths, as a message sent whole is never as short as a label alone.
pub(super) struct Label([u8; Label::BYTES]);

impl Label {
    /// Behind a payload.
    pub(super) const BYTES: usize = 16;
    /// Alone, less its last byte, which is 0.
    pub(super) const ALONE_BYTES: usize = 15;
    const SEQUENCE_BYTES: usize = (Tag::SEQUENCE_BITS / 8) as usize;

    pub(super) fn new(tag: Tag) -> Self {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&tag.history().to_le_bytes());
        bytes[8..Self::ALONE_BYTES].copy_from_slice(&tag.sequence().to_le_bytes()[..Self::SEQUENCE_BYTES]);
        Self(bytes)
    }

    /// Behind a payload.
    pub(super) fn behind(&self) -> &[u8] {
        &self.0
    }

    /// Alone.
    pub(super) fn alone(&self) -> &[u8] {
        &self.0[..Self::ALONE_BYTES]
    }

    /// The label that a message's first piece ends with.
    pub(super) fn of_piece(piece: &[u8]) -> Option<Self> {
        let mut bytes = [0; Self::BYTES];
        let found = if piece.len() == Self::ALONE_BYTES { piece } else { piece.last_chunk::<{ Self::BYTES }>()? };
        bytes[..found.len()].copy_from_slice(found);
        Some(Self(bytes))
    }

    /// The tag of a message of this context.
    pub(super) fn tag(&self, context: u8) -> Tag {
        let word = |range: std::ops::Range<usize>| {
            let mut bytes = [0; 8];
            bytes[..range.len()].copy_from_slice(&self.0[range]);
            u64::from_le_bytes(bytes)
        };
        Tag::new(context, word(8..Self::ALONE_BYTES), word(0..8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_read_back_from_both_its_places() {
        for tag in [
            Tag::new(7, 0, 0),
            Tag::new(7, (1 << 55) + 12_345, u64::MAX - 3),
            Tag::beside(7, crate::transport::Beside::Inquiries),
        ] {
            let label = Label::new(tag);
            let whole = [&[1, 2, 3], label.behind()].concat();
            for piece in [label.alone(), label.behind(), &whole] {
                assert_eq!(Label::of_piece(piece).unwrap().tag(7), tag);
            }
        }
        assert!(Label::of_piece(&[0; 14]).is_none());
    }
}
