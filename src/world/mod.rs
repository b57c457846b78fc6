//! [`World`]: every function that may communicate.
//!
//! A world is one rank's view of the run. Collective functions must be called by every rank, in the same
//! order, with the same arguments where they are not said to be the rank's own.

mod common;
mod composite;
mod copy;
mod counted;
mod create;
mod debug_point;
mod deliver;
mod exchange;
mod execute;
mod ghosts;
mod in_place;
mod inspect;
mod job;
mod jobs;
mod last_exchange;
mod last_moves;
mod meeting;
mod memory;
mod named;
mod observe;
mod one_sided;
mod operation;
mod parcels;
mod pending;
mod planned;
mod plans;
mod timeline;
mod transfer;
mod turns;

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::rc::Rc;

pub(crate) use self::last_exchange::{BoxEnd, MovedBox};
pub(crate) use self::named::{Collective, Named, hash};

pub use self::copy::{IntoSection, Section};
pub use self::debug_point::DebugPoint;
pub(crate) use self::deliver::{Column, Destined};
pub use self::deliver::{Delivered, Destinations, IntoDestinations};
pub use self::exchange::Exchange;
pub use self::inspect::{ArrayInfo, ArrayKind, ChunkInfo, GhostDifference, GhostSide};
pub use self::one_sided::{Fetched, IntoPutSource, PutSource, Ticket};
pub use self::pending::Pending;
pub use self::plans::{Plan, PlanCounters};
pub use crate::device::Operator;
pub use crate::plan::Moved;
pub use crate::transport::Config;

use crate::array::{ArrayCore, Rearranged, Registry};
use crate::device::{Device, cache_capacity, estimate_compiled_bytes};
use crate::error::{ArrayError, CallSite, Error, ErrorKind, Result};
use crate::history::{Acting, Ledger, What};
use crate::kernel::{Kernel, KernelSource};
use crate::plan::cache::{PlanCache, WeightedCache};
use crate::trace::{Profile, Tracer};
use crate::transport::{Entered, Group, copied, decoded, encoded};

/// What looks into a world at its debug points.
pub(crate) trait Observer {
    /// Whether it will look at the next debug point, which has this number, if it has this name. The same on every rank.
    fn wants(&self, next: u64, name: &str) -> bool;
    /// Looks. The same collectives on every rank.
    ///
    /// # Errors
    /// What ends the program.
    fn look(&mut self, world: &World, point: &DebugPoint) -> Result<()>;
    /// The run is over: how it ended.
    fn end(&mut self, how: &str);
}

/// What is called at each debug point.
type ObserverOfProgram = Rc<RefCell<dyn FnMut(&World, &DebugPoint) -> Result<()>>>;

/// One rank's view of the run: its group of ranks, its device, its arrays.
///
/// Not `Send`: it belongs to the thread that runs the rank.
pub struct World {
    group: Group,
    /// The same ranks without comparing calls: for use inside operations that were compared as a whole.
    inner: Group,
    device: Rc<Device>,
    common: common::CommonLimits,
    registry: Rc<RefCell<Registry<ArrayCore>>>,
    plans: RefCell<PlanCache<planned::Planned>>,
    ledger: Rc<Ledger>,
    epoch: one_sided::Epoch,
    /// What algorithms have composed, by text.
    composed: RefCell<WeightedCache<String, Kernel>>,
    tracer: Tracer,
    observer: RefCell<Option<ObserverOfProgram>>,
    viewer: RefCell<Option<Rc<RefCell<dyn Observer>>>>,
    /// Whether one of them is being called.
    observing: Cell<bool>,
    last_exchange: RefCell<last_exchange::LastExchange>,
}

impl World {
    /// The world of this rank. Collective.
    pub(crate) fn open(group: Group, device: Rc<Device>) -> Result<Self> {
        let inner = group.unchecked();
        let common = common::CommonLimits::of(&inner, &device)?;
        let ledger = Rc::new(Ledger::new(group.watching()));
        let named = inner.clone();
        // Grows from the rank's share, which is too small for a program that uses many texts in turn.
        let mut composed =
            WeightedCache::new(cache_capacity(), |text: &String, _: &Kernel| estimate_compiled_bytes(text));
        composed.bound(device.share_of(cache_capacity()));
        let plans = RefCell::new(planned::new_cache(&device));
        Ok(Self {
            inner,
            group,
            device,
            ledger,
            common,
            registry: Rc::default(),
            plans,
            epoch: one_sided::Epoch::default(),
            composed: RefCell::new(composed),
            tracer: Tracer::new(move || named.operation_text("a transfer")),
            observer: RefCell::default(),
            viewer: RefCell::default(),
            observing: Cell::default(),
            last_exchange: RefCell::default(),
        })
    }

