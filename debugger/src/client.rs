//! [`Client`]: a session that is asked one thing after the other, and waited for.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use zippy::debug::meant;
use zippy::debug::protocol::greeting::TOKEN_DIGITS;
use zippy::debug::protocol::{
    Answer, ArrayEntry, Control, MOST_VIEW_BYTES, Message, Point, Program, Request, View, ViewRequest,
};
use zippy_io::shown;

use crate::session::{Live, Replay, Session, State};

/// The most bytes of cells that are fetched together, in several views.
pub const MOST_BYTES: usize = 1 << 30;

/// Opens a recording, or looks for a program at an address, `host:port`, with the token that it has printed, which is asked for
/// where there is a program to look for.
///
/// # Errors
/// There is no such file and it is no address; the recording cannot be opened; there is no token, or a malformed one.
pub fn open(source: &str, token: impl FnOnce() -> Option<String>) -> Result<Box<dyn Session>, String> {
    if Path::new(source).exists() {
        return replay(source);
    }
    match source.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => live(source, token),
        _ => Err(format!("{source:?} is neither a file nor an address as 127.0.0.1:7777")),
    }
}

/// Looks for a program at an address.
///
/// # Errors
/// There is no token, or a malformed one.
pub fn live(address: &str, token: impl FnOnce() -> Option<String>) -> Result<Box<dyn Session>, String> {
    if address.rsplit_once(':').is_none_or(|(host, port)| host.is_empty() || port.parse::<u16>().is_err()) {
        return Err(format!("{address:?} is no address; write it as 127.0.0.1:7777"));
    }
    let missing = "a program that runs is asked with the token that it has printed: set ZIPPY_DEBUG_TOKEN to it";
    let token = token().ok_or(missing)?;
    match token.trim() {
        "" => Err(missing.into()),
        token if token.len() != TOKEN_DIGITS => {
            Err(format!("a token has {TOKEN_DIGITS} digits, and this one has {}", token.len()))
        }
        token => Ok(Box::new(Live::connect(address, token))),
    }
}

/// Opens a recording.
///
/// # Errors
/// It cannot be opened.
pub fn replay(path: impl AsRef<Path>) -> Result<Box<dyn Session>, String> {
    let path = path.as_ref();
    let replay = Replay::open(path).map_err(|error| format!("cannot open {}: {error}", shown(path)))?;
    Ok(Box::new(replay))
}

/// A session that is asked one thing after the other. Nothing waits longer than it was told to.
pub struct Client {
    session: Box<dyn Session>,
    patience: Duration,
    point: Option<Point>,
    /// What was asked last, and whether the program goes on with it.
    asked: (u32, bool),
    answer: Option<Result<Answer, String>>,
}

impl Client {
    /// Waits until the other side is there.
    ///
    /// # Errors
    /// Nobody is there, as long as `patience`; or never will be.
    pub fn new(session: Box<dyn Session>, patience: Duration) -> Result<Self, String> {
        let mut client = Self { session, patience, point: None, asked: (0, false), answer: None };
        client.until(patience, "nobody is there", |client, state| client.is_there(state).then_some(()))?;
        Ok(client)
    }

    fn is_there(&self, state: &State) -> bool {
        *state == State::Open && self.session.program().is_some()
    }

    /// The program.
    pub fn program(&self) -> Option<&Program> {
        self.session.program()
    }

    /// Where it is, as far as was heard; nothing before it has said so.
    pub fn point(&mut self) -> Option<Point> {
        self.hear();
        self.point.clone()
    }

    /// How things stand.
    pub fn state(&self) -> State {
        self.session.state()
    }

    /// The debug points of a recording.
    pub fn steps(&self) -> &[u64] {
        self.session.steps()
    }

    /// What is to be known of the other side.
    pub fn notice(&self) -> Option<String> {
        self.session.notice()
    }

    fn hear(&mut self) {
        for message in self.session.poll() {
            match message {
                Message::Point(point) => self.point = Some(point),
                Message::Answer(id, answer) if id == self.asked.0 => {
                    // Where it paused is the past; what is said behind this is of the time after it.
                    if let Some(point) = self.point.as_mut().filter(|_| self.asked.1 && answer.is_ok()) {
                        point.paused = false;
                    }
                    self.answer = Some(answer);
                }
                // Nobody waits for it any more; the state says an end, too.
                Message::Answer(..) | Message::End(_) | Message::Alive => {}
            }
        }
    }

    /// Waits for something, but no longer than `most`.
    fn until<R>(
        &mut self,
        most: Duration,
        missing: &str,
        mut done: impl FnMut(&mut Self, &State) -> Option<R>,
    ) -> Result<R, String> {
        let end = Instant::now().checked_add(most);
        loop {
            // Before what was said, which may be the last of a program that is over.
            let state = self.session.state();
            self.hear();
            if let Some(result) = done(self, &state) {
                return Ok(result);
            }
            let why = match state {
                State::Closed(how) => return Err(how),
                State::Connecting(why) if !why.is_empty() => format!(": {why}"),
                State::Connecting(_) | State::Open => String::new(),
            };
            let left = end.map_or(Duration::from_secs(1), |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Err(format!("{missing} after {} s{why}", most.as_secs_f64()));
            }
            self.session.wait(left.min(Duration::from_millis(200)));
        }
    }

