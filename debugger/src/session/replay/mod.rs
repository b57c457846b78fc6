//! [`Replay`]: a recording.

mod cut;
mod index;
mod tally;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use zippy::debug::protocol::{
    Answer, ArrayEntry, ArrayRef, Control, Message, Program, Recorded, Request, Rule, SummaryRequest, View,
    ViewRequest, When,
};

use self::index::Index;
use super::{Session, State};

/// Views that are kept, so that neighbouring parts of one are not read again and again.
const KEPT: usize = 4;
/// Bytes of a growing recording that are scanned at a time.
const SCANNED: u64 = 64 << 20;

/// A recording, at one of its debug points. Whole files are scanned when they are opened; entries are read when they are asked
/// for. A program may still be writing: debug points are added as the file grows.
///
/// Of an array that was recorded coarsely, a view has the cells that there are: [`View::of`] says which.
pub struct Replay {
    index: Index,
    at: usize,
    told: Vec<Message>,
    rules: Vec<Rule>,
    next: u32,
    kept: Vec<(u64, Arc<View>)>,
    /// The list of arrays that was read last, and its place.
    listed: Option<(u64, Arc<[ArrayEntry]>)>,
    begun: bool,
}

impl Replay {
    /// Opens a recording.
    ///
    /// # Errors
    /// What the file system says; the file is no recording, or one of another version.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let index = Index::open(path.as_ref())?;
        let (told, rules, kept) = (Vec::new(), Vec::new(), Vec::new());
        let mut replay = Self { index, at: 0, told, rules, next: 0, kept, listed: None, begun: false };
        replay.begin();
        Ok(replay)
    }

    /// How the run ended; nothing where the recording does not have its end.
    pub fn end(&self) -> Option<&str> {
        self.index.end.as_deref()
    }

    /// Bytes of the recording that are good.
    pub fn bytes(&self) -> u64 {
        self.index.good()
    }

    /// From one recorded cell of an array to the next along each axis, at this debug point.
    ///
    /// # Errors
    /// It has none of this array here.
    pub fn stride(&mut self, entry: &ArrayEntry) -> Result<Vec<i64>, String> {
        self.recorded(entry).map(|view| view.of.stride.clone())
    }

    /// Tells the first debug point as soon as there is one.
    fn begin(&mut self) {
        if !self.begun && !self.index.points.is_empty() {
            self.begun = true;
            self.point(String::new());
        }
    }

    fn point(&mut self, reason: String) {
        if let Some(step) = self.index.points.get(self.at) {
            let mut point = step.point.clone();
            point.paused = true;
            if !reason.is_empty() {
                point.reason = reason;
            }
            self.told.push(Message::Point(point));
        }
    }

    fn arrays(&mut self) -> Result<Arc<[ArrayEntry]>, String> {
        let none = "the recording has no list of arrays up to here";
        let steps = self.index.points.get(..=self.at).unwrap_or_default();
        let place = steps.iter().rev().find_map(|step| step.arrays).ok_or(none)?;
        if let Some((_, listed)) = self.listed.as_ref().filter(|(at, _)| *at == place) {
            return Ok(Arc::clone(listed));
        }
        let Recorded::Arrays(arrays) = self.index.read(place)? else {
            return Err(format!("the recording has changed at byte {place}: open it again"));
        };
        let arrays: Arc<[ArrayEntry]> = arrays.into();
        self.listed = Some((place, Arc::clone(&arrays)));
        Ok(arrays)
    }

    fn entry(&mut self, array: ArrayRef) -> Result<ArrayEntry, String> {
        let arrays = self.arrays()?;
        let names: Vec<&str> = arrays.iter().map(|entry| entry.name.as_str()).take(16).collect();
        let missing = || format!("there is no such array; there are {}", names.join(", "));
        arrays.iter().find(|entry| entry.array == array).cloned().ok_or_else(missing)
    }

    fn recorded(&mut self, entry: &ArrayEntry) -> Result<Arc<View>, String> {
        let step = self.index.points.get(self.at).ok_or("the recording has no debug point")?;
        let missing = || format!("the recording has no cells of `{}` at debug point {}", entry.name, step.point.step);
        let places = step.views.get(&entry.array).ok_or_else(missing)?.clone();
        let mut found: Option<Arc<View>> = None;
        for place in places {
            let view = self.view_at(place)?;
            // The finest one of whole cells.
            let better = |other: &Arc<View>| {
                let rank = |view: &View| (view.of.numbers.is_some(), std::cmp::Reverse(view.cells.len()));
                rank(&view) < rank(other)
            };
            if view.of.chunk.is_none() && found.as_ref().is_none_or(better) {
                found = Some(view);
            }
        }
        let none = || format!("the recording has no cells of `{}` but those of single chunks", entry.name);
        found.ok_or_else(none)
    }

    fn view_at(&mut self, place: u64) -> Result<Arc<View>, String> {
        if let Some(found) = self.kept.iter().position(|(kept, _)| *kept == place) {
            let kept = self.kept.remove(found);
            self.kept.push(kept);
        } else {
            let Recorded::View(view) = self.index.read(place)? else {
                return Err(format!("the recording has changed at byte {place}: open it again"));
            };
            if self.kept.len() >= KEPT {
                self.kept.remove(0);
            }
            self.kept.push((place, Arc::new(view)));
        }
        self.kept.last().map(|(_, view)| Arc::clone(view)).ok_or_else(String::new)
    }

    fn view(&mut self, request: &ViewRequest) -> Result<View, String> {
        if request.chunk.is_some() {
            return Err("a recording has no ghost cells".into());
        }
        let entry = self.entry(request.array)?;
        let recorded = self.recorded(&entry)?;
        cut::cut(&recorded, &entry.element, &entry.shape, request)
    }

    fn whole(&mut self, array: ArrayRef) -> Result<(ArrayEntry, Arc<View>), String> {
        let entry = self.entry(array)?;
        let recorded = self.recorded(&entry)?;
        if !cut::is_whole(&recorded, &entry.shape) {
            let stride = &recorded.of.stride;
            return Err(format!("the recording has not every cell of `{}`: its stride is {stride:?}", entry.name));
        }
        if recorded.of.bytes(entry.element.bytes as usize) != Some(recorded.cells.len()) {
            return Err(format!("the recorded view of `{}` makes no sense", entry.name));
        }
        Ok((entry, recorded))
    }

    fn summary(&mut self, request: &SummaryRequest) -> Result<Answer, String> {
        let (entry, view) = self.whole(request.array)?;
        tally::summary(&view, &entry.element, request).map(Answer::Summary)
    }

    fn compare(&mut self, one: ArrayRef, other: ArrayRef) -> Result<Answer, String> {
        let ((one, one_view), (other, other_view)) = (self.whole(one)?, self.whole(other)?);
        if one.element != other.element || one.shape != other.shape {
            let what =
                |entry: &ArrayEntry| format!("`{}` is {} of shape {:?}", entry.name, entry.element.name, entry.shape);
            return Err(format!(
                "{}, and {}: only arrays of one type and shape are compared",
                what(&one),
                what(&other)
            ));
        }
        let found = tally::difference(&one_view, &other_view, one.element.bytes as usize, &one.shape);
        Ok(Answer::Difference(found))
    }

    fn answer(&mut self, request: Request) -> Result<Answer, String> {
        match request {
            Request::Arrays => self.arrays().map(|arrays| Answer::Arrays(arrays.to_vec())),
            Request::View(request) => self.view(&request).map(Answer::View),
            Request::Summary(request) => self.summary(&request),
            Request::Compare(one, other) => self.compare(one, other),
            Request::Ghosts(_) => Err("a recording has no ghost cells".into()),
            Request::Moves => Err("a recording has no moves of transfers".into()),
            Request::Timeline(_) => Err("a recording has no timeline".into()),
            Request::Rules(rules) => self.set_rules(rules),
            Request::Control(_) => Ok(Answer::Done),
        }
    }

    fn set_rules(&mut self, rules: Vec<Rule>) -> Result<Answer, String> {
        for rule in &rules {
            match &rule.when {
                When::Condition(text) => {
                    return Err(format!(
                        "a recording does not know where `{text}` is true: only a running program computes it"
                    ));
                }
                When::Every(0) => return Err("every 0 debug points is never: it must be at least 1".into()),
                When::Every(_) | When::Always => {}
            }
        }
        self.rules = rules;
        Ok(Answer::Done)
    }

    /// The debug point that a control leads to, and why it pauses there.
    fn target(&self, control: &Control) -> Result<Option<(usize, String)>, String> {
        let points = &self.index.points;
        let last = points.len().saturating_sub(1);
        let behind = self.at + 1..points.len();
        let (most, name) = match control {
            Control::Pause | Control::Detach | Control::Stop => return Ok(None),
            Control::Step(0) => return Err("a step goes on by at least 1 debug point".into()),
            Control::Step(count) => {
                (self.at.saturating_add(usize::try_from(*count).unwrap_or(usize::MAX)).min(last), None)
            }
            Control::Continue => (last, None),
            Control::RunTo(name) => (last, Some(name)),
        };
        if behind.is_empty() {
            let step = self.index.steps.last().map_or("no debug point".into(), |step| format!("debug point {step}"));
            return Err(format!("the recording ends here, at {step}"));
        }
        for place in behind.clone().take_while(|&place| place <= most) {
            let point = &points[place].point;
            if name.is_some_and(|name| *name == point.name) {
                return Ok(Some((place, String::new())));
            }
            if let Some(rule) = self.rules.iter().find(|rule| is_true(rule, point.step, &point.name)) {
                let every = if let When::Every(every) = rule.when { format!("every {every}") } else { String::new() };
                let of_name = rule.name.as_ref().map(|name| format!("`{name}`")).unwrap_or_default();
                return Ok(Some((place, format!("a rule: {of_name} {every}").trim_end().into())));
            }
        }
        if let Some(name) = name {
            let mut names: Vec<&str> = points[behind].iter().map(|step| step.point.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            names.truncate(16);
            return Err(format!("no debug point `{name}` follows; there are {}", names.join(", ")));
        }
        let reason = if most == last { "the last debug point of the recording" } else { "" };
        Ok(Some((most, reason.into())))
    }
}

