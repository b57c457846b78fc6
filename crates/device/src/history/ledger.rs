//! [`Ledger`]: operation in progress on a rank, and records of checked runs. [`History`]: writes of
//! one chunk.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt::{self, Debug, Formatter};
use std::rc::Rc;

use super::finding::{Finding, Problem};
use super::ghosts::Ghosts;
use super::moment::{Moment, PassCounts};
use super::record::WriteRecord;
use super::site::{OperationName, Site};
use crate::chunks::ChunkId;
use crate::error::{CallSite, Result};
use crate::region::Region;
use crate::trace;

const MAX_FINDINGS: usize = 1000;

/// Operations of a rank on its arrays: the operation in progress, and the records of checked runs.
#[derive(Default)]
pub struct Ledger {
    step: Cell<u64>,
    /// The outermost operation in progress.
    current: RefCell<Option<Site>>,
    records: Option<CheckRecords>,
}

#[derive(Debug, Default)]
struct CheckRecords {
    collective: Cell<u64>,
    /// Number of passes of each call site since the last collective, for operations that count for
    /// all chunks of the rank.
    rank_passes: RefCell<Rc<PassCounts>>,
    /// Number of operations so far.
    clock: Cell<u64>,
    /// Ghost cells of all arrays. Those of dropped arrays stay until the next collective.
    arrays: RefCell<Vec<Rc<Ghosts>>>,
    findings: RefCell<Vec<Finding>>,
    /// Keys of the warnings already printed.
    reported: RefCell<HashSet<(String, String)>>,
}

/// Guard of the operation in progress. When it drops, the operation counts as passed for all chunks
/// of the rank, whichever chunks it has read or written.
pub struct OperationScope<'a>(Option<&'a Ledger>);

impl Drop for OperationScope<'_> {
    fn drop(&mut self) {
        let Some(ledger) = self.0 else { return };
        let site = ledger.current.replace(None);
        if let (Some(records), Some(site)) = (&ledger.records, site) {
            *Rc::make_mut(&mut records.rank_passes.borrow_mut()).entry(site.call_site_id()).or_default() += 1;
        }
    }
}

impl Ledger {
    /// Creates a ledger; with `is_checked`, the ledger finds stale ghost cells and accesses outside
    /// of chunks.
    pub fn new(is_checked: bool) -> Self {
        Self { records: is_checked.then(CheckRecords::default), ..Self::default() }
    }

    /// True if the run is checked for stale ghost cells and accesses outside of chunks.
    pub fn is_checked(&self) -> bool {
        self.records.is_some()
    }

    /// Makes `name` the operation in progress until the guard drops, unless another operation is in
    /// progress.
    pub fn begin_operation(&self, name: impl FnOnce() -> OperationName, call_site: CallSite) -> OperationScope<'_> {
        let mut current = self.current.borrow_mut();
        if current.is_some() {
            return OperationScope(None);
        }
        *current = Some(Site::new(name(), call_site, self.step.get()));
        OperationScope(Some(self))
    }

    /// Counts a debug point, and returns the number of debug points so far.
    pub fn next_step(&self) -> u64 {
        self.step.set(self.step.get() + 1);
        self.step.get()
    }

    /// Raises the number of debug points to `step`, for a program that restarts.
    pub fn skip_to(&self, step: u64) {
        self.step.set(self.step.get().max(step));
    }

    /// Returns the number of debug points that the program has passed.
    pub fn step(&self) -> u64 {
        self.step.get()
    }

    /// Returns the outermost operation in progress; `name` at `call_site` if there is none.
    pub fn site(&self, name: OperationName, call_site: CallSite) -> Site {
        self.current.borrow().clone().unwrap_or_else(|| Site::new(name, call_site, self.step.get()))
    }

    /// Registers the ghost cells of a new array in a checked run.
    pub fn ghosts(&self, make: impl FnOnce() -> Option<Ghosts>) -> Option<Rc<Ghosts>> {
        let records = self.records.as_ref()?;
        let ghosts = Rc::new(make()?);
        records.arrays.borrow_mut().push(ghosts.clone());
        Some(ghosts)
    }

    /// Returns the time of a new operation, before the operation affects its chunk.
    pub fn now(&self) -> Moment {
        let Some(records) = &self.records else { return Moment::default() };
        records.clock.set(records.clock.get() + 1);
        Moment {
            collective: records.collective.get(),
            chunk_passes: Rc::default(),
            rank_passes: records.rank_passes.borrow().clone(),
            clock: records.clock.get(),
        }
    }

    /// Checks the reads of ghost cells since the last collective. `exchange` receives the writes of
    /// this rank since then, and returns those of all ranks. Collective.
    ///
    /// # Errors
    /// The errors of `exchange`.
    #[track_caller]
    pub fn check_reads(&self, exchange: impl FnOnce(Vec<WriteRecord>) -> Result<Vec<WriteRecord>>) -> Result<()> {
        let _call = CallSite::enter();
        let Some(records) = &self.records else { return Ok(()) };
        let own_writes = records.arrays.borrow().iter().flat_map(|ghosts| ghosts.take_writes()).collect();
        let (writes, collective) = (exchange(own_writes)?, records.collective.get());
        let rank_passes = records.rank_passes.take();
        let check = |ghosts: &Rc<Ghosts>| ghosts.check_reads(collective, &writes, &rank_passes);
        let found: Vec<Finding> = records.arrays.borrow().iter().flat_map(check).collect();
        records.arrays.borrow_mut().retain(|ghosts| Rc::strong_count(ghosts) > 1);
        records.collective.set(collective + 1);
        found.into_iter().for_each(|finding| self.add_finding(finding));
        Ok(())
    }

    /// Keeps a finding and prints it as a warning, once per array, kind, side and call site.
    pub fn add_finding(&self, finding: Finding) {
        let Some(records) = &self.records else { return };
        let kind = match &finding.problem {
            Problem::StaleGhosts { side, .. } => format!("stale {side:?}"),
            Problem::LoadOutside(_) => "load".to_string(),
            Problem::StoreOutside(_) => "store".to_string(),
            Problem::LoopStopped { line, .. } => format!("loop in line {line}"),
        };
        let key = (format!("{} {kind}", finding.array), finding.site.call_site().to_string());
        if records.reported.borrow_mut().insert(key) && records.findings.borrow().len() < MAX_FINDINGS {
            trace::warn(&finding.to_string());
            records.findings.borrow_mut().push(finding);
        }
    }

    /// Prints a warning once, in checked runs.
    pub fn warn_once(&self, text: &str) {
        let key = (text.to_string(), String::new());
        if self.records.as_ref().is_some_and(|records| records.reported.borrow_mut().insert(key)) {
            trace::warn(text);
        }
    }

    /// Returns the findings of the checked run up to the last collective.
    pub fn findings(&self) -> Vec<Finding> {
        self.records.as_ref().map_or_else(Vec::new, |records| records.findings.borrow().clone())
    }
}

