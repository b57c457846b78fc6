//! [`Store`]: what was asked for, and what has come.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use zippy::debug::protocol::{
    Answer, ArrayEntry, ArrayRef, Difference, GhostEntry, Message, Moves, Point, Request, Summary, SummaryRequest,
    Timeline, View, ViewRequest,
};

use super::sense;
use crate::session::{Session, State};

/// So many asks are under way at most, orders not counted.
pub const MOST_ASKS: usize = 4;
/// What nobody wants any more is kept while it is true and takes no more than this, so that going back shows it at once.
const MOST_KEPT: usize = 64 << 20;
/// Why something is not there.
const GONE: &str = "it was not asked for before the program ended";
/// Names of debug points that are remembered.
const MOST_NAMES: usize = 1000;

/// What a session has told. Panels say each frame what they need; what is not there, or is of another debug point than the
/// latest, is asked for.
#[derive(Default)]
pub struct Store {
    /// Where the program is.
    pub point: Option<Point>,
    /// How it ended, if it did.
    pub end: Option<String>,
    /// Names of debug points that were seen.
    pub names: BTreeSet<String>,
    /// What was wrong with the last order, if anything.
    pub refused: Option<String>,
    /// How many runs were seen: a program that is found again is another one.
    pub run: u64,
    /// Counts what makes answers old.
    epoch: u64,
    frame: u64,
    open: bool,
    entries: Vec<Entry>,
    numbers: u64,
    sent: HashMap<u32, Sent>,
    orders: VecDeque<Request>,
}

struct Entry {
    number: u64,
    request: Request,
    /// The frame in which it was wanted last.
    wanted: u64,
    /// When what there is was asked for.
    epoch: Option<u64>,
    under_way: bool,
    found: Result<Option<Rc<Answer>>, String>,
    bytes: usize,
}

enum Sent {
    Ask { entry: u64, epoch: u64 },
    Order(String),
}

/// What there is of something that was wanted.
#[derive(Debug, Clone, Default)]
pub struct Found {
    answer: Option<Rc<Answer>>,
    /// What was wrong with it.
    pub error: Option<String>,
    /// Whether it is of the latest debug point.
    pub fresh: bool,
    /// When it was asked for.
    epoch: Option<u64>,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $variant:ident($kind:ty);)*) => {
        impl Found {
            $($(#[$doc])* pub fn $name(&self) -> Option<&$kind> {
                match self.answer.as_deref() {
                    Some(Answer::$variant(found)) => Some(found),
                    _ => None,
                }
            })*
        }
    };
}

impl Found {
    /// What has come, whatever it is.
    pub fn answer(&self) -> Option<&Rc<Answer>> {
        self.answer.as_ref()
    }
}

kinds! {
    /// The arrays, if that was wanted and has come.
    arrays: Arrays(Vec<ArrayEntry>);
    /// The cells, if that was wanted and has come.
    view: View(View);
    /// The summary, if that was wanted and has come.
    summary: Summary(Summary);
    /// The ghost cells, if that was wanted and has come.
    ghosts: Ghosts(Vec<GhostEntry>);
    /// The difference, if that was wanted and has come.
    difference: Difference(Difference);
    /// The moves, if that was wanted and has come.
    moves: Moves(Moves);
    /// The timeline, if that was wanted and has come.
    timeline: Timeline(Timeline);
}

impl Store {
    /// Takes what the session has said. To be called before the panels are shown.
    pub fn begin(&mut self, session: &mut dyn Session) {
        self.frame += 1;
        let open = session.state() == State::Open;
        if open != self.open {
            self.turned(open);
        }
        for message in session.poll() {
            match message {
                Message::Point(point) => self.arrived(point),
                Message::Answer(id, answer) => self.answered(id, answer),
                Message::End(how) => self.end = Some(how),
                Message::Alive => {}
            }
        }
    }

    /// The connection was made or lost. What was under way does not come any more.
    fn turned(&mut self, open: bool) {
        self.open = open;
        self.sent.clear();
        self.entries.iter_mut().for_each(|entry| entry.under_way = false);
        if open {
            self.entries.clear();
            (self.point, self.end, self.refused) = (None, None, None);
            self.epoch += 1;
            self.run += 1;
        } else {
            self.orders.clear();
        }
    }

    fn arrived(&mut self, point: Point) {
        let before = self.point.as_ref().map(|point| (point.step, point.paused));
        if before != Some((point.step, point.paused)) {
            self.epoch += 1;
        }
        if self.names.len() < MOST_NAMES {
            self.names.insert(point.name.clone());
        }
        self.point = Some(point);
    }

    fn answered(&mut self, id: u32, answer: Result<Answer, String>) {
        match self.sent.remove(&id) {
            Some(Sent::Ask { entry, epoch }) => {
                let Some(entry) = self.entries.iter_mut().find(|known| known.number == entry) else { return };
                let found = answer.and_then(|answer| match sense::answer(&entry.request, &answer) {
                    true => Ok(Some(Rc::new(answer))),
                    false => Err("what the program has answered makes no sense".into()),
                });
                entry.bytes = found.iter().flatten().map(|answer| bytes(answer)).sum();
                (entry.epoch, entry.under_way, entry.found) = (Some(epoch), false, found);
            }
            Some(Sent::Order(what)) => self.refused = answer.err().map(|error| format!("{what}: {error}")),
            None => {}
        }
    }

