//! [`Group`]: a group of ranks with its members, tags and failures.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use super::calls::Calls;
use super::config::Checks;
use super::contexts::Contexts;
use super::members::{GroupId, Members};
use super::operation::{Entered, Operations};
use super::sub_group_history::{SubGroupHistory, SubGroupId};
use super::wait_limits::WaitLimits;
use super::{ReservedTag, Tag, Transport, TransportKind};
use zippy_base::error::{CallSite, Error, ErrorKind, Failure, Result};

/// Operation name of a rank outside of all library operations.
pub(super) const PROGRAM_OPERATION: &str = "its program";

pub(super) struct OwnFailure {
    pub error: Error,
    pub operation: String,
}

/// State that all groups of one rank share.
pub(crate) struct RankState {
    transport: Box<dyn Transport>,
    operations: Rc<Operations>,
    wait_limits: Cell<WaitLimits>,
    checks: Checks,
    /// First failure of this rank. Later operations of this rank return this error and not
    /// [`ErrorKind::Remote`].
    pub(super) own_failure: RefCell<Option<OwnFailure>>,
    pub(crate) contexts: Rc<Contexts>,
    sub_group_history: Rc<SubGroupHistory>,
    /// The wait of this rank for a message: the group, the sender's world rank, and the number of
    /// messages that had arrived from the sender at the last poll.
    pub(crate) awaited: Cell<Option<(GroupId, usize, Option<u64>)>>,
    /// World ranks that have not acknowledged the last wait report of this rank.
    pub(crate) unacknowledged: RefCell<BTreeSet<usize>>,
    pub(crate) last_acknowledged: Cell<Option<Instant>>,
    /// Time of the last poll for wait messages. The clock is read again after `calls_until_poll`
    /// calls.
    pub(crate) last_poll: Cell<Option<Instant>>,
    pub(crate) calls_until_poll: Cell<u8>,
    pub(crate) finished: Cell<bool>,
    /// Upper bound of the exchange numbers of all groups of this rank.
    next: Cell<u64>,
    /// Existing groups of this rank by context.
    groups: RefCell<BTreeMap<u8, Weak<Members>>>,
}

/// Group of ranks with collectives and messages, like an MPI communicator.
///
/// Ranks are numbered from 0 in each group. Errors contain ranks of the whole run.
///
/// * **Collectives** are called by all ranks of the group, in the same order:
///   [`barrier`](Self::barrier), [`broadcast`](Self::broadcast), [`gather`](Self::gather),
///   [`all_gather_v`](Self::all_gather_v), [`all_to_all_v`](Self::all_to_all_v),
///   [`sparse_exchange`](Self::sparse_exchange), [`all_reduce`](Self::all_reduce),
///   [`exclusive_scan`](Self::exclusive_scan), [`split`](Self::split), [`check`](Self::check).
/// * **Messages** go from one rank to another: [`send`](Self::send), [`receive`](Self::receive),
///   [`receive_any`](Self::receive_any), [`try_receive`](Self::try_receive). Tags of messages come
///   from [`next_sequence`](Self::next_sequence), and all ranks must call it in the same order.
/// * All other methods are local.
///
/// A failure on one rank ends the run: all later collectives return that failure on every rank.
///
/// A clone is a cheap handle of the same group. A rank is one thread, so `Group` is not `Send`.
#[derive(Clone)]
pub struct Group {
    rank_state: Rc<RankState>,
    members: Rc<Members>,
    checked: bool,
}

impl Group {
    pub(crate) fn of_all_ranks(transport: Box<dyn Transport>, wait_limits: WaitLimits, checks: Checks) -> Self {
        let (rank, size) = (transport.rank(), transport.size());
        let contexts = Rc::new(Contexts::default());
        let context = contexts.take(0);
        let rank_state = RankState {
            transport,
            operations: Rc::default(),
            wait_limits: Cell::new(wait_limits),
            checks,
            own_failure: RefCell::new(None),
            contexts,
            sub_group_history: Rc::default(),
            groups: RefCell::default(),
            awaited: Cell::new(None),
            unacknowledged: RefCell::default(),
            last_acknowledged: Cell::new(None),
            last_poll: Cell::new(None),
            calls_until_poll: Cell::new(0),
            finished: Cell::new(false),
            next: Cell::new(0),
        };
        let (start, next, calls) = (0, Cell::new(0), Calls::default());
        let sub_group_history = Rc::clone(&rank_state.sub_group_history);
        let members = Members {
            rank,
            size,
            world_ranks: None,
            by_world_rank: Vec::new(),
            context,
            start,
            next,
            calls,
            sub_group_history,
        };
        Self::new(Rc::new(rank_state), members, true)
    }

