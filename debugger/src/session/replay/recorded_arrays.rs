//! [`RecordedArrays`]: arrays, views, moves and timelines of a recording, read from the file on
//! request.

use std::collections::BTreeMap;
use std::sync::Arc;

use zippy_protocol::{
    ArrayEntry, ArrayRef, GhostEntry, MOST_SPANS, Moves, Recorded, Span, Timeline, View, ViewRequest,
};

use super::cut::IndexBounds;
use super::index::{Index, Step, ViewOffsets};
use super::{chunks, cut};

/// Maximum number of cached views, for repeated requests of neighbouring parts.
const MAX_CACHED_VIEWS: usize = 4;
/// Maximum number of entries that are combined into a timeline.
const MAX_TIMELINES: usize = 256;

/// Arrays of a recording, read on request. Methods take the index of a debug point.
pub(super) struct RecordedArrays {
    pub index: Index,
    cached: Vec<(u64, Arc<View>)>,
    /// Arrays that were joined from chunks, with the offset of the first chunk.
    joined: Vec<(u64, Arc<View>)>,
    /// Latest list of arrays and its offset.
    array_list: Option<(u64, Arc<[ArrayEntry]>)>,
}

fn cache_view(cached: &mut Vec<(u64, Arc<View>)>, offset: u64, view: View) -> Arc<View> {
    if cached.len() >= MAX_CACHED_VIEWS {
        cached.remove(0);
    }
    let view = Arc::new(view);
    cached.push((offset, Arc::clone(&view)));
    view
}

/// Returns a cached view, and marks it as the latest.
fn find_cached(cached: &mut Vec<(u64, Arc<View>)>, offset: u64) -> Option<Arc<View>> {
    let found = cached.iter().position(|(cached, _)| *cached == offset)?;
    let view = cached.remove(found);
    cached.push(view);
    cached.last().map(|(_, view)| Arc::clone(view))
}

fn changed_file_error(offset: u64) -> String {
    format!("the recording has changed at byte {offset}: open it again")
}

impl RecordedArrays {
    pub(super) fn new(index: Index) -> Self {
        Self { index, cached: Vec::new(), joined: Vec::new(), array_list: None }
    }

    pub(super) fn step(&self, at: usize) -> Result<&Step, String> {
        self.index.points.get(at).ok_or_else(|| "the recording has no debug point".into())
    }

    /// Returns the offset of the latest entry of a kind up to a debug point.
    fn latest_offset(&self, at: usize, offset: fn(&Step) -> Option<u64>) -> Option<u64> {
        self.index.points.get(..=at)?.iter().rev().find_map(offset)
    }

    pub(super) fn arrays(&mut self, at: usize) -> Result<Arc<[ArrayEntry]>, String> {
        let none = "the recording has no list of arrays up to here";
        let offset = self.latest_offset(at, |step| step.arrays).ok_or(none)?;
        if let Some((_, array_list)) = self.array_list.as_ref().filter(|(at, _)| *at == offset) {
            return Ok(Arc::clone(array_list));
        }
        let Recorded::Arrays(arrays) = self.index.read(offset)? else { return Err(changed_file_error(offset)) };
        let arrays: Arc<[ArrayEntry]> = arrays.into();
        self.array_list = Some((offset, Arc::clone(&arrays)));
        Ok(arrays)
    }

    pub(super) fn entry(&mut self, at: usize, array: ArrayRef) -> Result<ArrayEntry, String> {
        let arrays = self.arrays(at)?;
        let names: Vec<&str> = arrays.iter().map(|entry| entry.name.as_str()).take(16).collect();
        let missing = || format!("there is no such array; there are {}", names.join(", "));
        arrays.iter().find(|entry| entry.array == array).cloned().ok_or_else(missing)
    }

    fn view_offsets(&self, at: usize, entry: &ArrayEntry) -> Result<ViewOffsets, String> {
        let step = self.step(at)?;
        let missing = || format!("the recording has no cells of `{}` at debug point {}", entry.name, step.point.step);
        step.views.get(&entry.array).cloned().ok_or_else(missing)
    }

