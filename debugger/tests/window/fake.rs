//! [`Fake`]: a program with arrays whose values encode their indices.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use zippy_protocol::*;

use zippy_debugger::session::{Session, State, Waker};

/// State of the program, under the control of the test.
pub(crate) struct ProgramState {
    pub state: State,
    pub point: Point,
    pub arrays: Vec<ArrayEntry>,
    /// Received requests.
    pub requests: Vec<Request>,
    /// Messages that the window has not read yet.
    pub messages: VecDeque<Message>,
    /// True to answer no request.
    pub silent: bool,
    /// Answer in place of the normal one, if any.
    pub override_answer: fn(&Request) -> Option<Result<Answer, String>>,
    pub value: fn(&[i64], u64) -> f64,
    /// Waker of the window.
    pub waker: Option<Waker>,
    next: u32,
}

/// A session with the program; clones share the program.
#[derive(Clone)]
pub(crate) struct Fake {
    pub state: Rc<RefCell<ProgramState>>,
    pub program: Program,
    pub steps: Vec<u64>,
}

/// x + 64 y + 4096 z, and 2¹⁸ more in each step.
pub(crate) fn coded_value(index: &[i64], step: u64) -> f64 {
    let weights = [1, 64, 4096];
    let place: i64 = index.iter().zip(weights).map(|(at, weight)| at * weight).sum();
    place as f64 + step as f64 * 262_144.0
}

fn numbers(name: &str, components: u8) -> ElementType {
    let of = Numbers { name: String::new(), offset: 0, scalar: ScalarType::F32, components };
    ElementType { name: name.into(), bytes: 4 * u32::from(components), numbers: vec![of] }
}

/// An array cut in halves along its first axis, with one ghost cell along all axes.
pub(crate) fn array(number: u64, name: &str, shape: &[i64], components: u8) -> ArrayEntry {
    let axes = shape.len();
    let cut = shape[0] / 2;
    let chunk = |rank, from, to| {
        let (mut start, mut end) = (vec![0; axes], shape.to_vec());
        (start[0], end[0]) = (from, to);
        ChunkEntry { rank, start, end, writes: 3 }
    };
    let element = if components == 1 { numbers("f32", 1) } else { numbers("vec3<f32>", components) };
    let cells: i64 = shape.iter().product();
    ArrayEntry {
        array: ArrayRef { rank: None, number },
        name: name.into(),
        kind: ArrayKind::Global,
        bytes: cells as u64 * u64::from(element.bytes),
        element,
        shape: shape.to_vec(),
        ghosts: [vec![1; axes], vec![1; axes]],
        periodic: vec![false; axes],
        chunk_count: 2,
        grid: None,
        chunks: vec![chunk(0, 0, cut), chunk(1, cut, shape[0])],
        writes: 3,
        last_write: Some(LastWrite { operation: "collide".into(), file: "src/flow.rs".into(), line: 42, step: 4 }),
    }
}

impl Fake {
    /// A program of two ranks that pauses at its fifth debug point.
    pub(crate) fn new(arrays: Vec<ArrayEntry>) -> Self {
        let point = Point {
            step: 5,
            name: "after collide".into(),
            file: "src/main.rs".into(),
            line: 17,
            paused: true,
            reason: String::new(),
            micros: 1_234_567,
        };
        let program =
            Program { name: "flow".into(), ranks: 2, checked: true, adapters: vec!["a software adapter".into()] };
        let messages = VecDeque::from([Message::Point(point.clone())]);
        let state = ProgramState {
            state: State::Open,
            point,
            arrays,
            requests: Vec::new(),
            messages,
            silent: false,
            override_answer: |_| None,
            value: coded_value,
            waker: None,
            next: 0,
        };
        Self { state: Rc::new(RefCell::new(state)), program, steps: Vec::new() }
    }

