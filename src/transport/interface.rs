//! What threads and MPI must offer: the small contract that all else is written over.

use super::{Payload, Tag};
use crate::error::{Failure, TransportError};

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

/// A message that has arrived.
pub(crate) struct Received {
    /// Its sender.
    pub from: usize,
    /// The tag that its sender gave it.
    pub tag: Tag,
    /// What it carries.
    pub payload: Payload,
}

/// Moves messages between the ranks of one run. Used by one thread, that of its rank.
///
/// Nothing here blocks, apart from a short park in [`idle`](Self::idle). Messages of one exchange from one rank arrive
/// in the order in which they were posted; nothing is promised between different ones. A rank may post to itself.
pub(crate) trait Transport {
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
    /// Sends a message and returns at once; the payload is held until it is no longer needed. 0 bytes are a message too.
    fn post(&self, to: usize, tag: Tag, payload: Payload) -> Result<(), TransportError>;
    /// The next message of this tag's exchange from that rank, or from any, if one has arrived completely.
    fn poll(&self, from: Option<usize>, tag: Tag) -> Result<Option<Received>, TransportError>;
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
    /// How many messages this rank has posted to another one, inquiries not counted.
    fn posted_to(&self, rank: usize) -> u64;
    /// How many of the messages that another rank has posted to this one have come in, if none is half here: the same
    /// number as [`posted_to`](Self::posted_to) there when nothing is on its way.
    fn come_from(&self, rank: usize) -> Result<Option<u64>, TransportError>;
    /// Lets others run: yields at first, then parks for at most about a millisecond or until something arrives.
    fn idle(&self);
}
