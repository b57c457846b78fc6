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
    /// Since when there has been no viewer.
    alone: Option<Instant>,
    pace: Pace,
    begun: Instant,
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
            alone: Some(Instant::now()),
            pace: Pace::new(),
            begun: Instant::now(),
            point: None,
            asked: None,
            detached: false,
        }
    }

    /// The ranks meet at a debug point; `reason` is the rule that has come true.
    pub fn arrive(&mut self, mut point: Point, reason: Option<String>) {
        self.pace.met(point.step);
        if self.run_to.as_ref().is_some_and(|name| *name == point.name) || self.pause_at == Some(point.step) {
            self.paused = true;
        }
        if let Some(reason) = reason {
            (self.paused, point.reason) = (true, reason);
        }
        (point.paused, point.micros) = (self.paused, self.begun.elapsed().as_micros() as u64);
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
        loop {
            let patience = if self.paused { AWAKE } else { Duration::ZERO };
            let asked = self.server.take(patience);
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
            Wish::Pause if !self.paused => {
                self.paused = true;
                (self.pause_at, self.run_to) = (None, None);
                self.tell_again();
            }
            Wish::Continue => self.leave(None, None),
            Wish::Step(steps) => self.leave(Some(step.saturating_add(steps.max(1))), None),
            Wish::RunTo(name) => self.leave(None, Some(name)),
            _ => {}
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
        if self.server.viewers() > 0 {
            self.alone = None;
            return;
        }
        let since = *self.alone.get_or_insert_with(Instant::now);
        if !self.paused {
            return;
        }
        let why = match self.child.as_mut().map(Child::try_wait) {
            Some(Ok(Some(status))) => format!("the viewer has ended ({status})"),
            _ if self.lost.is_some_and(|lost| since.elapsed() >= lost) => {
                format!("there has been no viewer for {} s", since.elapsed().as_secs())
            }
            _ => return,
        };
        self.child = None;
        trace::warn(&format!("{why}: the program goes on; a viewer may still connect to {}", self.server.address()));
        self.leave(None, None);
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