    fn new(rank_state: Rc<RankState>, members: Members, checked: bool) -> Self {
        let members = Rc::new(members);
        rank_state.groups.borrow_mut().insert(members.context.id(), Rc::downgrade(&members));
        Self { rank_state, members, checked }
    }

    /// Group of the members with the numbers `ranks` in `self`, including this rank.
    ///
    /// `start` is the number of the first exchange. It must be greater than every exchange number
    /// of every member, so that messages of an earlier group with the same context cannot match.
    pub(crate) fn of_members(&self, ranks: &[usize], context: u8, start: u64) -> Self {
        let world_ranks: Vec<usize> = ranks.iter().map(|&rank| self.world_rank_of(rank)).collect();
        let mut by_world_rank: Vec<(usize, usize)> = world_ranks.iter().copied().zip(0..).collect();
        by_world_rank.sort_unstable();
        let rank = world_ranks.iter().position(|&rank| rank == self.world_rank()).unwrap_or_default();
        let context = self.rank_state.contexts.take(context);
        // Groups of a rank have different starts, even if they exchange nothing.
        self.rank_state.next.set(self.rank_state.next.get().max(start + 1));
        let (next, calls) = (Cell::new(start), Calls::from(self.calls().fingerprint()));
        let (size, sub_group_history) = (world_ranks.len(), Rc::clone(&self.rank_state.sub_group_history));
        let members = Members {
            rank,
            size,
            world_ranks: Some(world_ranks),
            by_world_rank,
            context,
            start,
            next,
            calls,
            sub_group_history,
        };
        Self::new(Rc::clone(&self.rank_state), members, self.checked)
    }

    /// Rank of the caller in the group.
    pub fn rank(&self) -> usize {
        self.members.rank
    }

    /// Number of ranks in the group.
    pub fn size(&self) -> usize {
        self.members.size
    }

    /// Rank of the caller in the whole run.
    pub fn world_rank(&self) -> usize {
        self.rank_state.transport.rank()
    }

    /// World rank of rank `rank` of the group.
    #[inline]
    pub fn world_rank_of(&self, rank: usize) -> usize {
        self.members.world_ranks.as_ref().map_or(rank, |world| world.get(rank).copied().unwrap_or(rank))
    }

    /// Rank of the caller among the ranks on its node, for the choice of a GPU.
    #[doc(hidden)]
    pub fn node_rank(&self) -> usize {
        self.rank_state.transport.node_rank()
    }

    /// Number of ranks of the run on this node.
    #[doc(hidden)]
    pub fn node_size(&self) -> usize {
        self.rank_state.transport.node_size()
    }

    /// Transport of messages: threads or MPI.
    pub fn kind(&self) -> TransportKind {
        self.rank_state.transport.kind()
    }

    /// Returns a new tag for messages. All ranks of the group call this method in the same order
    /// with respect to collectives. Local; no messages.
    pub fn next_sequence(&self) -> Tag {
        let next = self.members.next.get();
        self.members.next.set(next + 1);
        self.rank_state.next.set(self.rank_state.next.get().max(next + 1));
        Tag::new(self.context(), next, self.calls().fingerprint())
    }

    /// Number of the group's next exchange, equal on all ranks that have made the same calls.
    pub(crate) fn sequence(&self) -> u64 {
        self.members.next.get()
    }

    /// Number greater than all exchange numbers of this rank, in all groups.
    pub(crate) fn unused_sequence(&self) -> u64 {
        self.rank_state.next.get()
    }

    pub(crate) fn context(&self) -> u8 {
        self.members.context.id()
    }

    pub(crate) fn calls(&self) -> &Calls {
        &self.members.calls
    }

    pub(crate) fn reserved_tag(&self, purpose: ReservedTag) -> Tag {
        Tag::reserved(self.context(), purpose)
    }

    pub(crate) fn id(&self) -> GroupId {
        GroupId { context: self.context(), start: self.members.start }
    }

    pub(crate) fn group_of_context(&self, context: u8) -> Option<Self> {
        let members = self.rank_state.groups.borrow().get(&context)?.upgrade()?;
        Some(Self { rank_state: Rc::clone(&self.rank_state), members, checked: true })
    }

    pub(crate) fn sub_groups(&self) -> Vec<Self> {
        let contexts: Vec<u8> = self.rank_state.groups.borrow().keys().copied().collect();
        let groups = contexts.into_iter().filter_map(|context| self.group_of_context(context));
        groups.filter(|group| group.members.world_ranks.is_some()).collect()
    }

