//! [`Label`]: header of a message with the number of its exchange and the fingerprint of its
//! sender's calls.

use crate::Tag;

/// Header of a message. A small message ends with its label. A large message begins with a separate
/// piece for the label, recognised by its length: any small message with its label is longer.
pub(super) struct Label([u8; Label::BYTES]);

impl Label {
    /// Number of bytes of a label at the end of a payload.
    pub(super) const BYTES: usize = 16;
    /// Number of bytes of a label as a separate piece, without the last byte, which is 0.
    pub(super) const PIECE_BYTES: usize = 15;
    const SEQUENCE_BYTES: usize = (Tag::SEQUENCE_BITS / 8) as usize;

    pub(super) fn new(tag: Tag) -> Self {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&tag.fingerprint().to_le_bytes());
        bytes[8..Self::PIECE_BYTES].copy_from_slice(&tag.sequence().to_le_bytes()[..Self::SEQUENCE_BYTES]);
        Self(bytes)
    }

    pub(super) fn as_suffix(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn as_piece(&self) -> &[u8] {
        &self.0[..Self::PIECE_BYTES]
    }

    /// Reads the label at the end of a message's first piece.
    pub(super) fn from_piece(piece: &[u8]) -> Option<Self> {
        let mut bytes = [0; Self::BYTES];
        let found = if piece.len() == Self::PIECE_BYTES { piece } else { piece.last_chunk::<{ Self::BYTES }>()? };
        bytes[..found.len()].copy_from_slice(found);
        Some(Self(bytes))
    }

    pub(super) fn tag(&self, context: u8) -> Tag {
        let word = |range: std::ops::Range<usize>| {
            let mut bytes = [0; 8];
            bytes[..range.len()].copy_from_slice(&self.0[range]);
            u64::from_le_bytes(bytes)
        };
        Tag::new(context, word(8..Self::PIECE_BYTES), word(0..8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_is_read_from_suffix_and_from_own_piece() {
        for tag in [
            Tag::new(7, 0, 0),
            Tag::new(7, (1 << 55) + 12_345, u64::MAX - 3),
            Tag::reserved(7, crate::ReservedTag::WaitMessages),
        ] {
            let label = Label::new(tag);
            let whole = [&[1, 2, 3], label.as_suffix()].concat();
            for piece in [label.as_piece(), label.as_suffix(), &whole] {
                assert_eq!(Label::from_piece(piece).unwrap().tag(7), tag);
            }
        }
        assert!(Label::from_piece(&[0; 14]).is_none());
    }
}
