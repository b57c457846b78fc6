//! [`Finding`]: what a checked run has found.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::site::Site;
use crate::chunks::ChunkId;
use crate::extents::Index;
use crate::region::Region;

/// A mistake that a checked run (`ZIPPY_CHECK=1`) has found on this rank. Displays as a sentence.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The array's name.
    pub array: String,
    /// The chunk whose cells were asked for.
    pub chunk: ChunkId,
    /// Who did it.
    pub site: Site,
    /// What was wrong.
    pub problem: Problem,
}

/// What was wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Ghost cells were read whose owner had been written since they were filled.
    StaleGhosts {
        /// On which side of the chunk they are: −1, 0 or 1 an axis.
        side: Vec<i8>,
        /// The cells, in global coordinates; beyond a periodic end they go on counting. Components are positions along an
        /// axis without ghost cells.
        cells: Region,
        /// Whether they had been filled at all.
        filled: bool,
        /// Who wrote the owner's cells last.
        writer: String,
    },
    /// A helper's load asked for a position outside of the chunk's storage, which gives some other cell's value.
    LoadOutside(Stray),
    /// A helper's store named a position outside of the chunk's storage, where it is dropped.
    StoreOutside(Stray),
    /// The adapter has stopped a loop before its end, so the kernel's results are incomplete.
    LoopStopped {
        /// The line of the loop in the kernel's text, from 1.
        line: u32,
        /// Limit of the adapter on the passes of all loops of a group of invocations.
        passes: u32,
        /// Number of invocations of the call with a stopped loop.
        invocations: u32,
    },
}

/// Positions outside of a chunk's storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// The first one, in global coordinates.
    pub position: Index,
    /// The `global_invocation_id` of the first invocation; `None` where it had not asked for its position.
    pub invocation: Option<[u32; 3]>,
    /// How many loads and stores of the call were outside of their chunk, modulo 2³².
    pub count: u32,
    /// Where the first one lies that far beyond the owned cells along one axis that wider ghost cells would hold it.
    pub reach: Option<Reach>,
}

/// A position beyond the ghost cells of one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// The axis.
    pub axis: usize,
    /// The width of the ghost cells on that side.
    pub width: u64,
    /// The width that would hold the position.
    pub needed: u64,
}

impl Reach {
    /// The axis along which a position lies beyond the ghost cells of a chunk; none where there are several, or where it is
    /// further away than a stencil reaches.
    pub(crate) fn of(position: &Index, owned: &Region, storage: &Region) -> Option<Self> {
        let beyond = |axis: usize| {
            let below = (owned.start[axis] - position[axis], owned.start[axis] - storage.start[axis]);
            let above = (position[axis] - owned.end[axis] + 1, storage.end[axis] - owned.end[axis]);
            let (needed, width) = [below, above].into_iter().find(|(needed, width)| needed > width && *needed > 0)?;
            Some(Self { axis, width: width.try_into().ok()?, needed: needed.try_into().ok()? })
        };
        let mut axes = (0..position.axes()).filter_map(beyond);
        let reach = axes.next().filter(|_| axes.next().is_none())?;
        (reach.needed <= reach.width + MOST_REACH).then_some(reach)
    }
}

/// A stencil reaches no further beyond the ghost cells than so many cells; what does is an index that went wrong.
const MOST_REACH: u64 = 16;

/// What the ghost cells on one side of a chunk are. Had from [`World::ghost_states`](crate::World::ghost_states).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum GhostState {
    /// Their owners have not been written since they were filled.
    Fresh,
    /// An owner has been written since they were filled.
    Stale,
    /// They have not been filled since the array was made.
    NeverFilled,
}

impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { array, chunk, site, problem } = self;
        write!(f, "array {array:?}, chunk {chunk}: {site} ")?;
        match problem {
            Problem::StaleGhosts { side, cells, filled, writer } => {
                write!(f, "reads ghost cells {cells} on side {side:?}, ")?;
                f.write_str(if *filled { "which are stale" } else { "which were never filled" })?;
                write!(f, ": their owner was written by {writer}; update the ghost cells in between")
            }
            Problem::LoadOutside(stray) => {
                write!(f, "loads {stray}, outside of the chunk and its ghost cells, and gets some other value")?;
                stray.advise(f)
            }
            Problem::StoreOutside(stray) => {
                write!(f, "stores {stray}, outside of the chunk and its ghost cells, where it is dropped")?;
                stray.advise(f)
            }
            Problem::LoopStopped { line, passes, invocations } => write!(
                f,
                "has a loop in line {line} that the adapter stops: it allows {passes} loop passes for each group of invocations, \
                 and stopped {invocations} invocation(s); divide the passes among several calls, or among more invocations"
            ),
        }
    }
}

impl Stray {
    fn advise(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(Reach { axis, width, needed }) = self.reach else {
            return f.write_str("; compare the position with the kernel's bounds before it is used");
        };
        write!(f, "; the ghost width on axis {axis} is {width}, {needed} is needed")
    }
}

impl Display for Stray {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { position, invocation, count, .. } = self;
        write!(f, "cell {:?}", &position[..])?;
        if let Some(id) = invocation {
            write!(f, " (invocation {id:?})")?;
        }
        match count {
            1 => Ok(()),
            more => write!(f, " and {} more", more - 1),
        }
    }
}
