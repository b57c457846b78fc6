//! [`Store`]: what there is at the debug points of a recording, read when it is asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use zippy::debug::protocol::{
    ArrayEntry, ArrayRef, GhostEntry, MOST_SPANS, Moves, Recorded, Span, Timeline, View, ViewRequest,
};

use super::index::{Index, Places, Step};
use super::{chunks, cut};

/// Views that are kept, so that neighbouring parts of one are not read again and again.
const KEPT: usize = 4;
/// A timeline is put together of so many entries at most.
const MOST_TIMELINES: usize = 256;

/// A recording. Debug points are named by their place among them.
pub struct Store {
    pub index: Index,
    kept: Vec<(u64, Arc<View>)>,
    /// Arrays that were recorded by chunks, by the place of the first one.
    joined: Vec<(u64, Arc<View>)>,
    /// The list of arrays that was read last, and its place.
    listed: Option<(u64, Arc<[ArrayEntry]>)>,
}

/// Keeps a view, and forgets the oldest one.
fn keep(kept: &mut Vec<(u64, Arc<View>)>, place: u64, view: View) -> Arc<View> {
    if kept.len() >= KEPT {
        kept.remove(0);
    }
    let view = Arc::new(view);
    kept.push((place, Arc::clone(&view)));
    view
}

/// Finds a view that was kept, and keeps it for longer.
fn find(kept: &mut Vec<(u64, Arc<View>)>, place: u64) -> Option<Arc<View>> {
    let found = kept.iter().position(|(kept, _)| *kept == place)?;
    let one = kept.remove(found);
    kept.push(one);
    kept.last().map(|(_, view)| Arc::clone(view))
}

fn changed(place: u64) -> String {
    format!("the recording has changed at byte {place}: open it again")
}

impl Store {
    pub fn new(index: Index) -> Self {
        Self { index, kept: Vec::new(), joined: Vec::new(), listed: None }
    }

    pub fn step(&self, at: usize) -> Result<&Step, String> {
        self.index.points.get(at).ok_or_else(|| "the recording has no debug point".into())
    }

    /// The latest entry of a kind up to a debug point.
    fn latest(&self, at: usize, place: fn(&Step) -> Option<u64>) -> Option<u64> {
        self.index.points.get(..=at)?.iter().rev().find_map(place)
    }

    /// The arrays.
    pub fn arrays(&mut self, at: usize) -> Result<Arc<[ArrayEntry]>, String> {
        let none = "the recording has no list of arrays up to here";
        let place = self.latest(at, |step| step.arrays).ok_or(none)?;
        if let Some((_, listed)) = self.listed.as_ref().filter(|(at, _)| *at == place) {
            return Ok(Arc::clone(listed));
        }
        let Recorded::Arrays(arrays) = self.index.read(place)? else { return Err(changed(place)) };
        let arrays: Arc<[ArrayEntry]> = arrays.into();
        self.listed = Some((place, Arc::clone(&arrays)));
        Ok(arrays)
    }

    /// An array.
    pub fn entry(&mut self, at: usize, array: ArrayRef) -> Result<ArrayEntry, String> {
        let arrays = self.arrays(at)?;
        let names: Vec<&str> = arrays.iter().map(|entry| entry.name.as_str()).take(16).collect();
        let missing = || format!("there is no such array; there are {}", names.join(", "));
        arrays.iter().find(|entry| entry.array == array).cloned().ok_or_else(missing)
    }

    fn places(&self, at: usize, entry: &ArrayEntry) -> Result<Places, String> {
        let step = self.step(at)?;
        let missing = || format!("the recording has no cells of `{}` at debug point {}", entry.name, step.point.step);
        step.views.get(&entry.array).cloned().ok_or_else(missing)
    }

    /// The cells of an array that there are.
    pub fn recorded(&mut self, at: usize, entry: &ArrayEntry) -> Result<Arc<View>, String> {
        let places = self.places(at, entry)?;
        let first = places.first().map_or(0, |&(place, _)| place);
        if let Some(joined) = find(&mut self.joined, first) {
            return Ok(joined);
        }
        let (mut found, mut parts): (Option<Arc<View>>, _) = (None, BTreeMap::new());
        for &(place, _) in places.iter() {
            let view = self.view_at(place)?;
            // The finest one of whole cells.
            let better = |other: &Arc<View>| {
                let rank = |view: &View| (view.of.numbers.is_some(), std::cmp::Reverse(view.cells.len()));
                rank(&view) < rank(other)
            };
            match view.of.chunk {
                Some(chunk) => drop(parts.insert(chunk, view)),
                None if found.as_ref().is_none_or(better) => found = Some(view),
                None => {}
            }
        }
        if let Some(found) = found {
            return Ok(found);
        }
        let parts: Vec<Arc<View>> = parts.into_values().collect();
        Ok(keep(&mut self.joined, first, chunks::joined(entry, &parts)?))
    }

    fn view_at(&mut self, place: u64) -> Result<Arc<View>, String> {
        if let Some(found) = find(&mut self.kept, place) {
            return Ok(found);
        }
        let Recorded::View(view) = self.index.read(place)? else { return Err(changed(place)) };
        Ok(keep(&mut self.kept, place, view))
    }

