//! Exact splitters: the number of keys on each rank before given positions of a sorted distributed
//! vector.
//!
//! The ranks count keys by their leading bits, 11 at a time, and refine the groups of keys around
//! each position until all bits are known. Equal keys on both sides of a position are split by
//! rank, then by index.

use zippy::collective::CellSequence;
use zippy::error::Result;
use zippy::transport::Group;

use crate::sort_key::KeyOrder;

/// Number of key bits that each refinement of the splitters determines.
const DIGIT_BITS: u32 = 11;
const DIGIT_VALUES: usize = 1 << DIGIT_BITS;
/// Size, in bytes, of the portion of keys that the host reads at a time.
const PORTION_BYTES: usize = 128 << 10;

/// Splitter of the keys of a vector: all smaller keys, and a number of equal ones, are before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Splitter {
    pub key: u64,
    /// Number of this rank's keys that are equal to `key` and before the splitter.
    pub equal: u64,
}

/// Search for the splitter of a position: the leading bits of the key found so far, and the number
/// of keys with these bits before the position.
struct PositionSearch {
    leading: u64,
    remaining: u64,
}

/// Computes the splitters for ascending positions of the sorted vector. Collective over the group;
/// each rank passes its part of the keys.
pub(crate) fn splitters(
    group: &Group,
    order: KeyOrder,
    keys: &CellSequence,
    positions: &[u64],
) -> Result<Vec<Splitter>> {
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    let bits = 32 * order.words as u32;
    let mut positions: Vec<PositionSearch> =
        positions.iter().map(|&remaining| PositionSearch { leading: 0, remaining }).collect();
    let mut known = 0;
    let mut equal = vec![0_u64; positions.len()];
    while known < bits {
        let digit = DIGIT_BITS.min(bits - known);
        let mut groups: Vec<u64> = positions.iter().map(|position| position.leading).collect();
        groups.dedup();
        let local = count_digits(order, keys, &groups, (bits, known, digit))?;
        let mut all = local.clone();
        group.all_reduce(&mut all, |sum, more| *sum += more)?;
        for (position, equal) in positions.iter_mut().zip(&mut equal) {
            let at = groups.partition_point(|&leading| leading < position.leading) * DIGIT_VALUES;
            // The position after all keys has the largest value.
            let mut value = 0;
            while value + 1 < 1 << digit && position.remaining >= all[at + value] {
                position.remaining -= all[at + value];
                value += 1;
            }
            position.leading = position.leading << digit | value as u64;
            *equal = local[at + value];
        }
        known += digit;
    }
    // Equal keys of lower ranks come first.
    let mut before = equal.clone();
    group.exclusive_scan(&mut before, 0, |sum, more| *sum += more)?;
    let splitter = |((position, equal), before): ((&PositionSearch, u64), u64)| {
        let equal = position.remaining.saturating_sub(before).min(equal);
        Splitter { key: position.leading, equal }
    };
    Ok(positions.iter().zip(equal).zip(before).map(splitter).collect())
}

/// Counts, for each group of keys with the same leading bits, this rank's keys for each value of
/// the next digit.
fn count_digits(
    order: KeyOrder,
    keys: &CellSequence,
    groups: &[u64],
    (bits, known, digit): (u32, u32, u32),
) -> Result<Vec<u64>> {
    let mut counts = vec![0_u64; groups.len() * DIGIT_VALUES];
    let mask = (1_u64 << digit) - 1;
    let rest = bits - known - digit;
    // The first group for each value of the first digit, if there is one.
    let first_digit = |leading: u64| (leading >> (known - DIGIT_BITS)) as usize;
    let mut first = vec![u32::MAX; DIGIT_VALUES];
    if known > 0 {
        for (number, &leading) in groups.iter().enumerate().rev() {
            first[first_digit(leading)] = number as u32;
        }
    }
    for_each_key(order, keys, |key| {
        let value = (key >> rest & mask) as usize;
        if known == 0 {
            counts[value] += 1;
            return;
        }
        let mut number = first[(key >> (bits - DIGIT_BITS)) as usize] as usize;
        let leading = key >> (rest + digit);
        while number < groups.len() && groups[number] <= leading {
            if groups[number] == leading {
                counts[number * DIGIT_VALUES + value] += 1;
                return;
            }
            number += 1;
        }
    })?;
    Ok(counts)
}

/// Calls `f` with each key as one number, in ascending order of indices.
fn for_each_key(order: KeyOrder, keys: &CellSequence, mut f: impl FnMut(u64)) -> Result<()> {
    for_each_portion(order, keys, |words| match order.words {
        1 => words.iter().for_each(|&word| f(order.ordered(word).into())),
        _ => words.chunks_exact(2).for_each(|key| f(order.number(key))),
    })
}

/// Calls `f` with the words of consecutive portions of the keys.
fn for_each_portion(order: KeyOrder, keys: &CellSequence, mut f: impl FnMut(&[u32])) -> Result<()> {
    let mut words = Vec::new();
    for slice in keys.slices(PORTION_BYTES, 1) {
        words.resize((slice.end - slice.start) as usize * order.words, 0_u32);
        keys.read(slice, bytemuck::cast_slice_mut(&mut words))?;
        f(&words);
    }
    Ok(())
}
