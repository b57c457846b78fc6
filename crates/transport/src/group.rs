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
use super::patience::Patience;
use super::sub_group_history::{SubGroupHistory, SubGroupId};
use super::{ReservedTag, Tag, Transport, TransportKind};
use zippy_base::error::{CallSite, Error, ErrorKind, Failure, Result};

/// Name of the operation of a rank outside of all operations of the library.
pub(super) const PROGRAM_OPERATION: &str = "its program";

/// The first failure of this rank, and the failed operation.
pub(super) struct OwnFailure {
    pub error: Error,
    pub operation: String,
}

/// State that all groups of one rank share.
pub(crate) struct RankState {
    transport: Box<dyn Transport>,
    operations: Rc<Operations>,
    patience: Cell<Patience>,
    checks: Checks,
    /// The failure of this rank, so that all later operations of this rank return its own error and
    /// not [`ErrorKind::Remote`].
    pub(super) own_failure: RefCell<Option<OwnFailure>>,
    pub(crate) contexts: Rc<Contexts>,
    sub_group_history: Rc<SubGroupHistory>,
    /// The current wait of this rank for a message: the group, the sender's rank in the run, and
    /// the number of messages that had arrived from the sender at the last unsuccessful poll.
    pub(crate) awaited: Cell<Option<(GroupId, usize, Option<u64>)>>,
    /// Ranks of the run that have not acknowledged the last wait report of this rank.
    pub(crate) unacknowledged: RefCell<BTreeSet<usize>>,
    /// Time of the last acknowledgement of a wait report.
    pub(crate) last_acknowledged: Cell<Option<Instant>>,
    /// Time of the last poll for wait messages, and the number of calls until the clock is read
    /// again.
    pub(crate) last_poll: Cell<Option<Instant>>,
    pub(crate) calls_until_poll: Cell<u8>,
    /// True after the end of this rank's program.
    pub(crate) finished: Cell<bool>,
    /// Upper limit of the exchange numbers that any group of this rank has used.
    next: Cell<u64>,
    /// The existing groups of this rank by context, for wait messages of other ranks.
    groups: RefCell<BTreeMap<u8, Weak<Members>>>,
}

/// A group of ranks of a run, as a communicator in MPI: collectives and messages between its
/// members.
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
/// A clone is cheap and a handle of the same group. A rank is one thread, so `Group` is not `Send`.
#[derive(Clone)]
pub struct Group {
    rank_state: Rc<RankState>,
    members: Rc<Members>,
    checked: bool,
}

