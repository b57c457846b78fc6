//! [`Control`]: decisions of rank 0 at debug points, on behalf of viewers.
use std::process::Child;
use std::time::{Duration, Instant};

use zippy_protocol::Condition;
use zippy_protocol::{Answer, Control as ControlRequest, Message, Point, Request, Rule, When};

use super::order::{Order, SyncConditions};
use super::server::{PendingRequest, Server};
use super::sync_interval::SyncInterval;
use crate::trace;

/// Maximum wait of rank 0 for a request while the program is paused. The other ranks wait for rank
/// 0 in a collective operation; the wait is too short for their timeout.
const PAUSED_WAIT: Duration = Duration::from_millis(250);

/// Maximum time that requests delay a running program at one debug point.
const MAX_HOLD: Duration = Duration::from_millis(50);

/// Maximum number of requests that rank 0 handles before it sends an order to the other ranks.
const MAX_REQUESTS: usize = 64;

/// Rank 0's state of the dialogue with viewers.
#[derive(Debug)]
pub(super) struct Control {
    server: Server,
    /// Process of the viewer, if the program has started it.
    child: Option<Child>,
    paused: bool,
    pause_at: Option<u64>,
    run_to: Option<String>,
    rules: Vec<Rule>,
    /// Maximum time that a paused program waits without a viewer; `None` without limit.
    lost_after: Option<Duration>,
    /// Start of the present time without a viewer while the program is paused.
    unwatched_since: Option<Instant>,
    had_viewer: bool,
    sync_interval: SyncInterval,
    /// Time at which the ranks reached the current debug point.
    arrived: Instant,
    point: Option<Point>,
    /// Viewer's request that the ranks compute now.
    pending: Option<PendingRequest>,
    detached: bool,
}

impl Control {
    pub(super) fn new(server: Server, child: Option<Child>, paused: bool, lost_after: Option<Duration>) -> Self {
        Self {
            server,
            child,
            paused,
            pause_at: None,
            run_to: None,
            rules: Vec::new(),
            lost_after,
            unwatched_since: None,
            had_viewer: false,
            sync_interval: SyncInterval::new(),
            arrived: Instant::now(),
            point: None,
            pending: None,
            detached: false,
        }
    }

    /// Updates the state when the ranks synchronize at a debug point. `reason` is the text of the
    /// pause rule that holds there.
    pub(super) fn arrive(&mut self, mut point: Point, reason: Option<String>) {
        self.sync_interval.arrive(point.step);
        self.arrived = Instant::now();
        if self.run_to.as_ref().is_some_and(|name| *name == point.name) || self.pause_at == Some(point.step) {
            self.paused = true;
        }
        if let Some(reason) = reason {
            (self.paused, point.reason) = (true, reason);
        }
        point.paused = self.paused;
        if self.paused {
            (self.pause_at, self.run_to) = (None, None);
        }
        self.publish(point);
    }

    fn publish(&mut self, point: Point) {
        self.server.broadcast(&Message::Point(point.clone()));
        self.point = Some(point);
    }

    /// Next order for all ranks at this debug point. Waits for requests while the program is
    /// paused, at most [`PAUSED_WAIT`].
    pub(super) fn order(&mut self, step: u64) -> Order {
        let mut requests = 0;
        loop {
            let timeout = if self.paused { PAUSED_WAIT } else { Duration::ZERO };
            let enough = requests >= MAX_REQUESTS || !self.paused && self.arrived.elapsed() >= MAX_HOLD;
            let pending = if enough { None } else { self.server.take_request(timeout) };
            requests += 1;
            self.check_viewers();
            let Some(pending) = pending else {
                return if self.paused { Order::Wait } else { self.continue_run(step) };
            };
            let request = pending.ask.request.clone();
            let (id, done) = (pending.ask.id, Message::Answer(pending.ask.id, Ok(Answer::Done)));
            match request {
                Request::Control(request) => {
                    self.server.answer(&pending, done);
                    match request {
                        ControlRequest::Stop => return Order::Stop,
                        ControlRequest::Detach => {
                            self.detached = true;
                            return Order::Detach;
                        }
                        request => self.apply(request, step),
                    }
                }
                Request::Rules(rules) => {
                    let answer = check_rules(&rules).map_or_else(|text| Message::Answer(id, Err(text)), |()| done);
                    if matches!(answer, Message::Answer(_, Ok(_))) {
                        self.rules = rules;
                    }
                    self.server.answer(&pending, answer);
                }
                request => {
                    self.pending = Some(pending);
                    return Order::Serve(request);
                }
            }
        }
    }

