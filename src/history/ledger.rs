//! [`Ledger`]: who acts in a world now, and what checked runs know. [`History`]: what has happened to one chunk.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt::{self, Debug, Formatter};
use std::rc::Rc;

use super::finding::{Finding, Problem};
use super::ghosts::Ghosts;
use super::moment::{Counts, Moment};
use super::record::WriteRecord;
use super::site::{Site, What};
use crate::chunks::ChunkId;
use crate::error::{CallSite, Result};
use crate::region::Region;
use crate::trace;

/// So many findings are kept.
const MOST_FINDINGS: usize = 1000;

/// What a rank knows of operations on its arrays.
#[derive(Default)]
pub(crate) struct Ledger {
    step: Cell<u64>,
    /// The outermost operation under way.
    acting: RefCell<Option<Site>>,
    notes: Option<Notes>,
}

/// What a checked run knows beside.
#[derive(Debug, Default)]
struct Notes {
    collective: Cell<u64>,
    /// How often each call site of an operation that all of this rank's chunks pass has been passed since the ranks met.
    done_for_all: RefCell<Rc<Counts>>,
    /// Number of the last operation.
    clock: Cell<u64>,
    /// Those of dropped arrays, too, until the ranks have met.
    arrays: RefCell<Vec<Rc<Ghosts>>>,
    findings: RefCell<Vec<Finding>>,
    /// What people have been told of.
    told: RefCell<HashSet<(String, String)>>,
}

/// While it lives, what is done is done by one operation. All chunks of the rank are behind that when it ends, whichever it has
/// read or written.
pub(crate) struct Acting<'a>(Option<&'a Ledger>);

impl Drop for Acting<'_> {
    fn drop(&mut self) {
        let Some(ledger) = self.0 else { return };
        let site = ledger.acting.replace(None);
        if let (Some(notes), Some(site)) = (&ledger.notes, site) {
            *Rc::make_mut(&mut notes.done_for_all.borrow_mut()).entry(site.place()).or_default() += 1;
        }
    }
}

impl Ledger {
    /// One that looks for stale ghost cells and stray loads, or not.
    pub fn new(watching: bool) -> Self {
        Self { notes: watching.then(Notes::default), ..Self::default() }
    }

    /// Whether stale ghost cells and stray loads are looked for.
    pub fn watches(&self) -> bool {
        self.notes.is_some()
    }

    /// What is done until the result is dropped, is done by this, unless something around it is under way.
    pub fn acting(&self, what: impl FnOnce() -> What, at: CallSite) -> Acting<'_> {
        let mut acting = self.acting.borrow_mut();
        if acting.is_some() {
            return Acting(None);
        }
        *acting = Some(Site::new(what(), at, self.step.get()));
        Acting(Some(self))
    }

    /// The program has come one step further: to which.
    pub fn next_step(&self) -> u64 {
        self.step.set(self.step.get() + 1);
        self.step.get()
    }

    /// The program goes on from a later step.
    pub fn skip_to(&self, step: u64) {
        self.step.set(self.step.get().max(step));
    }

    /// How far it has come.
    pub fn step(&self) -> u64 {
        self.step.get()
    }

    /// Who does what is done now.
    pub fn site(&self, what: What, at: CallSite) -> Site {
        self.acting.borrow().clone().unwrap_or_else(|| Site::new(what, at, self.step.get()))
    }

    /// The ghost cells of a new array, in a checked run.
    pub fn ghosts(&self, make: impl FnOnce() -> Option<Ghosts>) -> Option<Rc<Ghosts>> {
        let notes = self.notes.as_ref()?;
        let ghosts = Rc::new(make()?);
        notes.arrays.borrow_mut().push(ghosts.clone());
        Some(ghosts)
    }

    /// The moment of a new operation, before anything is done to its chunk.
    pub fn now(&self) -> Moment {
        let Some(notes) = &self.notes else { return Moment::default() };
        notes.clock.set(notes.clock.get() + 1);
        Moment {
            collective: notes.collective.get(),
            done: Rc::default(),
            done_for_all: notes.done_for_all.borrow().clone(),
            clock: notes.clock.get(),
        }
    }

    /// The ranks meet: what all have written since the last time is told by `told`, and what was read is looked at.
    ///
    /// # Errors
    /// What `told` returns.
    pub fn meet(&self, told: impl FnOnce(Vec<WriteRecord>) -> Result<Vec<WriteRecord>>) -> Result<()> {
        let Some(notes) = &self.notes else { return Ok(()) };
        let own = notes.arrays.borrow().iter().flat_map(|ghosts| ghosts.take_writes()).collect();
        let (writes, collective) = (told(own)?, notes.collective.get());
        let done_for_all = notes.done_for_all.take();
        let look = |ghosts: &Rc<Ghosts>| ghosts.look(collective, &writes, &done_for_all);
        let found: Vec<Finding> = notes.arrays.borrow().iter().flat_map(look).collect();
        notes.arrays.borrow_mut().retain(|ghosts| Rc::strong_count(ghosts) > 1);
        notes.collective.set(collective + 1);
        found.into_iter().for_each(|finding| self.found(finding));
        Ok(())
    }

    /// Keeps a finding and tells people, once for each array, kind, side and place in the program.
    pub fn found(&self, finding: Finding) {
        let Some(notes) = &self.notes else { return };
        let kind = match &finding.problem {
            Problem::StaleGhosts { side, .. } => format!("stale {side:?}"),
            Problem::LoadOutside(_) => "load".to_string(),
            Problem::StoreOutside(_) => "store".to_string(),
            Problem::LoopStopped { line, .. } => format!("loop in line {line}"),
        };
        let key = (format!("{} {kind}", finding.array), finding.site.call_site().to_string());
        if notes.told.borrow_mut().insert(key) && notes.findings.borrow().len() < MOST_FINDINGS {
            trace::warn(&finding.to_string());
            notes.findings.borrow_mut().push(finding);
        }
    }

    /// Tells people something once.
    pub fn tell_once(&self, text: &str) {
        let key = (text.to_string(), String::new());
        if self.notes.as_ref().is_some_and(|notes| notes.told.borrow_mut().insert(key)) {
            trace::warn(text);
        }
    }

    /// What was found so far.
    pub fn findings(&self) -> Vec<Finding> {
        self.notes.as_ref().map_or_else(Vec::new, |notes| notes.findings.borrow().clone())
    }
}

