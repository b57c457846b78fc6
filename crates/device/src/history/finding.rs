//! [`Finding`]: a mistake that a checked run found.

use std::fmt::{self, Display, Formatter};

use super::site::Site;
use crate::chunks::ChunkId;
use crate::extents::Index;
use crate::region::Region;

/// A mistake that a checked run (`ZIPPY_CHECK=1`) found on this rank. Displays as a sentence.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Name of the array.
    pub array: String,
    /// The chunk that the operation accessed.
    pub chunk: ChunkId,
    /// The operation that made the mistake, and its call site.
    pub site: Site,
    /// The kind of mistake, with its details.
    pub problem: Problem,
}

/// Kind of mistake, with its details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// An operation read ghost cells that are older than the cells of their owner.
    StaleGhosts {
        /// Side of the chunk on which the ghost cells are: −1, 0 or 1 for each axis.
        side: Vec<i8>,
        /// The ghost cells, in global coordinates. Coordinates continue past a periodic end. Along
        /// an axis without ghost cells, the components are positions in the chunk.
        cells: Region,
        /// True if the ghost cells had been filled at least once.
        filled: bool,
        /// Last operation that wrote the owner's cells.
        writer: String,
    },
    /// A load helper of a kernel received a position outside the chunk's storage, and returned the
    /// value of another cell.
    LoadOutside(OutsideAccesses),
    /// A store helper of a kernel received a position outside the chunk's storage, and dropped the
    /// store.
    StoreOutside(OutsideAccesses),
    /// The adapter stopped a loop early, so the kernel's results are incomplete.
    LoopStopped {
        /// Line of the loop in the kernel's source, from 1.
        line: u32,
        /// The adapter's limit on the passes of all loops of a group of invocations.
        passes: u32,
        /// Number of invocations of the call with a stopped loop.
        invocations: u32,
    },
}

/// Loads or stores of one kernel call at positions outside a chunk's storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideAccesses {
    /// First position outside the storage, in global coordinates.
    pub position: Index,
    /// `global_invocation_id` of the first invocation with such an access; `None` if the invocation
    /// had not queried its position before the access.
    pub invocation: Option<[u32; 3]>,
    /// Number of loads and stores outside the chunk in the kernel call, modulo 2³².
    pub count: u32,
    /// Ghost width that is missing along one axis; `None` if wider ghost cells along a single axis
    /// would not contain the first position.
    pub missing_width: Option<MissingGhostWidth>,
}

/// Ghost width that would contain a position past the ghost cells along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingGhostWidth {
    /// The axis.
    pub axis: usize,
    /// Actual ghost width on that side of the chunk, in cells.
    pub width: u64,
    /// Ghost width that would contain the position, in cells.
    pub needed: u64,
}

impl MissingGhostWidth {
    /// Returns the ghost width that `position` needs past the ghost cells of a chunk along one
    /// axis. `None` if the position lies past them along several axes, or further than
    /// `MAX_MISSING_WIDTH`.
    pub fn new(position: &Index, owned: &Region, storage: &Region) -> Option<Self> {
        let beyond = |axis: usize| {
            let below = (owned.start[axis] - position[axis], owned.start[axis] - storage.start[axis]);
            let above = (position[axis] - owned.end[axis] + 1, storage.end[axis] - owned.end[axis]);
            let (needed, width) = [below, above].into_iter().find(|(needed, width)| needed > width && *needed > 0)?;
            Some(Self { axis, width: width.try_into().ok()?, needed: needed.try_into().ok()? })
        };
        let mut axes = (0..position.axes()).filter_map(beyond);
        let missing_width = axes.next().filter(|_| axes.next().is_none())?;
        (missing_width.needed <= missing_width.width + MAX_MISSING_WIDTH).then_some(missing_width)
    }
}

/// Maximum distance past the ghost cells, in cells, that a finding explains by a wide stencil. A
/// larger distance means a wrong index.
const MAX_MISSING_WIDTH: u64 = 16;

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

impl OutsideAccesses {
    fn advise(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(MissingGhostWidth { axis, width, needed }) = self.missing_width else {
            return f.write_str("; compare the position with the kernel's bounds before it is used");
        };
        write!(f, "; the ghost width on axis {axis} is {width}, {needed} is needed")
    }
}

impl Display for OutsideAccesses {
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