fn is_true(rule: &Rule, step: u64, name: &str) -> bool {
    let counted = match rule.when {
        When::Always => true,
        When::Every(every) => every > 0 && step.is_multiple_of(every),
        When::Condition(_) => false,
    };
    counted && rule.name.as_deref().is_none_or(|wanted| wanted == name)
}

impl Session for Replay {
    fn state(&self) -> State {
        State::Open
    }

    fn program(&self) -> Option<&Program> {
        self.index.program.as_ref()
    }

    fn ask(&mut self, request: Request) -> u32 {
        self.next = self.next.wrapping_add(1);
        let target = match &request {
            Request::Control(control) => self.target(control),
            _ => Ok(None),
        };
        match target {
            Err(text) => self.told.push(Message::Answer(self.next, Err(text))),
            Ok(target) => {
                let answer = self.answer(request);
                self.told.push(Message::Answer(self.next, answer));
                if let Some((at, reason)) = target {
                    self.at = at;
                    self.point(reason);
                }
            }
        }
        self.next
    }

    fn poll(&mut self) -> Vec<Message> {
        self.index.grow(SCANNED);
        self.begin();
        std::mem::take(&mut self.told)
    }

    fn wait(&mut self, most: Duration) {
        if self.told.is_empty() && !self.index.grow(SCANNED) {
            // A file that grows says nothing.
            std::thread::sleep(most.min(Duration::from_millis(50)));
        }
    }

    fn steps(&self) -> &[u64] {
        &self.index.steps
    }

    fn go_to(&mut self, step: u64) {
        if let Ok(at) = self.index.steps.binary_search(&step) {
            self.at = at;
            self.point(String::new());
        }
    }

    fn notice(&self) -> Option<String> {
        self.index.notice()
    }
}