impl Group {
    /// Creates the group of all ranks of a transport.
    pub(crate) fn of_all_ranks(transport: Box<dyn Transport>, patience: Patience, checks: Checks) -> Self {
        let (rank, size) = (transport.rank(), transport.size());
        let contexts = Rc::new(Contexts::default());
        let context = contexts.take(0);
        let rank_state = RankState {
            transport,
            operations: Rc::default(),
            patience: Cell::new(patience),
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

    /// Creates the group of the members with the numbers `ranks` in `self`. This rank must be one
    /// of them.
    ///
    /// `start` is the number of the first exchange. It must be greater than the number of every
    /// exchange of every member, so that messages of an earlier group with the same context cannot
    /// match.
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

    /// Number of this rank in the group.
    pub fn rank(&self) -> usize {
        self.members.rank
    }

    /// Number of ranks in the group.
    pub fn size(&self) -> usize {
        self.members.size
    }

    /// Number of this rank in the whole run.
    pub fn world_rank(&self) -> usize {
        self.rank_state.transport.rank()
    }

    /// Number in the whole run of rank `rank` of the group.
    #[inline]
    pub fn world_rank_of(&self, rank: usize) -> usize {
        self.members.world_ranks.as_ref().map_or(rank, |world| world.get(rank).copied().unwrap_or(rank))
    }

    /// Number of this rank among the ranks of the run on its node, for the choice of a GPU.
    #[doc(hidden)]
    pub fn node_rank(&self) -> usize {
        self.rank_state.transport.node_rank()
    }

    /// Number of ranks of the run on this node.
    #[doc(hidden)]
    pub fn node_size(&self) -> usize {
        self.rank_state.transport.node_size()
    }

    /// The means of transport of messages.
    pub fn kind(&self) -> TransportKind {
        self.rank_state.transport.kind()
    }

    /// Returns a new tag for messages of the caller. All ranks of the group must call this method
    /// in the same order with respect to collectives. Local: sends no message.
    pub fn next_sequence(&self) -> Tag {
        let next = self.members.next.get();
        self.members.next.set(next + 1);
        self.rank_state.next.set(self.rank_state.next.get().max(next + 1));
        Tag::new(self.context(), next, self.calls().fingerprint())
    }

    /// Number of the next exchange in this group, equal on all ranks that have made the same calls.
    pub(crate) fn sequence(&self) -> u64 {
        self.members.next.get()
    }

    /// A number greater than the numbers of all exchanges of this rank, in all groups.
    pub(crate) fn unused_sequence(&self) -> u64 {
        self.rank_state.next.get()
    }

    pub(crate) fn context(&self) -> u8 {
        self.members.context.id()
    }

    pub(crate) fn calls(&self) -> &Calls {
        &self.members.calls
    }

    /// The tag of a message of no exchange, in the context of this group.
    pub(crate) fn reserved_tag(&self, purpose: ReservedTag) -> Tag {
        Tag::reserved(self.context(), purpose)
    }

    /// Identity of this group in the run.
    pub(crate) fn id(&self) -> GroupId {
        GroupId { context: self.context(), start: self.members.start }
    }

    /// The existing group of this rank with a context.
    pub(crate) fn group_of_context(&self, context: u8) -> Option<Self> {
        let members = self.rank_state.groups.borrow().get(&context)?.upgrade()?;
        Some(Self { rank_state: Rc::clone(&self.rank_state), members, checked: true })
    }

    /// The existing sub-groups of this rank.
    pub(crate) fn sub_groups(&self) -> Vec<Self> {
        let contexts: Vec<u8> = self.rank_state.groups.borrow().keys().copied().collect();
        let groups = contexts.into_iter().filter_map(|context| self.group_of_context(context));
        groups.filter(|group| group.members.world_ranks.is_some()).collect()
    }

    /// Identity of this sub-group in the comparison at the end of a run.
    pub(crate) fn sub_group_id(&self) -> SubGroupId {
        self.members.sub_group_id().0
    }

    /// True if this rank has the lowest world rank in this sub-group.
    pub(crate) fn is_lowest(&self) -> bool {
        self.members.sub_group_id().1
    }

    /// The calls of this rank in its former sub-groups.
    pub(crate) fn sub_group_history(&self) -> &SubGroupHistory {
        &self.rank_state.sub_group_history
    }

    /// Returns a handle of the same group that does not compare calls between ranks, for use inside
    /// an operation that is compared as a whole.
    pub fn unchecked(&self) -> Self {
        Self { checked: false, ..self.clone() }
    }

    /// True if this handle records calls.
    pub(crate) fn compared(&self) -> bool {
        self.checked
    }

    /// True if calls are compared between ranks before data moves (debug builds, or
    /// `ZIPPY_CHECK=1`).
    pub(crate) fn checking(&self) -> bool {
        self.checked && self.rank_state.checks != Checks::Off
    }

    /// True if findings of checks fail the run.
    #[doc(hidden)]
    pub fn fails_with_findings(&self) -> bool {
        self.rank_state.checks == Checks::AllFailing
    }

    /// True if ghost cells and the positions of helpers are checked.
    #[doc(hidden)]
    pub fn watching(&self) -> bool {
        matches!(self.rank_state.checks, Checks::All | Checks::AllFailing)
    }

    /// Sets the name of the current operation of this rank until the returned guard is dropped.
    ///
    /// Warnings about slow waits and failures contain the name. It is formatted only for them.
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

    /// Calls `f` with the waits of a rank whose program has finished.
    #[doc(hidden)]
    pub fn with_patience_of_the_end<R>(&self, f: impl FnOnce() -> R) -> R {
        let patience = self.patience();
        self.set_patience(patience.at_the_end());
        let result = f();
        self.set_patience(patience);
        result
    }

    /// Time after which a wait fails; `None` sets no limit.
    #[doc(hidden)]
    pub fn timeout(&self) -> Option<Duration> {
        self.patience().timeout
    }

    pub(crate) fn patience(&self) -> Patience {
        self.rank_state.patience.get()
    }

    pub(crate) fn set_patience(&self, patience: Patience) {
        self.rank_state.patience.set(patience);
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        &*self.rank_state.transport
    }

    pub(crate) fn rank_state(&self) -> &RankState {
        &self.rank_state
    }

    /// Number in this group of a rank of the run, or `None` if the rank is no member.
    pub(crate) fn rank_of_world(&self, world_rank: usize) -> Option<usize> {
        if self.members.world_ranks.is_none() {
            return Some(world_rank);
        }
        let ranks = &self.members.by_world_rank;
        let index = ranks.binary_search_by_key(&world_rank, |&(world, _)| world);
        index.ok().map(|index| ranks[index].1)
    }

    /// Checks that no rank of the run has failed, as far as this rank knows. Local.
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
    /// The other ranks return [`ErrorKind::Remote`] from their next wait or collective. For an
    /// [`ErrorKind::Remote`] the method does nothing: the failed rank has reported the failure.
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
