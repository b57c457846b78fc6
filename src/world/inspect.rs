//! What there is in a world, and what a checked run has found.

use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use super::{Collective, Exchange, Named, World};
use crate::array::{ArrayCore, ArrayId, GlobalArray};
use crate::chunks::ChunkId;
use crate::device::BoxOf;
use crate::element::Element;
use crate::error::{ArrayError, CallSite, Result};
use crate::extents::Index;
use crate::history::{Finding, GhostState, Site, WriteRecord};
use crate::plan::{self, GhostSpec};
use crate::region::Region;
use crate::transport::{decoded, encoded};

pub use crate::array::ArrayKind;

/// An array as [`World::arrays`] lists it. Displays as a line.
#[derive(Debug, Clone)]
pub struct ArrayInfo {
    /// Its name.
    pub name: String,
    /// Whether it is global, of this rank alone, or growable.
    pub kind: ArrayKind,
    /// The name of its element type.
    pub element: &'static str,
    /// Its extents in cells; of a growable array the cells in use.
    pub shape: Index,
    /// How many chunks it is cut into, on all ranks.
    pub chunk_count: usize,
    /// The chunks of this rank.
    pub chunks: Vec<ChunkInfo>,
}

/// A chunk of this rank.
#[derive(Debug, Clone)]
pub struct ChunkInfo {
    /// Its number in the array.
    pub id: ChunkId,
    /// The cells that it owns.
    pub region: Region,
    /// Bytes of its buffer, ghost cells and room included.
    pub bytes: u64,
    /// How often it was written. An operation counts once; ghost updates do not count, nor does what wgpu calls of the
    /// program's own do without [`mark_written`](ArrayCore::mark_written).
    pub writes: u64,
    /// Who wrote it last.
    pub last_writer: Option<Site>,
}

impl ArrayInfo {
    /// Bytes of this rank's buffers.
    pub fn bytes(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.bytes).sum()
    }
}

impl Display for ArrayInfo {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, kind, element, shape, chunk_count, chunks } = self;
        let (here, bytes) = (chunks.len(), self.bytes());
        write!(f, "{kind} {name:?}: {element} {shape}, {chunk_count} chunks, {here} here with {bytes} bytes")?;
        match chunks.iter().max_by_key(|chunk| chunk.last_writer.as_ref().map(Site::step)) {
            Some(ChunkInfo { writes, last_writer: Some(site), .. }) => {
                write!(f, ", written {writes} times, last by {site}")
            }
            _ => Ok(()),
        }
    }
}

/// What the ghost cells on one side of a chunk are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GhostSide {
    /// The chunk.
    pub chunk: ChunkId,
    /// The side: −1, 0 or 1 an axis.
    pub side: Vec<i8>,
    /// The worst that is true of a cell there.
    pub state: GhostState,
}

/// Ghost cells that have another value than their owners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GhostDifference {
    /// The chunk.
    pub chunk: ChunkId,
    /// The side: −1, 0 or 1 an axis.
    pub side: Vec<i8>,
    /// How many cells differ there in some byte.
    pub cells: u64,
    /// The first of them, in global coordinates.
    pub first: Index,
}

impl World {
    /// The arrays that are alive: those in the registry of this world, then those of this rank alone, each in order of
    /// creation. Handles of the same chunks, as after a re-arrangement, are listed each. Local.
    pub fn arrays(&self) -> Vec<ArrayInfo> {
        let registry = self.registry.borrow();
        registry.alive().chain(registry.locals()).map(|array| info(&array)).collect()
    }

    /// The arrays that are alive: those in the registry, then those of this rank alone.
    pub(crate) fn alive_arrays(&self) -> (Vec<Rc<ArrayCore>>, Vec<Rc<ArrayCore>>) {
        let registry = self.registry.borrow();
        (registry.alive().collect(), registry.locals().collect())
    }

    /// The array of a number: of this rank alone, if it is named, or in the registry. `None` where another rank is named.
    pub(crate) fn numbered(&self, rank: Option<u32>, number: u64) -> Option<Rc<ArrayCore>> {
        let registry = self.registry.borrow();
        match rank {
            None => registry.get(ArrayId(number)),
            Some(rank) if rank as usize == self.rank() => registry.locals().find(|array| array.id().0 == number),
            Some(_) => None,
        }
    }

    /// Whether the run is checked, so that what ghost cells are is known.
    pub(crate) fn is_checked(&self) -> bool {
        self.ledger.watches()
    }

    /// What was found so far on this rank in a checked run (`ZIPPY_CHECK=1`): stale ghost cells that were read, and loads
    /// and stores outside of chunks, once for each array, side and place in the program. What kernels have loaded is looked
    /// at when the ranks meet next, in a collective or at a debug point. Empty in other runs. Local.
    pub fn findings(&self) -> Vec<Finding> {
        self.ledger.findings()
    }

