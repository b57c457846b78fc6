//! [`Ghosts`]: from when the ghost cells of an array are, on this rank, and when their owners were written.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::finding::{Finding, GhostState, Problem};
use super::moment::{Counts, Dated, Moment, WriteTime};
use super::record::WriteRecord;
use super::site::Site;
use crate::chunks::ChunkId;
use crate::locate::Placement;
use crate::plan::{self, GhostSpec, Move};
use crate::region::Region;

/// The ghost cells of an array on this rank.
#[derive(Debug)]
pub(crate) struct Ghosts {
    array: u64,
    name: String,
    rank: usize,
    links: RefCell<Vec<Link>>,
    /// What each chunk has seen since the ranks met.
    done: RefCell<HashMap<ChunkId, Rc<Counts>>>,
    /// What was written since then, at which place.
    writes: RefCell<BTreeMap<(ChunkId, Region, u64), Written>>,
    /// What was read since then: of which link, which cells, from which place, after how many times that they were filled.
    reads: RefCell<BTreeMap<(usize, Region, u64, u64), Read>>,
    /// Number of the last operation of this rank that has written ghost cells. Those that a transfer fills are from the moment at
    /// which the ranks have met for it, ahead of all that is written since.
    written_at: Cell<u64>,
    /// Whether another handle has the same chunks with other neighbours, so that nothing is known.
    given_up: Cell<bool>,
}

/// Ghost cells of a chunk that have one owner.
#[derive(Debug)]
struct Link {
    owner: ChunkId,
    /// Where they are the owner's.
    source: Region,
    chunk: ChunkId,
    cells: Region,
    side: Vec<i8>,
    /// From when they are, where that is not the beginning, and how often that has changed.
    filled: Dated<Moment>,
    changes: u64,
    /// When their owner was written and by whom, in the ghost cells' own coordinates.
    written: Dated<(WriteTime, String)>,
}

/// When a box was read last, from when its cells were then, and by whom it was read.
#[derive(Debug)]
struct Read {
    moment: Moment,
    filled: Dated<Moment>,
    site: Site,
}

/// First and last write of a box, counted per call site since the last collective.
#[derive(Debug)]
struct Written {
    first: u64,
    last: u64,
    site: Site,
    /// Clocks of the writes, in the form of [`WriteRecord::clocks`].
    clocks: Vec<u64>,
}

impl Ghosts {
    /// The ghost cells that this rank's chunks have; `None` where there are none.
    pub fn of(array: u64, name: &str, placement: &Placement, rank: usize) -> Option<Self> {
        let chunks = placement.chunks();
        if !chunks.has_ghosts() {
            return None;
        }
        let plan = plan::ghosts(&[(placement, &GhostSpec::all())], rank).ok()?;
        let moves = plan.local.iter().chain(plan.receives.iter().flat_map(|message| &message.moves));
        let link = |of: &Move| Link {
            owner: of.src_chunk,
            source: of.src,
            chunk: of.dst_chunk,
            cells: of.dst,
            side: chunks.region(of.dst_chunk).side_of(&of.dst),
            filled: Dated::default(),
            changes: 0,
            written: Dated::default(),
        };
        Some(Self {
            array,
            name: name.to_string(),
            rank,
            links: RefCell::new(moves.map(link).collect()),
            done: RefCell::default(),
            writes: RefCell::default(),
            reads: RefCell::default(),
            written_at: Cell::default(),
            given_up: Cell::new(false),
        })
    }

    /// Nothing more is known, or found.
    pub fn give_up(&self) {
        self.given_up.set(true);
        self.reads.borrow_mut().clear();
    }

    /// An operation on a chunk at a moment of the rank: boxes that it reads, and then boxes that it writes. Ghost cells among the
    /// latter are from now. An operation that is a part of one which counts `for_all` chunks is counted when that one ends.
    pub fn operation(
        &self,
        chunk: ChunkId,
        now: &Moment,
        for_all: bool,
        read: &[Region],
        written: &[Region],
        site: &Site,
    ) {
        let place = site.place();
        let mut all_done = self.done.borrow_mut();
        let done = all_done.entry(chunk).or_default();
        let before = Moment { done: done.clone(), ..now.clone() };
        read.iter().for_each(|region| self.read(chunk, region, &before, site));
        let mut counts = (**done).clone();
        *counts.entry(place).or_default() += 1;
        let after = Moment { done: Rc::new(counts), ..before };
        if !for_all {
            *done = after.done.clone();
        }
        let (count, filled_at) = (after.passed(place), self.written_at.get());
        let mut writes = self.writes.borrow_mut();
        for region in written {
            if self.filled(chunk, region, &after) {
                self.written_at.set(after.clock);
            }
            let new = || Written { first: count, last: count, site: site.clone(), clocks: Vec::new() };
            let known = writes.entry((chunk, *region, place)).or_insert_with(new);
            known.last = count;
            if known.clocks.last().is_none_or(|&last| last <= filled_at) {
                known.clocks.push(after.clock);
            }
        }
    }

    /// Records that a box of ghost cells was filled from its owners as of a moment; true if the box has ghost cells.
    pub fn filled(&self, chunk: ChunkId, region: &Region, moment: &Moment) -> bool {
        let mut any = false;
        for link in self.links.borrow_mut().iter_mut().filter(|link| link.chunk == chunk) {
            if let Some(cells) = link.cells.intersect(region) {
                link.filled.set(cells, moment.clone());
                link.changes += 1;
                any = true;
            }
        }
        any
    }

