//! A group of ranks: who is in it, its tags, its failures.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::rc::{Rc, Weak};
use std::time::Instant;

use super::calls::Calls;
use super::config::Checks;
use super::contexts::Contexts;
use super::left::{Left, SubGroup};
use super::members::{GroupId, Members};
use super::operation::{Entered, Operations};
use super::patience::Patience;
use super::{Beside, Tag, Transport, TransportKind};
use crate::error::{CallSite, Error, ErrorKind, Failure, Result};

/// What a rank does that is in no operation of the library.
pub(super) const ITS_PROGRAM: &str = "its program";

/// A rank's first failure, and the operation that failed.
pub(super) struct OwnFailure {
    pub error: Error,
    pub operation: String,
}

/// What all groups of one rank share.
pub(crate) struct Station {
    transport: Box<dyn Transport>,
    operations: Rc<Operations>,
    patience: Cell<Patience>,
    checks: Checks,
    /// This rank's own failure, so that it keeps returning its own error.
    pub(super) own: RefCell<Option<OwnFailure>>,
    pub(crate) contexts: Rc<Contexts>,
    left: Rc<Left>,
    /// The group in which this rank waits for a message, the rank of the run that sends it, and how much had come from that
    /// one when the message was last looked for in vain.
    pub(crate) awaited: Cell<Option<(GroupId, usize, Option<u64>)>>,
    /// Ranks of the run that have been asked something and have not answered.
    pub(crate) asked: RefCell<BTreeSet<usize>>,
    /// When one of them last has.
    pub(crate) heard: Cell<Option<Instant>>,
    /// When this rank has last listened to ranks that wait, and how many calls may go by before it looks at the clock.
    pub(crate) listened: Cell<Option<Instant>>,
    pub(crate) unlooked: Cell<u8>,
    /// This rank's program has finished.
    pub(crate) finished: Cell<bool>,
    /// No exchange of any group has had this number or a higher one.
    next: Cell<u64>,
    /// The groups by context, for what other ranks tell of their calls.
    groups: RefCell<BTreeMap<u8, Weak<Members>>>,
}

/// Some of the ranks of a run, as seen by one of them.
///
/// Ranks are numbered from 0 in each group. Errors name ranks of the whole run.
///
/// * **Collectives** are called by all ranks of the group, in the same order: [`barrier`](Self::barrier),
///   [`broadcast`](Self::broadcast), [`gather`](Self::gather), [`all_gather_v`](Self::all_gather_v),
///   [`all_to_all_v`](Self::all_to_all_v), [`sparse_exchange`](Self::sparse_exchange), [`all_reduce`](Self::all_reduce),
///   [`exclusive_scan`](Self::exclusive_scan), [`split`](Self::split), [`check`](Self::check).
/// * **Messages** go from one rank to another: [`send`](Self::send), [`receive`](Self::receive) and its kin. Their tags come
///   from [`next_sequence`](Self::next_sequence), which all ranks call alike.
/// * All else is local.
///
/// What fails on one rank ends the run: afterwards every collective of every rank returns that failure.
///
/// Clones are cheap and are the same group. A rank is one thread, so that a group is not `Send`.
#[derive(Clone)]
pub struct Group {
    station: Rc<Station>,
    members: Rc<Members>,
    checked: bool,
}

impl Group {
    /// The group of all ranks of a transport.
    pub(crate) fn of_all(transport: Box<dyn Transport>, patience: Patience, checks: Checks) -> Self {
        let (rank, size) = (transport.rank(), transport.size());
        let contexts = Rc::new(Contexts::default());
        let context = contexts.take(0);
        let station = Station {
            transport,
            operations: Rc::default(),
            patience: Cell::new(patience),
            checks,
            own: RefCell::new(None),
            contexts,
            left: Rc::default(),
            groups: RefCell::default(),
            awaited: Cell::new(None),
            asked: RefCell::default(),
            heard: Cell::new(None),
            listened: Cell::new(None),
            unlooked: Cell::new(0),
            finished: Cell::new(false),
            next: Cell::new(0),
        };
        let (start, next, calls) = (0, Cell::new(0), Calls::default());
        let left = Rc::clone(&station.left);
        let members = Members { rank, size, world: None, ranks: Vec::new(), context, start, next, calls, left };
        Self::new(Rc::new(station), members, true)
    }

