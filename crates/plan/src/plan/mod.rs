//! An operation as data: which boxes of which chunks go where, in which messages, in which order.
//!
//! A plan is what *one rank* does. Every rank builds its own from the same replicated facts, and they
//! agree: for each message that a rank sends there is one, with the same moves in the same order, that its
//! peer receives. Plans count in cells; bytes come in with the element sizes.

mod build;
pub mod cache;
mod copies;
mod copy;
mod explain;
mod ghosts;
pub mod matching;
pub mod one_sided;
pub mod patterns;

pub use copies::{CopiesSpec, Pair, copies};
pub use copy::{CopySpec, copy};
pub use explain::explain_all;
pub use ghosts::{Components, GhostSpec, Neighbours, ghosts};

use crate::chunks::ChunkId;
use crate::region::Region;

/// One box of cells that goes from one chunk to another, or within one.
///
/// Regions are in global coordinates of their array, and lie inside the *storage* of their chunk: ghost
/// cells are named by coordinates outside of what the chunk owns. Extents are equal, after the plan's
/// axis permutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    /// Which of the operation's arrays is read.
    pub src_array: usize,
    /// The chunk read.
    pub src_chunk: ChunkId,
    /// The cells read.
    pub src: Region,
    /// Which of the operation's arrays is written.
    pub dst_array: usize,
    /// The chunk written.
    pub dst_chunk: ChunkId,
    /// The cells written.
    pub dst: Region,
}

impl Move {
    /// Number of cells.
    pub fn cells(&self) -> u64 {
        self.dst.cells()
    }
}

/// Moves that travel together between two ranks. There is at most one message per pair and direction in
/// a plan.
///
/// The payload holds the boxes in the order of `moves`, each dense with axis 0 of the **destination** fastest,
/// each starting at a multiple of 4 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Message {
    /// The other rank.
    pub peer: usize,
    /// Its place in the schedule, the same on both sides.
    pub round: usize,
    /// The boxes, in payload order.
    pub moves: Vec<Move>,
}

impl Message {
    /// Where each box starts in the payload, and the payload's length, in bytes. `element_bytes[a]` is the
    /// size of a cell of the operation's array `a`.
    pub fn offsets(&self, element_bytes: &[usize]) -> (Vec<u64>, u64) {
        let mut end = 0_u64;
        let mut starts = Vec::with_capacity(self.moves.len());
        for this in &self.moves {
            starts.push(end);
            end = (end + this.cells() * element_bytes[this.src_array] as u64).next_multiple_of(4);
        }
        (starts, end)
    }

    /// Bytes of cells in the message, without padding.
    pub fn bytes(&self, element_bytes: &[usize]) -> u64 {
        self.moves.iter().map(|this| this.cells() * element_bytes[this.src_array] as u64).sum()
    }
}

/// Where the cells of a move come from, for [`RankPlan::waves`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arrival {
    /// `local[index]`.
    Local(usize),
    /// Box `index` of message `receives[message]`.
    Received {
        /// Which message.
        message: usize,
        /// Which of its moves.
        index: usize,
    },
}

/// What one rank does in an operation.
///
/// The executor gathers the boxes of `sends` and posts them in order, makes the `local` moves as if all of them
/// had been read before the first is written, and scatters `receives` in order. When `overlap` is set,
/// all reading must be done before any writing. When `waves` is not empty, destinations of different
/// moves share cells, and it gives the order instead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RankPlan {
    /// The rank that this plan is for.
    pub rank: usize,
    /// Moves between chunks of this rank.
    pub local: Vec<Move>,
    /// Messages that this rank sends, in posting order.
    pub sends: Vec<Message>,
    /// Messages that this rank receives, in posting order.
    pub receives: Vec<Message>,
    /// Axis `i` of the destination takes axis `permutation[i]` of the source; `None` is the identity.
    pub permutation: Option<Vec<usize>>,
    /// Rounds of the schedule. Zero when this rank talks to nobody.
    pub rounds: usize,
    /// Whether source and destination may share cells.
    pub overlap: bool,
    /// All local moves and received boxes, cut into waves that must be applied one after the other; moves of
    /// one wave have disjoint destinations. Empty when any order will do.
    pub waves: Vec<Vec<Arrival>>,
}

/// What an operation moved, from the point of view of one rank. Sums over ranks are the whole operation's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Moved {
    /// Bytes moved between chunks of this rank.
    pub bytes_local: u64,
    /// Bytes sent to other ranks, padding not included.
    pub bytes_network: u64,
    /// Messages sent to other ranks.
    pub messages: u64,
    /// Rounds of the schedule; zero when this rank talked to nobody.
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
    /// A plan in which this rank has no part.
    pub fn empty(rank: usize) -> Self {
        Self { rank, ..Self::default() }
    }

    /// Whether this rank has nothing to do.
    pub fn is_empty(&self) -> bool {
        self.local.is_empty() && self.sends.is_empty() && self.receives.is_empty()
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> usize {
        let messages = self.sends.iter().chain(&self.receives);
        let moves = self.local.len() + messages.clone().map(|message| message.moves.len()).sum::<usize>();
        let arrivals: usize = self.waves.iter().map(Vec::len).sum();
        size_of::<Self>()
            + moves * size_of::<Move>()
            + messages.count() * size_of::<Message>()
            + arrivals * size_of::<Arrival>()
    }

    /// What it moves. `element_bytes[a]` is the size of a cell of the operation's array `a`.
    pub fn moved(&self, element_bytes: &[usize]) -> Moved {
        Moved {
            bytes_local: self.local.iter().map(|this| this.cells() * element_bytes[this.src_array] as u64).sum(),
            bytes_network: self.sends.iter().map(|message| message.bytes(element_bytes)).sum(),
            messages: self.sends.len() as u64,
            rounds: self.rounds as u64,
        }
    }
}