impl Debug for Ledger {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("step", &self.step).field("notes", &self.notes).finish_non_exhaustive()
    }
}

/// What has happened to a chunk of this rank, whatever handle did it.
#[derive(Debug)]
pub(crate) struct History {
    pub ledger: Rc<Ledger>,
    writes: Cell<u64>,
    last: RefCell<Option<Site>>,
    chunk: ChunkId,
    /// The ghost cells of its array, in a checked run.
    ghosts: Option<Rc<Ghosts>>,
}

impl History {
    /// A chunk that nobody has written.
    pub fn new(ledger: &Rc<Ledger>, chunk: ChunkId, ghosts: Option<Rc<Ghosts>>) -> Rc<Self> {
        Rc::new(Self { ledger: ledger.clone(), writes: Cell::new(0), last: RefCell::default(), chunk, ghosts })
    }

    /// Goes on with the count and the last writer of another chunk.
    pub fn goes_on_from(&self, other: &Self) {
        self.writes.set(other.writes());
        *self.last.borrow_mut() = other.last_writer();
    }

    /// How often it was written.
    pub fn writes(&self) -> u64 {
        self.writes.get()
    }

    /// Who wrote it last.
    pub fn last_writer(&self) -> Option<Site> {
        self.last.borrow().clone()
    }

    /// Its number in its array.
    pub fn chunk(&self) -> ChunkId {
        self.chunk
    }

    /// The ghost cells of its array, in a checked run.
    pub fn ghosts(&self) -> Option<&Rc<Ghosts>> {
        self.ghosts.as_ref()
    }

    /// An operation on it: boxes that are read, and then boxes that are written.
    pub fn operation(&self, read: &[Region], written: &[Region], what: What, at: CallSite) {
        if self.ghosts.is_none() && written.is_empty() {
            return;
        }
        let site = self.ledger.site(what, at);
        if let Some(ghosts) = &self.ghosts {
            let is_part = self.ledger.acting.borrow().is_some();
            ghosts.operation(self.chunk, &self.ledger.now(), is_part, read, written, &site);
        }
        if !written.is_empty() {
            self.writes.set(self.writes.get() + 1);
            *self.last.borrow_mut() = Some(site);
        }
    }

    /// A box of its ghost cells was filled from owners as they were at a moment.
    pub fn filled(&self, region: &Region, moment: &Moment) {
        if let Some(ghosts) = &self.ghosts {
            ghosts.filled(self.chunk, region, moment);
        }
    }
}