impl Debug for Ledger {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("step", &self.step).field("records", &self.records).finish_non_exhaustive()
    }
}

/// Number of writes of a chunk of this rank, and its last writer, over all handles of the chunk.
#[derive(Debug)]
pub struct History {
    /// Ledger of the chunk's world.
    pub ledger: Rc<Ledger>,
    writes: Cell<u64>,
    last_writer: RefCell<Option<Site>>,
    chunk: ChunkId,
    /// Ghost cells of the chunk's array, in checked runs.
    ghosts: Option<Rc<Ghosts>>,
}

impl History {
    /// Creates the history of a chunk without writes.
    pub fn new(ledger: &Rc<Ledger>, chunk: ChunkId, ghosts: Option<Rc<Ghosts>>) -> Rc<Self> {
        Rc::new(Self { ledger: ledger.clone(), writes: Cell::new(0), last_writer: RefCell::default(), chunk, ghosts })
    }

    /// Copies the number of writes and the last writer from another chunk.
    pub fn continue_from(&self, other: &Self) {
        self.writes.set(other.writes());
        *self.last_writer.borrow_mut() = other.last_writer();
    }

    /// Returns the number of writes of the chunk.
    pub fn writes(&self) -> u64 {
        self.writes.get()
    }

    /// Returns the last operation that wrote the chunk; `None` before the first write.
    pub fn last_writer(&self) -> Option<Site> {
        self.last_writer.borrow().clone()
    }

    /// Returns the id of the chunk.
    pub fn chunk(&self) -> ChunkId {
        self.chunk
    }

    /// Returns the ghost cells of the chunk's array; `None` in unchecked runs.
    pub fn ghosts(&self) -> Option<&Rc<Ghosts>> {
        self.ghosts.as_ref()
    }

    /// Records an operation on the chunk that reads the boxes `read`, then writes the boxes
    /// `written`.
    pub fn operation(&self, read: &[Region], written: &[Region], name: OperationName, call_site: CallSite) {
        if self.ghosts.is_none() && written.is_empty() {
            return;
        }
        let site = self.ledger.site(name, call_site);
        if let Some(ghosts) = &self.ghosts {
            let is_nested = self.ledger.current.borrow().is_some();
            ghosts.operation(self.chunk, &self.ledger.now(), is_nested, read, written, &site);
        }
        if !written.is_empty() {
            self.writes.set(self.writes.get() + 1);
            *self.last_writer.borrow_mut() = Some(site);
        }
    }

    /// Records that owners filled a box of the chunk's ghost cells with their values at `moment`.
    pub fn filled(&self, region: &Region, moment: &Moment) {
        if let Some(ghosts) = &self.ghosts {
            ghosts.filled(self.chunk, region, moment);
        }
    }
}
