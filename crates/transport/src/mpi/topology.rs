use super::raw::{self, Communicator};
use zippy_base::error::TransportError;

/// Maximum number of bits of an MPI tag, enough to separate concurrent exchanges.
const TAG_BITS: u32 = 28;

/// Rank and size of a process's communicator and node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Topology {
    pub rank: usize,
    pub size: usize,
    pub node_rank: usize,
    pub node_size: usize,
    /// Number of bits of the MPI tags of messages. The next bit is the MPI tag of control messages.
    pub tag_bits: u32,
}

impl Topology {
    /// Determines the topology of this process. Collective; blocks.
    pub(super) fn find(communicator: &Communicator) -> Result<Self, TransportError> {
        let (node_rank, node_size) = communicator.node_rank_and_size()?;
        let tag_bits = tag_bits(raw::largest_tag()?);
        Ok(Self { rank: communicator.rank()?, size: communicator.size()?, node_rank, node_size, tag_bits })
    }
}

/// Number of bits for MPI tags up to `largest_tag`. MPI tags need not be unique, as each message
/// contains the number of its exchange.
fn tag_bits(largest_tag: u32) -> u32 {
    largest_tag.ilog2().min(TAG_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_bits_leave_one_bit_for_control_messages() {
        for (largest, bits) in [(i32::MAX as u32, 28), ((1 << 28) - 1, 27), (1 << 28, 28), (32_767, 14)] {
            assert_eq!(tag_bits(largest), bits);
            assert!(1 << bits <= largest);
        }
    }
}
