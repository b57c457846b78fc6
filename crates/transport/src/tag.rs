//! [`Tag`]: the identity of a message exchange.

/// Identity of an exchange between the ranks of a group: the group's context, the number of the
/// exchange in the group, and a fingerprint of the sender's calls.
///
/// Context and number match messages with receives. Numbers are never reused; 56 bits last for two
/// years at one exchange per nanosecond. Different fingerprints at the two ends show different
/// calls of the ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag {
    /// Number of the exchange, with the context in the lowest [`CONTEXT_BITS`](Self::CONTEXT_BITS).
    exchange: u64,
    fingerprint: u64,
}

/// Purposes of messages without a numbered exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ReservedTag {
    Fingerprints,
    Calls,
    /// Barrier after a broadcast of recorded calls.
    Barrier,
    /// Messages of ranks in long waits (see `wait_report.rs`).
    WaitMessages,
    SubGroupSum,
    SubGroupReports,
    Spans,
}

impl Tag {
    /// Number of bits of a context. The MPI tag contains them.
    pub(crate) const CONTEXT_BITS: u32 = 8;
    pub(crate) const SEQUENCE_BITS: u32 = 56;
    /// First of the reserved numbers, without a comparison of fingerprints.
    const RESERVED: u64 = (1 << Self::SEQUENCE_BITS) - 16;

    pub(crate) const fn new(context: u8, sequence: u64, fingerprint: u64) -> Self {
        Self { exchange: sequence << Self::CONTEXT_BITS | context as u64, fingerprint }
    }

    pub(crate) const fn reserved(context: u8, purpose: ReservedTag) -> Self {
        Self::new(context, Self::RESERVED + purpose as u64, 0)
    }

    /// Tag of messages between waiting ranks, in the context of the whole run.
    pub(crate) const fn wait_message() -> Self {
        Self::reserved(0, ReservedTag::WaitMessages)
    }

    pub(crate) fn is_wait_message(self) -> bool {
        self.same_exchange(Self::wait_message())
    }

    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "for MPI"))]
    pub(crate) fn context(self) -> u8 {
        self.exchange as u8
    }

    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "for MPI"))]
    pub(crate) fn sequence(self) -> u64 {
        self.exchange >> Self::CONTEXT_BITS
    }

    pub(crate) fn fingerprint(self) -> u64 {
        self.fingerprint
    }

    pub(crate) fn is_reserved(self) -> bool {
        self.exchange >= Self::RESERVED << Self::CONTEXT_BITS
    }

    pub(crate) fn same_exchange(self, other: Self) -> bool {
        self.exchange == other.exchange
    }
}