    /// What is left to do when the program has returned. Collective.
    ///
    /// # Errors
    /// One-sided operations without a fence; what ranks have called that differs; what a checked run has found.
    pub(crate) fn close(&self) -> Result<()> {
        self.epoch.ended()?;
        self.note_rearranged();
        // What was read last is looked at, too.
        if self.ledger.watches() {
            let patience = self.group.patience();
            self.group.set_patience(patience.at_the_end());
            let met = self.collective("nothing more", hash("nothing more"), || {
                if self.group.fails_with_findings() {
                    self.agreed("a checked run", self.ended_as_checked())
                } else {
                    Ok(Ok(()))
                }
            });
            self.group.set_patience(patience);
            met??;
        }
        Ok(())
    }

    /// The findings of a checked run on this rank, as an error.
    fn ended_as_checked(&self) -> Result<()> {
        let findings = self.ledger.findings();
        let Some(first) = findings.first() else { return Ok(()) };
        Err(ArrayError::Findings { count: findings.len(), first: first.to_string() }.into())
    }

    /// This rank, `0..size()`.
    pub fn rank(&self) -> usize {
        self.group.rank()
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.group.size()
    }

    /// The ranks as a communicating group, for host data outside arrays: broadcast, gather, all-reduce and the like.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// This rank's GPU: the raw device and queue for what Zippy does not offer.
    pub fn gpu(&self) -> &Rc<Device> {
        &self.device
    }

