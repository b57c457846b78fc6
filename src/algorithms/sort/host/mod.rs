//! Radix sort by the host, in mapped memory, over all slices of a sequence at once.
//!
//! Pairs that do not fit the cache of a core are distributed by their highest digit, by all threads
//! of the rank. Each of the buckets that result is sorted by itself: by one thread, from the lowest
//! digit up, where it fits the cache. Bits that all keys share are left out. Slices are the source
//! of the first distribution and the target of the last pass, so that their number costs next to
//! nothing. The order of equal keys is kept, so that the result depends on nothing but the input.

mod cached;
mod chain;
mod digits;
mod merge;
mod radix;
mod scatter;
#[cfg(test)]
mod tests;
mod typed;

pub use self::merge::merge;
pub use self::typed::{BytePairs, count_bins, deal, extremes, sort};
