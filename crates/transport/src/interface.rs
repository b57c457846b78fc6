//! [`Transport`]: the interface that threads and MPI implement, and that all other code of this
//! module uses.

use super::{Payload, Tag};
use zippy_base::error::{Failure, TransportError};

/// The means of transport of messages.
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
    /// Rank of the sender.
    pub from: usize,
    /// The tag that the sender gave.
    pub tag: Tag,
    /// The bytes of the message.
    pub payload: Payload,
}

/// Moves messages between the ranks of one run. Each rank has an instance, and only the thread of
/// that rank uses it.
///
/// No method blocks, except for a short park in [`idle`](Self::idle). Messages of one exchange from
/// one rank arrive in the order of their posts. There is no order between different exchanges or
/// senders. A rank may post messages to itself.
pub(crate) trait Transport {
    /// Number of this rank in the run.
    fn rank(&self) -> usize;
    /// Number of ranks in the run.
    fn size(&self) -> usize;
    /// The means of transport of messages.
    fn kind(&self) -> TransportKind;
    /// Number of this rank among the ranks on its node.
    fn node_rank(&self) -> usize;
    /// Number of ranks on the node of this rank.
    fn node_size(&self) -> usize;
    /// Sends a message and returns at once. The transport keeps the payload until the send is
    /// complete. A message may have 0 bytes.
    fn post(&self, to: usize, tag: Tag, payload: Payload) -> Result<(), TransportError>;
    /// Returns the next message of the exchange of `tag` from rank `from`, or from any rank, if one
    /// has arrived completely.
    fn poll(&self, from: Option<usize>, tag: Tag) -> Result<Option<Received>, TransportError>;
    /// True if the sends of all posted messages are complete, so that the transport keeps no
    /// payload.
    fn flushed(&self) -> Result<bool, TransportError>;
    /// Reports a failure of the run to all ranks, including this rank, by a way that needs no
    /// receive. The first reported failure stays.
    fn fail(&self, failure: &Failure);
    /// The failure of the run, if this rank has been notified of one.
    fn failure(&self) -> Option<Failure>;
    /// Marks the program of this rank as finished without error. From now on the rank posts no
    /// message, except for the comparison of calls at the end of a run.
    fn finish(&self) -> Result<(), TransportError>;
    /// True if the program of a rank has [finished](Self::finish) and all its messages to this rank
    /// have arrived. `false` also while this is unknown. Repeated calls in a wait request the
    /// information from the other rank.
    fn has_finished(&self, rank: usize) -> Result<bool, TransportError>;
    /// Number of messages that this rank has posted to `rank`, without messages of waiting ranks
    /// ([`Tag::wait_message`]).
    fn posted_to(&self, rank: usize) -> u64;
    /// Number of messages that have arrived from `rank`, without messages of waiting ranks, or
    /// `None` while a message has arrived only in part. Equal to [`posted_to`](Self::posted_to) on
    /// the sender when no message is in flight.
    fn arrived_from(&self, rank: usize) -> Result<Option<u64>, TransportError>;
    /// Gives other threads processor time: yields in the first calls, then parks for about a
    /// millisecond at most or until a message arrives.
    fn idle(&self);
}
