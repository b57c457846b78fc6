//! [`Ghosts`]: times at which the ghost cells of an array on this rank were filled, and their
//! owners were written.
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use zippy_base::GhostState;

use super::finding::{Finding, Problem};
use super::moment::{BoxMap, Moment, PassCounts, WriteTime};
use super::record::WriteRecord;
use super::site::Site;
use crate::chunks::ChunkId;
use crate::locate::Placement;
use crate::plan::{self, GhostSpec, Move};
use crate::region::Region;

/// Ages of the ghost cells of an array on this rank, in checked runs.
#[derive(Debug)]
pub struct Ghosts {
    array: u64,
    name: String,
    rank: usize,
    boxes: RefCell<Vec<GhostBox>>,
    /// Number of operations on each chunk by call site, since the last collective.
    chunk_passes: RefCell<HashMap<ChunkId, Rc<PassCounts>>>,
    /// Writes since the last collective, by chunk, box and id of the call site.
    writes: RefCell<BTreeMap<(ChunkId, Region, u64), WriteRange>>,
    /// Reads since the last collective, by index of the ghost box, cells, call site, and number of
    /// fills of the box before the read.
    reads: RefCell<BTreeMap<(usize, Region, u64, u64), GhostRead>>,
    /// Clock of the last local operation that wrote ghost cells. Ghost cells that a transfer fills
    /// do not count: their values are from the collective, earlier than all writes since.
    last_ghost_write: Cell<u64>,
    /// True if another handle has the same chunks with other neighbours: the states are unknown.
    is_unknown: Cell<bool>,
}

/// A box of a chunk's ghost cells that one chunk owns.
#[derive(Debug)]
struct GhostBox {
    owner: ChunkId,
    /// Region of the owner, with the values of the ghost cells, in the owner's coordinates.
    source: Region,
    chunk: ChunkId,
    cells: Region,
    side: Vec<i8>,
    /// Times of the last fill of each cell. Cells that were never filled are absent.
    filled: BoxMap<Moment>,
    /// Number of fills of any cell of the box.
    fill_count: u64,
    /// Times and operations of the last writes of the owner's cells, in the coordinates of the
    /// ghost cells.
    written: BoxMap<(WriteTime, String)>,
}

/// Last read of ghost cells: its time, the times of their fills, and the operation.
#[derive(Debug)]
struct GhostRead {
    moment: Moment,
    filled: BoxMap<Moment>,
    site: Site,
}

/// First and last write of a box, counted per call site since the last collective.
#[derive(Debug)]
struct WriteRange {
    first: u64,
    last: u64,
    site: Site,
    clocks: Vec<u64>,
}

impl Ghosts {
    /// Creates the record of the ghost cells of this rank's chunks; `None` if the array has none.
    pub fn new(array: u64, name: &str, placement: &Placement, rank: usize) -> Option<Self> {
        let chunks = placement.chunks();
        if !chunks.has_ghosts() {
            return None;
        }
        let plan = plan::ghosts(&[(placement, &GhostSpec::all())], rank).ok()?;
        let moves = plan.local.iter().chain(plan.receives.iter().flat_map(|message| &message.moves));
        let ghost_box = |moved: &Move| GhostBox {
            owner: moved.src_chunk,
            source: moved.src,
            chunk: moved.dst_chunk,
            cells: moved.dst,
            side: chunks.region(moved.dst_chunk).side_of(&moved.dst),
            filled: BoxMap::default(),
            fill_count: 0,
            written: BoxMap::default(),
        };
        Some(Self {
            array,
            name: name.to_string(),
            rank,
            boxes: RefCell::new(moves.map(ghost_box).collect()),
            chunk_passes: RefCell::default(),
            writes: RefCell::default(),
            reads: RefCell::default(),
            last_ghost_write: Cell::default(),
            is_unknown: Cell::new(false),
        })
    }

    /// Stops tracking the ghost cells: their states become unknown, and reads cause no findings.
    pub fn give_up(&self) {
        self.is_unknown.set(true);
        self.reads.borrow_mut().clear();
    }

