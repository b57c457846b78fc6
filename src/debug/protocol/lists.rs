//! Lists in frames, which together take a bounded amount of memory.
//!
//! An entry of three bytes becomes a value of forty, so that the length of a frame alone bounds little. Every list of the
//! protocol is decoded here, and counts what it reserves.

use std::cell::Cell;
use std::fmt::{Formatter, Result as Formatted};
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The most bytes that the lists of one frame take.
pub(super) const MOST_BYTES: usize = 64 << 20;

thread_local! {
    /// Bytes that the frame which is being decoded has left; none outside of frames, where nothing is bounded.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Decodes one frame; none where its lists take more than they may.
pub(super) fn of_one_frame<R>(decode: impl FnOnce() -> R) -> Option<R> {
    LEFT.set(Some(MOST_BYTES));
    let decoded = decode();
    LEFT.take().map(|_| decoded)
}

/// Takes bytes of what the frame has left; there is nothing left to count where that is too little.
fn reserve<E: Error>(bytes: usize) -> Result<(), E> {
    let Some(left) = LEFT.get() else { return Ok(()) };
    LEFT.set(left.checked_sub(bytes));
    if bytes <= left { Ok(()) } else { Err(E::custom("too much memory")) }
}

/// A list that counts what it takes.
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
        let mut all = Vec::new();
        while let Some(next) = list.next_element()? {
            if all.len() == all.capacity() {
                let more = all.len().max(4);
                reserve::<A::Error>(more * size_of::<T>())?;
                all.reserve_exact(more);
            }
            all.push(next);
        }
        Ok(all)
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

/// An array, its chunk, its rank and a cell.
type Place<A> = (A, u64, u32, Vec<i64>);

pub(super) fn place<'de, D: Deserializer<'de>, A: Deserialize<'de>>(from: D) -> Result<Place<A>, D::Error> {
    let (array, chunk, rank, cell) = <(A, u64, u32, List<i64>)>::deserialize(from)?;
    Ok((array, chunk, rank, cell.0))
}