    /// The ranks, for messages inside an operation that was compared as a whole.
    pub(crate) fn inner(&self) -> &Group {
        &self.inner
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The most bytes that one binding of a shader reaches on every rank's device: the same on every rank.
    pub fn binding_bytes(&self) -> u64 {
        self.common.binding_bytes
    }

    /// The most bytes that a buffer can have on every rank's device, and so the most of a chunk: the same on every
    /// rank.
    pub fn buffer_bytes(&self) -> u64 {
        self.common.buffer_bytes
    }

    /// How messages are cut.
    fn message_sizes(&self) -> transfer::MessageSizes {
        self.common.messages
    }

    pub(crate) fn tracer(&self) -> &Tracer {
        &self.tracer
    }

    /// Seconds that this rank spent in communication, by kind, since the start or the last
    /// [`reset_profile`](Self::reset_profile). Local.
    pub fn profile(&self) -> Profile {
        self.tracer.profile()
    }

    /// Starts the profile again from zero. Local.
    pub fn reset_profile(&self) {
        self.tracer.reset();
    }

    /// A kernel from WGSL, compiled for this rank's device when first run. Local.
    ///
    /// # Errors
    /// The WGSL does not parse; the error names file, line and column.
    #[track_caller]
    pub fn kernel(&self, source: impl Into<KernelSource>) -> Result<Kernel> {
        let _call = CallSite::enter();
        Kernel::new(&self.device, &source.into())
    }

    /// A kernel that an algorithm has put together, made once for each text.
    pub(crate) fn composed(&self, source: &KernelSource) -> Result<Kernel> {
        let text = source.as_text().to_string();
        self.composed.borrow_mut().get_or_build(text, || Kernel::new(&self.device, source))
    }

    /// Returns when every rank has called it and this rank's queued kernels are done. Collective; costs O(log ranks)
    /// messages without data. Operations need none between them: they take effect in the order of the program.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    #[track_caller]
    pub fn barrier(&self) -> Result<()> {
        let _call = CallSite::enter();
        self.collective("barrier", hash("barrier"), || {
            self.device.wait()?;
            self.inner.barrier()
        })
    }

    /// Makes a result of this rank alone the same decision on every rank: `Ok` only if it is `Ok` everywhere, else this
    /// rank's own error, or on the others which rank failed and why. The world stays usable, unlike after an error that
    /// a rank returns from the program. Collective; costs O(log ranks) small messages, and the texts when one failed.
    ///
    /// # Errors
    /// This rank's own error, or [`ErrorKind::Remote`].
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let opened = if world.rank() == 1 { Err(zippy::Error::program("disk full")) } else { Ok(()) };
    /// let error = world.agree("opening the results", opened).unwrap_err();
    /// assert!(error.to_string().contains("disk full at "), "every rank knows, and where");
    /// world.barrier()?;
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    #[track_caller]
    pub fn agree<R>(&self, operation: &str, result: Result<R>) -> Result<R> {
        let call = CallSite::enter();
        // In a call of a crate above, such as `save`, the operation is that call.
        let text = if call.is_nested() { operation.to_owned() } else { format!("agree({operation})") };
        let (call, signature) = (text, hash(("agree", operation)));
        self.collective(call, signature, || self.agreed(operation, result))?
    }

    /// [`agree`](Self::agree) inside an operation that was compared as a whole; the outer error is that of the run.
    pub(crate) fn agreed<R>(&self, operation: &str, result: Result<R>) -> Result<Result<R>> {
        // No bytes are no failure.
        let own = match &result {
            Ok(_) => copied::<u8>(&[]),
            Err(error) => encoded(&(error.kind().to_string(), error.call_site()))?,
        };
        // Only the failures travel: one flag when all went well.
        let mut failed = [u64::from(result.is_err())];
        self.inner.all_reduce(&mut failed, |sum, more| *sum += more)?;
        let failures = if failed == [0] { Vec::new() } else { self.inner.all_gather_v(own)? };
        let value = match result {
            Err(own) => return Ok(Err(own)),
            Ok(value) => value,
        };
        let mut failed = failures.iter().enumerate().filter(|(_, failure)| !(***failure).as_ref().is_empty());
        let Some((rank, failure)) = failed.next() else { return Ok(Ok(value)) };
        let (message, call_site) = decoded(failure)?;
        let kind = ErrorKind::Remote { rank, operation: operation.to_string(), message };
        Ok(Err(Error::new(kind, call_site)))
    }

    /// What is done until the result is dropped, is done by an operation of this name, called by whoever calls the caller.
    #[track_caller]
    pub(crate) fn acting(&self, name: &'static str) -> Acting<'_> {
        let at = CallSite::here();
        self.ledger.acting(|| What::Local(name), at)
    }

    /// Runs a collective: names it for waits and failures, adds it to what this rank has called, as every message says,
    /// and tells the other ranks when this rank fails in it.
    #[track_caller]
    pub(crate) fn collective<R>(
        &self,
        operation: impl Display + 'static,
        signature: u64,
        f: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let at = CallSite::here();
        let operation: Rc<dyn Display> = Rc::new(operation);
        let _entered = self.entered(operation.clone(), signature)?;
        let _acting = self.ledger.acting(|| What::Collective(operation), at);
        f().map_err(|error| self.group.fail(error))
    }

    fn entered(&self, operation: Rc<dyn Display>, signature: u64) -> Result<Entered> {
        self.alive()?;
        let entered = self.group.entering_shared(operation.clone());
        self.note_rearranged();
        match self.group.check_shared(signature, operation).and_then(|()| self.tell_writes()) {
            Ok(()) => Ok(entered),
            // While the operation still has its name.
            Err(error) => Err(self.group.fail(error)),
        }
    }

    /// Adds the handles that were made without a collective to what this rank has called.
    fn note_rearranged(&self) {
        for Rearranged { name, element, placement } in self.registry.borrow_mut().take_rearranged() {
            let handle = Collective::new("reassigned").of(Named::new(&name, element, &placement), None);
            self.group.note(handle.signature(), Rc::new(handle));
        }
    }

    /// Runs a part of a collective that is built of others, and tells the other ranks when it fails here; `operation` names
    /// it to them and in slow waits. Local.
    ///
    /// # Errors
    /// What `f` returns.
    #[track_caller]
    pub fn failing<R>(&self, operation: impl Display + 'static, f: impl FnOnce() -> Result<R>) -> Result<R> {
        let _call = CallSite::enter();
        let _entered = self.group.entering_shared(Rc::new(operation));
        f().map_err(|error| self.group.fail(error))
    }

    /// The error of a failed world, before anything else is looked at.
    pub(crate) fn alive(&self) -> Result<()> {
        self.group.alive()
    }
}
