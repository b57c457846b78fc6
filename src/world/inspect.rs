//! Inspection of a world: its arrays, ghost cells, and the findings of a checked run.

use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use super::{ArrayIdentity, Collective, CollectiveWorld, DebugPoint, Exchange, Observer, World};
use crate::array::ArrayKind;
use crate::array::{ArrayCore, ArrayId, GlobalArray};
use crate::chunks::ChunkId;
use crate::device::BufferBox;
use crate::element::Element;
use crate::error::{ArrayError, CallSite, Result};
use crate::extents::Index;
use crate::history::{Finding, GhostState, Site, WriteRecord};
use crate::plan::{self, GhostSpec};
use crate::region::Region;
use crate::transport::{decoded, encoded};

/// Description of an array, from [`Debugging::arrays`]. Displays as one line.
#[derive(Debug, Clone)]
pub struct ArrayInfo {
    /// Name of the array.
    pub name: String,
    /// Global, local to this rank, or growable.
    pub kind: ArrayKind,
    /// Name of the element type.
    pub element: &'static str,
    /// Extents in cells. For a growable array, the cells in use.
    pub shape: Index,
    /// Number of chunks on all ranks.
    pub chunk_count: usize,
    /// Chunks of this rank.
    pub chunks: Vec<ChunkInfo>,
}

/// Description of a chunk of this rank.
#[derive(Debug, Clone)]
pub struct ChunkInfo {
    /// Index of the chunk in the array.
    pub id: ChunkId,
    /// Cells of the chunk, without ghost cells.
    pub region: Region,
    /// Bytes of the buffer, including ghost cells and unused capacity.
    pub bytes: u64,
    /// Number of operations that wrote the chunk. Ghost updates do not count. Direct wgpu calls of
    /// the program count only with [`mark_written`](ArrayCore::mark_written).
    pub writes: u64,
    /// Call site and operation of the last write.
    pub last_writer: Option<Site>,
}

impl ArrayInfo {
    /// Bytes of the buffers of this rank.
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

/// State of the ghost cells on one side of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GhostSide {
    /// Index of the chunk.
    pub chunk: ChunkId,
    /// Direction of the side: −1, 0 or 1 per axis.
    pub side: Vec<i8>,
    /// Worst state of a ghost cell on this side.
    pub state: GhostState,
}

/// Ghost cells with values that differ from their owners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GhostDifference {
    /// Index of the chunk.
    pub chunk: ChunkId,
    /// Direction of the side: −1, 0 or 1 per axis.
    pub side: Vec<i8>,
    /// Number of cells that differ in any byte.
    pub cells: u64,
    /// First cell that differs, in global coordinates.
    pub first: Index,
}

/// Inspection of a world and of its debug points, from [`World::debug`].
#[derive(Clone, Copy)]
pub struct Debugging<'w> {
    world: &'w World,
}

impl World {
    /// Inspection of the arrays, ghost cells and debug points of this world. Local.
    pub fn debug(&self) -> Debugging<'_> {
        Debugging { world: self }
    }
}

