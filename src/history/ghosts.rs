//! [`Ghosts`]: from when the ghost cells of an array are, on this rank, and when their owners were written.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

use super::finding::{Finding, GhostState, Problem};
use super::moment::{Dated, Moment};
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
    links: RefCell<Vec<Link>>,
    /// How many operations each chunk has seen since the last collective.
    places: RefCell<HashMap<ChunkId, u64>>,
    /// What was written since then.
    writes: RefCell<BTreeMap<(ChunkId, Region), Written>>,
    /// What was read: of which link, which cells, from which place in the program.
    reads: RefCell<BTreeMap<(usize, Region, usize), Read>>,
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
    /// From when they are, where that is not the beginning.
    filled: Dated<()>,
    /// When their owner was written, in the ghost cells' own coordinates.
    written: Dated<String>,
}

/// When a box was read last.
#[derive(Debug)]
struct Read {
    place: u64,
    site: Site,
}

/// When a box was written first and last.
#[derive(Debug)]
struct Written {
    first: u64,
    last: u64,
    site: Site,
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
            written: Dated::default(),
        };
        Some(Self {
            array,
            name: name.to_string(),
            links: RefCell::new(moves.map(link).collect()),
            places: RefCell::default(),
            writes: RefCell::default(),
            reads: RefCell::default(),
            given_up: Cell::new(false),
        })
    }

    /// Nothing more is known, or found.
    pub fn give_up(&self) {
        self.given_up.set(true);
        self.reads.borrow_mut().clear();
    }

    /// The place of the next operation on a chunk.
    pub fn next_place(&self, chunk: ChunkId) -> u64 {
        let mut places = self.places.borrow_mut();
        let place = places.entry(chunk).or_default();
        *place += 1;
        *place
    }

    /// A box of a chunk was written by an operation. Ghost cells in it are from now.
    pub fn wrote(&self, chunk: ChunkId, region: &Region, moment: Moment, writer: &Site) {
        for link in self.links.borrow_mut().iter_mut().filter(|link| link.chunk == chunk) {
            if let Some(cells) = link.cells.intersect(region) {
                link.filled.set(cells, moment, ());
            }
        }
        let mut writes = self.writes.borrow_mut();
        let (first, last, site) = (moment.place, moment.place, writer.clone());
        let known = writes.entry((chunk, *region)).or_insert(Written { first, last, site: site.clone() });
        (known.last, known.site) = (last, site);
    }

    /// A box of ghost cells was filled from its owners, as they were at a moment.
    pub fn filled(&self, chunk: ChunkId, region: &Region, moment: Moment) {
        for link in self.links.borrow_mut().iter_mut().filter(|link| link.chunk == chunk) {
            if let Some(cells) = link.cells.intersect(region) {
                link.filled.set(cells, moment, ());
            }
        }
    }

    /// A box of a chunk was read; ghost cells in it are looked at when the ranks have met.
    pub fn read(&self, chunk: ChunkId, region: &Region, place: u64, site: &Site) {
        let mut reads = self.reads.borrow_mut();
        for (number, link) in self.links.borrow().iter().enumerate().filter(|(_, link)| link.chunk == chunk) {
            if let Some(cells) = link.cells.intersect(region) {
                let at = std::ptr::from_ref(site.location()) as usize;
                reads.insert((number, cells, at), Read { place, site: site.clone() });
            }
        }
    }

    /// The ghost cells of a chunk on these sides, and there of these components.
    pub fn cells_on(&self, chunk: ChunkId, side: &[i8], components: impl Fn(&Region) -> Vec<Region>) -> Vec<Region> {
        let links = self.links.borrow();
        let there = links.iter().filter(|link| link.chunk == chunk && link.side == side);
        there.flat_map(|link| components(&link.cells)).collect()
    }

    /// What this rank has written since the ranks met.
    pub fn take_writes(&self) -> Vec<WriteRecord> {
        let record = |((chunk, region), written): ((ChunkId, Region), Written)| {
            let Written { first, last, site } = written;
            WriteRecord::new((self.array, chunk), &region, (first, last), &site)
        };
        std::mem::take(&mut *self.writes.borrow_mut()).into_iter().map(record).collect()
    }

    /// Looks at what was read since the ranks met, with what all ranks have written since.
    pub fn look(&self, collective: u64, writes: &[WriteRecord], mut found: impl FnMut(Finding)) {
        let reads = std::mem::take(&mut *self.reads.borrow_mut());
        let mut links = self.links.borrow_mut();
        let mine: Vec<(&WriteRecord, Region)> =
            writes.iter().filter(|one| one.array == self.array).map(|one| (one, one.region())).collect();
        if !self.given_up.get() {
            for ((number, read_cells, _), read) in &reads {
                let link = &links[*number];
                let since = mine.iter().filter_map(|(one, region)| {
                    let cells = link.as_ghosts(one.chunk, region)?.intersect(read_cells)?;
                    (one.first < read.place).then_some((cells, Moment { collective, place: one.last }, &one.writer))
                });
                let stale = link.written.within(*read_cells).chain(since).find_map(|(cells, written, writer)| {
                    link.older_than(&cells, written).map(|(cells, filled)| (cells, filled, writer.clone()))
                });
                if let Some((cells, filled, writer)) = stale {
                    let problem = Problem::StaleGhosts { side: link.side.clone(), cells, filled, writer };
                    found(Finding { array: self.name.clone(), chunk: link.chunk, site: read.site.clone(), problem });
                }
            }
        }
        for (one, region) in mine {
            let moment = Moment { collective, place: one.last };
            for link in links.iter_mut() {
                if let Some(cells) = link.as_ghosts(one.chunk, &region) {
                    link.written.set(cells, moment, one.writer.clone());
                }
            }
        }
        self.places.borrow_mut().clear();
    }

    /// What the ghost cells on each side of each chunk are, the worst first of those on one side; `None` where nothing is
    /// known.
    pub fn states(&self) -> Option<Vec<(ChunkId, Vec<i8>, GhostState)>> {
        if self.given_up.get() {
            return None;
        }
        let mut out: Vec<(ChunkId, Vec<i8>, GhostState)> = Vec::new();
        for link in self.links.borrow().iter() {
            let stale = link.written.within(link.cells).any(|(cells, at, _)| link.older_than(&cells, at).is_some());
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

    /// Those of the cells that were filled before a moment, and whether they were filled at all.
    fn older_than(&self, cells: &Region, moment: Moment) -> Option<(Region, bool)> {
        if let Some(never) = self.filled.without(*cells).first() {
            return Some((*never, false));
        }
        self.filled.within(*cells).find(|(_, filled, ())| *filled < moment).map(|(cells, ..)| (cells, true))
    }
}
