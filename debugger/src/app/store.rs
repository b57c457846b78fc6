//! [`Store`]: cache of the answers to requests.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use zippy_protocol::{
    Answer, ArrayEntry, ArrayRef, Difference, GhostEntry, Message, Moves, Point, Request, Summary, SummaryRequest,
    Timeline, View, ViewRequest,
};

use super::validate;
use crate::session::{Session, State};

/// Maximum number of pending requests. Commands are not counted.
pub(super) const MAX_PENDING: usize = 4;
/// Maximum bytes of answers that no panel currently wants. They are kept while they are valid.
const MAX_UNUSED_BYTES: usize = 64 << 20;
/// Error text of a request that has no answer when the program ends.
const NO_ANSWER_BEFORE_END: &str = "it was not requested before the program ended";
/// Maximum number of remembered names of debug points.
const MAX_NAMES: usize = 1000;

/// Cache of a session's answers. In each frame, panels state the requests for the answers that they
/// show. The cache sends the requests without an answer, and those with an answer from an earlier
/// debug point.
#[derive(Default)]
pub(super) struct Store {
    /// Latest debug point of the program.
    pub point: Option<Point>,
    /// Reason for the end of the program, if it has ended.
    pub end: Option<String>,
    /// Names of past debug points.
    pub names: BTreeSet<String>,
    /// Error of the latest command, if the program refused it.
    pub refused: Option<String>,
    /// Number of program runs so far. A reconnection starts a new run.
    pub run: u64,
    /// Counts events that make answers outdated.
    epoch: u64,
    frame: u64,
    open: bool,
    entries: Vec<Entry>,
    next_number: u64,
    sent: HashMap<u32, Sent>,
    orders: VecDeque<Request>,
}

struct Entry {
    number: u64,
    request: Request,
    /// Frame in which a panel last stated the request.
    wanted: u64,
    /// Epoch in which the current answer was requested.
    epoch: Option<u64>,
    is_pending: bool,
    found: Result<Option<Rc<Answer>>, String>,
    bytes: usize,
}

enum Sent {
    Ask { entry: u64, epoch: u64 },
    Order(String),
}

/// Cached answer to a request.
#[derive(Debug, Clone, Default)]
pub(super) struct CachedAnswer {
    answer: Option<Rc<Answer>>,
    /// Error that answered the request.
    pub error: Option<String>,
    /// True if the answer is from the latest debug point.
    pub is_fresh: bool,
    /// Epoch in which the answer was requested.
    epoch: Option<u64>,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $variant:ident($kind:ty);)*) => {
        impl CachedAnswer {
            $($(#[$doc])* pub(super) fn $name(&self) -> Option<&$kind> {
                match self.answer.as_deref() {
                    Some(Answer::$variant(found)) => Some(found),
                    _ => None,
                }
            })*
        }
    };
}

impl CachedAnswer {
    /// Returns the answer of any kind.
    pub(super) fn answer(&self) -> Option<&Rc<Answer>> {
        self.answer.as_ref()
    }
}

kinds! {
    /// Returns the arrays if the answer is a list of arrays.
    arrays: Arrays(Vec<ArrayEntry>);
    /// Returns the cells if the answer is a view.
    view: View(View);
    /// Returns the summary if the answer is one.
    summary: Summary(Summary);
    /// Returns the ghost cell states if the answer is a list of them.
    ghosts: Ghosts(Vec<GhostEntry>);
    /// Returns the difference if the answer is one.
    difference: Difference(Difference);
    /// Returns the moves if the answer is a list of them.
    moves: Moves(Moves);
    /// Returns the timeline if the answer is one.
    timeline: Timeline(Timeline);
}

impl Store {
    /// Receives messages of the session. Must be called before the panels are shown.
    pub(super) fn begin(&mut self, session: &mut dyn Session) {
        self.frame += 1;
        let open = session.state() == State::Open;
        if open != self.open {
            self.connection_changed(open);
        }
        for message in session.poll() {
            match message {
                Message::Point(point) => self.receive_point(point),
                Message::Answer(id, answer) => self.receive_answer(id, answer),
                Message::End(how) => self.end = Some(how),
                Message::Alive => {}
            }
        }
    }