    /// What there is of this, which is asked for where it is not there or old.
    pub fn want(&mut self, request: Request) -> Found {
        let entry = match self.entries.iter().position(|entry| entry.request == request) {
            Some(place) => &mut self.entries[place],
            None => {
                self.numbers += 1;
                let number = self.numbers;
                let (epoch, found) = (None, Ok(None));
                self.entries.push(Entry { number, request, wanted: 0, epoch, under_way: false, found, bytes: 0 });
                let last = self.entries.len() - 1;
                &mut self.entries[last]
            }
        };
        entry.wanted = self.frame;
        let fresh = entry.epoch == Some(self.epoch);
        let (answer, error) = match &entry.found {
            Ok(answer) => (answer.clone(), None),
            Err(error) => (None, Some(error.clone())),
        };
        // The program has ended, and missing data will not come.
        let is_gone = answer.is_none() && error.is_none() && !self.open && self.run > 0;
        Found { answer, error: error.or_else(|| is_gone.then(|| GONE.into())), fresh, epoch: entry.epoch }
    }

    /// All arrays.
    pub fn arrays(&mut self) -> Found {
        self.want(Request::Arrays)
    }

    /// Cells.
    pub fn view(&mut self, request: ViewRequest) -> Found {
        self.want(Request::View(request))
    }

    /// Cells that were asked for not before this [`epoch`](Self::epoch), once they or an error have come.
    pub fn view_since(&mut self, request: &ViewRequest, epoch: u64) -> Option<Result<View, String>> {
        let found = self.view(request.clone());
        if found.epoch.is_some_and(|asked| asked >= epoch) {
            return match (found.error.clone(), found.view()) {
                (Some(error), _) => Some(Err(error)),
                (None, view) => view.cloned().map(Ok),
            };
        }
        (!self.open).then(|| Err("nobody answers any more".into()))
    }

    /// What the numbers of an array are like.
    pub fn summary(&mut self, request: SummaryRequest) -> Found {
        // A range that is not equal to itself would be asked for in every frame.
        let bad = request.range.filter(|(low, high)| !(low.is_finite() && high.is_finite() && low < high));
        match bad {
            Some((low, high)) => {
                let error =
                    Some(format!("there are no bins from {low} to {high}: both must be numbers, the first smaller"));
                Found { error, ..Found::default() }
            }
            None => self.want(Request::Summary(request)),
        }
    }

    /// What the ghost cells of an array are.
    pub fn ghosts(&mut self, array: ArrayRef) -> Found {
        self.want(Request::Ghosts(array))
    }

    /// To be sent to the program once, before anything that is wanted.
    pub fn order(&mut self, request: Request) {
        self.orders.push_back(request);
    }

    /// Changes with every debug point: a stamp of what is fresh.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether something that is wanted is not there yet.
    pub fn is_waiting(&self) -> bool {
        self.entries.iter().any(|entry| entry.under_way && entry.wanted == self.frame)
    }

    /// Asks for what is wanted and forgets what is not. To be called behind the panels.
    pub fn finish(&mut self, session: &mut dyn Session) {
        if self.open {
            while let Some(order) = self.orders.pop_front() {
                let what = describe(&order);
                let id = session.ask(order);
                self.sent.insert(id, Sent::Order(what));
            }
            self.ask(session);
        }
        self.forget();
    }

    fn ask(&mut self, session: &mut dyn Session) {
        let under_way = self.sent.values().filter(|sent| matches!(sent, Sent::Ask { .. })).count();
        let old =
            |entry: &&mut Entry| entry.wanted == self.frame && !entry.under_way && entry.epoch != Some(self.epoch);
        let mut next: Vec<&mut Entry> = self.entries.iter_mut().filter(old).collect();
        // What was never there first, then what is oldest.
        next.sort_by_key(|entry| entry.epoch);
        for entry in next.into_iter().take(MOST_ASKS.saturating_sub(under_way)) {
            let id = session.ask(entry.request.clone());
            entry.under_way = true;
            self.sent.insert(id, Sent::Ask { entry: entry.number, epoch: self.epoch });
        }
    }

    fn forget(&mut self) {
        let (frame, epoch) = (self.frame, self.epoch);
        let mut room = MOST_KEPT;
        let mut kept: Vec<Entry> = std::mem::take(&mut self.entries);
        // The latest first.
        kept.sort_by_key(|entry| std::cmp::Reverse(entry.wanted));
        kept.retain(|entry| {
            // A frame may be shown in two passes, and a panel be left out of one.
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

/// An order, for an error of it.
fn describe(order: &Request) -> String {
    match order {
        Request::Control(control) => format!("{control:?}"),
        Request::Rules(_) => "breakpoints".into(),
        other => format!("{other:?}"),
    }
}

/// About how much memory an answer takes.
fn bytes(answer: &Answer) -> usize {
    const ENTRY: usize = 128;
    ENTRY
        + match answer {
            Answer::View(view) => view.cells.len(),
            Answer::Arrays(arrays) => arrays.iter().map(|array| ENTRY * (1 + array.chunks.len())).sum(),
            Answer::Ghosts(ghosts) => ENTRY * ghosts.len(),
            Answer::Moves(moves) => ENTRY * moves.moves.len(),
            Answer::Timeline(timeline) => ENTRY * timeline.ranks.iter().map(Vec::len).sum::<usize>(),
            Answer::Summary(_) | Answer::Difference(_) | Answer::Done => ENTRY,
        }
}