    fn new(station: Rc<Station>, members: Members, checked: bool) -> Self {
        let members = Rc::new(members);
        station.groups.borrow_mut().insert(members.context.id(), Rc::downgrade(&members));
        Self { station, members, checked }
    }

    /// The group of the members with these ranks in `self`, this rank being one of them.
    ///
    /// `start` is behind all exchanges that any of them has taken part in, so that no later group has the messages of an
    /// earlier one.
    pub(crate) fn of_members(&self, ranks: &[usize], context: u8, start: u64) -> Self {
        let world: Vec<usize> = ranks.iter().map(|&rank| self.world_rank_of(rank)).collect();
        let mut by_world: Vec<(usize, usize)> = world.iter().copied().zip(0..).collect();
        by_world.sort_unstable();
        let rank = world.iter().position(|&rank| rank == self.world_rank()).unwrap_or_default();
        let context = self.station.contexts.take(context);
        // So that no two groups of a rank have the same start, even if nothing is exchanged in them.
        self.station.next.set(self.station.next.get().max(start + 1));
        let (next, calls) = (Cell::new(start), Calls::from(self.calls().history()));
        let (size, left) = (world.len(), Rc::clone(&self.station.left));
        let members = Members { rank, size, world: Some(world), ranks: by_world, context, start, next, calls, left };
        Self::new(Rc::clone(&self.station), members, self.checked)
    }

    /// This rank's number in the group.
    pub fn rank(&self) -> usize {
        self.members.rank
    }

    /// The number of ranks in the group.
    pub fn size(&self) -> usize {
        self.members.size
    }

    /// This rank's number in the whole run.
    pub fn world_rank(&self) -> usize {
        self.station.transport.rank()
    }

    /// The number in the whole run of the group's rank `rank`.
    #[inline]
    pub fn world_rank_of(&self, rank: usize) -> usize {
        self.members.world.as_ref().map_or(rank, |world| world.get(rank).copied().unwrap_or(rank))
    }

    /// This rank's number among the ranks of the run on its machine, for the choice of a GPU.
    pub(crate) fn node_rank(&self) -> usize {
        self.station.transport.node_rank()
    }

    /// The number of ranks of the run on this machine.
    pub(crate) fn node_size(&self) -> usize {
        self.station.transport.node_size()
    }

    /// What carries the messages.
    pub fn kind(&self) -> TransportKind {
        self.station.transport.kind()
    }

    /// A fresh tag for messages of the caller's own. All ranks of the group take their tags in the same order.
    ///
    /// No message is sent.
    pub fn next_sequence(&self) -> Tag {
        let next = self.members.next.get();
        self.members.next.set(next + 1);
        self.station.next.set(self.station.next.get().max(next + 1));
        Tag::new(self.context(), next, self.calls().history())
    }

    /// The number of the next exchange in this group, as all ranks count it.
    pub(crate) fn sequence(&self) -> u64 {
        self.members.next.get()
    }

    /// A number that no exchange of this rank has had, in whatever group, nor a higher one.
    pub(crate) fn unused_sequence(&self) -> u64 {
        self.station.next.get()
    }

    pub(crate) fn context(&self) -> u8 {
        self.members.context.id()
    }

    pub(crate) fn calls(&self) -> &Calls {
        &self.members.calls
    }

    /// The tag of a message beside all exchanges.
    pub(crate) fn tag_beside(&self, which: Beside) -> Tag {
        Tag::beside(self.context(), which)
    }

    /// What names this group among all of the run.
    pub(crate) fn id(&self) -> GroupId {
        GroupId { context: self.context(), start: self.members.start }
    }

    /// The group that this rank is in and that has this context.
    pub(crate) fn group_of_context(&self, context: u8) -> Option<Self> {
        let members = self.station.groups.borrow().get(&context)?.upgrade()?;
        Some(Self { station: Rc::clone(&self.station), members, checked: true })
    }