    /// Waits until the program pauses; where it does so already, not at all.
    ///
    /// # Errors
    /// It goes on for longer than `most`; it is over.
    pub fn until_paused(&mut self, most: Duration) -> Result<Point, String> {
        self.until(most, "it does not pause", |client, _| client.point.clone().filter(|point| point.paused))
    }

    /// Waits until a program is there: where one was, for the next one.
    ///
    /// # Errors
    /// None comes for longer than `most`.
    pub fn until_there(&mut self, most: Duration) -> Result<(), String> {
        let end = Instant::now().checked_add(most);
        while !self.is_there(&self.session.state()) {
            let left = end.map_or(Duration::from_secs(1), |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Err(format!("no program is there after {} s", most.as_secs_f64()));
            }
            self.session.wait(left.min(Duration::from_millis(200)));
            self.hear();
        }
        Ok(())
    }

    /// Waits until the program is over; how that came.
    ///
    /// # Errors
    /// It goes on for longer than `most`.
    pub fn until_over(&mut self, most: Duration) -> Result<String, String> {
        self.until(most, "it goes on", |_, state| match state {
            State::Closed(how) => Some(how.clone()),
            _ => None,
        })
    }

    /// Asks for something and waits for the answer.
    ///
    /// # Errors
    /// What was wrong with it; that there is no answer; that nobody is there any more.
    pub fn ask(&mut self, request: Request) -> Result<Answer, String> {
        // What is heard before is of the time before it.
        self.hear();
        let goes_on = matches!(request, Request::Control(Control::Continue | Control::Step(_) | Control::RunTo(_)));
        self.answer = None;
        self.asked = (self.session.ask(request), goes_on);
        let patience = self.patience;
        self.until(patience, "there is no answer", |client, _| client.answer.take())?
    }

    /// Goes to a debug point of a recording.
    ///
    /// # Errors
    /// It has none of this number; those that it has are told.
    pub fn go_to(&mut self, step: u64) -> Result<(), String> {
        let steps = self.session.steps();
        if steps.binary_search(&step).is_err() {
            let have = match steps {
                [] => "a program that runs is looked at where it is, and this recording has none".into(),
                [first, .., last] if steps.len() > 16 => format!("there are {} from {first} to {last}", steps.len()),
                _ => format!("there are {}", steps.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
            };
            return Err(format!("there is no debug point {step} to go to: {have}"));
        }
        self.session.go_to(step);
        self.hear();
        Ok(())
    }

    /// All arrays.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn arrays(&mut self) -> Result<Vec<ArrayEntry>, String> {
        match self.ask(Request::Arrays)? {
            Answer::Arrays(arrays) => Ok(arrays),
            _ => Err("the list of arrays was answered with something else".into()),
        }
    }

    /// The array of this name, or the only one with these words in its name: the global one, or the one of this rank. Of several
    /// of one name the youngest.
    ///
    /// # Errors
    /// There is none; there is one on several ranks; as [`ask`](Self::ask).
    pub fn array(&mut self, name: &str, rank: Option<u32>) -> Result<ArrayEntry, String> {
        let arrays = self.arrays()?;
        let several =
            |names: Vec<&str>| format!("`{name}` is in the names of several arrays; say which: {}", names.join(", "));
        let name = meant(arrays.iter().map(|entry| &*entry.name), name).map_err(several)?.unwrap_or(name);
        let named = || arrays.iter().filter(|entry| entry.name == name);
        let chosen =
            |of: Option<u32>| named().filter(|entry| entry.array.rank == of).max_by_key(|entry| entry.array.number);
        let ranks: BTreeSet<u32> = named().filter_map(|entry| entry.array.rank).collect();
        let only = || if ranks.len() == 1 { ranks.first().copied() } else { None };
        let found = if rank.is_some() { chosen(rank) } else { chosen(None).or_else(|| chosen(Some(only()?))) };
        if let Some(found) = found {
            return Ok(found.clone());
        }
        if !ranks.is_empty() {
            let ranks: Vec<String> = ranks.iter().map(u32::to_string).take(32).collect();
            return Err(format!("`{name}` is an array of the ranks {}: say of which", ranks.join(", ")));
        }
        let mut names: Vec<&str> = arrays.iter().map(|entry| entry.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let more = if names.len() > 32 { " and more" } else { "" };
        names.truncate(32);
        let of = rank.filter(|_| named().next().is_some()).map(|rank| format!(" of rank {rank}")).unwrap_or_default();
        Err(format!("there is no array `{name}`{of}; there are {}{more}", names.join(", ")))
    }

    /// One view.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn view(&mut self, request: ViewRequest) -> Result<View, String> {
        match self.ask(Request::View(request))? {
            Answer::View(view) => Ok(view),
            _ => Err("a view was answered with something else".into()),
        }
    }

