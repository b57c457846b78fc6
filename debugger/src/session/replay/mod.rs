//! [`Replay`]: a recording.

mod chunks;
mod cut;
mod index;
mod pause_search;
mod recorded_arrays;
mod statistics;
mod step_facts;
mod watch;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zippy_protocol::{Answer, ArrayEntry, Control, Message, Program, Request, Summary};

use self::index::Index;
use self::pause_search::{PauseSearch, ReplayRules};
use self::recorded_arrays::RecordedArrays;
use self::watch::Watch;
use super::{Session, State, Waker};
use crate::imaging::differing_cells;

/// Bytes of a growing recording that are scanned at a time.
const SCAN_BYTES: u64 = 64 << 20;
/// Longest search for a breakpoint in a single call.
const SEARCH_TIME: Duration = Duration::from_millis(40);

/// A recording at one of its debug points. The whole file is scanned when it is opened; entries are
/// read on request. The file may still grow: new debug points are added.
///
/// The views of a coarse recording contain the recorded cells;
/// [`View::of`](zippy_protocol::View::of) describes them. Conditions need all cells of an
/// array. While conditions are evaluated, the recording reports that it runs.
pub struct Replay {
    recorded_arrays: RecordedArrays,
    at: usize,
    messages: Vec<Message>,
    rules: ReplayRules,
    search: Option<PauseSearch>,
    next: u32,
    has_begun: bool,
    /// Waker of the user, and the thread that watches the file.
    waker: Option<Waker>,
    watch: Option<Watch>,
}

impl Replay {
    /// Opens a recording.
    ///
    /// # Errors
    /// The file cannot be read, is no recording, or has another version.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let recorded_arrays = RecordedArrays::new(Index::open(path.as_ref())?);
        let (messages, rules) = (Vec::new(), ReplayRules::default());
        let (waker, watch) = (None, None);
        let mut replay =
            Self { recorded_arrays, at: 0, messages, rules, search: None, next: 0, has_begun: false, waker, watch };
        replay.begin();
        Ok(replay)
    }

    /// Returns the reason for the end of the run, or `None` if the recording does not contain it.
    pub fn end(&self) -> Option<&str> {
        self.recorded_arrays.index.end.as_deref()
    }

    /// Returns the number of valid bytes.
    pub fn bytes(&self) -> u64 {
        self.recorded_arrays.index.valid_bytes()
    }

    /// Returns the distance between recorded cells of an array along each axis, at this debug
    /// point.
    ///
    /// # Errors
    /// The recording has no cells of the array at this debug point.
    pub fn stride(&mut self, entry: &ArrayEntry) -> Result<Vec<i64>, String> {
        self.recorded_arrays.recorded(self.at, entry).map(|view| view.of.stride.clone())
    }

    /// Reports the first debug point as soon as it exists.
    fn begin(&mut self) {
        if !self.has_begun && !self.recorded_arrays.index.points.is_empty() {
            self.has_begun = true;
            self.report_point(true, String::new());
        }
    }

    fn report_point(&mut self, paused: bool, reason: String) {
        if let Some(step) = self.recorded_arrays.index.points.get(self.at) {
            let mut point = step.point.clone();
            point.paused = paused;
            if !reason.is_empty() {
                point.reason = reason;
            }
            self.messages.push(Message::Point(point));
        }
    }

    /// Wakes the user, to read messages or to continue the work.
    fn wake(&self) {
        if let Some(waker) = &self.waker {
            waker();
        }
    }

    fn answer(&mut self, at: usize, request: Request) -> Result<Answer, String> {
        let recorded_arrays = &mut self.recorded_arrays;
        match request {
            Request::Arrays => recorded_arrays.arrays(at).map(|arrays| Answer::Arrays(arrays.to_vec())),
            Request::View(request) => recorded_arrays.view(at, &request).map(Answer::View),
            Request::Summary(request) => {
                let (entry, view) = recorded_arrays.whole(at, request.array)?;
                let step = recorded_arrays.step(at)?.point.step;
                statistics::summary(&view, &entry.element, &request)
                    .map(|found| Answer::Summary(Summary { step, ..found }))
            }
            Request::Compare(one, other) => {
                let (one, other) = (recorded_arrays.entry(at, one)?, recorded_arrays.entry(at, other)?);
                if let Some(text) = statistics::incomparable(&one, &other) {
                    return Err(text);
                }
                let ((_, first), (_, second)) =
                    (recorded_arrays.whole(at, one.array)?, recorded_arrays.whole(at, other.array)?);
                Ok(Answer::Difference(differing_cells(&first, &second, one.element.bytes as usize)))
            }
            Request::Ghosts(array) => recorded_arrays.ghosts(at, array).map(Answer::Ghosts),
            Request::Moves => recorded_arrays.moves(at).map(Answer::Moves),
            Request::Timeline(since) => recorded_arrays.timeline(at, since).map(Answer::Timeline),
            Request::Rules(rules) => self.rules.set(rules).map(|()| Answer::Done),
            Request::Control(_) | Request::Alive => Ok(Answer::Done),
        }
    }

    /// Searches for the next pause, at most for `most`.
    fn continue_search(&mut self, most: Duration) {
        let start = Instant::now();
        while let Some(search) = &mut self.search {
            let at = search.next;
            if let Some(reason) = search.advance(&mut self.recorded_arrays, &mut self.rules) {
                self.search = None;
                self.at = at;
                self.report_point(true, reason);
            } else if start.elapsed() >= most {
                return;
            }
        }
    }

    fn control(&mut self, control: &Control) -> Result<(), String> {
        if let Some(search) = self.search.take() {
            // As with a running program: the search has reached this debug point.
            self.at = search.next - 1;
            self.report_point(true, String::new());
        }
        self.search = PauseSearch::new(control, &self.recorded_arrays, self.at)?;
        Ok(())
    }
}