    /// Ghost cells in a box are looked at when the ranks have met.
    fn read(&self, chunk: ChunkId, region: &Region, moment: &Moment, site: &Site) {
        let mut reads = self.reads.borrow_mut();
        for (number, link) in self.links.borrow().iter().enumerate().filter(|(_, link)| link.chunk == chunk) {
            if let Some(cells) = link.cells.intersect(region) {
                let (moment, filled) = (moment.clone(), link.filled.part(cells));
                reads.insert((number, cells, site.place(), link.changes), Read { moment, filled, site: site.clone() });
            }
        }
    }

    /// What this rank has written since the ranks met.
    pub fn take_writes(&self) -> Vec<WriteRecord> {
        let record = |((chunk, region, place), written): ((ChunkId, Region, u64), Written)| {
            let Written { first, last, site, clocks } = written;
            WriteRecord::new((self.array, chunk), &region, (place, first, last), &site, (self.rank, clocks))
        };
        std::mem::take(&mut *self.writes.borrow_mut()).into_iter().map(record).collect()
    }

    /// Looks at what was read since the ranks met, with what all ranks have written since, and what this rank has done for all of
    /// its chunks.
    ///
    /// A write by this rank at a call site that the reading chunk has not passed at all is no part of what is done to each chunk in
    /// turn: the order is that of this rank.
    pub fn look<'w>(&self, collective: u64, writes: &'w [WriteRecord], done_for_all: &Counts) -> Vec<Finding> {
        let done = std::mem::take(&mut *self.done.borrow_mut());
        let never_passes = |chunk: ChunkId, place: u64| {
            !done_for_all.contains_key(&place) && done.get(&chunk).is_none_or(|counts| !counts.contains_key(&place))
        };
        // Numbers of the writes, where these order them.
        let clocks = |one: &'w WriteRecord, chunk: ChunkId| {
            (one.rank == self.rank && never_passes(chunk, one.place)).then_some(&*one.clocks)
        };
        let reads = std::mem::take(&mut *self.reads.borrow_mut());
        let mut links = self.links.borrow_mut();
        let mine: Vec<(&'w WriteRecord, Region)> =
            writes.iter().filter(|one| one.array == self.array).map(|one| (one, one.region())).collect();
        let mut found = Vec::new();
        for ((number, cells, ..), read) in reads.iter().filter(|_| !self.given_up.get()) {
            let link = &links[*number];
            let before = link.written.within(*cells).map(|(cells, (time, writer))| (cells, *time, writer));
            let since = mine.iter().filter_map(|(one, region)| {
                let cells = link.as_ghosts(one.chunk, region)?.intersect(cells)?;
                let count = one.last.min(read.moment.passed(one.place));
                let clock = match clocks(one, link.chunk) {
                    Some(clocks) => Some(*clocks.iter().rfind(|&&clock| clock < read.moment.clock)?),
                    None if one.first <= count => None,
                    None => return None,
                };
                Some((cells, WriteTime { collective, place: one.place, count, clock }, &one.writer))
            });
            let stale = before.chain(since).find_map(|(cells, time, writer)| {
                read.filled.older_than(&cells, time).map(|(cells, filled)| (cells, filled, writer.clone()))
            });
            if let Some((cells, filled, writer)) = stale {
                let problem = Problem::StaleGhosts { side: link.side.clone(), cells, filled, writer };
                found.push(Finding { array: self.name.clone(), chunk: link.chunk, site: read.site.clone(), problem });
            }
        }
        for (one, region) in mine {
            for link in links.iter_mut() {
                if let Some(cells) = link.as_ghosts(one.chunk, &region) {
                    let clock = clocks(one, link.chunk).and_then(|clocks| clocks.last().copied());
                    let time = WriteTime { collective, place: one.place, count: one.last, clock };
                    link.written.set(cells, (time, one.writer.clone()));
                }
            }
        }
        found
    }

    /// What the ghost cells on each side of each chunk are, the worst of those on one side; `None` where nothing is known.
    pub fn states(&self) -> Option<Vec<(ChunkId, Vec<i8>, GhostState)>> {
        if self.given_up.get() {
            return None;
        }
        let mut out: Vec<(ChunkId, Vec<i8>, GhostState)> = Vec::new();
        for link in self.links.borrow().iter() {
            let mut written = link.written.within(link.cells);
            let stale = written.any(|(cells, (time, _))| link.filled.older_than(&cells, *time).is_some());
            let state = match (link.filled.without(link.cells).is_empty(), stale) {
                (false, _) => GhostState::NeverFilled,
                (true, true) => GhostState::Stale,
                (true, false) => GhostState::Fresh,
            };
            match out.iter_mut().find(|(chunk, side, _)| *chunk == link.chunk && *side == link.side) {
                Some((.., known)) => *known = state.max(*known),
                None => out.push((link.chunk, link.side.clone(), state)),
            }
        }
        out.sort();
        Some(out)
    }
}

impl Link {
    /// Cells of an owner as ghost cells.
    fn as_ghosts(&self, owner: ChunkId, region: &Region) -> Option<Region> {
        let common = (self.owner == owner).then(|| self.source.intersect(region))??;
        Some(common.translate(&(self.cells.start - self.source.start)))
    }
}
