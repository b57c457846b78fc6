//! [`Client`]: blocking requests to a session.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use zippy_files::shown;
use zippy_protocol::greeting::TOKEN_DIGITS;
use zippy_protocol::meant;
use zippy_protocol::{
    Answer, ArrayEntry, Control, MOST_VIEW_BYTES, Message, Point, Program, Request, View, ViewRequest,
};

use crate::session::{Live, Replay, Session, State};

/// Maximum bytes of cells that are fetched in one operation with several views.
pub const MOST_BYTES: usize = 1 << 30;

/// Opens a recording, or connects to a program at an address, `host:port`. `token` is called for an
/// address only.
///
/// # Errors
/// * The source is neither a file nor an address.
/// * The recording cannot be opened.
/// * The token is missing or malformed.
pub fn open(source: &str, token: impl FnOnce() -> Option<String>) -> Result<Box<dyn Session>, String> {
    if Path::new(source).exists() {
        return replay(source);
    }
    match source.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => live(source, token),
        _ => Err(format!("{source:?} is neither a file nor an address as 127.0.0.1:7777")),
    }
}

/// Connects to a program at an address.
///
/// # Errors
/// The address is malformed, or the token is missing or malformed.
pub fn live(address: &str, token: impl FnOnce() -> Option<String>) -> Result<Box<dyn Session>, String> {
    if address.rsplit_once(':').is_none_or(|(host, port)| host.is_empty() || port.parse::<u16>().is_err()) {
        return Err(format!("{address:?} is no address; write it as 127.0.0.1:7777"));
    }
    let missing = "a connection needs the token that the program has printed: set ZIPPY_DEBUG_TOKEN to it";
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
/// The recording cannot be opened.
pub fn replay(path: impl AsRef<Path>) -> Result<Box<dyn Session>, String> {
    let path = path.as_ref();
    let replay = Replay::open(path).map_err(|error| format!("cannot open {}: {error}", shown(path)))?;
    Ok(Box::new(replay))
}

/// A session with blocking requests. Every wait has a time limit.
pub struct Client {
    session: Box<dyn Session>,
    patience: Duration,
    point: Option<Point>,
    /// Latest request, and true if the program continues with it.
    latest_request: (u32, bool),
    answer: Option<Result<Answer, String>>,
}

impl Client {
    /// Waits until the session is connected to its program, at most for `patience`. `patience` is
    /// also the time limit of requests.
    ///
    /// # Errors
    /// There is no connection in time, or it can never succeed.
    pub fn new(session: Box<dyn Session>, patience: Duration) -> Result<Self, String> {
        let mut client = Self { session, patience, point: None, latest_request: (0, false), answer: None };
        client.wait_until(patience, "nobody is there", |client, state| client.is_connected(state).then_some(()))?;
        Ok(client)
    }

    fn is_connected(&self, state: &State) -> bool {
        *state == State::Open && self.session.program().is_some()
    }

    /// Returns the description of the program.
    pub fn program(&self) -> Option<&Program> {
        self.session.program()
    }

    /// Returns the latest known debug point, or `None` before the first.
    pub fn point(&mut self) -> Option<Point> {
        self.receive_messages();
        self.point.clone()
    }

    /// Returns the state of the connection.
    pub fn state(&self) -> State {
        self.session.state()
    }

    /// Returns the debug points of a recording.
    pub fn steps(&self) -> &[u64] {
        self.session.steps()
    }

    /// Returns a notice of the session for the user, for example about a truncated recording.
    pub fn notice(&self) -> Option<String> {
        self.session.notice()
    }

    fn receive_messages(&mut self) {
        for message in self.session.poll() {
            match message {
                Message::Point(point) => self.point = Some(point),
                Message::Answer(id, answer) if id == self.latest_request.0 => {
                    // The known pause is over: messages after this answer are of the continued run.
                    if let Some(point) = self.point.as_mut().filter(|_| self.latest_request.1 && answer.is_ok()) {
                        point.paused = false;
                    }
                    self.answer = Some(answer);
                }
                // The answer is late, or the state of the session contains the same information.
                Message::Answer(..) | Message::End(_) | Message::Alive => {}
            }
        }
    }

    /// Waits until `done` returns a result, at most for `most`.
    fn wait_until<R>(
        &mut self,
        most: Duration,
        missing: &str,
        mut done: impl FnMut(&mut Self, &State) -> Option<R>,
    ) -> Result<R, String> {
        let end = Instant::now().checked_add(most);
        loop {
            // Read the state before the messages, because the last messages of a closed session are
            // still to be read.
            let state = self.session.state();
            self.receive_messages();
            if let Some(result) = done(self, &state) {
                return Ok(result);
            }
            let why = match state {
                State::Closed(how) => return Err(how),
                State::Connecting(why) if !why.is_empty() => format!(": {why}"),
                State::Connecting(_) | State::Open => String::new(),
            };
            let remaining = end.map_or(Duration::from_secs(1), |end| end.saturating_duration_since(Instant::now()));
            if remaining.is_zero() {
                return Err(format!("{missing} after {} s{why}", most.as_secs_f64()));
            }
            self.session.wait(remaining.min(Duration::from_millis(200)));
        }
    }

    /// Waits until the program pauses. Returns at once if it is paused already.
    ///
    /// # Errors
    /// The program does not pause for longer than `most`, or it has ended.
    pub fn until_paused(&mut self, most: Duration) -> Result<Point, String> {
        self.wait_until(most, "it does not pause", |client, _| client.point.clone().filter(|point| point.paused))
    }

    /// Waits until a program is connected; after the end of a program, until the next one.
    ///
    /// # Errors
    /// No program connects in `most`.
    pub fn until_there(&mut self, most: Duration) -> Result<(), String> {
        let end = Instant::now().checked_add(most);
        while !self.is_connected(&self.session.state()) {
            let remaining = end.map_or(Duration::from_secs(1), |end| end.saturating_duration_since(Instant::now()));
            if remaining.is_zero() {
                return Err(format!("no program is there after {} s", most.as_secs_f64()));
            }
            self.session.wait(remaining.min(Duration::from_millis(200)));
            self.receive_messages();
        }
        Ok(())
    }

    /// Waits for the end of the program, and returns the reason.
    ///
    /// # Errors
    /// The program runs for longer than `most`.
    pub fn until_over(&mut self, most: Duration) -> Result<String, String> {
        self.wait_until(most, "it goes on", |_, state| match state {
            State::Closed(how) => Some(how.clone()),
            _ => None,
        })
    }

    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// The request is refused, the answer is late, or the connection is lost.
    pub fn ask(&mut self, request: Request) -> Result<Answer, String> {
        // Receive messages of the time before the request first.
        self.receive_messages();
        let continues = matches!(request, Request::Control(Control::Continue | Control::Step(_) | Control::RunTo(_)));
        self.answer = None;
        self.latest_request = (self.session.ask(request), continues);
        let patience = self.patience;
        self.wait_until(patience, "there is no answer", |client, _| client.answer.take())?
    }

    /// Goes to a debug point of a recording.
    ///
    /// # Errors
    /// The recording has no such debug point. The error lists those that it has.
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
        self.receive_messages();
        Ok(())
    }

    /// Returns all arrays.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn arrays(&mut self) -> Result<Vec<ArrayEntry>, String> {
        match self.ask(Request::Arrays)? {
            Answer::Arrays(arrays) => Ok(arrays),
            _ => Err("the list of arrays was answered with something else".into()),
        }
    }

    /// Returns the array of a name, or the only array whose name contains these words: the global
    /// array, or the array of `rank`. Of several arrays with the same name, returns the newest.
    ///
    /// # Errors
    /// There is no such array, several ranks have one, or [`ask`](Self::ask) fails.
    pub fn array(&mut self, name: &str, rank: Option<u32>) -> Result<ArrayEntry, String> {
        let arrays = self.arrays()?;
        let ambiguous =
            |names: Vec<&str>| format!("`{name}` is in the names of several arrays; say which: {}", names.join(", "));
        let name = meant(arrays.iter().map(|entry| &*entry.name), name).map_err(ambiguous)?.unwrap_or(name);
        let named = || arrays.iter().filter(|entry| entry.name == name);
        let chosen =
            |rank: Option<u32>| named().filter(|entry| entry.array.rank == rank).max_by_key(|entry| entry.array.number);
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

    /// Returns the cells of one view.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn view(&mut self, request: ViewRequest) -> Result<View, String> {
        match self.ask(Request::View(request))? {
            Answer::View(view) => Ok(view),
            _ => Err("a view was answered with something else".into()),
        }
    }

    /// Returns the cells of a box of up to [`MOST_BYTES`], at `cell_bytes` per cell, with as many
    /// views as necessary. A coarse recording returns the cells that it has.
    ///
    /// # Errors
    /// The box is too large, the program continued between views, or [`ask`](Self::ask) fails.
    pub fn cells(&mut self, request: &ViewRequest, cell_bytes: usize) -> Result<View, String> {
        gather(request, cell_bytes, |part| self.view(part))
    }
}

