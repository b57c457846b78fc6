//! [`Attached`]: what looks into a run at its debug points, on each rank.

use super::answers::answer;
use super::condition::Condition;
use super::control::Control;
use super::order::{Ahead, Order};
use super::protocol::{Point, Rule, When};
use super::record::Recorder;
use crate::World;
use crate::error::{Error, Result};
use crate::transport::{decoded, encoded};
use crate::world::{DebugPoint, Observer};

/// The viewer's and the recorder's part of a rank.
#[derive(Debug)]
pub(super) struct Attached {
    /// Whether viewers can come.
    viewers: bool,
    /// On rank 0, where they can.
    control: Option<Control>,
    recorder: Option<Recorder>,
    ahead: Ahead,
    /// Those of the rules, and whether it was told that one cannot be looked at.
    conditions: Vec<(Option<Condition>, bool)>,
}

impl Observer for Attached {
    fn wants(&self, next: u64, name: &str) -> bool {
        let recorded = self.recorder.as_ref().is_some_and(|recorder| recorder.wants(next));
        let rule = |rule: &Rule| applies(rule, next, name);
        let stops = self.ahead.run_to.as_deref() == Some(name) || self.ahead.rules.iter().any(rule);
        recorded || self.viewers && (next >= self.ahead.next || stops)
    }

    fn look(&mut self, world: &World, point: &DebugPoint) -> Result<()> {
        let told = Point {
            step: point.step,
            name: point.name.clone(),
            file: point.call_site.file().to_string(),
            line: point.call_site.line(),
            paused: false,
            reason: String::new(),
            micros: world.micros(),
        };
        if let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.wants(point.step))
            && !recorder.add(world, &told)?
        {
            self.recorder = None;
        }
        if !self.viewers {
            return Ok(());
        }
        let reason = self.reason(world, point)?;
        let runs_to = self.ahead.run_to.as_ref() == Some(&point.name);
        if reason.is_none() && !runs_to && point.step < self.ahead.next {
            return Ok(());
        }
        if let Some(control) = &mut self.control {
            control.arrive(told, reason);
        }
        self.meet(world, point.step)
    }

    fn end(&mut self, how: &str) {
        if let Some(recorder) = &mut self.recorder {
            recorder.end(how);
        }
        if let Some(control) = &self.control {
            control.end(how);
        }
    }
}

impl Attached {
    pub fn new(viewers: bool, control: Option<Control>, recorder: Option<Recorder>) -> Self {
        Self { viewers, control, recorder, ahead: Ahead::default(), conditions: Vec::new() }
    }

    /// Does what rank 0 says until the program goes on.
    fn meet(&mut self, world: &World, step: u64) -> Result<()> {
        loop {
            let own = self.control.as_mut().map(|control| encoded(&control.order(step))).transpose()?;
            match decoded(&world.inner().broadcast(0, own)?)? {
                Order::Serve(request) => {
                    let answer = answer(world, &request, step)?;
                    if let (Some(control), Some(answer)) = (&mut self.control, answer) {
                        control.answer(answer);
                    }
                }
                Order::Wait => {}
                Order::Go(ahead) => return self.go(ahead),
                Order::Detach => {
                    if let Some(control) = self.control.take() {
                        control.end("");
                    }
                    self.viewers = false;
                    return Ok(());
                }
                Order::Stop => return Err(Error::program("stopped by the viewer")),
            }
        }
    }

    fn go(&mut self, ahead: Ahead) -> Result<()> {
        if self.ahead.rules != ahead.rules {
            let condition = |rule: &Rule| match &rule.when {
                When::Condition(text) => text.parse().map(Some).map_err(Error::program),
                _ => Ok(None),
            };
            let conditions = ahead.rules.iter().map(condition).map(|parsed| Ok((parsed?, false)));
            self.conditions = conditions.collect::<Result<_>>()?;
        }
        self.ahead = ahead;
        Ok(())
    }

    /// Why the program is to pause here, if a rule has come true: the same on every rank.
    fn reason(&mut self, world: &World, point: &DebugPoint) -> Result<Option<String>> {
        for (rule, (condition, told)) in self.ahead.rules.iter().zip(&mut self.conditions) {
            if !applies(rule, point.step, &point.name) {
                continue;
            }
            let Some(condition) = condition else {
                return Ok(Some(match rule.when {
                    When::Every(number) => format!("debug point {}, one of every {number}", point.step),
                    _ => format!("debug point {:?}", point.name),
                }));
            };
            let When::Condition(asked) = &rule.when else { continue };
            match condition.holds(world)? {
                Ok(true) => return Ok(Some(asked.clone())),
                Ok(false) => {}
                // Once, or a program that is to make the array later would pause everywhere.
                Err(text) if !*told => {
                    *told = true;
                    return Ok(Some(format!("the condition `{asked}` cannot be looked at: {text}")));
                }
                Err(_) => {}
            }
        }
        Ok(None)
    }
}

/// Whether a rule is to be looked at, at a debug point.
fn applies(rule: &Rule, step: u64, name: &str) -> bool {
    let named = rule.name.as_ref().is_none_or(|wanted| wanted == name);
    named
        && match rule.when {
            When::Every(number) => step.is_multiple_of(number.max(1)),
            When::Always | When::Condition(_) => true,
        }
}
