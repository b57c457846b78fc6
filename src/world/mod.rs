//! [`World`]: every function that may communicate.
//!
//! A world is the view of a run from one rank. Collective functions must be called by every rank,
//! in the same order, with the same arguments unless an argument is documented as local to the
//! rank.
//!
//! # From the call of a copy to the device
//!
//! [`World::copy`] between global arrays passes through these types:
//!
//! 1. `IntoSection` turns both arguments into a [`Section`]. A copy with a local section leaves
//!    this path: the module `one_sided` sends it as requests to the owners.
//! 2. [`Exchange`] has an entry per copy (a `SectionPair`) or per `GhostUpdate`. Each entry has a
//!    `MergeRule`: replacement, or an operator.
//! 3. `World::exchange` groups the entries that share messages into a `PreparedExchange`, which
//!    also has the name and signature of the collective.
//! 4. The plan cache returns a `PlannedTransfer` for each group. On the first call, `crate::plan`
//!    makes a `RankPlan` (moves between regions, messages between ranks), and a `Transfer` turns
//!    the plan into box views of buffers.
//! 5. `Transfer` has a `TypedTransfer` per element type and merge rule. Its messages are
//!    `MessagePart`s of bounded size; a message part has `MessageBox`es, and each of these a
//!    `ChunkBox` and an offset. Unordered moves are applied at once, ordered ones in `Wave`s.
//! 6. `World::collective` sends the signature with the next messages, so that ranks with different
//!    calls fail.
//! 7. `Job` pins the chunks of the transfer.
//! 8. `World::execute` sends each `MessagePart`: `InPlaceSends` sends contiguous boxes from chunk
//!    memory, `Device::gather` packs all other boxes into `StagedBytes` memory.
//! 9. `LocalOrder` determines when `Device::copy_boxes` does the moves within the rank. Sources
//!    that an earlier write may change are copied to `StagedSources` first.
//! 10. For each received `MessagePart`, `Device::scatter` (replacement) or `Device::combine`
//!     (operator) writes the boxes to the destination chunks. `World::copy` returns the number of
//!     [`Moved`](crate::Moved) bytes and messages.
//!
//! [`World::start_copy`] returns a [`Pending`] after step 8 and the unordered moves of step 9.
//! [`Pending::wait`] does the rest.

mod agree;
pub(crate) mod array_options;
mod cached_plans;
pub(crate) mod collective;
pub(crate) mod collective_world;
mod common_limits;
mod composite;
mod copy;
mod create;
mod debug_point;
pub(crate) mod deliver;
pub(crate) mod exchange;
mod exchange_name;
mod execute;
mod ghosts;
mod in_place_sends;
mod inspect;
mod job;
mod last_exchange;
mod local_box;
mod local_order;
mod memory;
mod merge_rule;
mod message_part;
mod observe;
mod one_sided;
mod pending;
pub(crate) mod plan;
mod prefix_copies;
mod prepared_exchange;
mod record_exchange;
mod stats;
mod transfer;

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::rc::Rc;

pub(crate) use self::collective::{ArrayIdentity, Collective, hash};
pub(crate) use self::collective_world::CollectiveWorld;
pub(crate) use self::exchange::Exchange;
pub(crate) use self::last_exchange::{BoxEnd, MovedBox};

pub use self::copy::{IntoSection, Section};
pub use self::debug_point::DebugPoint;
pub use self::deliver::{Delivered, Destinations, IntoDestinations};
pub use self::inspect::{ArrayInfo, ChunkInfo, Debugging, GhostDifference, GhostSide};
pub use self::one_sided::{Fetched, IntoPutSource, PutSource, Ticket};
pub use self::pending::Pending;
pub use self::plan::PlanCounters;
pub use self::stats::{Limits, Stats};

use crate::array::{ArrayCore, Rearranged, Registry};
use crate::device::{Device, cache_capacity, estimate_compiled_bytes};
use crate::error::{ArrayError, CallSite, Result};
use crate::history::{Ledger, OperationName};
use crate::kernel::{Kernel, KernelSource};
use crate::plan::cache::{PlanCache, WeightedCache};
use crate::trace::Tracer;
use crate::transport::{Entered, Group};

/// Viewer that a world calls at its debug points.
pub(crate) trait Observer {
    /// True if the viewer requests the next debug point, with number `next` and this name. The same
    /// on every rank.
    fn wants(&self, next: u64, name: &str) -> bool;
    /// Processes a debug point. All ranks call the same collectives.
    ///
    /// # Errors
    /// An error that ends the program.
    fn process_point(&mut self, world: &World, point: &DebugPoint) -> Result<()>;
    /// Called at the end of the run with a description of its outcome.
    fn end(&mut self, how: &str);
}

/// Observer that the program registered with [`Debugging::observe`].
type ProgramObserver = Rc<RefCell<dyn FnMut(&World, &DebugPoint) -> Result<()>>>;

/// View of a run from one rank: its group of ranks, its device and its arrays.
///
/// Not `Send`: a world belongs to the thread of its rank.
pub struct World {
    group: Group,
    /// Communicator of the same ranks without a comparison of calls, for messages within a compared
    /// operation.
    inner: Group,
    device: Rc<Device>,
    limits: common_limits::CommonLimits,
    registry: Rc<RefCell<Registry<ArrayCore>>>,
    plans: RefCell<PlanCache<plan::PlannedTransfer>>,
    ledger: Rc<Ledger>,
    epoch: one_sided::Epoch,
    /// Kernels composed by algorithms, by text.
    composed_kernels: RefCell<WeightedCache<String, Kernel>>,
    tracer: Tracer,
    observer: RefCell<Option<ProgramObserver>>,
    viewer: RefCell<Option<Rc<RefCell<dyn Observer>>>>,
    /// True during a call of an observer or viewer.
    is_observing: Cell<bool>,
    last_exchange: RefCell<last_exchange::LastExchange>,
}