impl Debugging<'_> {
    /// Lists the live arrays: first the arrays in the registry of this world, then the local arrays
    /// of this rank, each in order of creation. Several handles of the same chunks, for example
    /// after a rearrangement, have an entry each. Local.
    pub fn arrays(&self) -> Vec<ArrayInfo> {
        let registry = self.world.registry.borrow();
        registry.alive().chain(registry.locals()).map(|array| describe_array(&array)).collect()
    }

    /// Findings on this rank in a checked run (`ZIPPY_CHECK=1`); empty in other runs. Local.
    ///
    /// A finding is a read of stale ghost cells, or an access outside chunks, reported once per
    /// array, side and call site. Loads of kernels are checked when the ranks synchronize next, in
    /// a collective or at a debug point.
    pub fn findings(&self) -> Vec<Finding> {
        self.world.ledger.findings()
    }

    /// States of the ghost cells of this rank's chunks, by side: stale if an owner was written
    /// after the last ghost update. Only in checked runs (`ZIPPY_CHECK=1`). Collective.
    ///
    /// # Errors
    /// The run is not checked; the chunks have other neighbours through another handle; a failure
    /// of this or another rank.
    #[track_caller]
    pub fn ghost_states<T: Element, const D: usize>(&self, array: &GlobalArray<T, D>) -> Result<Vec<GhostSide>> {
        let _call = CallSite::enter();
        let call = Collective::new("ghost_states").array(ArrayIdentity::from_core(array.core()), None);
        self.world.collective(call.clone(), call.signature(), || Ok(()))?;
        let name = array.name();
        if !self.world.ledger.is_checked() {
            let text = format!(
                "whether the ghost cells of array {name:?} are stale is known in checked runs only: set ZIPPY_CHECK=1, or call \
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

    /// Finds the ghost cells of this rank's chunks with values that differ from their owners, in
    /// any run. Collective; creates a temporary array like `array` and updates its ghost cells.
    ///
    /// # Errors
    /// Too little memory for the temporary array; a failure of this or another rank.
    #[track_caller]
    pub fn compare_ghosts<T: Element, const D: usize>(
        &self,
        array: &GlobalArray<T, D>,
    ) -> Result<Vec<GhostDifference>> {
        let _call = CallSite::enter();
        let core = array.core();
        let name = format!("zippy: fresh ghost cells of {}", array.name());
        let fresh = self.world.create(&name, core.element(), core.placement().clone(), wgpu::BufferUsages::empty())?;
        self.world.failing("copying an array", || {
            core.owned().try_for_each(|chunk| {
                let (Some(from), Some(to)) = (core.lease(chunk)?, fresh.lease(chunk)?) else { return Ok(()) };
                let view = core.strided(chunk, &core.chunks().storage(chunk));
                let pair = (BufferBox { buffer: &from, view }, BufferBox { buffer: &to, view });
                Ok(self.world.device().copy_boxes(core.element().bytes, &[pair])?)
            })
        })?;
        self.world.exchange(Exchange::new().ghosts(&GlobalArray::<T, D>::from_core(fresh.clone())))?;
        self.world.failing("comparing ghost cells", || self.world.ghost_differences(core, &fresh))
    }

    /// Continues the numbering of debug points after an earlier run with `count` of them, so that
    /// `every:N` records the steps at which the program writes its own files. A count below the
    /// current number has no effect. Local; every rank passes the same count.
    pub fn skip_points(&self, count: u64) {
        self.world.ledger.skip_to(count);
    }

    /// True if an observer or viewer requests the next [`World::debug_point`] with this
    /// name. Use it to skip the computation of arrays that are only displayed. Local, with the same
    /// result on every rank.
    pub fn is_observed(&self, name: &str) -> bool {
        let wants = |viewer: &Rc<RefCell<dyn Observer>>| viewer.borrow().wants(self.world.ledger.step() + 1, name);
        let observed = self.world.observer.borrow().is_some() || self.world.viewer.borrow().as_ref().is_some_and(wants);
        observed && !self.world.is_observing.get()
    }

    /// Sets the observer that each later [`World::debug_point`] calls, and replaces a
    /// previous one. Local.
    ///
    /// An observer has the rights of the program. It may read chunks of this rank, which waits for
    /// queued kernels. It may call collectives if every rank has an observer that calls them.
    pub fn observe(&self, observer: impl FnMut(&World, &DebugPoint) -> Result<()> + 'static) {
        *self.world.observer.borrow_mut() = Some(Rc::new(RefCell::new(observer)));
    }

    /// Removes the observer. Local; an observer may call this method.
    pub fn stop_observing(&self) {
        self.world.observer.take();
    }
}

impl World {
    /// Live arrays: those in the registry, and the local arrays of this rank.
    pub(crate) fn alive_arrays(&self) -> (Vec<Rc<ArrayCore>>, Vec<Rc<ArrayCore>>) {
        let registry = self.registry.borrow();
        (registry.alive().collect(), registry.locals().collect())
    }

    /// Array with the id `number`: a local array of rank `rank`, or one in the registry if `rank`
    /// is `None`. Returns `None` for a local array of another rank.
    pub(crate) fn array_by_number(&self, rank: Option<u32>, number: u64) -> Option<Rc<ArrayCore>> {
        let registry = self.registry.borrow();
        match rank {
            None => registry.get(ArrayId(number)),
            Some(rank) if rank as usize == self.rank() => registry.locals().find(|array| array.id().0 == number),
            Some(_) => None,
        }
    }

    /// True in a checked run, which tracks the state of ghost cells.
    pub(crate) fn is_checked(&self) -> bool {
        self.ledger.is_checked()
    }

    fn ghost_differences(&self, array: &ArrayCore, fresh: &ArrayCore) -> Result<Vec<GhostDifference>> {
        let plan = plan::ghosts(&[(array.placement(), &GhostSpec::all())], self.rank())?;
        let moves = plan.local.iter().chain(plan.receives.iter().flat_map(|message| &message.moves));
        let size = array.element().bytes;
        let mut differences: Vec<GhostDifference> = Vec::new();
        for update in moves {
            let read_cells = |array: &ArrayCore| -> Result<Vec<u8>> {
                let mut bytes = vec![0; update.dst.cells() as usize * size];
                array.read(update.dst_chunk, &update.dst, &mut bytes)?;
                Ok(bytes)
            };
            let (found, expected) = (read_cells(array)?, read_cells(fresh)?);
            let pairs = found.chunks(size).zip(expected.chunks(size));
            let cells = pairs.clone().filter(|(found, expected)| found != expected).count() as u64;
            let Some(first) = update.dst.points().zip(pairs).find(|(_, (found, expected))| found != expected) else {
                continue;
            };
            let (chunk, side) = (update.dst_chunk, array.chunks().region(update.dst_chunk).side_of(&update.dst));
            match differences.iter_mut().find(|found| found.chunk == chunk && found.side == side) {
                Some(found) => found.cells += cells,
                None => differences.push(GhostDifference { chunk, side, cells, first: first.0 }),
            }
        }
        Ok(differences)
    }

    /// In a checked run, sends the write records since the last synchronization to all ranks and
    /// checks the recorded reads.
    pub(super) fn exchange_write_records(&self) -> Result<()> {
        self.ledger.check_reads(|records: Vec<WriteRecord>| {
            if self.size() == 1 {
                return Ok(records);
            }
            let all = self.inner_group().all_gather_v(encoded(&records)?)?;
            let all = all.iter().map(decoded::<Vec<WriteRecord>>).collect::<Result<Vec<_>>>()?;
            Ok(all.into_iter().flatten().collect())
        })
    }
}

fn describe_array(array: &Rc<ArrayCore>) -> ArrayInfo {
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
