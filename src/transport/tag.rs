//! What names a message.

/// Names an exchange between the ranks of a group: the group's context, the number of the exchange in it, and a
/// fingerprint of what the rank had called when it took the number.
///
/// Context and number say which message belongs to which receive. Numbers are never given out again: at one a
/// nanosecond they would last for two years, so that no later exchange meets what an open one has under way. The
/// fingerprint must be the same at both ends, or the ranks have called different operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag {
    /// The number of the exchange, and the context in the lowest bits.
    exchange: u64,
    history: u64,
}

/// Messages beside the exchanges of a group.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Beside {
    /// Fingerprints of calls.
    Fingerprints,
    /// What a rank has called.
    Calls,
    /// All have heard all that they need.
    Meeting,
    /// What ranks that wait say to one another.
    Inquiries,
    /// The sum over all sub-groups.
    Sum,
    /// The sub-groups of a rank.
    SubGroups,
    /// What a rank did when.
    Spans,
}

impl Tag {
    /// Bits of the context.
    pub(crate) const CONTEXT_BITS: u32 = 8;
    /// Bits of the number of an exchange.
    pub(crate) const SEQUENCE_BITS: u32 = 56;
    /// Numbers from here on belong to messages that are no exchange's; their fingerprints are not compared.
    const RESERVED: u64 = (1 << Self::SEQUENCE_BITS) - 16;

    /// Exchange `sequence` of a context.
    pub(crate) const fn new(context: u8, sequence: u64, history: u64) -> Self {
        Self { exchange: sequence << Self::CONTEXT_BITS | context as u64, history }
    }

    /// A message beside the exchanges of a context.
    pub(crate) const fn beside(context: u8, which: Beside) -> Self {
        Self::new(context, Self::RESERVED + which as u64, 0)
    }

    /// What ranks that wait say to one another, in the context of the whole run.
    pub(crate) const fn inquiry() -> Self {
        Self::beside(0, Beside::Inquiries)
    }

    pub(crate) fn is_inquiry(self) -> bool {
        self.meets(Self::inquiry())
    }

    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub(crate) fn context(self) -> u8 {
        self.exchange as u8
    }

    /// The number of the exchange.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub(crate) fn sequence(self) -> u64 {
        self.exchange >> Self::CONTEXT_BITS
    }

    pub(crate) fn history(self) -> u64 {
        self.history
    }

    /// Whether it names a message beside the exchanges.
    pub(crate) fn is_reserved(self) -> bool {
        self.exchange >= Self::RESERVED << Self::CONTEXT_BITS
    }

    /// Whether both name the same exchange.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.exchange == other.exchange
    }
}
