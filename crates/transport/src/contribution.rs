//! [`Contribution`]: payloads of several ranks in one message, for collectives that pass small
//! payloads along a tree.
//!
//! A message consists of the number of contributions, a table of (rank, length) pairs, all as
//! `u64`, and the bytes of all contributions. The table marks a payload of more than
//! [`INLINE_BYTES`] as direct: its owner sends it to the receivers without hops.

use super::Payload;
use super::payload::slices;
use zippy_base::error::{Result, TransportError};

/// Maximum size in bytes of a payload that is passed along the tree.
pub(crate) const INLINE_BYTES: usize = 8 << 10;

const DIRECT: u64 = 1 << 63;

pub(crate) enum Contribution {
    /// Payload in this message.
    Inline(Payload),
    /// Payload that the rank sends directly to the receivers.
    Direct,
}

pub(crate) fn pack(items: &[(usize, Contribution)]) -> Payload {
    let mut bytes = Vec::with_capacity(8 + items.len() * 48);
    bytes.extend_from_slice(&(items.len() as u64).to_ne_bytes());
    for (rank, item) in items {
        let length = match item {
            Contribution::Inline(payload) => (**payload).as_ref().len() as u64,
            Contribution::Direct => DIRECT,
        };
        bytes.extend_from_slice(&(*rank as u64).to_ne_bytes());
        bytes.extend_from_slice(&length.to_ne_bytes());
    }
    for (_, item) in items {
        if let Contribution::Inline(payload) = item {
            bytes.extend_from_slice((**payload).as_ref());
        }
    }
    Box::new(bytes)
}

pub(crate) fn unpack(payload: Payload) -> Result<Vec<(usize, Contribution)>> {
    let malformed = || TransportError::Other("a message of a collective is malformed".into());
    let bytes = (*payload).as_ref();
    let word_at = |index: usize| -> Result<u64> {
        let found = bytes.get(index * 8..index * 8 + 8).ok_or_else(malformed)?;
        Ok(u64::from_ne_bytes(found.try_into().map_err(|_| malformed())?))
    };
    let count = word_at(0)? as usize;
    let mut offset = count.checked_mul(16).and_then(|table| table.checked_add(8)).ok_or_else(malformed)?;
    let mut table = Vec::new();
    let mut ranges = Vec::new();
    for i in 0..count {
        let (rank, length) = (word_at(1 + 2 * i)? as usize, word_at(2 + 2 * i)?);
        table.push((rank, length != DIRECT));
        if length != DIRECT {
            let end = offset.checked_add(length as usize).filter(|&end| end <= bytes.len()).ok_or_else(malformed)?;
            ranges.push(offset..end);
            offset = end;
        }
    }
    let mut inline = slices(payload, ranges.into_iter());
    let mut items = Vec::with_capacity(count);
    for (rank, is_inline) in table {
        items.push((
            rank,
            if is_inline { Contribution::Inline(inline.next().ok_or_else(malformed)?) } else { Contribution::Direct },
        ));
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::copied;

    #[test]
    fn unpack_returns_packed_contributions() {
        let items = vec![
            (3, Contribution::Inline(copied(b"three"))),
            (0, Contribution::Direct),
            (7, Contribution::Inline(copied::<u8>(&[]))),
            (1, Contribution::Inline(copied(&[9_u8; 100]))),
        ];
        let found = unpack(pack(&items)).unwrap();
        let show = |items: &[(usize, Contribution)]| -> Vec<(usize, Option<Vec<u8>>)> {
            let bytes = |item: &Contribution| match item {
                Contribution::Inline(payload) => Some((**payload).as_ref().to_vec()),
                Contribution::Direct => None,
            };
            items.iter().map(|(rank, item)| (*rank, bytes(item))).collect()
        };
        assert_eq!(show(&found), show(&items));
        assert_eq!(unpack(pack(&[])).unwrap().len(), 0);
    }

    #[test]
    fn unpack_of_truncated_payload_is_an_error() {
        let whole = pack(&[(0, Contribution::Inline(copied(b"abc"))), (1, Contribution::Inline(copied(b"defgh")))]);
        let bytes = (*whole).as_ref().to_vec();
        for length in 0..bytes.len() {
            assert!(unpack(Box::new(bytes[..length].to_vec())).is_err(), "{length}");
        }
    }
}