    /// Arrives at a debug point.
    pub(crate) fn arrive(&self, step: u64, name: &str) {
        let mut state = self.state.borrow_mut();
        (state.point.step, state.point.name) = (step, name.into());
        let point = state.point.clone();
        state.send(Message::Point(point));
    }

    /// Returns the cells of a box in a step.
    pub(crate) fn view_at(&self, of: &ViewRequest, step: u64) -> View {
        self.state.borrow().view(of, step).unwrap()
    }

    /// Returns the requests since the last call.
    pub(crate) fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.state.borrow_mut().requests)
    }
}

/// All indices of a box, axis 0 fastest.
fn indices(of: &ViewRequest) -> Vec<Vec<i64>> {
    let mut found = vec![vec![]];
    for axis in (0..of.start.len()).rev() {
        let along: Vec<i64> = (of.start[axis]..of.end[axis]).step_by(of.stride[axis] as usize).collect();
        let extended = |rest: &Vec<i64>| {
            let rest = rest.clone();
            along.clone().into_iter().map(move |at| [&[at], rest.as_slice()].concat())
        };
        found = found.iter().flat_map(extended).collect();
    }
    found
}

impl ProgramState {
    /// Sends a message and wakes the window.
    pub(crate) fn send(&mut self, message: Message) {
        self.messages.push_back(message);
        if let Some(waker) = &self.waker {
            waker();
        }
    }

    fn entry(&self, array: ArrayRef) -> Result<&ArrayEntry, String> {
        self.arrays.iter().find(|entry| entry.array == array).ok_or_else(|| "there is no such array".into())
    }

    fn answer(&self, request: &Request) -> Result<Answer, String> {
        if let Some(answer) = (self.override_answer)(request) {
            return answer;
        }
        let step = self.point.step;
        match request {
            Request::Arrays => Ok(Answer::Arrays(self.arrays.clone())),
            Request::View(of) => self.view(of, step).map(Answer::View),
            Request::Summary(of) => Ok(Answer::Summary(self.summary(of)?)),
            Request::Ghosts(array) => {
                self.entry(*array)?;
                let side = vec![1, 0, 0];
                Ok(Answer::Ghosts(vec![GhostEntry { chunk: 0, side, state: GhostState::Stale }]))
            }
            Request::Compare(..) => Ok(Answer::Difference(Difference { cells: 7, first: Some(vec![3, 2, 6]) })),
            Request::Moves => Ok(Answer::Moves(self.moves())),
            Request::Timeline(from) => Ok(Answer::Timeline(timeline(*from))),
            Request::Control(_) | Request::Rules(_) | Request::Alive => Ok(Answer::Done),
        }
    }

    /// Each component is a half more than the previous one.
    fn value_of(&self, index: &[i64], step: u64, part: u8) -> f32 {
        ((self.value)(index, step) + 0.5 * f64::from(part)) as f32
    }

    fn view(&self, of: &ViewRequest, step: u64) -> Result<View, String> {
        let components = self.entry(of.array)?.element.numbers.first().map_or(1, |numbers| numbers.components);
        let cell = |index: Vec<i64>| {
            (0..components).flat_map(|part| self.value_of(&index, step, part).to_le_bytes()).collect::<Vec<u8>>()
        };
        let cells = indices(of).into_iter().flat_map(cell).collect();
        Ok(View { of: of.clone(), step, cells })
    }