    /// Handles a new or lost connection. Pending requests get no answers.
    fn connection_changed(&mut self, open: bool) {
        self.open = open;
        self.sent.clear();
        self.entries.iter_mut().for_each(|entry| entry.is_pending = false);
        if open {
            self.entries.clear();
            (self.point, self.end, self.refused) = (None, None, None);
            self.epoch += 1;
            self.run += 1;
        } else {
            self.orders.clear();
        }
    }

    fn receive_point(&mut self, point: Point) {
        let before = self.point.as_ref().map(|point| (point.step, point.paused));
        if before != Some((point.step, point.paused)) {
            self.epoch += 1;
        }
        if self.names.len() < MAX_NAMES {
            self.names.insert(point.name.clone());
        }
        self.point = Some(point);
    }

    fn receive_answer(&mut self, id: u32, answer: Result<Answer, String>) {
        match self.sent.remove(&id) {
            Some(Sent::Ask { entry, epoch }) => {
                let Some(entry) = self.entries.iter_mut().find(|known| known.number == entry) else { return };
                let found = answer.and_then(|answer| {
                    if validate::answer(&entry.request, &answer) {
                        Ok(Some(Rc::new(answer)))
                    } else {
                        Err("the program sent an invalid answer".into())
                    }
                });
                entry.bytes = found.iter().flatten().map(|answer| answer_bytes(answer)).sum();
                (entry.epoch, entry.is_pending, entry.found) = (Some(epoch), false, found);
            }
            Some(Sent::Order(name)) => self.refused = answer.err().map(|error| format!("{name}: {error}")),
            None => {}
        }
    }

    /// Returns the cached answer to a request, and marks the request as wanted in this frame.
    pub(super) fn want(&mut self, request: Request) -> CachedAnswer {
        let entry = match self.entries.iter().position(|entry| entry.request == request) {
            Some(index) => &mut self.entries[index],
            None => {
                self.next_number += 1;
                let number = self.next_number;
                let (epoch, found) = (None, Ok(None));
                self.entries.push(Entry { number, request, wanted: 0, epoch, is_pending: false, found, bytes: 0 });
                let last = self.entries.len() - 1;
                &mut self.entries[last]
            }
        };
        entry.wanted = self.frame;
        let is_fresh = entry.epoch == Some(self.epoch);
        let (answer, error) = match &entry.found {
            Ok(answer) => (answer.clone(), None),
            Err(error) => (None, Some(error.clone())),
        };
        // After the end of the program, no further answer arrives.
        let is_gone = answer.is_none() && error.is_none() && !self.open && self.run > 0;
        CachedAnswer {
            answer,
            error: error.or_else(|| is_gone.then(|| NO_ANSWER_BEFORE_END.into())),
            is_fresh,
            epoch: entry.epoch,
        }
    }

    /// Returns the list of all arrays.
    pub(super) fn arrays(&mut self) -> CachedAnswer {
        self.want(Request::Arrays)
    }

    /// Returns cells of an array.
    pub(super) fn view(&mut self, request: ViewRequest) -> CachedAnswer {
        self.want(Request::View(request))
    }

    /// Returns cells that were requested in this [`epoch`](Self::epoch) or later. `None` while they
    /// are pending.
    pub(super) fn view_since(&mut self, request: &ViewRequest, epoch: u64) -> Option<Result<View, String>> {
        let found = self.view(request.clone());
        if found.epoch.is_some_and(|requested| requested >= epoch) {
            return match (found.error.clone(), found.view()) {
                (Some(error), _) => Some(Err(error)),
                (None, view) => view.cloned().map(Ok),
            };
        }
        (!self.open).then(|| Err("the program does not answer any more".into()))
    }