    pub(crate) fn sub_group_id(&self) -> SubGroupId {
        self.members.sub_group_id().0
    }

    pub(crate) fn is_lowest(&self) -> bool {
        self.members.sub_group_id().1
    }

    pub(crate) fn sub_group_history(&self) -> &SubGroupHistory {
        &self.rank_state.sub_group_history
    }

    /// Handle of the same group that does not compare calls between ranks, for use inside an
    /// operation that is compared as a whole.
    pub fn unchecked(&self) -> Self {
        Self { checked: false, ..self.clone() }
    }

    pub(crate) fn compared(&self) -> bool {
        self.checked
    }

    /// True if calls are compared between ranks before data moves.
    pub(crate) fn checking(&self) -> bool {
        self.checked && self.rank_state.checks != Checks::Off
    }

    /// True if findings of checks fail the run (`ZIPPY_CHECK=1`).
    #[doc(hidden)]
    pub fn fails_with_findings(&self) -> bool {
        self.rank_state.checks == Checks::AllFailing
    }

    /// True if ghost cells and helper positions are checked.
    #[doc(hidden)]
    pub fn watching(&self) -> bool {
        matches!(self.rank_state.checks, Checks::All | Checks::AllFailing)
    }

    /// Names the current operation of this rank until the returned guard is dropped.
    ///
    /// Warnings about slow waits and failures contain the name, which is formatted only for them.
    pub fn entering(&self, operation: impl Display + 'static) -> Entered {
        self.rank_state.operations.enter(Rc::new(operation))
    }

    #[doc(hidden)]
    pub fn entering_shared(&self, operation: Rc<dyn Display>) -> Entered {
        self.rank_state.operations.enter(operation)
    }

    #[doc(hidden)]
    pub fn operation_text(&self, otherwise: &str) -> String {
        self.rank_state.operations.text(otherwise)
    }

    /// Calls `f` with the wait limits of a finished rank.
    #[doc(hidden)]
    pub fn with_patience_of_the_end<R>(&self, f: impl FnOnce() -> R) -> R {
        let wait_limits = self.wait_limits();
        self.set_wait_limits(wait_limits.after_finish());
        let result = f();
        self.set_wait_limits(wait_limits);
        result
    }

    /// Time after which a wait fails; `None` sets no limit.
    #[doc(hidden)]
    pub fn timeout(&self) -> Option<Duration> {
        self.wait_limits().timeout
    }

    pub(crate) fn wait_limits(&self) -> WaitLimits {
        self.rank_state.wait_limits.get()
    }

    pub(crate) fn set_wait_limits(&self, wait_limits: WaitLimits) {
        self.rank_state.wait_limits.set(wait_limits);
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        &*self.rank_state.transport
    }

    pub(crate) fn rank_state(&self) -> &RankState {
        &self.rank_state
    }

    pub(crate) fn rank_of_world(&self, world_rank: usize) -> Option<usize> {
        if self.members.world_ranks.is_none() {
            return Some(world_rank);
        }
        let ranks = &self.members.by_world_rank;
        let index = ranks.binary_search_by_key(&world_rank, |&(world, _)| world);
        index.ok().map(|index| ranks[index].1)
    }

    /// Checks for a known failure of any rank of the run. Local; no messages.
    ///
    /// # Errors
    /// This rank's own failure, or the failure of another rank as [`ErrorKind::Remote`].
    #[track_caller]
    pub fn alive(&self) -> Result<()> {
        let _call = CallSite::enter();
        let Some(failure) = self.rank_state.transport.failure() else { return Ok(()) };
        if failure.rank == self.world_rank()
            && let Some(own) = &*self.rank_state.own_failure.borrow()
        {
            return Err(own.error.clone());
        }
        Err(failure.into())
    }

    /// Reports a failure of this rank to all ranks, and returns the error, for `return
    /// Err(group.fail(error))`. Local.
    ///
    /// Other ranks return [`ErrorKind::Remote`] from their next wait or collective. An
    /// [`ErrorKind::Remote`] is returned without a report.
    pub fn fail(&self, error: Error) -> Error {
        self.fail_in(PROGRAM_OPERATION, error)
    }

    pub(crate) fn fail_in(&self, operation: &str, error: Error) -> Error {
        if matches!(error.kind(), ErrorKind::Remote { .. }) {
            return error;
        }
        let operation = self.operation_text(operation);
        let own = || OwnFailure { error: error.clone(), operation: operation.clone() };
        self.rank_state.own_failure.borrow_mut().get_or_insert_with(own);
        self.rank_state.transport.fail(&Failure::new(self.world_rank(), operation, &error));
        error
    }
}
