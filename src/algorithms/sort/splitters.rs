//! Exact splitters: which keys of a distributed vector come before given places once it is sorted.
//!
//! The ranks count keys by their leading bits, 11 at a time, and look more closely at those among which a place falls, until
//! all bits are known. A key that fills several places is split: by rank, then by position.

use super::key::KeyOrder;
use crate::array::Cells;
use crate::error::Result;
use crate::transport::Group;

/// Bits of a key that are counted at a time.
const DIGIT: u32 = 11;
const VALUES: usize = 1 << DIGIT;
/// Bytes of keys that the host has at hand at a time.
const BYTES: usize = 128 << 10;

/// The keys before a place: the smaller ones, and so many of the equal ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Splitter {
    pub key: u64,
    /// Of the equal keys of this rank.
    pub equal: u64,
}

/// A place while its splitter is being found: it is among the keys with these leading bits, behind so many of them.
struct Place {
    leading: u64,
    behind: u64,
}

/// Splitters for rising places. Collective over the group, where each rank has its part of the keys.
pub fn splitters(group: &Group, order: KeyOrder, keys: &Cells, places: &[u64]) -> Result<Vec<Splitter>> {
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let bits = 32 * order.words as u32;
    let mut places: Vec<Place> = places.iter().map(|&behind| Place { leading: 0, behind }).collect();
    let mut known = 0;
    let mut equal = vec![0_u64; places.len()];
    while known < bits {
        let digit = DIGIT.min(bits - known);
        let mut groups: Vec<u64> = places.iter().map(|place| place.leading).collect();
        groups.dedup();
        let own = counted(order, keys, &groups, (bits, known, digit))?;
        let mut all = own.clone();
        group.all_reduce(&mut all, |sum, more| *sum += more)?;
        for (place, equal) in places.iter_mut().zip(&mut equal) {
            let at = groups.partition_point(|&leading| leading < place.leading) * VALUES;
            // Behind all keys stands the last value.
            let mut value = 0;
            while value + 1 < 1 << digit && place.behind >= all[at + value] {
                place.behind -= all[at + value];
                value += 1;
            }
            place.leading = place.leading << digit | value as u64;
            *equal = own[at + value];
        }
        known += digit;
    }
    // Of equal keys those of lower ranks come first.
    let mut before = equal.clone();
    group.exclusive_scan(&mut before, 0, |sum, more| *sum += more)?;
    let splitter = |((place, equal), before): ((&Place, u64), u64)| {
        let equal = place.behind.saturating_sub(before).min(equal);
        Splitter { key: place.leading, equal }
    };
    Ok(places.iter().zip(equal).zip(before).map(splitter).collect())
}

/// For each group of keys with the same leading bits, how many of this rank's have each value of the next digit.
fn counted(order: KeyOrder, keys: &Cells, groups: &[u64], (bits, known, digit): (u32, u32, u32)) -> Result<Vec<u64>> {
    let mut counts = vec![0_u64; groups.len() * VALUES];
    let mask = (1_u64 << digit) - 1;
    let rest = bits - known - digit;
    // The first group of those with the same first digit, where there is one.
    let first_digit = |leading: u64| (leading >> (known - DIGIT)) as usize;
    let mut first = vec![u32::MAX; VALUES];
    if known > 0 {
        for (number, &leading) in groups.iter().enumerate().rev() {
            first[first_digit(leading)] = number as u32;
        }
    }
    each(order, keys, |key| {
        let value = (key >> rest & mask) as usize;
        if known == 0 {
            counts[value] += 1;
            return;
        }
        let mut number = first[(key >> (bits - DIGIT)) as usize] as usize;
        let leading = key >> (rest + digit);
        while number < groups.len() && groups[number] <= leading {
            if groups[number] == leading {
                counts[number * VALUES + value] += 1;
                return;
            }
            number += 1;
        }
    })?;
    Ok(counts)
}

/// Calls `f` with each key as one number, in order.
fn each(order: KeyOrder, keys: &Cells, mut f: impl FnMut(u64)) -> Result<()> {
    slices(order, keys, |words| match order.words {
        1 => words.iter().for_each(|&word| f(order.ordered(word).into())),
        _ => words.chunks_exact(2).for_each(|key| f(order.number(key))),
    })
}

/// Calls `f` with the words of some keys at a time, in order.
fn slices(order: KeyOrder, keys: &Cells, mut f: impl FnMut(&[u32])) -> Result<()> {
    let mut words = Vec::new();
    for slice in keys.slices(BYTES, 1) {
        words.resize((slice.end - slice.start) as usize * order.words, 0_u32);
        keys.read(slice, bytemuck::cast_slice_mut(&mut words))?;
        f(&words);
    }
    Ok(())
}