    /// Records an operation on a chunk at time `now`, which reads the boxes `read`, then writes the
    /// boxes `written`. Written ghost cells count as filled at this time.
    ///
    /// With `is_nested`, the operation is part of another operation of the rank, and counts for all
    /// chunks at the end of that operation.
    pub fn operation(
        &self,
        chunk: ChunkId,
        now: &Moment,
        is_nested: bool,
        read: &[Region],
        written: &[Region],
        site: &Site,
    ) {
        let call_site = site.call_site_id();
        let mut all_passes = self.chunk_passes.borrow_mut();
        let passes = all_passes.entry(chunk).or_default();
        let before = Moment { chunk_passes: passes.clone(), ..now.clone() };
        read.iter().for_each(|region| self.read(chunk, region, &before, site));
        let mut counts = (**passes).clone();
        *counts.entry(call_site).or_default() += 1;
        let after = Moment { chunk_passes: Rc::new(counts), ..before };
        if !is_nested {
            *passes = after.chunk_passes.clone();
        }
        let (count, last_ghost_write) = (after.passed(call_site), self.last_ghost_write.get());
        let mut writes = self.writes.borrow_mut();
        for region in written {
            if self.filled(chunk, region, &after) {
                self.last_ghost_write.set(after.clock);
            }
            let new = || WriteRange { first: count, last: count, site: site.clone(), clocks: Vec::new() };
            let known = writes.entry((chunk, *region, call_site)).or_insert_with(new);
            known.last = count;
            if known.clocks.last().is_none_or(|&last| last <= last_ghost_write) {
                known.clocks.push(after.clock);
            }
        }
    }

    /// Records that owners filled a box of ghost cells with their values at `moment`. True if the
    /// box has ghost cells.
    pub fn filled(&self, chunk: ChunkId, region: &Region, moment: &Moment) -> bool {
        let mut any = false;
        for ghost_box in self.boxes.borrow_mut().iter_mut().filter(|ghost_box| ghost_box.chunk == chunk) {
            if let Some(cells) = ghost_box.cells.intersect(region) {
                ghost_box.filled.set(cells, moment.clone());
                ghost_box.fill_count += 1;
                any = true;
            }
        }
        any
    }

    /// Records a read of the ghost cells in a box; the next collective checks the read.
    fn read(&self, chunk: ChunkId, region: &Region, moment: &Moment, site: &Site) {
        let mut reads = self.reads.borrow_mut();
        for (index, ghost_box) in
            self.boxes.borrow().iter().enumerate().filter(|(_, ghost_box)| ghost_box.chunk == chunk)
        {
            if let Some(cells) = ghost_box.cells.intersect(region) {
                let (moment, filled) = (moment.clone(), ghost_box.filled.restricted_to(cells));
                reads.insert(
                    (index, cells, site.call_site_id(), ghost_box.fill_count),
                    GhostRead { moment, filled, site: site.clone() },
                );
            }
        }
    }

    /// Removes and returns the writes of this rank since the last collective.
    pub fn take_writes(&self) -> Vec<WriteRecord> {
        let record = |((chunk, region, call_site), written): ((ChunkId, Region, u64), WriteRange)| WriteRecord {
            array: self.array,
            chunk,
            start: region.start.to_vec(),
            end: region.end.to_vec(),
            call_site,
            first: written.first,
            last: written.last,
            writer: written.site.to_string(),
            rank: self.rank,
            clocks: written.clocks,
        };
        std::mem::take(&mut *self.writes.borrow_mut()).into_iter().map(record).collect()
    }

