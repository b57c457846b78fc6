//! [`DebugObserver`]: serves viewers and records at the debug points of one rank.
use zippy_protocol::Condition;
use zippy_protocol::{Point, Rule, When};

use super::answers::answer;
use super::control::Control;
use super::order::{Order, SyncConditions};
use super::recorder::Recorder;
use super::world_facts;
use crate::World;
use crate::error::{Error, Result};
use crate::trace;
use crate::transport::{decoded, encoded};
use crate::world::{CollectiveWorld, DebugPoint, Observer};

/// Observer of a rank's debug points that serves viewers and writes the recording.
#[derive(Debug)]
pub(super) struct DebugObserver {
    /// True if viewers can connect.
    serves_viewers: bool,
    /// Present on rank 0 if viewers can connect.
    control: Option<Control>,
    recorder: Option<Recorder>,
    next_sync: SyncConditions,
    /// Condition of each rule, and whether its evaluation error was already reported.
    conditions: Vec<(Option<Condition>, bool)>,
}

impl Observer for DebugObserver {
    fn wants(&self, next: u64, name: &str) -> bool {
        let recorded = self.recorder.as_ref().is_some_and(|recorder| recorder.wants(next));
        let rule = |rule: &Rule| matches_point(rule, next, name);
        let stops = self.next_sync.run_to.as_deref() == Some(name) || self.next_sync.rules.iter().any(rule);
        recorded || self.serves_viewers && (next >= self.next_sync.next || stops)
    }

    fn process_point(&mut self, world: &World, point: &DebugPoint) -> Result<()> {
        let reached = Point {
            step: point.step,
            name: point.name.clone(),
            file: point.call_site.file().to_string(),
            line: point.call_site.line(),
            paused: false,
            reason: String::new(),
            micros: trace::now_nanos() / 1000,
        };
        if let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.wants(point.step))
            && !recorder.add(world, &reached)?
        {
            self.recorder = None;
        }
        if !self.serves_viewers {
            return Ok(());
        }
        let reason = self.reason(world, point)?;
        let runs_to = self.next_sync.run_to.as_ref() == Some(&point.name);
        if reason.is_none() && !runs_to && point.step < self.next_sync.next {
            return Ok(());
        }
        if let Some(control) = &mut self.control {
            control.arrive(reached, reason);
        }
        self.obey_orders(world, point.step)
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

impl DebugObserver {
    pub(super) fn new(serves_viewers: bool, control: Option<Control>, recorder: Option<Recorder>) -> Self {
        Self { serves_viewers, control, recorder, next_sync: SyncConditions::default(), conditions: Vec::new() }
    }

    /// Executes the orders of rank 0 until the program continues.
    fn obey_orders(&mut self, world: &World, step: u64) -> Result<()> {
        loop {
            let order = self.control.as_mut().map(|control| encoded(&control.order(step))).transpose()?;
            match decoded(&world.inner_group().broadcast(0, order)?)? {
                Order::Serve(request) => {
                    let answer = answer(world, &request, step)?;
                    if let (Some(control), Some(answer)) = (&mut self.control, answer) {
                        control.answer(answer);
                    }
                }
                Order::Wait => {}
                Order::Continue(next_sync) => return self.set_next_sync(next_sync),
                Order::Detach => {
                    if let Some(control) = self.control.take() {
                        control.end("");
                    }
                    self.serves_viewers = false;
                    return Ok(());
                }
                Order::Stop => return Err(Error::program("stopped by the viewer")),
            }
        }
    }

    fn set_next_sync(&mut self, next_sync: SyncConditions) -> Result<()> {
        if self.next_sync.rules != next_sync.rules {
            let condition = |rule: &Rule| match &rule.when {
                When::Condition(text) => text.parse().map(Some).map_err(Error::program),
                _ => Ok(None),
            };
            let conditions = next_sync.rules.iter().map(condition).map(|parsed| Ok((parsed?, false)));
            self.conditions = conditions.collect::<Result<_>>()?;
        }
        self.next_sync = next_sync;
        Ok(())
    }

    /// Returns the reason to pause at a debug point, if a rule holds; the same on every rank.
    fn reason(&mut self, world: &World, point: &DebugPoint) -> Result<Option<String>> {
        for (rule, (condition, is_reported)) in self.next_sync.rules.iter().zip(&mut self.conditions) {
            if !matches_point(rule, point.step, &point.name) {
                continue;
            }
            let Some(condition) = condition else {
                return Ok(Some(match rule.when {
                    When::Every(number) => format!("debug point {}, a multiple of {number}", point.step),
                    _ => format!("debug point {:?}", point.name),
                }));
            };
            let When::Condition(text) = &rule.when else { continue };
            match world_facts::evaluate_condition(condition, world)? {
                Ok(true) => return Ok(Some(text.clone())),
                Ok(false) => {}
                // Once only: otherwise a program that creates the array later would pause at every
                // debug point.
                Err(error) if !*is_reported => {
                    *is_reported = true;
                    return Ok(Some(format!("the condition `{text}` cannot be evaluated: {error}")));
                }
                Err(_) => {}
            }
        }
        Ok(None)
    }
}

/// True if the rule's name and interval match the debug point; its condition is not evaluated.
fn matches_point(rule: &Rule, step: u64, name: &str) -> bool {
    let has_name = rule.name.as_ref().is_none_or(|rule_name| rule_name == name);
    has_name
        && match rule.when {
            When::Every(number) => step.is_multiple_of(number.max(1)),
            When::Always | When::Condition(_) => true,
        }
}
