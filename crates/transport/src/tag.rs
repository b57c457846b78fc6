//! [`Tag`]: the identity of a message exchange.

/// Identity of an exchange between the ranks of a group: the context of the group, the number of
/// the exchange within the group, and a fingerprint of the sender's calls.
///
/// Context and number match messages with receives. A number is never reused: at one exchange per
/// nanosecond the numbers last for two years, so the messages of a pending exchange cannot match a
/// later exchange. The fingerprint is not part of the match: unequal fingerprints at the two ends
/// show that the ranks have called different operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag {
    /// The number of the exchange, shifted left, with the context in the lowest
    /// [`CONTEXT_BITS`](Self::CONTEXT_BITS).
    exchange: u64,
    fingerprint: u64,
}

/// Purposes of messages that belong to no numbered exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ReservedTag {
    /// Comparison of call fingerprints.
    Fingerprints,
    /// The recorded calls of a rank.
    Calls,
    /// Barrier after a broadcast of recorded calls.
    Barrier,
    /// Messages of ranks in long waits (see `wait_report.rs`).
    WaitMessages,
    /// Sum of the fingerprints of all sub-groups.
    SubGroupSum,
    /// Reports of a rank on its sub-groups.
    SubGroupReports,
    /// Trace spans of a rank.
    Spans,
}

impl Tag {
    /// Number of bits of a context. Under MPI, the MPI tag carries them.
    pub(crate) const CONTEXT_BITS: u32 = 8;
    /// Number of bits of an exchange number.
    pub(crate) const SEQUENCE_BITS: u32 = 56;
    /// First number for messages of no exchange. Their fingerprints are not compared.
    const RESERVED: u64 = (1 << Self::SEQUENCE_BITS) - 16;

    /// The tag of exchange number `sequence` in a context.
    pub(crate) const fn new(context: u8, sequence: u64, fingerprint: u64) -> Self {
        Self { exchange: sequence << Self::CONTEXT_BITS | context as u64, fingerprint }
    }

    /// The tag of a message of no exchange, in a context.
    pub(crate) const fn reserved(context: u8, purpose: ReservedTag) -> Self {
        Self::new(context, Self::RESERVED + purpose as u64, 0)
    }

    /// The tag of messages of waiting ranks, in the context of the whole run.
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

    /// The number of the exchange.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "for MPI"))]
    pub(crate) fn sequence(self) -> u64 {
        self.exchange >> Self::CONTEXT_BITS
    }

    pub(crate) fn fingerprint(self) -> u64 {
        self.fingerprint
    }

    /// True for a message of no exchange.
    pub(crate) fn is_reserved(self) -> bool {
        self.exchange >= Self::RESERVED << Self::CONTEXT_BITS
    }

    /// True if both tags name the same exchange. Fingerprints may differ.
    pub(crate) fn same_exchange(self, other: Self) -> bool {
        self.exchange == other.exchange
    }
}