    /// Returns the findings about the reads since the last collective. `writes` has the writes of
    /// all ranks since then, and `rank_passes` the operations of this rank that count for all of
    /// its chunks. `collective` is the index of the last collective.
    ///
    /// A write by this rank at a call site that the reading chunk never passed is not part of a
    /// loop over chunks: such writes are ordered by the clock of this rank.
    pub fn check_reads<'w>(
        &self,
        collective: u64,
        writes: &'w [WriteRecord],
        rank_passes: &PassCounts,
    ) -> Vec<Finding> {
        let chunk_passes = std::mem::take(&mut *self.chunk_passes.borrow_mut());
        let never_passed = |chunk: ChunkId, call_site: u64| {
            !rank_passes.contains_key(&call_site)
                && chunk_passes.get(&chunk).is_none_or(|counts| !counts.contains_key(&call_site))
        };
        // Clocks of the writes, if the clock orders them.
        let clocks = |write: &'w WriteRecord, chunk: ChunkId| {
            (write.rank == self.rank && never_passed(chunk, write.call_site)).then_some(&*write.clocks)
        };
        let reads = std::mem::take(&mut *self.reads.borrow_mut());
        let mut boxes = self.boxes.borrow_mut();
        let array_writes: Vec<(&'w WriteRecord, Region)> =
            writes.iter().filter(|write| write.array == self.array).map(|write| (write, write.region())).collect();
        let mut found = Vec::new();
        for ((index, cells, ..), read) in reads.iter().filter(|_| !self.is_unknown.get()) {
            let ghost_box = &boxes[*index];
            let before = ghost_box.written.within(*cells).map(|(cells, (time, writer))| (cells, *time, writer));
            let since = array_writes.iter().filter_map(|(write, region)| {
                let cells = ghost_box.as_ghosts(write.chunk, region)?.intersect(cells)?;
                let count = write.last.min(read.moment.passed(write.call_site));
                let clock = match clocks(write, ghost_box.chunk) {
                    Some(clocks) => Some(*clocks.iter().rfind(|&&clock| clock < read.moment.clock)?),
                    None if write.first <= count => None,
                    None => return None,
                };
                Some((cells, WriteTime { collective, call_site: write.call_site, count, clock }, &write.writer))
            });
            let stale = before.chain(since).find_map(|(cells, time, writer)| {
                read.filled.find_older(&cells, time).map(|(cells, filled)| (cells, filled, writer.clone()))
            });
            if let Some((cells, filled, writer)) = stale {
                let problem = Problem::StaleGhosts { side: ghost_box.side.clone(), cells, filled, writer };
                found.push(Finding {
                    array: self.name.clone(),
                    chunk: ghost_box.chunk,
                    site: read.site.clone(),
                    problem,
                });
            }
        }
        for (write, region) in array_writes {
            for ghost_box in boxes.iter_mut() {
                if let Some(cells) = ghost_box.as_ghosts(write.chunk, &region) {
                    let clock = clocks(write, ghost_box.chunk).and_then(|clocks| clocks.last().copied());
                    let time = WriteTime { collective, call_site: write.call_site, count: write.last, clock };
                    ghost_box.written.set(cells, (time, write.writer.clone()));
                }
            }
        }
        found
    }

    /// Returns the state of the ghost cells on each side of each chunk: the worst state of any cell
    /// there. `None` if the states are unknown.
    pub fn states(&self) -> Option<Vec<(ChunkId, Vec<i8>, GhostState)>> {
        if self.is_unknown.get() {
            return None;
        }
        let mut out: Vec<(ChunkId, Vec<i8>, GhostState)> = Vec::new();
        for ghost_box in self.boxes.borrow().iter() {
            let mut written = ghost_box.written.within(ghost_box.cells);
            let stale = written.any(|(cells, (time, _))| ghost_box.filled.find_older(&cells, *time).is_some());
            let state = match (ghost_box.filled.uncovered(ghost_box.cells).is_empty(), stale) {
                (false, _) => GhostState::NeverFilled,
                (true, true) => GhostState::Stale,
                (true, false) => GhostState::Fresh,
            };
            match out.iter_mut().find(|(chunk, side, _)| *chunk == ghost_box.chunk && *side == ghost_box.side) {
                Some((.., known)) => *known = state.max(*known),
                None => out.push((ghost_box.chunk, ghost_box.side.clone(), state)),
            }
        }
        out.sort();
        Some(out)
    }
}

impl GhostBox {
    /// Returns the part of the owner's box `region` that is in this ghost box, in the coordinates
    /// of the ghost cells.
    fn as_ghosts(&self, owner: ChunkId, region: &Region) -> Option<Region> {
        let common = (self.owner == owner).then(|| self.source.intersect(region))??;
        Some(common.translate(&(self.cells.start - self.source.start)))
    }
}
