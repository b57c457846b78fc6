//! [`Seek`]: on the way to a debug point where a rule is true.

use zippy::debug::Condition;
use zippy::debug::protocol::{Control, Point, Rule, When};

use super::facts::OfStep;
use super::store::Store;

/// Where a recording is to stop, as a program would.
pub struct Seek {
    /// The debug point that is looked at next, by its place.
    pub next: usize,
    /// It goes no further.
    most: usize,
    /// It stops at this name.
    name: Option<String>,
}

/// The rules of a recording.
#[derive(Default)]
pub struct Rules {
    rules: Vec<Rule>,
    /// Those of the rules, and whether it was told that one cannot be looked at.
    conditions: Vec<(Option<Condition>, bool)>,
}

impl Rules {
    /// Takes others.
    ///
    /// # Errors
    /// One makes no sense.
    pub fn set(&mut self, rules: Vec<Rule>) -> Result<(), String> {
        let condition = |rule: &Rule| match &rule.when {
            When::Condition(text) => Ok((Some(text.parse()?), false)),
            When::Every(0) => Err("every 0 debug points is never: it must be at least 1".to_string()),
            When::Every(_) | When::Always => Ok((None, false)),
        };
        self.conditions = rules.iter().map(condition).collect::<Result<_, _>>()?;
        self.rules = rules;
        Ok(())
    }

    /// Why to stop at a debug point, if a rule is true there.
    fn reason(&mut self, store: &mut Store, at: usize) -> Option<String> {
        let Point { step, name, .. } = store.index.points.get(at)?.point.clone();
        for (rule, (condition, told)) in self.rules.iter().zip(&mut self.conditions) {
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
            match OfStep::new(store, at).and_then(|mut facts| condition.holds_in(&mut facts)) {
                Ok(true) => return Some(condition.to_string()),
                Ok(false) => {}
                // Once, as a program does.
                Err(text) if !*told => {
                    *told = true;
                    return Some(format!("the condition `{condition}` cannot be looked at: {text}"));
                }
                Err(_) => {}
            }
        }
        None
    }
}

impl Seek {
    /// Where a control leads to from a debug point; none where it stays.
    ///
    /// # Errors
    /// Nothing follows, or no debug point of the name.
    pub fn new(control: &Control, store: &Store, at: usize) -> Result<Option<Self>, String> {
        let points = &store.index.points;
        let last = points.len().saturating_sub(1);
        let (most, name) = match control {
            Control::Pause | Control::Detach | Control::Stop => return Ok(None),
            Control::Step(0) => return Err("a step goes on by at least 1 debug point".into()),
            Control::Step(count) => (at.saturating_add(usize::try_from(*count).unwrap_or(usize::MAX)).min(last), None),
            Control::Continue => (last, None),
            Control::RunTo(name) => (last, Some(name.clone())),
        };
        let Some(behind) = points.get(at + 1..).filter(|behind| !behind.is_empty()) else {
            let step = store.index.steps.last().map_or("no debug point".into(), |step| format!("debug point {step}"));
            return Err(format!("the recording ends here, at {step}"));
        };
        if let Some(name) = &name
            && behind.iter().all(|step| step.point.name != *name)
        {
            let mut names: Vec<&str> = behind.iter().map(|step| step.point.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            names.truncate(16);
            return Err(format!("no debug point `{name}` follows; there are {}", names.join(", ")));
        }
        Ok(Some(Self { next: at + 1, most, name }))
    }

    /// Looks at the next debug point: why to stop there, in words, or nothing where it goes on.
    pub fn look(&mut self, store: &mut Store, rules: &mut Rules) -> Option<String> {
        let at = self.next;
        let is_named = self.name.is_some()
            && store.index.points.get(at).is_some_and(|step| Some(&step.point.name) == self.name.as_ref());
        if is_named {
            return Some(String::new());
        }
        if let Some(reason) = rules.reason(store, at) {
            return Some(reason);
        }
        if at >= self.most {
            let is_last = at + 1 >= store.index.points.len();
            return Some(if is_last { "the last debug point of the recording".into() } else { String::new() });
        }
        self.next += 1;
        None
    }
}