    /// The cells of a box of whichever size up to [`MOST_BYTES`], `cell_bytes` each, in as many views as it takes. Of a recording
    /// that is coarse, those that there are.
    ///
    /// # Errors
    /// It is too large; the program went on in between; as [`ask`](Self::ask).
    pub fn cells(&mut self, request: &ViewRequest, cell_bytes: usize) -> Result<View, String> {
        gather(request, cell_bytes, |part| self.view(part))
    }
}

/// [`Client::cells`] of whoever answers views.
///
/// # Errors
/// What `view` says; more than [`MOST_BYTES`] bytes; the program went on meanwhile.
pub fn gather(
    request: &ViewRequest,
    cell_bytes: usize,
    mut view: impl FnMut(ViewRequest) -> Result<View, String>,
) -> Result<View, String> {
    let bytes = request.bytes(cell_bytes).filter(|&bytes| bytes <= MOST_BYTES).ok_or_else(|| {
        format!("more than {MOST_BYTES} bytes are not fetched at once: ask for a smaller box, or with a larger stride")
    })?;
    if bytes <= MOST_VIEW_BYTES {
        return view(request.clone());
    }
    let mut view = |part: ViewRequest| {
        let axes = part.start.len();
        let found = view(part)?;
        let alike = [&found.of.start, &found.of.end, &found.of.stride].iter().all(|list| list.len() == axes);
        if alike { Ok(found) } else { Err("a view has other axes than were asked for".to_string()) }
    };
    let mut coarse = request.clone();
    let first = view(request.clone().fitting(cell_bytes, 1))?;
    // A recording has what it has: its own cells, then.
    for axis in 0..request.start.len() {
        let found = view(along(request, axis, &first.of))?;
        (coarse.start[axis], coarse.stride[axis]) = (found.of.start[axis], found.of.stride[axis]);
    }
    let extents = coarse.extents().ok_or("the box makes no sense")?;
    let size = coarse.bytes(cell_bytes).filter(|&size| size <= MOST_BYTES).ok_or("the box makes no sense")?;
    let mut whole = View { of: coarse.clone(), step: first.step, cells: vec![0; size] };
    let mut open = vec![coarse];
    while let Some(part) = open.pop() {
        if part.bytes(cell_bytes).is_none_or(|bytes| bytes > MOST_VIEW_BYTES) {
            open.extend(halves(&part)?);
            continue;
        }
        let found = view(part.clone())?;
        if found.step != whole.step {
            let text = "the program went on while its cells were fetched: pause it first";
            return Err(format!("{text} (debug points {} and {})", whole.step, found.step));
        }
        if found.of.start != part.start || found.of.stride != part.stride || found.of.extents() != part.extents() {
            return Err("a view has other cells than were asked for".into());
        }
        place(&mut whole, &extents, &found, cell_bytes)?;
    }
    Ok(whole)
}

/// The request with one cell along every axis but this one, where a view has one.
fn along(request: &ViewRequest, axis: usize, at: &ViewRequest) -> ViewRequest {
    let mut request = request.clone();
    for other in (0..request.start.len()).filter(|&other| other != axis) {
        (request.start[other], request.end[other]) = (at.start[other], at.start[other] + 1);
        request.stride[other] = 1;
    }
    // Some cells say which there are.
    let end = request.start[axis].saturating_add(request.stride[axis].saturating_mul(64));
    request.end[axis] = request.end[axis].min(end);
    request
}

/// The parts on both sides of the middle of the longest axis.
fn halves(part: &ViewRequest) -> Result<[ViewRequest; 2], String> {
    let extents = part.extents().ok_or("the box makes no sense")?;
    let longest = (0..extents.len()).max_by_key(|&axis| extents[axis]).filter(|&axis| extents[axis] > 1);
    let axis = longest.ok_or_else(|| format!("a cell has more than {MOST_VIEW_BYTES} bytes"))?;
    let (mut one, mut other) = (part.clone(), part.clone());
    other.start[axis] += extents[axis] / 2 * part.stride[axis];
    one.end[axis] = other.start[axis];
    Ok([one, other])
}

/// Puts a part into the whole, row by row along axis 0.
fn place(whole: &mut View, extents: &[i64], part: &View, cell_bytes: usize) -> Result<(), String> {
    let wrong = || "a view has another size than it says".to_string();
    let counts = part.of.extents().ok_or_else(wrong)?;
    if part.of.bytes(cell_bytes) != Some(part.cells.len()) {
        return Err(wrong());
    }
    let row = counts.first().map_or(1, |&count| count.max(0) as usize) * cell_bytes;
    let mut at = vec![0_i64; counts.len()];
    for cells in part.cells.chunks_exact(row.max(1)) {
        let (mut place, mut stride) = (0_i64, 1_i64);
        for axis in 0..counts.len() {
            let first = (part.of.start[axis] - whole.of.start[axis]) / whole.of.stride[axis];
            place += (first + at[axis]) * stride;
            stride *= extents[axis];
        }
        let begin = place as usize * cell_bytes;
        whole.cells.get_mut(begin..begin + row).ok_or_else(wrong)?.copy_from_slice(cells);
        for axis in 1..counts.len() {
            at[axis] += 1;
            if at[axis] < counts[axis] {
                break;
            }
            at[axis] = 0;
        }
    }
    Ok(())
}