    /// Returns statistics of an array's numbers.
    pub(super) fn summary(&mut self, request: SummaryRequest) -> CachedAnswer {
        // A NaN bound is not equal to itself: the request would be sent in every frame.
        let bad = request.range.filter(|(low, high)| !(low.is_finite() && high.is_finite() && low < high));
        match bad {
            Some((low, high)) => {
                let error =
                    Some(format!("there are no bins from {low} to {high}: both must be numbers, the first smaller"));
                CachedAnswer { error, ..CachedAnswer::default() }
            }
            None => self.want(Request::Summary(request)),
        }
    }

    /// Returns the states of an array's ghost cells.
    pub(super) fn ghosts(&mut self, array: ArrayRef) -> CachedAnswer {
        self.want(Request::Ghosts(array))
    }

    /// Adds a command. It is sent once, before all requests.
    pub(super) fn order(&mut self, request: Request) {
        self.orders.push_back(request);
    }

    /// Returns the epoch, which changes with every debug point.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns true if a request of this frame is pending.
    pub(super) fn is_waiting(&self) -> bool {
        self.entries.iter().any(|entry| entry.is_pending && entry.wanted == self.frame)
    }

    /// Sends the wanted requests and drops answers that are no longer needed. Must be called after
    /// the panels are shown.
    pub(super) fn finish(&mut self, session: &mut dyn Session) {
        if self.open {
            while let Some(order) = self.orders.pop_front() {
                let name = command_name(&order);
                let id = session.ask(order);
                self.sent.insert(id, Sent::Order(name));
            }
            self.send_requests(session);
        }
        self.drop_unused_answers();
    }

    fn send_requests(&mut self, session: &mut dyn Session) {
        let pending = self.sent.values().filter(|sent| matches!(sent, Sent::Ask { .. })).count();
        let old =
            |entry: &&mut Entry| entry.wanted == self.frame && !entry.is_pending && entry.epoch != Some(self.epoch);
        let mut next: Vec<&mut Entry> = self.entries.iter_mut().filter(old).collect();
        // Requests without any answer first, then those with the oldest answers.
        next.sort_by_key(|entry| entry.epoch);
        for entry in next.into_iter().take(MAX_PENDING.saturating_sub(pending)) {
            let id = session.ask(entry.request.clone());
            entry.is_pending = true;
            self.sent.insert(id, Sent::Ask { entry: entry.number, epoch: self.epoch });
        }
    }

    fn drop_unused_answers(&mut self) {
        let (frame, epoch) = (self.frame, self.epoch);
        let mut room = MAX_UNUSED_BYTES;
        let mut kept: Vec<Entry> = std::mem::take(&mut self.entries);
        // Latest first.
        kept.sort_by_key(|entry| std::cmp::Reverse(entry.wanted));
        kept.retain(|entry| {
            // egui may draw a frame in two passes and skip a panel in one of them.
            let wanted = entry.wanted + 1 >= frame;
            let fits = entry.bytes <= room && entry.epoch == Some(epoch);
            if !wanted && fits {
                room -= entry.bytes;
            }
            wanted || fits
        });
        self.entries = kept;
    }
}

/// Name of a command for its error text.
fn command_name(order: &Request) -> String {
    match order {
        Request::Control(control) => format!("{control:?}"),
        Request::Rules(_) => "breakpoints".into(),
        other => format!("{other:?}"),
    }
}

/// Approximate memory of an answer, in bytes.
fn answer_bytes(answer: &Answer) -> usize {
    const ENTRY_BYTES: usize = 128;
    ENTRY_BYTES
        + match answer {
            Answer::View(view) => view.cells.len(),
            Answer::Arrays(arrays) => arrays.iter().map(|array| ENTRY_BYTES * (1 + array.chunks.len())).sum(),
            Answer::Ghosts(ghosts) => ENTRY_BYTES * ghosts.len(),
            Answer::Moves(moves) => ENTRY_BYTES * moves.moves.len(),
            Answer::Timeline(timeline) => ENTRY_BYTES * timeline.ranks.iter().map(Vec::len).sum::<usize>(),
            Answer::Summary(_) | Answer::Difference(_) | Answer::Done => ENTRY_BYTES,
        }
}