    /// A chunk with its ghost cells.
    fn chunk(&mut self, at: usize, entry: &ArrayEntry, chunk: u64) -> Result<Arc<View>, String> {
        let found = self.places(at, entry)?.iter().copied().find(|(_, of)| *of == Some(chunk));
        let Some((place, _)) = found else {
            let why = "it has those of arrays of few chunks that fit the bytes of each that it was to have";
            return Err(format!("the recording has no ghost cells of `{}`: {why}", entry.name));
        };
        let view = self.view_at(place)?;
        if view.of.chunk == Some(chunk) { Ok(view) } else { Err(changed(place)) }
    }

    /// A view.
    pub fn view(&mut self, at: usize, request: &ViewRequest) -> Result<View, String> {
        let (entry, step) = (self.entry(at, request.array)?, self.step(at)?.point.step);
        let ghosts = entry.ghosts.iter().flatten().any(|&width| width != 0);
        let cut = if let Some(chunk) = request.chunk.filter(|_| ghosts) {
            let recorded = self.chunk(at, &entry, chunk)?;
            cut::cut(&recorded, &entry.element, (&recorded.of.start, &recorded.of.end), request)
        } else {
            let recorded = self.recorded(at, &entry)?;
            cut::cut(&recorded, &entry.element, (&vec![0; entry.shape.len()], &entry.shape), request)
        };
        // Cells that have not changed were recorded at an earlier one.
        cut.map(|view| View { step, ..view })
    }

    /// All cells of an array.
    pub fn whole(&mut self, at: usize, array: ArrayRef) -> Result<(ArrayEntry, Arc<View>), String> {
        let entry = self.entry(at, array)?;
        let recorded = self.recorded(at, &entry)?;
        if !cut::is_whole(&recorded, &entry.shape) {
            let stride = &recorded.of.stride;
            return Err(format!("the recording has not every cell of `{}`: its stride is {stride:?}", entry.name));
        }
        if recorded.of.bytes(entry.element.bytes as usize) != Some(recorded.cells.len()) {
            return Err(format!("the recorded view of `{}` makes no sense", entry.name));
        }
        Ok((entry, recorded))
    }

    /// What the ghost cells of an array were.
    pub fn ghosts(&mut self, at: usize, array: ArrayRef) -> Result<Vec<GhostEntry>, String> {
        if !self.index.program.as_ref().is_some_and(|program| program.checked) {
            return Err(
                "which ghost cells were stale is recorded of checked runs only: start it with ZIPPY_CHECK=1".into()
            );
        }
        let entry = self.entry(at, array)?;
        let Some(&place) = self.step(at)?.ghosts.get(&array) else {
            return match entry.ghosts.iter().flatten().all(|&width| width == 0) {
                true => Ok(Vec::new()),
                false => Err(format!("the recording does not say what the ghost cells of `{}` were", entry.name)),
            };
        };
        let Recorded::Ghosts(_, ghosts) = self.index.read(place)? else { return Err(changed(place)) };
        Ok(ghosts)
    }

    /// What the last operation that moved cells had moved.
    pub fn moves(&mut self, at: usize) -> Result<Moves, String> {
        let [last, boxes] = self.step(at)?.moves.ok_or("the recording has no moves of transfers")?;
        let mut moves = self.moves_at(last)?;
        if boxes != last {
            moves.moves = self.moves_at(boxes)?.moves;
        }
        Ok(moves)
    }

    fn moves_at(&mut self, place: u64) -> Result<Moves, String> {
        let Recorded::Moves(moves) = self.index.read(place)? else { return Err(changed(place)) };
        Ok(moves)
    }

    /// What the ranks did up to a debug point, later than `since`: the latest spans of each, as a program tells it, of so many
    /// debug points as are read in a moment.
    pub fn timeline(&mut self, at: usize, since: u64) -> Result<Timeline, String> {
        let mut all = Timeline::default();
        // From the last one back.
        self.step(at)?;
        let steps = &self.index.points[..=at];
        let places: Vec<u64> = steps.iter().rev().filter_map(|step| step.timeline).take(MOST_TIMELINES).collect();
        for place in places {
            let Recorded::Timeline(line) = self.index.read(place)? else { return Err(changed(place)) };
            all.until = all.until.max(line.until);
            all.ranks.resize(all.ranks.len().max(line.ranks.len()), Vec::new());
            for (all, spans) in all.ranks.iter_mut().zip(line.ranks) {
                let later = |span: &Span| span.start.saturating_add(span.length) > since;
                all.extend(spans.into_iter().rev().filter(later));
            }
            if line.until <= since || all.ranks.iter().any(|spans| spans.len() >= MOST_SPANS) {
                break;
            }
        }
        for spans in &mut all.ranks {
            spans.truncate(MOST_SPANS);
            spans.reverse();
        }
        if all.ranks.is_empty() { Err("the recording has no timeline".into()) } else { Ok(all) }
    }
}