/// Does the work of [`Client::cells`] with any function that answers views.
///
/// # Errors
/// The box has more than [`MOST_BYTES`] bytes, the program continued between views, or `view`
/// fails.
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
        if alike { Ok(found) } else { Err("a view has other axes than the request".to_string()) }
    };
    let mut coarse = request.clone();
    let first = view(request.clone().fitting(cell_bytes, 1))?;
    // A coarse recording has its own start and stride: find them first.
    for axis in 0..request.start.len() {
        let found = view(line_request(request, axis, &first.of))?;
        (coarse.start[axis], coarse.stride[axis]) = (found.of.start[axis], found.of.stride[axis]);
    }
    let extents = coarse.extents().ok_or("the box is invalid")?;
    let size = coarse.bytes(cell_bytes).filter(|&size| size <= MOST_BYTES).ok_or("the box is invalid")?;
    let mut whole = View { of: coarse.clone(), step: first.step, cells: vec![0; size] };
    let mut open = vec![coarse];
    while let Some(part) = open.pop() {
        if part.bytes(cell_bytes).is_none_or(|bytes| bytes > MOST_VIEW_BYTES) {
            open.extend(split_box(&part)?);
            continue;
        }
        let found = view(part.clone())?;
        if found.step != whole.step {
            let text = "the program went on while its cells were fetched: pause it first";
            return Err(format!("{text} (debug points {} and {})", whole.step, found.step));
        }
        if found.of.start != part.start || found.of.stride != part.stride || found.of.extents() != part.extents() {
            return Err("a view has other cells than the request".into());
        }
        copy_part(&mut whole, &extents, &found, cell_bytes)?;
    }
    Ok(whole)
}