impl Session for Replay {
    fn state(&self) -> State {
        State::Open
    }

    fn program(&self) -> Option<&Program> {
        self.recorded_arrays.index.program.as_ref()
    }

    fn ask(&mut self, request: Request) -> u32 {
        self.next = self.next.wrapping_add(1);
        let Request::Control(control) = request else {
            let answer = self.answer(self.at, request);
            self.messages.push(Message::Answer(self.next, answer));
            self.wake();
            return self.next;
        };
        let answer = self.control(&control).map(|()| Answer::Done);
        self.messages.push(Message::Answer(self.next, answer));
        self.continue_search(SEARCH_TIME);
        if self.search.is_some() {
            self.report_point(false, String::new());
        }
        self.wake();
        self.next
    }

    fn poll(&mut self) -> Vec<Message> {
        self.recorded_arrays.index.grow(SCAN_BYTES);
        self.begin();
        self.continue_search(SEARCH_TIME);
        // The watch wakes the user when the file grows further.
        if self.recorded_arrays.index.has_more() || self.search.is_some() {
            self.wake();
        }
        if self.recorded_arrays.index.end.is_some() {
            self.watch = None;
        }
        std::mem::take(&mut self.messages)
    }

    fn set_waker(&mut self, waker: Waker) {
        if self.recorded_arrays.index.end.is_none() {
            let index = &self.recorded_arrays.index;
            self.watch = index.file().and_then(|file| Watch::start(file, index.length(), Arc::clone(&waker)));
        }
        self.waker = Some(waker);
        self.wake();
    }

    fn wait(&mut self, most: Duration) {
        self.continue_search(most);
        if self.messages.is_empty() && self.search.is_none() && !self.recorded_arrays.index.grow(SCAN_BYTES) {
            // File systems do not report growth.
            std::thread::sleep(most.min(Duration::from_millis(50)));
        }
    }

    fn steps(&self) -> &[u64] {
        &self.recorded_arrays.index.steps
    }

    fn go_to(&mut self, step: u64) {
        if let Ok(at) = self.recorded_arrays.index.steps.binary_search(&step) {
            self.search = None;
            self.at = at;
            self.report_point(true, String::new());
            self.wake();
        }
    }

    fn notice(&self) -> Option<String> {
        self.recorded_arrays.index.notice()
    }
}
