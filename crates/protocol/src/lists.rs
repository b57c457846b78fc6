//! Decoding of lists with a memory limit for each frame.
//!
//! An encoded entry of three bytes can become a value of forty, so the length of a frame does not
//! limit its memory. All lists of the protocol are decoded here, and count their memory.

use std::cell::Cell;
use std::fmt::{Formatter, Result as Formatted};
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Maximum memory of the lists of one frame, in bytes.
pub(super) const MAX_BYTES: usize = 64 << 20;

thread_local! {
    /// Remaining bytes for the frame in progress; `None` outside of frames, where there is no
    /// limit.
    static REMAINING_BYTES: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Decodes one frame; `None` if its lists exceed the limit.
pub(super) fn decode_frame<R>(decode: impl FnOnce() -> R) -> Option<R> {
    REMAINING_BYTES.set(Some(MAX_BYTES));
    let decoded = decode();
    REMAINING_BYTES.take().map(|_| decoded)
}

/// Subtracts bytes from those that remain for the frame. If too few remain, the count becomes
/// `None`.
fn reserve<E: Error>(bytes: usize) -> Result<(), E> {
    let Some(remaining) = REMAINING_BYTES.get() else { return Ok(()) };
    REMAINING_BYTES.set(remaining.checked_sub(bytes));
    if bytes <= remaining { Ok(()) } else { Err(E::custom("too much memory")) }
}

/// List that counts its memory.
struct List<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Entries(PhantomData)).map(Self)
    }
}

struct Entries<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut Formatter<'_>) -> Formatted {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(next) = list.next_element()? {
            if entries.len() == entries.capacity() {
                let more = entries.len().max(4);
                reserve::<A::Error>(more * size_of::<T>())?;
                entries.reserve_exact(more);
            }
            entries.push(next);
        }
        Ok(entries)
    }
}

pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    List::deserialize(from).map(|list| list.0)
}

pub(super) fn lists<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<Vec<T>>, D::Error> {
    let lists: Vec<List<T>> = list(from)?;
    Ok(lists.into_iter().map(|list| list.0).collect())
}

pub(super) fn optional<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<Vec<T>>, D::Error> {
    Ok(Option::<List<T>>::deserialize(from)?.map(|list| list.0))
}

pub(super) fn pair<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<[Vec<T>; 2], D::Error> {
    Ok(<[List<T>; 2]>::deserialize(from)?.map(|list| list.0))
}

/// Array, chunk, rank and first cell of one end of a move.
type MoveEnd<A> = (A, u64, u32, Vec<i64>);

pub(super) fn move_end<'de, D: Deserializer<'de>, A: Deserialize<'de>>(from: D) -> Result<MoveEnd<A>, D::Error> {
    let (array, chunk, rank, cell) = <(A, u64, u32, List<i64>)>::deserialize(from)?;
    Ok((array, chunk, rank, cell.0))
}