    fn summary(&self, of: &SummaryRequest) -> Result<Summary, String> {
        let entry = self.entry(of.array)?;
        let parts = if of.length { entry.element.numbers[0].components } else { 1 };
        let part = |index: &[i64], part: u8| f64::from(self.value_of(index, self.point.step, part));
        // Lengths are rounded to `f32`, as in running programs.
        let value = |index: &Vec<i64>| {
            let square: f64 = (0..parts).map(|at| part(index, at).powi(2)).sum();
            if parts == 1 { part(index, 0) } else { f64::from(square.sqrt() as f32) }
        };
        let values: Vec<f64> = indices(&ViewRequest::whole(entry)).iter().map(value).collect();
        let counts = |value: &f64| value.is_finite() && (!of.positive || *value > 0.0);
        let finite = || values.iter().copied().filter(counts);
        let extremes = finite().reduce(f64::min).zip(finite().reduce(f64::max));
        let range = extremes.unwrap_or_default();
        let mut bins = vec![0_u64; usize::from(of.bins)];
        for value in finite().filter(|_| of.bins > 0) {
            let share = (value - range.0) / (range.1 - range.0).max(1e-30);
            bins[((share * f64::from(of.bins)) as usize).min(usize::from(of.bins) - 1)] += 1;
        }
        let count = |which: fn(f64) -> bool| values.iter().filter(|value| which(**value)).count() as u64;
        let component = Component {
            count: values.len() as u64,
            nans: count(f64::is_nan),
            infinities: count(f64::is_infinite),
            extremes: extremes.map(|(low, high)| (low.into(), high.into())),
            range: (range.0.into(), range.1.into()),
            bins,
            outside: (0, 0),
            percentiles: of.percentiles.iter().map(|_| range.0.into()).collect(),
        };
        let components = vec![component; entry.element.numbers.first().map_or(1, |numbers| numbers.components).into()];
        Ok(Summary { array: of.array, numbers: of.numbers, length: of.length, step: self.point.step, components })
    }

    fn moves(&self) -> Moves {
        let Some(first) = self.arrays.iter().find(|array| array.shape.len() == 3) else { return Moves::default() };
        let mut extents = first.shape.clone();
        extents[0] = 1;
        let start = |at| [&[at], vec![0; extents.len() - 1].as_slice()].concat();
        let cut = first.shape[0] / 2;
        let entry = MoveEntry {
            from: (Some(first.array), 0, 0, start(cut - 1)),
            to: (Some(first.array), 1, 1, start(cut)),
            bytes: 4 * extents.iter().product::<i64>() as u64,
            extents,
        };
        let bytes_network = entry.bytes;
        Moves { operation: "ghosts of density".into(), moves: vec![entry], count: 1, bytes_local: 0, bytes_network }
    }
}

/// The same millisecond again and again: a kernel, then rank 1 waits for rank 0.
fn timeline(from: u64) -> Timeline {
    let until = 20_000;
    let span = |kind, what: &str, start, length, peer| Span { kind, what: what.into(), start, length, peer };
    let of = |rank: u32| {
        let all = (0..20).flat_map(move |turn| {
            let at = turn * 1000;
            [
                span(SpanKind::Kernel, "collide", at, 400 + 200 * u64::from(rank), None),
                span(SpanKind::Pack, "ghosts", at + 620, 60, None),
                span(SpanKind::Wait, "ghosts", at + 700, 150, Some(1 - rank)),
                span(SpanKind::Unpack, "ghosts", at + 860, 80, None),
            ]
        });
        all.filter(|span| span.start >= from).collect()
    };
    Timeline { until, ranks: vec![of(0), of(1)] }
}

impl Session for Fake {
    fn state(&self) -> State {
        self.state.borrow().state.clone()
    }

    fn program(&self) -> Option<&Program> {
        Some(&self.program)
    }

    fn ask(&mut self, request: Request) -> u32 {
        let mut state = self.state.borrow_mut();
        state.next += 1;
        let id = state.next;
        if !state.silent {
            let answer = state.answer(&request);
            state.send(Message::Answer(id, answer));
        }
        state.requests.push(request);
        id
    }

    fn poll(&mut self) -> Vec<Message> {
        self.state.borrow_mut().messages.drain(..).collect()
    }

    fn set_waker(&mut self, waker: Waker) {
        self.state.borrow_mut().waker = Some(waker);
    }

    fn wait(&mut self, _: Duration) {}

    fn steps(&self) -> &[u64] {
        &self.steps
    }

    fn go_to(&mut self, step: u64) {
        self.arrive(step, "recorded");
    }
}
