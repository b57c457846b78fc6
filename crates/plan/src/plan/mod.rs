//! [`RankPlan`]: the moves of an operation as data, with their messages and their order.
//!
//! A plan has the work of *one rank*. Each rank builds its own plan from the same replicated
//! inputs. The plans are consistent: sender and receiver of a message have the same moves in the
//! same order. Plans count cells; element sizes convert cells to bytes.

mod build;
#[doc(hidden)]
pub mod cache;
mod copies;
mod copy;
mod explain;
mod ghosts;
mod matching;
#[doc(hidden)]
pub mod one_sided;
mod swap;

pub use copies::{CopiesSpec, Pair, copies};
pub use copy::{CopySpec, copy};
pub use ghosts::{Components, GhostSpec, Neighbours, ghosts};
pub use swap::{Swap, SwapStep};

use crate::chunks::ChunkId;
use crate::region::Region;

/// Move of a box of cells from a chunk to another, or inside a chunk.
///
/// Regions are in global coordinates of their array, and inside the *storage* of their chunk:
/// coordinates of ghost cells are outside of the chunk's own cells. Source and destination have
/// equal extents, after the axis permutation of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    /// Index of the source array in the operation.
    pub src_array: usize,
    /// Index of the source chunk.
    pub src_chunk: ChunkId,
    /// Cells of the source.
    pub src: Region,
    /// Index of the destination array in the operation.
    pub dst_array: usize,
    /// Index of the destination chunk.
    pub dst_chunk: ChunkId,
    /// Cells of the destination.
    pub dst: Region,
}

impl Move {
    /// Number of cells.
    pub fn cells(&self) -> u64 {
        self.dst.cells()
    }
}

/// All moves of an operation from a rank to another, at most one message per pair and direction.
///
/// The payload has the boxes in the order of `moves`, each dense with axis 0 of the **destination**
/// fastest, each at an offset that is a multiple of 4 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Message {
    /// The other rank.
    pub peer: usize,
    /// Round of the message in the schedule, equal on both ranks.
    pub round: usize,
    /// The moves, in the order of the payload.
    pub moves: Vec<Move>,
}

impl Message {
    /// Offset of each box in the payload, and length of the payload, in bytes. `element_bytes[a]`
    /// is the size of a cell of the operation's array `a`.
    pub fn offsets(&self, element_bytes: &[usize]) -> (Vec<u64>, u64) {
        let mut end = 0_u64;
        let mut starts = Vec::with_capacity(self.moves.len());
        for step in &self.moves {
            starts.push(end);
            end = (end + step.cells() * element_bytes[step.src_array] as u64).next_multiple_of(4);
        }
        (starts, end)
    }

    /// Bytes of cells in the message, without padding.
    pub fn bytes(&self, element_bytes: &[usize]) -> u64 {
        self.moves.iter().map(|step| step.cells() * element_bytes[step.src_array] as u64).sum()
    }
}

/// Source of the cells of a move, for [`RankPlan::waves`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arrival {
    /// Move `local[index]`, inside the rank.
    Local(usize),
    /// Box `index` of message `receives[message]`.
    Received {
        /// Index of the message in `receives`.
        message: usize,
        /// Index of the move in the message.
        index: usize,
    },
}

/// Plan of a rank for an operation.
///
/// The executor gathers the boxes of `sends` and posts the messages in order, makes the `local`
/// moves with all reads before the first write, and scatters `receives` in order. With `overlap`,
/// all reads must be before all writes. If `waves` is not empty, destinations of different moves
/// have common cells, and the waves are the order of the moves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RankPlan {
    /// The rank of the plan.
    pub rank: usize,
    /// Moves between chunks of this rank.
    pub local: Vec<Move>,
    /// Messages that this rank sends, in posting order.
    pub sends: Vec<Message>,
    /// Messages that this rank receives, in posting order.
    pub receives: Vec<Message>,
    /// Axis `i` of the destination is axis `permutation[i]` of the source; `None` is the identity.
    pub permutation: Option<Vec<usize>>,
    /// Number of rounds of the schedule; 0 if this rank has no messages.
    pub rounds: usize,
    /// True if source and destination can have common cells.
    pub overlap: bool,
    /// All local moves and received boxes, in successive waves. Moves of a wave have disjoint
    /// destinations. Empty if the order of moves does not matter.
    pub waves: Vec<Vec<Arrival>>,
}

/// Statistics of an operation on one rank. The sum over all ranks is that of the operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Moved {
    /// Bytes moved between chunks of this rank.
    pub bytes_local: u64,
    /// Bytes sent to other ranks, without padding.
    pub bytes_network: u64,
    /// Messages sent to other ranks.
    pub messages: u64,
    /// Number of rounds of the schedule; 0 if this rank had no messages.
    pub rounds: u64,
}

impl std::ops::AddAssign for Moved {
    fn add_assign(&mut self, more: Self) {
        self.bytes_local += more.bytes_local;
        self.bytes_network += more.bytes_network;
        self.messages += more.messages;
        self.rounds += more.rounds;
    }
}

impl RankPlan {
    /// Plan of a rank without work.
    pub fn empty(rank: usize) -> Self {
        Self { rank, ..Self::default() }
    }

    /// True if this rank has no work.
    pub fn is_empty(&self) -> bool {
        self.local.is_empty() && self.sends.is_empty() && self.receives.is_empty()
    }

    /// Memory of the plan, in bytes.
    pub fn bytes(&self) -> usize {
        let messages = self.sends.iter().chain(&self.receives);
        let moves = self.local.len() + messages.clone().map(|message| message.moves.len()).sum::<usize>();
        let arrivals: usize = self.waves.iter().map(Vec::len).sum();
        size_of::<Self>()
            + moves * size_of::<Move>()
            + messages.count() * size_of::<Message>()
            + arrivals * size_of::<Arrival>()
    }

    /// Statistics of the plan. `element_bytes[a]` is the size of a cell of the operation's array
    /// `a`.
    pub fn moved(&self, element_bytes: &[usize]) -> Moved {
        Moved {
            bytes_local: self.local.iter().map(|step| step.cells() * element_bytes[step.src_array] as u64).sum(),
            bytes_network: self.sends.iter().map(|message| message.bytes(element_bytes)).sum(),
            messages: self.sends.len() as u64,
            rounds: self.rounds as u64,
        }
    }
}