    fn apply(&mut self, request: ControlRequest, step: u64) {
        match request {
            ControlRequest::Pause => {
                (self.paused, self.pause_at, self.run_to) = (true, None, None);
                self.publish_state();
            }
            ControlRequest::Continue => self.resume(None, None),
            ControlRequest::Step(steps) => self.resume(Some(step.saturating_add(steps.max(1))), None),
            ControlRequest::RunTo(name) => self.resume(None, Some(name)),
            // `order` handles these requests.
            ControlRequest::Stop | ControlRequest::Detach => {}
        }
    }

    fn resume(&mut self, pause_at: Option<u64>, run_to: Option<String>) {
        (self.paused, self.pause_at, self.run_to) = (false, pause_at, run_to);
        self.publish_state();
    }

    /// Sends the current debug point to viewers again after a change of `paused`.
    fn publish_state(&mut self) {
        if let Some(point) = self.point.take() {
            self.publish(Point { paused: self.paused, reason: String::new(), ..point });
        }
    }

    fn continue_run(&mut self, step: u64) -> Order {
        let next = self.sync_interval.resume(step);
        let next = self.pause_at.map_or(next, |at| next.min(at));
        Order::Continue(SyncConditions { next, run_to: self.run_to.clone(), rules: self.rules.clone() })
    }

    /// Updates the time without viewers. A paused program without a viewer continues after
    /// `lost_after`.
    fn check_viewers(&mut self) {
        let viewers = self.server.viewers() > 0;
        self.had_viewer |= viewers;
        if viewers || !self.paused {
            self.unwatched_since = None;
            return;
        }
        let since = *self.unwatched_since.get_or_insert_with(Instant::now);
        let ended = match self.child.as_mut().map(Child::try_wait) {
            Some(Ok(Some(status))) => {
                self.child = None;
                trace::warn(&format!("the viewer has exited ({status})"));
                true
            }
            _ => false,
        };
        let Some(lost_after) = self.lost_after else { return };
        // A viewer that exits without connecting has probably found no display.
        if since.elapsed() >= lost_after || ended && !self.had_viewer {
            let (secs, address) = (since.elapsed().as_secs_f64(), self.server.address());
            let text = format!(
                "paused without a viewer for {secs:.0} s: the program continues; a viewer can still connect to {address}"
            );
            trace::warn(&text);
            // The rules would pause the program again at once.
            self.rules.clear();
            self.resume(None, None);
        }
    }

    pub(super) fn answer(&mut self, answer: Result<Answer, String>) {
        if let Some(pending) = self.pending.take() {
            let id = pending.ask.id;
            self.server.answer(&pending, Message::Answer(id, answer));
        }
    }

    /// Sends viewers the outcome of the run (or of detaching), and closes their connections.
    pub(super) fn end(&self, how: &str) {
        self.server.end(if self.detached { "the viewer was detached; the program goes on without it" } else { how });
    }
}

/// Validates rules: their number, intervals and conditions.
fn check_rules(rules: &[Rule]) -> Result<(), String> {
    const MAX_RULES: usize = 64;
    if rules.len() > MAX_RULES {
        return Err(format!("there are {} rules; the maximum is {MAX_RULES}", rules.len()));
    }
    for rule in rules {
        match &rule.when {
            When::Always | When::Every(1..) => {}
            When::Every(0) => return Err("a rule for every 0 debug points: it must be 1 at least".into()),
            When::Condition(text) => drop(text.parse::<Condition>()?),
        }
    }
    Ok(())
}
