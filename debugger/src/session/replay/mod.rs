//! [`Replay`]: a recording.

mod chunks;
mod cut;
mod facts;
mod index;
mod seek;
mod store;
mod tally;
mod watch;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zippy::debug::protocol::{Answer, ArrayEntry, Control, Message, Program, Request, Summary};

use self::index::Index;
use self::seek::{Rules, Seek};
use self::store::Store;
use self::watch::Watch;
use super::{Session, State, Waker};

/// Bytes of a growing recording that are scanned at a time.
const SCANNED: u64 = 64 << 20;
/// So long debug points are looked at before somebody else has a turn.
const TURN: Duration = Duration::from_millis(40);

/// A recording, at one of its debug points. Whole files are scanned when they are opened; entries are read when they are asked
/// for. A program may still be writing: debug points are added as the file grows.
///
/// Of an array that was recorded coarsely, a view has the cells that there are: [`View::of`](zippy::debug::protocol::View::of)
/// says which. Conditions are looked at where every cell was recorded; while they are, the recording says that it runs.
pub struct Replay {
    store: Store,
    at: usize,
    told: Vec<Message>,
    rules: Rules,
    seek: Option<Seek>,
    next: u32,
    begun: bool,
    /// The polling side, and the thread that sees the file grow.
    waker: Option<Waker>,
    watch: Option<Watch>,
}

impl Replay {
    /// Opens a recording.
    ///
    /// # Errors
    /// What the file system says; the file is no recording, or one of another version.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let store = Store::new(Index::open(path.as_ref())?);
        let (told, rules) = (Vec::new(), Rules::default());
        let (waker, watch) = (None, None);
        let mut replay = Self { store, at: 0, told, rules, seek: None, next: 0, begun: false, waker, watch };
        replay.begin();
        Ok(replay)
    }

    /// How the run ended; nothing where the recording does not have its end.
    pub fn end(&self) -> Option<&str> {
        self.store.index.end.as_deref()
    }

    /// Bytes of the recording that are good.
    pub fn bytes(&self) -> u64 {
        self.store.index.good()
    }

    /// From one recorded cell of an array to the next along each axis, at this debug point.
    ///
    /// # Errors
    /// It has none of this array here.
    pub fn stride(&mut self, entry: &ArrayEntry) -> Result<Vec<i64>, String> {
        self.store.recorded(self.at, entry).map(|view| view.of.stride.clone())
    }

    /// Tells the first debug point as soon as there is one.
    fn begin(&mut self) {
        if !self.begun && !self.store.index.points.is_empty() {
            self.begun = true;
            self.point(true, String::new());
        }
    }

    fn point(&mut self, paused: bool, reason: String) {
        if let Some(step) = self.store.index.points.get(self.at) {
            let mut point = step.point.clone();
            point.paused = paused;
            if !reason.is_empty() {
                point.reason = reason;
            }
            self.told.push(Message::Point(point));
        }
    }

    /// Has the session polled again, as something was said or there is more to do.
    fn wake(&self) {
        if let Some(waker) = &self.waker {
            waker();
        }
    }

    fn answer(&mut self, at: usize, request: Request) -> Result<Answer, String> {
        let store = &mut self.store;
        match request {
            Request::Arrays => store.arrays(at).map(|arrays| Answer::Arrays(arrays.to_vec())),
            Request::View(request) => store.view(at, &request).map(Answer::View),
            Request::Summary(request) => {
                let (entry, view) = store.whole(at, request.array)?;
                let step = store.step(at)?.point.step;
                tally::summary(&view, &entry.element, &request).map(|found| Answer::Summary(Summary { step, ..found }))
            }
            Request::Compare(one, other) => {
                let (one, other) = (store.entry(at, one)?, store.entry(at, other)?);
                if let Some(text) = tally::unlike(&one, &other) {
                    return Err(text);
                }
                let ((_, first), (_, second)) = (store.whole(at, one.array)?, store.whole(at, other.array)?);
                let found = tally::difference(&first, &second, one.element.bytes as usize, &one.shape);
                Ok(Answer::Difference(found))
            }
            Request::Ghosts(array) => store.ghosts(at, array).map(Answer::Ghosts),
            Request::Moves => store.moves(at).map(Answer::Moves),
            Request::Timeline(since) => store.timeline(at, since).map(Answer::Timeline),
            Request::Rules(rules) => self.rules.set(rules).map(|()| Answer::Done),
            Request::Control(_) | Request::Alive => Ok(Answer::Done),
        }
    }

    /// Looks at debug points until one is where it is to stop, or the time is over.
    fn go_on(&mut self, most: Duration) {
        let begun = Instant::now();
        while let Some(seek) = &mut self.seek {
            let at = seek.next;
            if let Some(reason) = seek.look(&mut self.store, &mut self.rules) {
                self.seek = None;
                self.at = at;
                self.point(true, reason);
            } else if begun.elapsed() >= most {
                return;
            }
        }
    }

    /// Does what a control says.
    fn control(&mut self, control: &Control) -> Result<(), String> {
        if let Some(seek) = self.seek.take() {
            // As a program that runs: it has come so far.
            self.at = seek.next - 1;
            self.point(true, String::new());
        }
        self.seek = Seek::new(control, &self.store, self.at)?;
        Ok(())
    }
}

impl Session for Replay {
    fn state(&self) -> State {
        State::Open
    }

    fn program(&self) -> Option<&Program> {
        self.store.index.program.as_ref()
    }

    fn ask(&mut self, request: Request) -> u32 {
        self.next = self.next.wrapping_add(1);
        let Request::Control(control) = request else {
            let answer = self.answer(self.at, request);
            self.told.push(Message::Answer(self.next, answer));
            self.wake();
            return self.next;
        };
        let answer = self.control(&control).map(|()| Answer::Done);
        self.told.push(Message::Answer(self.next, answer));
        self.go_on(TURN);
        if self.seek.is_some() {
            self.point(false, String::new());
        }
        self.wake();
        self.next
    }

    fn poll(&mut self) -> Vec<Message> {
        self.store.index.grow(SCANNED);
        self.begin();
        self.go_on(TURN);
        // The watch wakes when the file grows further.
        if self.store.index.has_more() || self.seek.is_some() {
            self.wake();
        }
        if self.store.index.end.is_some() {
            self.watch = None;
        }
        std::mem::take(&mut self.told)
    }

    fn set_waker(&mut self, waker: Waker) {
        if self.store.index.end.is_none() {
            let index = &self.store.index;
            self.watch = index.file().and_then(|file| Watch::start(file, index.length(), Arc::clone(&waker)));
        }
        self.waker = Some(waker);
        self.wake();
    }

    fn wait(&mut self, most: Duration) {
        self.go_on(most);
        if self.told.is_empty() && self.seek.is_none() && !self.store.index.grow(SCANNED) {
            // A file that grows says nothing.
            std::thread::sleep(most.min(Duration::from_millis(50)));
        }
    }

    fn steps(&self) -> &[u64] {
        &self.store.index.steps
    }

    fn go_to(&mut self, step: u64) {
        if let Ok(at) = self.store.index.steps.binary_search(&step) {
            self.seek = None;
            self.at = at;
            self.point(true, String::new());
            self.wake();
        }
    }

    fn notice(&self) -> Option<String> {
        self.store.index.notice()
    }
}