    /// The sub-groups that this rank is in.
    pub(crate) fn sub_groups(&self) -> Vec<Self> {
        let contexts: Vec<u8> = self.station.groups.borrow().keys().copied().collect();
        let groups = contexts.into_iter().filter_map(|context| self.group_of_context(context));
        groups.filter(|group| group.members.world.is_some()).collect()
    }

    /// This group's name at the end of a run.
    pub(crate) fn sub_group(&self) -> SubGroup {
        self.members.as_sub_group().0
    }

    /// Whether this rank is the lowest of the run in this sub-group.
    pub(crate) fn is_lowest(&self) -> bool {
        self.members.as_sub_group().1
    }

    /// The sub-groups that this rank has been in.
    pub(crate) fn left(&self) -> &Left {
        &self.station.left
    }

    /// The same group, whose calls are not compared between ranks: for use inside an operation that was compared as a whole.
    pub fn unchecked(&self) -> Self {
        Self { checked: false, ..self.clone() }
    }

    /// Whether this group's calls are noted at all.
    pub(crate) fn compared(&self) -> bool {
        self.checked
    }

    /// Whether calls are compared between ranks before they move anything (debug builds, or `ZIPPY_CHECK=1`).
    pub(crate) fn checking(&self) -> bool {
        self.checked && self.station.checks != Checks::Nothing
    }

    /// Whether findings of a checked run are its failure.
    pub(crate) fn fails_with_findings(&self) -> bool {
        self.station.checks == Checks::AllFailing
    }

    /// Whether ghost cells and the positions of helpers are watched.
    pub(crate) fn watching(&self) -> bool {
        matches!(self.station.checks, Checks::All | Checks::AllFailing)
    }

    /// Names what this rank does until the returned guard is dropped.
    ///
    /// Slow waits and failures say it; it is written out only then.
    pub fn entering(&self, operation: impl Display + 'static) -> Entered {
        self.station.operations.enter(Rc::new(operation))
    }

    pub(crate) fn entering_shared(&self, operation: Rc<dyn Display>) -> Entered {
        self.station.operations.enter(operation)
    }

    pub(crate) fn operation_text(&self, otherwise: &str) -> String {
        self.station.operations.text(otherwise)
    }

    pub(crate) fn patience(&self) -> Patience {
        self.station.patience.get()
    }

    pub(crate) fn set_patience(&self, patience: Patience) {
        self.station.patience.set(patience);
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        &*self.station.transport
    }

    pub(crate) fn station(&self) -> &Station {
        &self.station
    }

    /// The rank in the group of a rank of the run.
    pub(crate) fn rank_of_world(&self, world_rank: usize) -> Option<usize> {
        if self.members.world.is_none() {
            return Some(world_rank);
        }
        let ranks = &self.members.ranks;
        let place = ranks.binary_search_by_key(&world_rank, |&(world, _)| world);
        place.ok().map(|place| ranks[place].1)
    }

    /// `Ok` while no rank of the run has failed. Local.
    ///
    /// # Errors
    /// This rank's own failure, or another's as [`ErrorKind::Remote`].
    #[track_caller]
    pub fn alive(&self) -> Result<()> {
        let _call = CallSite::enter();
        let Some(failure) = self.station.transport.failure() else { return Ok(()) };
        if failure.rank == self.world_rank()
            && let Some(own) = &*self.station.own.borrow()
        {
            return Err(own.error.clone());
        }
        Err(failure.into())
    }

    /// Tells all ranks that this one has failed, and returns the error, for `return Err(group.fail(error))`.
    ///
    /// The others return [`ErrorKind::Remote`] from their next wait or collective. An `ErrorKind::Remote` is passed through: its
    /// rank has told everybody.
    pub fn fail(&self, error: Error) -> Error {
        self.fail_in(ITS_PROGRAM, error)
    }

    pub(crate) fn fail_in(&self, operation: &str, error: Error) -> Error {
        if matches!(error.kind(), ErrorKind::Remote { .. }) {
            return error;
        }
        let operation = self.operation_text(operation);
        let own = || OwnFailure { error: error.clone(), operation: operation.clone() };
        self.station.own.borrow_mut().get_or_insert_with(own);
        self.station.transport.fail(&Failure::new(self.world_rank(), operation, &error));
        error
    }
}