    /// What the ghost cells of this rank's chunks are, by side: whether an owner has been written since they were filled.
    /// Known in checked runs (`ZIPPY_CHECK=1`) only. Collective.
    ///
    /// # Errors
    /// The run is not checked; the chunks have other neighbours in another handle; a failure of this or of another rank.
    #[track_caller]
    pub fn ghost_states<T: Element, const D: usize>(&self, array: &GlobalArray<T, D>) -> Result<Vec<GhostSide>> {
        let _call = CallSite::enter();
        let call = Collective::new("ghost_states").of(Named::of(array.core()), None);
        self.collective(call.clone(), call.signature(), || Ok(()))?;
        let name = array.name();
        if !self.ledger.watches() {
            let text = format!(
                "whether the ghost cells of array {name:?} are stale is known in checked runs only: set ZIPPY_CHECK=1, or ask \
                 compare_ghosts, which compares values"
            );
            return Err(ArrayError::Other(text).into());
        }
        let Some(ghosts) = array.core().ghosts() else { return Ok(Vec::new()) };
        let Some(states) = ghosts.states() else {
            let text =
                format!("the chunks of array {name:?} have other neighbours in another handle, so nothing is known");
            return Err(ArrayError::Other(text).into());
        };
        Ok(states.into_iter().map(|(chunk, side, state)| GhostSide { chunk, side, state }).collect())
    }

    /// The ghost cells of this rank's chunks that differ from their owners, by value, in any run. Collective; makes an array
    /// like this one for the time, and updates that one's ghost cells.
    ///
    /// # Errors
    /// No memory for it; a failure of this or of another rank.
    #[track_caller]
    pub fn compare_ghosts<T: Element, const D: usize>(
        &self,
        array: &GlobalArray<T, D>,
    ) -> Result<Vec<GhostDifference>> {
        let _call = CallSite::enter();
        let core = array.core();
        let name = format!("zippy: fresh ghost cells of {}", array.name());
        let fresh = self.create(&name, core.element(), core.placement().clone())?;
        self.failing("copying an array", || {
            core.owned().try_for_each(|chunk| {
                let (Some(from), Some(to)) = (core.lease(chunk)?, fresh.lease(chunk)?) else { return Ok(()) };
                let view = core.strided(chunk, &core.chunks().storage(chunk));
                let pair = (BoxOf { buffer: &from, view }, BoxOf { buffer: &to, view });
                Ok(self.device().copy_boxes(core.element().bytes, &[pair])?)
            })
        })?;
        self.exchange(Exchange::new().ghosts(&GlobalArray::<T, D>::from_core(fresh.clone())))?;
        self.failing("comparing ghost cells", || self.differences(core, &fresh))
    }

    fn differences(&self, one: &ArrayCore, other: &ArrayCore) -> Result<Vec<GhostDifference>> {
        let plan = plan::ghosts(&[(one.placement(), &GhostSpec::all())], self.rank())?;
        let moves = plan.local.iter().chain(plan.receives.iter().flat_map(|message| &message.moves));
        let size = one.element().bytes;
        let mut out: Vec<GhostDifference> = Vec::new();
        for of in moves {
            let cells = |array: &ArrayCore| -> Result<Vec<u8>> {
                let mut bytes = vec![0; of.dst.cells() as usize * size];
                array.read(of.dst_chunk, &of.dst, &mut bytes)?;
                Ok(bytes)
            };
            let (mine, right) = (cells(one)?, cells(other)?);
            let pairs = mine.chunks(size).zip(right.chunks(size));
            let cells = pairs.clone().filter(|(mine, right)| mine != right).count() as u64;
            let Some(first) = of.dst.points().zip(pairs).find(|(_, (mine, right))| mine != right) else { continue };
            let (chunk, side) = (of.dst_chunk, one.chunks().region(of.dst_chunk).side_of(&of.dst));
            match out.iter_mut().find(|known| known.chunk == chunk && known.side == side) {
                Some(known) => known.cells += cells,
                None => out.push(GhostDifference { chunk, side, cells, first: first.0 }),
            }
        }
        Ok(out)
    }

    /// In a checked run, tells the other ranks what this one has written since they met, and looks at what was read.
    pub(super) fn tell_writes(&self) -> Result<()> {
        self.ledger.meet(|own: Vec<WriteRecord>| {
            if self.size() == 1 {
                return Ok(own);
            }
            let all = self.inner().all_gather_v(encoded(&own)?)?;
            let all = all.iter().map(decoded::<Vec<WriteRecord>>).collect::<Result<Vec<_>>>()?;
            Ok(all.into_iter().flatten().collect())
        })
    }
}

fn info(array: &Rc<ArrayCore>) -> ArrayInfo {
    let chunk = |id: ChunkId| {
        let history = array.history(id);
        ChunkInfo {
            id,
            region: array.chunks().region(id),
            bytes: array.chunk_bytes(id),
            writes: history.map_or(0, |history| history.writes()),
            last_writer: history.and_then(|history| history.last_writer()),
        }
    };
    ArrayInfo {
        name: array.name().to_string(),
        kind: array.kind(),
        element: array.element().name,
        shape: array.in_use(),
        chunk_count: array.chunks().count(),
        chunks: array.owned().map(chunk).collect(),
    }
}
