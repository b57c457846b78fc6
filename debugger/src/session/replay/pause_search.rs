//! [`PauseSearch`]: search for the next debug point where the recording pauses.

use zippy_protocol::Condition;
use zippy_protocol::{Control, Point, Rule, When};

use super::recorded_arrays::RecordedArrays;
use super::step_facts::StepFacts;

/// Search for the next debug point where the recording pauses, by the rules of a running program.
pub(super) struct PauseSearch {
    /// Index of the next debug point to check.
    pub next: usize,
    /// Index of the last debug point to check.
    last: usize,
    /// Name of the debug point to pause at.
    name: Option<String>,
}

/// The breakpoints of a recording.
#[derive(Default)]
pub(super) struct ReplayRules {
    rules: Vec<Rule>,
    /// Condition of each rule, and true if an error of its evaluation was reported.
    conditions: Vec<(Option<Condition>, bool)>,
}

impl ReplayRules {
    /// Replaces the rules.
    ///
    /// # Errors
    /// A rule is invalid.
    pub(super) fn set(&mut self, rules: Vec<Rule>) -> Result<(), String> {
        let condition = |rule: &Rule| match &rule.when {
            When::Condition(text) => Ok((Some(text.parse()?), false)),
            When::Every(0) => Err("every 0 debug points is never: it must be at least 1".to_string()),
            When::Every(_) | When::Always => Ok((None, false)),
        };
        self.conditions = rules.iter().map(condition).collect::<Result<_, _>>()?;
        self.rules = rules;
        Ok(())
    }

    /// Returns the reason for a pause at a debug point, if a rule requires one.
    fn reason(&mut self, store: &mut RecordedArrays, at: usize) -> Option<String> {
        let Point { step, name, .. } = store.index.points.get(at)?.point.clone();
        for (rule, (condition, is_reported)) in self.rules.iter().zip(&mut self.conditions) {
            if rule.name.as_ref().is_some_and(|wanted| *wanted != name) {
                continue;
            }
            let Some(condition) = condition else {
                let every = if let When::Every(every) = rule.when { every } else { 1 };
                if every == 0 || !step.is_multiple_of(every) {
                    continue;
                }
                let every = if every > 1 { format!("every {every}") } else { String::new() };
                let of_name = rule.name.as_ref().map(|name| format!("`{name}`")).unwrap_or_default();
                return Some(format!("a rule: {of_name} {every}").trim_end().into());
            };
            match StepFacts::new(store, at).and_then(|mut facts| condition.holds_in(&mut facts)) {
                Ok(true) => return Some(condition.to_string()),
                Ok(false) => {}
                // Reported once, as a program does.
                Err(text) if !*is_reported => {
                    *is_reported = true;
                    return Some(format!("the condition `{condition}` cannot be evaluated: {text}"));
                }
                Err(_) => {}
            }
        }
        None
    }
}

impl PauseSearch {
    /// Starts the search of a command. `None` for a command that does not continue.
    ///
    /// # Errors
    /// No further debug point exists, or none has the name.
    pub(super) fn new(control: &Control, store: &RecordedArrays, at: usize) -> Result<Option<Self>, String> {
        let points = &store.index.points;
        let final_index = points.len().saturating_sub(1);
        let (last, name) = match control {
            Control::Pause | Control::Detach | Control::Stop => return Ok(None),
            Control::Step(0) => return Err("a step goes on by at least 1 debug point".into()),
            Control::Step(count) => {
                (at.saturating_add(usize::try_from(*count).unwrap_or(usize::MAX)).min(final_index), None)
            }
            Control::Continue => (final_index, None),
            Control::RunTo(name) => (final_index, Some(name.clone())),
        };
        let Some(following) = points.get(at + 1..).filter(|following| !following.is_empty()) else {
            let step = store.index.steps.last().map_or("no debug point".into(), |step| format!("debug point {step}"));
            return Err(format!("the recording ends here, at {step}"));
        };
        if let Some(name) = &name
            && following.iter().all(|step| step.point.name != *name)
        {
            let mut names: Vec<&str> = following.iter().map(|step| step.point.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            names.truncate(16);
            return Err(format!("no debug point `{name}` follows; there are {}", names.join(", ")));
        }
        Ok(Some(Self { next: at + 1, last, name }))
    }

    /// Checks the next debug point. Returns the reason for a pause there, or `None` if the search
    /// continues.
    pub(super) fn advance(&mut self, store: &mut RecordedArrays, rules: &mut ReplayRules) -> Option<String> {
        let at = self.next;
        let is_named = self.name.is_some()
            && store.index.points.get(at).is_some_and(|step| Some(&step.point.name) == self.name.as_ref());
        if is_named {
            return Some(String::new());
        }
        if let Some(reason) = rules.reason(store, at) {
            return Some(reason);
        }
        if at >= self.last {
            let is_last = at + 1 >= store.index.points.len();
            return Some(if is_last { "the last debug point of the recording".into() } else { String::new() });
        }
        self.next += 1;
        None
    }
}