    /// Returns the recorded cells of an array.
    pub(super) fn recorded(&mut self, at: usize, entry: &ArrayEntry) -> Result<Arc<View>, String> {
        let offsets = self.view_offsets(at, entry)?;
        let first = offsets.first().map_or(0, |&(offset, _)| offset);
        if let Some(joined) = find_cached(&mut self.joined, first) {
            return Ok(joined);
        }
        let (mut found, mut parts): (Option<Arc<View>>, _) = (None, BTreeMap::new());
        for &(offset, _) in offsets.iter() {
            let view = self.view_at(offset)?;
            // Prefer views of all numbers, then the finest one.
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
        Ok(cache_view(&mut self.joined, first, chunks::join_chunks(entry, &parts)?))
    }

    fn view_at(&mut self, offset: u64) -> Result<Arc<View>, String> {
        if let Some(found) = find_cached(&mut self.cached, offset) {
            return Ok(found);
        }
        let Recorded::View(view) = self.index.read(offset)? else { return Err(changed_file_error(offset)) };
        Ok(cache_view(&mut self.cached, offset, view))
    }

    /// Returns the cells of a chunk with its ghost cells.
    fn chunk_view(&mut self, at: usize, entry: &ArrayEntry, chunk: u64) -> Result<Arc<View>, String> {
        let found = self.view_offsets(at, entry)?.iter().copied().find(|(_, of)| *of == Some(chunk));
        let Some((offset, _)) = found else {
            let why = "it has those of arrays of few chunks that fit the bytes of each that it was to have";
            return Err(format!("the recording has no ghost cells of `{}`: {why}", entry.name));
        };
        let view = self.view_at(offset)?;
        if view.of.chunk == Some(chunk) { Ok(view) } else { Err(changed_file_error(offset)) }
    }

    pub(super) fn view(&mut self, at: usize, request: &ViewRequest) -> Result<View, String> {
        let (entry, step) = (self.entry(at, request.array)?, self.step(at)?.point.step);
        let ghosts = entry.ghosts.iter().flatten().any(|&width| width != 0);
        let cut = if let Some(chunk) = request.chunk.filter(|_| ghosts) {
            let recorded = self.chunk_view(at, &entry, chunk)?;
            let bounds = IndexBounds { first: &recorded.of.start, end: &recorded.of.end };
            cut::cut(&recorded, &entry.element, bounds, request)
        } else {
            let recorded = self.recorded(at, &entry)?;
            let bounds = IndexBounds { first: &vec![0; entry.shape.len()], end: &entry.shape };
            cut::cut(&recorded, &entry.element, bounds, request)
        };
        // Unchanged cells were recorded at an earlier step.
        cut.map(|view| View { step, ..view })
    }

    /// Returns an array with all its cells.
    pub(super) fn whole(&mut self, at: usize, array: ArrayRef) -> Result<(ArrayEntry, Arc<View>), String> {
        let entry = self.entry(at, array)?;
        let recorded = self.recorded(at, &entry)?;
        if !cut::is_whole(&recorded, &entry.shape) {
            let stride = &recorded.of.stride;
            return Err(format!("the recording has not every cell of `{}`: its stride is {stride:?}", entry.name));
        }
        if recorded.of.bytes(entry.element.bytes as usize) != Some(recorded.cells.len()) {
            return Err(format!("the recorded view of `{}` is invalid", entry.name));
        }
        Ok((entry, recorded))
    }

    /// Returns the states of an array's ghost cells.
    pub(super) fn ghosts(&mut self, at: usize, array: ArrayRef) -> Result<Vec<GhostEntry>, String> {
        if !self.index.program.as_ref().is_some_and(|program| program.checked) {
            return Err(
                "which ghost cells were stale is recorded of checked runs only: start it with ZIPPY_CHECK=1".into()
            );
        }
        let entry = self.entry(at, array)?;
        let Some(&offset) = self.step(at)?.ghosts.get(&array) else {
            return if entry.ghosts.iter().flatten().all(|&width| width == 0) {
                Ok(Vec::new())
            } else {
                Err(format!("the recording does not say what the ghost cells of `{}` were", entry.name))
            };
        };
        let Recorded::Ghosts(_, ghosts) = self.index.read(offset)? else { return Err(changed_file_error(offset)) };
        Ok(ghosts)
    }

    /// Returns the moves of the last transfer.
    pub(super) fn moves(&mut self, at: usize) -> Result<Moves, String> {
        let [last, boxes] = self.step(at)?.moves.ok_or("the recording has no moves of transfers")?;
        let mut moves = self.moves_at(last)?;
        if boxes != last {
            moves.moves = self.moves_at(boxes)?.moves;
        }
        Ok(moves)
    }

    fn moves_at(&mut self, offset: u64) -> Result<Moves, String> {
        let Recorded::Moves(moves) = self.index.read(offset)? else { return Err(changed_file_error(offset)) };
        Ok(moves)
    }

    /// Returns the spans of the ranks later than `since`, up to a debug point. As with a running
    /// program, each rank has its latest spans only. At most [`MAX_TIMELINES`] debug points are
    /// read.
    pub(super) fn timeline(&mut self, at: usize, since: u64) -> Result<Timeline, String> {
        let mut all = Timeline::default();
        // From the last one back.
        self.step(at)?;
        let steps = &self.index.points[..=at];
        let offsets: Vec<u64> = steps.iter().rev().filter_map(|step| step.timeline).take(MAX_TIMELINES).collect();
        for offset in offsets {
            let Recorded::Timeline(line) = self.index.read(offset)? else { return Err(changed_file_error(offset)) };
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
