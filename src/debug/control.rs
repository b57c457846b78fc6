//! [`Control`]: what rank 0 decides at debug points, for viewers.

use std::process::Child;
use std::time::{Duration, Instant};

use super::condition::Condition;
use super::order::{Ahead, Order};
use super::pace::Pace;
use super::protocol::{Answer, Control as Wish, Message, Point, Request, Rule, When};
use super::server::{Asked, Server};
use crate::trace;

/// While the program is paused, ranks meet so often: it is not long enough to worry about.
const AWAKE: Duration = Duration::from_millis(250);

/// A program that runs is held at one debug point by questions no longer than this.
const HELD: Duration = Duration::from_millis(50);

/// So many wishes are heard before the other ranks hear something.
const MOST_WISHES: usize = 64;

/// The control rank's side of debug points.
#[derive(Debug)]
pub(super) struct Control {
    server: Server,
    /// The viewer that this program has started.
    child: Option<Child>,
    paused: bool,
    /// Pauses at this debug point.
    pause_at: Option<u64>,
    run_to: Option<String>,
    rules: Vec<Rule>,
    lost: Option<Duration>,
    /// Since when the program has been paused without a viewer.
    alone: Option<Instant>,
    /// Whether a viewer has ever come.
    seen: bool,
    pace: Pace,
    /// When the ranks have met.
    met: Instant,
    point: Option<Point>,
    /// Whose question the ranks are at.
    asked: Option<Asked>,
    detached: bool,
}

impl Control {
    pub fn new(server: Server, child: Option<Child>, paused: bool, lost: Option<Duration>) -> Self {
        Self {
            server,
            child,
            paused,
            pause_at: None,
            run_to: None,
            rules: Vec::new(),
            lost,
            alone: None,
            seen: false,
            pace: Pace::new(),
            met: Instant::now(),
            point: None,
            asked: None,
            detached: false,
        }
    }

    /// The ranks meet at a debug point; `reason` is the rule that has come true.
    pub fn arrive(&mut self, mut point: Point, reason: Option<String>) {
        self.pace.met(point.step);
        self.met = Instant::now();
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
        self.say(point);
    }

    fn say(&mut self, point: Point) {
        self.server.tell(&Message::Point(point.clone()));
        self.point = Some(point);
    }

    /// What the ranks do next at this debug point. Waits for viewers while the program is paused, a moment at most.
    pub fn order(&mut self, step: u64) -> Order {
        let mut wishes = 0;
        loop {
            let patience = if self.paused { AWAKE } else { Duration::ZERO };
            let enough = wishes >= MOST_WISHES || !self.paused && self.met.elapsed() >= HELD;
            let asked = if enough { None } else { self.server.take(patience) };
            wishes += 1;
            self.look_for_viewers();
            let Some(asked) = asked else {
                return if self.paused { Order::Wait } else { self.go(step) };
            };
            let request = asked.ask.request.clone();
            let (id, done) = (asked.ask.id, Message::Answer(asked.ask.id, Ok(Answer::Done)));
            match request {
                Request::Control(wish) => {
                    self.server.answer(&asked, done);
                    match wish {
                        Wish::Stop => return Order::Stop,
                        Wish::Detach => {
                            self.detached = true;
                            return Order::Detach;
                        }
                        wish => self.wish(wish, step),
                    }
                }
                Request::Rules(rules) => {
                    let answer = check(&rules).map_or_else(|text| Message::Answer(id, Err(text)), |()| done);
                    if matches!(answer, Message::Answer(_, Ok(_))) {
                        self.rules = rules;
                    }
                    self.server.answer(&asked, answer);
                }
                request => {
                    self.asked = Some(asked);
                    return Order::Serve(request);
                }
            }
        }
    }

    fn wish(&mut self, wish: Wish, step: u64) {
        match wish {
            Wish::Pause => {
                (self.paused, self.pause_at, self.run_to) = (true, None, None);
                self.tell_again();
            }
            Wish::Continue => self.leave(None, None),
            Wish::Step(steps) => self.leave(Some(step.saturating_add(steps.max(1))), None),
            Wish::RunTo(name) => self.leave(None, Some(name)),
            // Not of this debug point.
            Wish::Stop | Wish::Detach => {}
        }
    }

    fn leave(&mut self, pause_at: Option<u64>, run_to: Option<String>) {
        (self.paused, self.pause_at, self.run_to) = (false, pause_at, run_to);
        self.tell_again();
    }

    /// Whether the program is paused has changed.
    fn tell_again(&mut self) {
        if let Some(point) = self.point.take() {
            self.say(Point { paused: self.paused, reason: String::new(), ..point });
        }
    }

    fn go(&mut self, step: u64) -> Order {
        let next = self.pace.leave(step);
        let next = self.pause_at.map_or(next, |at| next.min(at));
        Order::Go(Ahead { next, run_to: self.run_to.clone(), rules: self.rules.clone() })
    }

    /// A program that is paused and that nobody looks at goes on after a while, if it is to.
    fn look_for_viewers(&mut self) {
        let viewers = self.server.viewers() > 0;
        self.seen |= viewers;
        if viewers || !self.paused {
            self.alone = None;
            return;
        }
        let since = *self.alone.get_or_insert_with(Instant::now);
        let ended = match self.child.as_mut().map(Child::try_wait) {
            Some(Ok(Some(status))) => {
                self.child = None;
                trace::warn(&format!("the viewer has ended ({status})"));
                true
            }
            _ => false,
        };
        let Some(lost) = self.lost else { return };
        // One that never came found no display.
        if since.elapsed() >= lost || ended && !self.seen {
            let (secs, address) = (since.elapsed().as_secs_f64(), self.server.address());
            let text = format!(
                "paused without a viewer for {secs:.0} s: the program goes on; one may still connect to {address}"
            );
            trace::warn(&text);
            // They would pause it again at once.
            self.rules.clear();
            self.leave(None, None);
        }
    }

    /// What the ranks have found out.
    pub fn answer(&mut self, answer: Result<Answer, String>) {
        if let Some(asked) = self.asked.take() {
            let id = asked.ask.id;
            self.server.answer(&asked, Message::Answer(id, answer));
        }
    }

    /// The run is over, or nobody looks any more.
    pub fn end(&self, how: &str) {
        self.server.end(if self.detached { "the viewer was detached; the program goes on without it" } else { how });
    }
}

/// Whether rules make sense.
fn check(rules: &[Rule]) -> Result<(), String> {
    const MOST: usize = 64;
    if rules.len() > MOST {
        return Err(format!("there are {} rules, and at most {MOST} can be", rules.len()));
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
