//! Several byte strings in one message, for collectives that pass small data along a tree.
//!
//! A bundle is a table of (rank, length) as `u64` pairs after their count, then the bytes. Data too large to be copied
//! from hop to hop is only announced: its owner sends it directly.

use super::Payload;
use super::payload::parts;
use crate::error::{Result, TransportError};

/// Up to this many bytes go along the tree.
pub(crate) const INLINE_BYTES: usize = 8 << 10;

const DIRECT: u64 = 1 << 63;

/// What a rank contributes to a gathering collective.
pub(crate) enum Contribution {
    /// The bytes themselves.
    Here(Payload),
    /// They come from the rank directly.
    Direct,
}

/// Packs items.
pub(crate) fn pack(items: &[(usize, Contribution)]) -> Payload {
    let mut bytes = Vec::with_capacity(8 + items.len() * 48);
    bytes.extend_from_slice(&(items.len() as u64).to_ne_bytes());
    for (rank, item) in items {
        let length = match item {
            Contribution::Here(payload) => (**payload).as_ref().len() as u64,
            Contribution::Direct => DIRECT,
        };
        bytes.extend_from_slice(&(*rank as u64).to_ne_bytes());
        bytes.extend_from_slice(&length.to_ne_bytes());
    }
    for (_, item) in items {
        if let Contribution::Here(payload) = item {
            bytes.extend_from_slice((**payload).as_ref());
        }
    }
    Box::new(bytes)
}

/// The items of a bundle.
pub(crate) fn unpack(payload: Payload) -> Result<Vec<(usize, Contribution)>> {
    let malformed = || TransportError::Other("a bundle of a collective arrived malformed".into());
    let bytes = (*payload).as_ref();
    let word = |index: usize| -> Result<u64> {
        let found = bytes.get(index * 8..index * 8 + 8).ok_or_else(malformed)?;
        Ok(u64::from_ne_bytes(found.try_into().map_err(|_| malformed())?))
    };
    let count = word(0)? as usize;
    let mut at = count.checked_mul(16).and_then(|table| table.checked_add(8)).ok_or_else(malformed)?;
    let mut table = Vec::new();
    let mut ranges = Vec::new();
    for i in 0..count {
        let (rank, length) = (word(1 + 2 * i)? as usize, word(2 + 2 * i)?);
        table.push((rank, length != DIRECT));
        if length != DIRECT {
            let end = at.checked_add(length as usize).filter(|&end| end <= bytes.len()).ok_or_else(malformed)?;
            ranges.push(at..end);
            at = end;
        }
    }
    let mut pieces = parts(payload, ranges.into_iter());
    let mut items = Vec::with_capacity(count);
    for (rank, here) in table {
        items.push((
            rank,
            if here { Contribution::Here(pieces.next().ok_or_else(malformed)?) } else { Contribution::Direct },
        ));
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::copied;

    #[test]
    fn a_bundle_returns_its_items() {
        let items = vec![
            (3, Contribution::Here(copied(b"three"))),
            (0, Contribution::Direct),
            (7, Contribution::Here(copied::<u8>(&[]))),
            (1, Contribution::Here(copied(&[9_u8; 100]))),
        ];
        let found = unpack(pack(&items)).unwrap();
        let show = |items: &[(usize, Contribution)]| -> Vec<(usize, Option<Vec<u8>>)> {
            let bytes = |item: &Contribution| match item {
                Contribution::Here(payload) => Some((**payload).as_ref().to_vec()),
                Contribution::Direct => None,
            };
            items.iter().map(|(rank, item)| (*rank, bytes(item))).collect()
        };
        assert_eq!(show(&found), show(&items));
        assert_eq!(unpack(pack(&[])).unwrap().len(), 0);
    }

    #[test]
    fn a_cut_bundle_is_an_error() {
        let whole = pack(&[(0, Contribution::Here(copied(b"abc"))), (1, Contribution::Here(copied(b"defgh")))]);
        let bytes = (*whole).as_ref().to_vec();
        for length in 0..bytes.len() {
            assert!(unpack(Box::new(bytes[..length].to_vec())).is_err(), "{length}");
        }
    }
}