impl World {
    /// Opens the world of this rank. Collective.
    pub(crate) fn open(group: Group, device: Rc<Device>) -> Result<Self> {
        let inner = group.unchecked();
        let limits = common_limits::CommonLimits::reduce(&inner, &device)?;
        let ledger = Rc::new(Ledger::new(group.watching()));
        let traced = inner.clone();
        // The limit starts at the share of this rank, and grows for programs that use many texts in
        // turn.
        let mut composed =
            WeightedCache::new(cache_capacity(), |text: &String, _: &Kernel| estimate_compiled_bytes(text));
        composed.bound(device.rank_share(cache_capacity()));
        let plans = RefCell::new(plan::new_cache(&device));
        Ok(Self {
            inner,
            group,
            device,
            ledger,
            limits,
            registry: Rc::default(),
            plans,
            epoch: one_sided::Epoch::default(),
            composed_kernels: RefCell::new(composed),
            tracer: Tracer::new(move || traced.operation_text("a transfer")),
            observer: RefCell::default(),
            viewer: RefCell::default(),
            is_observing: Cell::default(),
            last_exchange: RefCell::default(),
        })
    }

    /// Completes the run after the program has returned. Collective.
    ///
    /// # Errors
    /// One-sided operations without a fence; collectives that differ between ranks; findings of a
    /// checked run.
    pub(crate) fn close(&self) -> Result<()> {
        self.epoch.check_empty()?;
        self.record_rearranged();
        // Also checks the reads since the last collective.
        if self.ledger.is_checked() {
            let close = || {
                self.collective("nothing more", hash("nothing more"), || {
                    if self.group.fails_with_findings() {
                        self.agree_within("a checked run", self.check_findings())
                    } else {
                        Ok(Ok(()))
                    }
                })
            };
            self.group.with_patience_of_the_end(close)??;
        }
        Ok(())
    }

    /// Fails if this rank has findings of a checked run.
    fn check_findings(&self) -> Result<()> {
        let findings = self.ledger.findings();
        let Some(first) = findings.first() else { return Ok(()) };
        Err(ArrayError::Findings { count: findings.len(), first: first.to_string() }.into())
    }

    /// Index of this rank, in `0..size()`.
    pub fn rank(&self) -> usize {
        self.group.rank()
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.group.size()
    }

    /// Communicator of all ranks, for host data outside arrays: broadcast, gather, all-reduce and
    /// others.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// GPU of this rank, with the wgpu device and queue for uses outside this library.
    pub fn gpu(&self) -> &Rc<Device> {
        &self.device
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Limits for splitting messages.
    fn message_sizes(&self) -> transfer::MessageSizes {
        self.limits.messages
    }

    pub(crate) fn tracer(&self) -> &Tracer {
        &self.tracer
    }

    /// Creates a kernel from WGSL. The device of this rank compiles the kernel in its first run.
    /// Local.
    ///
    /// # Errors
    /// A WGSL syntax error, with file, line and column.
    #[track_caller]
    pub fn kernel(&self, source: impl Into<KernelSource>) -> Result<Kernel> {
        let _call = CallSite::enter();
        Kernel::new(&self.device, &source.into())
    }

    /// Waits until every rank has called `barrier` and the queued kernels of this rank are
    /// complete. Collective; costs O(log ranks) messages without data.
    ///
    /// Operations need no barrier between them: they take effect in program order.
    ///
    /// # Errors
    /// A failure of this or another rank.
    #[track_caller]
    pub fn barrier(&self) -> Result<()> {
        let _call = CallSite::enter();
        self.collective("barrier", hash("barrier"), || {
            self.device.wait()?;
            self.inner.barrier()
        })
    }

    /// Runs `f` as a collective.
    ///
    /// Waits and failures report the name `operation`. The signature becomes part of the history of
    /// calls, which every message compares. If `f` fails, the other ranks receive the error.
    #[track_caller]
    pub(crate) fn collective<R>(
        &self,
        operation: impl Display + 'static,
        signature: u64,
        f: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let at = CallSite::here();
        let operation: Rc<dyn Display> = Rc::new(operation);
        let _entered = self.enter(operation.clone(), signature)?;
        let _operation = self.ledger.begin_operation(|| OperationName::Collective(operation), at);
        f().map_err(|error| self.group.fail(error))
    }

    fn enter(&self, operation: Rc<dyn Display>, signature: u64) -> Result<Entered> {
        self.check_not_failed()?;
        let entered = self.group.entering_shared(operation.clone());
        self.record_rearranged();
        match self.group.check_shared(signature, operation).and_then(|()| self.exchange_write_records()) {
            Ok(()) => Ok(entered),
            // Fails before `entered` is dropped, which ends the name of the operation.
            Err(error) => Err(self.group.fail(error)),
        }
    }

    /// Adds handles that were created without a collective to the history of calls.
    fn record_rearranged(&self) {
        for Rearranged { name, element, placement } in self.registry.borrow_mut().take_rearranged() {
            let handle = Collective::new("reassigned").array(ArrayIdentity::new(&name, element, &placement), None);
            self.group.note(handle.signature(), Rc::new(handle));
        }
    }

    /// Fails if the world has failed before.
    pub(crate) fn check_not_failed(&self) -> Result<()> {
        self.group.alive()
    }
}
