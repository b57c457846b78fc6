//! Radix sort and merge of keys with optional values on the host, in mapped memory, over all slices
//! of a sequence at once.
//!
//! Pairs that exceed the cache of a core are distributed by their highest digit, with all threads
//! of the rank. Each resulting bucket is then sorted separately: if it fits in the cache, by one
//! thread, from the lowest digit up. Bits that all keys share are skipped. The first distribution
//! reads the slices and the last pass writes them, so that their number has almost no cost. Equal
//! keys keep their order, so that the result depends on the input only.

mod cached;
mod chain;
mod digits;
mod lend_pairs;
mod merge;
mod radix;
mod scatter;
#[cfg(test)]
mod tests;
mod typed;

pub(crate) use self::lend_pairs::lend_pairs;
pub(crate) use self::merge::merge;
pub(crate) use self::typed::{BytePairs, count_bins, distribute, extremes, sort};
