//! [`Transport`]: the interface that threads and MPI implement.

use super::{Payload, Tag};
use zippy_base::error::{Failure, TransportError};

/// Transport of messages: threads or MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportKind {
    /// Ranks are threads of one process, or there is only one rank.
    Threads,
    /// Ranks are processes of an MPI launcher.
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

pub(crate) struct Received {
    pub from: usize,
    pub tag: Tag,
    pub payload: Payload,
}

/// Transport of messages between the ranks of one run. Each rank's thread has its own instance.
///
/// No method blocks, except for a short park in [`idle`](Self::idle). Messages of one exchange from
/// one rank arrive in order; others have no order. A rank may send messages to itself.
pub(crate) trait Transport {
    fn rank(&self) -> usize;
    fn size(&self) -> usize;
    fn kind(&self) -> TransportKind;
    fn node_rank(&self) -> usize;
    fn node_size(&self) -> usize;
    /// Sends a message of 0 or more bytes and returns at once. The transport keeps the payload
    /// until the send completes.
    fn post(&self, to: usize, tag: Tag, payload: Payload) -> Result<(), TransportError>;
    /// Returns the next completely arrived message of `tag`'s exchange, from one rank or any rank.
    fn poll(&self, from: Option<usize>, tag: Tag) -> Result<Option<Received>, TransportError>;
    /// True if the sends of all posted messages are complete.
    fn flushed(&self) -> Result<bool, TransportError>;
    /// Reports a failure of the run to all ranks, including this rank, without receive calls. Only
    /// the first report counts.
    fn fail(&self, failure: &Failure);
    /// The failure of the run, if it is known on this rank.
    fn failure(&self) -> Option<Failure>;
    /// Marks this rank's program as finished without error. Afterwards the rank only posts messages
    /// that compare calls.
    fn finish(&self) -> Result<(), TransportError>;
    /// True if a rank's program has [finished](Self::finish) and all its messages to this rank have
    /// arrived; false if this is unknown. Repeated calls in a wait request the information from
    /// that rank.
    fn has_finished(&self, rank: usize) -> Result<bool, TransportError>;
    /// Number of messages posted to `rank`, without wait messages ([`Tag::wait_message`]).
    fn posted_to(&self, rank: usize) -> u64;
    /// Number of messages that have arrived from `rank`, without wait messages, or `None` during
    /// the arrival of a message. Equal to the sender's [`posted_to`](Self::posted_to) when no
    /// message is in flight.
    fn arrived_from(&self, rank: usize) -> Result<Option<u64>, TransportError>;
    /// Gives processor time to other threads: the first calls yield, later calls park for a few
    /// milliseconds at most, or until a message arrives.
    fn idle(&self);
}