/// Returns the request with a single cell along every axis except one.
fn line_request(request: &ViewRequest, axis: usize, at: &ViewRequest) -> ViewRequest {
    let mut request = request.clone();
    for other in (0..request.start.len()).filter(|&other| other != axis) {
        (request.start[other], request.end[other]) = (at.start[other], at.start[other] + 1);
        request.stride[other] = 1;
    }
    // A few cells are enough to find the start and the stride.
    let end = request.start[axis].saturating_add(request.stride[axis].saturating_mul(64));
    request.end[axis] = request.end[axis].min(end);
    request
}

/// Splits the box of a request in the middle of its longest axis.
fn split_box(part: &ViewRequest) -> Result<[ViewRequest; 2], String> {
    let extents = part.extents().ok_or("the box is invalid")?;
    let longest = (0..extents.len()).max_by_key(|&axis| extents[axis]).filter(|&axis| extents[axis] > 1);
    let axis = longest.ok_or_else(|| format!("a cell has more than {MOST_VIEW_BYTES} bytes"))?;
    let (mut one, mut other) = (part.clone(), part.clone());
    other.start[axis] += extents[axis] / 2 * part.stride[axis];
    one.end[axis] = other.start[axis];
    Ok([one, other])
}

/// Copies a part into the whole view, row by row along axis 0.
fn copy_part(whole: &mut View, extents: &[i64], part: &View, cell_bytes: usize) -> Result<(), String> {
    let wrong = || "a view has another size than it says".to_string();
    let counts = part.of.extents().ok_or_else(wrong)?;
    if part.of.bytes(cell_bytes) != Some(part.cells.len()) {
        return Err(wrong());
    }
    let row = counts.first().map_or(1, |&count| count.max(0) as usize) * cell_bytes;
    let mut at = vec![0_i64; counts.len()];
    for cells in part.cells.chunks_exact(row.max(1)) {
        let (mut position, mut stride) = (0_i64, 1_i64);
        for axis in 0..counts.len() {
            let first = (part.of.start[axis] - whole.of.start[axis]) / whole.of.stride[axis];
            position += (first + at[axis]) * stride;
            stride *= extents[axis];
        }
        let begin = position as usize * cell_bytes;
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
