//! Who this process is among the ranks, and on its node.

use super::raw::{self, Communicator};
use crate::error::TransportError;

/// More bits would tell no more exchanges apart that are under way at the same time.
const TAG_BITS: u32 = 28;

/// Where a process is among the ranks of a communicator.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Topology {
    pub rank: usize,
    pub size: usize,
    pub node_rank: usize,
    pub node_size: usize,
    /// Tags for messages have this many bits; the next bit alone is the tag of what ranks tell each other.
    pub tag_bits: u32,
}

impl Topology {
    /// Collective, and blocks.
    pub(super) fn find(communicator: &Communicator) -> Result<Self, TransportError> {
        let (node_rank, node_size) = communicator.on_node()?;
        let tag_bits = tag_bits(raw::largest_tag()?);
        Ok(Self { rank: communicator.rank()?, size: communicator.size()?, node_rank, node_size, tag_bits })
    }
}

/// MPI's tags only sort messages: the number of the exchange rides in the message.
fn tag_bits(largest_tag: u32) -> u32 {
    largest_tag.ilog2().min(TAG_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_fit_and_leave_one_for_failures() {
        for (largest, bits) in [(i32::MAX as u32, 28), ((1 << 28) - 1, 27), (1 << 28, 28), (32_767, 14)] {
            assert_eq!(tag_bits(largest), bits);
            assert!(1 << bits <= largest);
        }
    }
}
