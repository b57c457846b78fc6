//! Bytes between ranks.
//!
//! [`Transport`] is the small contract that threads and MPI fulfil; [`Group`] is what the rest of the program
//! uses: ranks with collectives, written once over the trait; [`launch`] starts the ranks. One conformance
//! suite (`tests/transport.rs`) runs on both.

mod board;
mod bundle;
mod check;
mod collectives;
mod config;
mod environment;
mod exit;
mod failure;
mod finished;
mod grace;
mod group;
mod launch;
#[cfg(feature = "mpi")]
mod mpi;
mod operation;
mod payload;
mod reductions;
mod sparse;
mod split;
mod threads;
mod wait;

#[cfg(feature = "mpi")]
pub use self::mpi::run_on;
pub use config::{Config, Ranks};
pub use environment::{Launcher, detect_launcher};
pub use group::Group;
pub use launch::launch;
pub use operation::{Entered, Named};
pub use payload::{BytePool, Bytes, Payload, copied, shared, values};

use crate::error::{Failure, TransportError};

/// Names a message between two ranks: the group's context and the collective's number in it.
///
/// 28 bits, because MPI libraries offer no fewer: 8 of context (a group, so that sub-groups cannot mistake each
/// other's messages) and 20 of sequence. Sequence numbers wrap. That is sound because messages with equal tags
/// between two ranks keep their order, so that the receiver of collective *n* always meets its message before that of
/// collective *n + 2²⁰*, and a receive from any source belongs to an operation that ends in a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(u32);

impl Tag {
    /// Bits of the context.
    pub const CONTEXT_BITS: u32 = 8;
    /// Bits of context and sequence together where the transport offers them all.
    pub const BITS: u32 = 28;

    /// The tag of a sequence number in a context; the sequence must fit the transport's [`Transport::tag_bits`].
    pub fn new(context: u8, sequence: u32) -> Self {
        Self((sequence << Self::CONTEXT_BITS) | u32::from(context))
    }

    /// The number that stands for it.
    pub fn value(self) -> u32 {
        self.0
    }
}

/// What carries the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportKind {
    /// Ranks are threads of one process (or there is one rank only).
    Threads,
    /// Ranks are processes under an MPI launcher.
    Mpi,
}

impl std::fmt::Display for TransportKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Threads => "threads",
            Self::Mpi => "MPI",
        })
    }
}

/// Moves messages between the ranks of one run. Used by one thread, that of its rank.
///
/// Nothing here blocks, apart from a short park in [`idle`](Self::idle). Messages from one rank with one tag arrive in the
/// order in which they were posted; nothing is promised between different tags. A rank may post to itself.
pub trait Transport {
    /// This rank.
    fn rank(&self) -> usize;
    /// The number of ranks.
    fn size(&self) -> usize;
    /// What carries the messages.
    fn kind(&self) -> TransportKind;
    /// This rank's number among the ranks of its machine.
    fn node_rank(&self) -> usize;
    /// The number of ranks on this rank's machine.
    fn node_size(&self) -> usize;
    /// How many low bits of a [`Tag`] arrive.
    fn tag_bits(&self) -> u32 {
        Tag::BITS
    }
    /// Sends a message and returns at once; the payload is held until it is no longer needed. 0 bytes are a message too.
    fn post(&self, to: usize, tag: Tag, payload: Payload) -> Result<(), TransportError>;
    /// The next message with this tag from that rank, or from any, if one has arrived completely.
    fn poll(&self, from: Option<usize>, tag: Tag) -> Result<Option<(usize, Payload)>, TransportError>;
    /// Whether the transport holds no posted payload any more.
    fn flushed(&self) -> Result<bool, TransportError>;
    /// Tells all ranks, this one included, that the run has failed, out of band. The first failure known stays.
    fn fail(&self, failure: &Failure);
    /// The failure of the run, if this rank knows of one.
    fn failure(&self) -> Option<Failure>;
    /// This rank's program has finished well: it posts nothing more, apart from the comparison of calls.
    fn finish(&self) -> Result<(), TransportError>;
    /// Whether the program of a rank has [finished](Self::finish) and all its messages to this one can be polled. `false`
    /// while it is not known; asked in a wait, again and again, it becomes known.
    fn has_finished(&self, rank: usize) -> Result<bool, TransportError>;
    /// Lets others run: yields at first, then parks for at most about a millisecond or until something arrives.
    fn idle(&self);
}
