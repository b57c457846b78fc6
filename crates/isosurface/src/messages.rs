//! Exchange and prefix sums of numbers.

use std::collections::BTreeMap;

use zippy::transport::{copied, values};
use zippy::{Result, World};

/// Sends lists of numbers to ranks (possibly to this rank); returns the received lists by sender.
/// Collective.
pub(crate) fn exchange(world: &World, mut messages: BTreeMap<usize, Vec<u64>>) -> Result<BTreeMap<usize, Vec<u64>>> {
    let own = messages.remove_entry(&world.rank());
    let sent = messages.into_iter().map(|(rank, numbers)| (rank, copied(&numbers))).collect();
    let mut received: BTreeMap<usize, Vec<u64>> = own.into_iter().collect();
    for (rank, payload) in world.group().sparse_exchange(sent)? {
        received.insert(rank, values(&payload)?);
    }
    Ok(received)
}

/// For each number, the sum over lower ranks and the sum over all ranks. Collective.
pub(crate) fn prefix_sums(world: &World, own: &[u64]) -> Result<[Vec<u64>; 2]> {
    let (mut before, mut all) = (own.to_vec(), own.to_vec());
    world.group().exclusive_scan(&mut before, 0, |sum, more| *sum += more)?;
    world.group().all_reduce(&mut all, |sum, more| *sum += more)?;
    Ok([before, all])
}
