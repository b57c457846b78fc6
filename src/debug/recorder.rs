//! [`Recorder`]: writes debug points to a recording.
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zippy_protocol::recording::{LIMIT_REACHED, MOST_VIEWS, Writer};
use zippy_protocol::{
    ArrayEntry, ArrayKind, ArrayRef, ChunkEntry, Moves, Point, Program, Recorded, View, ViewRequest, frame,
};

use super::settings::{RecordSettings, size_text};
use super::{listing, moves, timeline, views};
use crate::World;
use crate::error::{Result, describe_refusal};
use crate::trace;
use crate::transport::{decoded, encoded};
use crate::world::CollectiveWorld;

/// Approximate size of a move in a recording, in bytes.
const MOVE_BYTES: usize = 64;
/// Bytes reserved for the end entry of a recording with a limit.
const END_BYTES: u64 = 512;

#[derive(Debug)]
pub(super) struct Recorder {
    /// Interval of recorded debug points: their numbers are multiples of it.
    every: u64,
    /// Maximum number of recorded bytes per array.
    max_array_bytes: usize,
    limit: u64,
    /// The file on rank 0; `None` on other ranks, and after a write error.
    file: Option<(PathBuf, Writer<BufWriter<File>>)>,
    /// Number of the last recorded debug point.
    last: Option<u64>,
    /// Per array: hash of the cells recorded last, and the debug point of that record.
    cells: BTreeMap<ArrayRef, (blake3::Hash, u64)>,
    moves: Option<Moves>,
    /// End of the recorded spans, in microseconds since the start of the run.
    since: u64,
}

/// Maximum wait for a reader to open a pipe.
const WAIT_FOR_READER: Duration = Duration::from_secs(5);

/// Creates a regular file, or opens a device or a pipe. A pipe must have a reader.
fn create_file(path: &Path) -> io::Result<File> {
    let is_special = std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    if !is_special {
        return File::create(path);
    }
    // Opening a pipe blocks until it has a reader, without a time limit.
    let (sender, opened) = mpsc::channel();
    let path = path.to_owned();
    thread::spawn(move || sender.send(File::create(path)));
    let unread =
        || io::Error::other("it is a pipe that no program reads; start its reader first, or name a regular file");
    opened.recv_timeout(WAIT_FOR_READER).unwrap_or_else(|_| Err(unread()))
}

impl Recorder {
    /// Starts a recording, on rank 0.
    ///
    /// # Errors
    /// The file cannot be created.
    pub(super) fn new(settings: &RecordSettings, program: &Program) -> Result<Self, String> {
        let begin = || -> io::Result<_> {
            let mut writer = Writer::new(BufWriter::new(create_file(&settings.file)?))?;
            writer.add(&Recorded::Program(program.clone()))?;
            Ok(writer)
        };
        let file = &settings.file;
        let refused = |error| format!("cannot record to {}: {}", file.display(), describe_refusal(file, &error));
        let writer = begin().map_err(refused)?;
        let file = Some((settings.file.clone(), writer));
        let limit = settings.limit.unwrap_or(u64::MAX);
        Ok(Self { max_array_bytes: settings.max_array_bytes, limit, file, ..Self::without_file(settings.every) })
    }

    /// Recorder of a rank that does not write the file.
    pub(super) fn without_file(every: u64) -> Self {
        let (cells, limit) = (BTreeMap::new(), u64::MAX);
        Self { every, max_array_bytes: 0, limit, file: None, last: None, cells, moves: None, since: 0 }
    }

    /// True if the debug point of number `step` is recorded.
    pub(super) fn wants(&self, step: u64) -> bool {
        step.is_multiple_of(self.every)
    }

    /// Records a debug point. All ranks must call it. Returns `false` if the recording has ended.
    pub(super) fn add(&mut self, world: &World, point: &Point) -> Result<bool> {
        // Entries are held until the debug point is complete: a program that reads the growing file
        // must not see a debug point that the limit removes.
        if let Some((_, writer)) = self.file.as_mut().filter(|_| self.limit < u64::MAX) {
            writer.hold();
        }
        let arrays = listing::list_arrays(world)?;
        let listed = match arrays {
            Some(Ok(arrays)) => {
                self.write(&Recorded::Point(point.clone()));
                self.write(&Recorded::Arrays(arrays.clone()));
                // Numbers of dropped arrays are not used again.
                self.cells.retain(|array, _| arrays.iter().any(|entry| entry.array == *array));
                arrays
            }
            Some(Err(text)) => {
                trace::warn(&format!("the recording lacks debug point {}: {text}", point.step));
                Vec::new()
            }
            None => Vec::new(),
        };
        let request = (world.rank() == 0).then(|| encoded(&self.request(world, &listed))).transpose()?;
        let RecordRequest { can_write, views, ghosts, since, room } =
            decoded(&world.inner_group().broadcast(0, request)?)?;
        if !can_write {
            return Ok(false);
        }
        for requests in views.chunk_by(|first, second| first.array == second.array) {
            let mut found = Vec::new();
            for request in requests {
                found.extend(views::extract_view(world, request, point.step)?);
            }
            self.add_cells(found, point.step);
        }
        for &array in &ghosts {
            if let Some(Ok(ghosts)) = listing::list_ghost_states(world, array)? {
                self.write(&Recorded::Ghosts(array, ghosts));
            }
        }
        if let Some(moves) = moves::gather_moves(world)? {
            self.add_moves(moves);
        }
        if let Some(timeline) = timeline::gather_timeline(world, since, room)? {
            self.since = timeline.until;
            self.write(&Recorded::Timeline(timeline));
        }
        self.release();
        if self.file.is_some() {
            self.last = Some(point.step);
        }
        Ok(true)
    }

    /// Records the cells of an array, or, for unchanged cells, the debug point of their last
    /// record. Cells are compared by a hash of their bytes: write counts cover neither ghost
    /// updates nor the program's own wgpu calls.
    fn add_cells(&mut self, found: Vec<Result<View, String>>, step: u64) {
        let Some(array) = found.iter().flatten().map(|view| view.of.array).next() else { return };
        let hash = cells_hash(&found);
        if let Some((last_hash, last_step)) = self.cells.get(&array)
            && Some(*last_hash) == hash
        {
            let unchanged = Recorded::Unchanged(array, *last_step);
            self.write(&unchanged);
            return;
        }
        let mut complete = true;
        for view in found.into_iter().flatten() {
            complete &= self.write(&Recorded::View(view));
        }
        match hash.filter(|_| complete) {
            Some(hash) => drop(self.cells.insert(array, (hash, step))),
            None => drop(self.cells.remove(&array)),
        }
    }

    /// Records the moves. Boxes that equal the last recorded ones are left out: most programs
    /// repeat the same moves.
    fn add_moves(&mut self, mut moves: Moves) {
        moves.moves.truncate(self.max_array_bytes / MOVE_BYTES);
        match &self.moves {
            Some(last) if *last == moves => {}
            last => {
                let same = last.as_ref().is_some_and(|last| last.count == moves.count && last.moves == moves.moves);
                let boxes = if same { Vec::new() } else { moves.moves.clone() };
                // Later entries without boxes refer to this one, if it is in the file.
                if self.write(&Recorded::Moves(Moves { moves: boxes, ..moves.clone() })) {
                    self.moves = Some(moves);
                }
            }
        }
    }

    /// Request to all ranks for the data of a debug point with these arrays.
    fn request(&self, world: &World, arrays: &[ArrayEntry]) -> RecordRequest {
        let has_ghosts = |array: &&ArrayEntry| array.ghosts.iter().flatten().any(|&width| width > 0);
        let checked = |array: &&ArrayEntry| world.is_checked() && array.kind == ArrayKind::Global;
        RecordRequest {
            can_write: self.file.is_some(),
            views: arrays.iter().flat_map(|array| requests_for_cells(array, self.max_array_bytes)).collect(),
            ghosts: arrays.iter().filter(checked).filter(has_ghosts).map(|array| array.array).collect(),
            since: self.since,
            room: self.max_array_bytes as u64,
        }
    }

    /// Writes an entry. Returns `true` if the entry is in the file or in the writer's held entries.
    fn write(&mut self, entry: &Recorded) -> bool {
        let Some((path, writer)) = &mut self.file else { return false };
        match writer.add_within(entry, self.limit.saturating_sub(END_BYTES)) {
            Ok(true) => return true,
            Ok(false) => self.end_at_limit(),
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                trace::warn(&format!("the recording {} lacks an entry: {error}", path.display()));
            }
            Err(error) => self.end_after_write_error(&error),
        }
        false
    }

    fn release(&mut self) {
        if let Some(Err(error)) = self.file.as_mut().map(|(_, writer)| writer.release()) {
            self.end_after_write_error(&error);
        }
    }

    /// Ends the recording after a write error.
    fn end_after_write_error(&mut self, error: &std::io::Error) {
        if let Some((path, _)) = self.file.take() {
            trace::warn(&format!("the recording {} ends here: it cannot be written: {error}", path.display()));
        }
    }

    /// Ends the recording at its size limit, after the last complete debug point.
    fn end_at_limit(&mut self) {
        let Some((path, mut writer)) = self.file.take() else { return };
        let after = self.last.map_or("before its first debug point".into(), |step| format!("after debug point {step}"));
        let limit = size_text(self.limit);
        writer.discard();
        let how = format!("{LIMIT_REACHED} of {limit} {after}; the run went on");
        let _ = writer.add(&Recorded::End(how));
        trace::warn(&format!(
            "the recording {} has reached its limit of {limit} and ends {after}; the run goes on. A larger `limit:SIZE` records \
             more of it, `every:N` fewer debug points, and `most:SIZE` less of large arrays",
            path.display()
        ));
    }

    /// Writes the end of the recording, with the outcome of the run.
    pub(super) fn end(&mut self, how: &str) {
        // A failed debug point has entries that are still held.
        self.release();
        let Some((path, writer)) = &mut self.file else { return };
        if let (None, every @ 2..) = (self.last, self.every) {
            trace::warn(&format!(
                "the recording {} has no debug point: with `every:{every}` only debug points whose number is a multiple of {every} are recorded",
                path.display()
            ));
        }
        // The text must fit into the reserved bytes.
        let room = self.limit.saturating_sub(writer.bytes()).min(frame::MOST_TOLD as u64 / 2) as usize;
        let end =
            (0..=how.len().min(room.saturating_sub(64))).rev().find(|&end| how.is_char_boundary(end)).unwrap_or(0);
        if let Err(error) = writer.add(&Recorded::End(how[..end].to_string())) {
            trace::warn(&format!("the recording {} lacks its end: {error}", path.display()));
        }
    }
}

/// Hash of an array's cells and of their regions; `None` if some cells could not be read.
fn cells_hash(found: &[Result<View, String>]) -> Option<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    for view in found {
        let View { of, cells, .. } = view.as_ref().ok()?;
        hasher.update(&postcard::to_allocvec(&(of, cells.len() as u64)).ok()?).update(cells);
    }
    Some(hasher.finalize())
}

/// Request of rank 0 for the data of a debug point, sent to all ranks.
#[derive(Serialize, Deserialize)]
struct RecordRequest {
    /// False if the recording has ended.
    can_write: bool,
    views: Vec<ViewRequest>,
    ghosts: Vec<ArrayRef>,
    /// Start of the recorded spans, in microseconds since the start of the run.
    since: u64,
    room: u64,
}

/// Requests for the cells of an array: each chunk with its ghost cells if they fit into
/// `max_array_bytes`, else the owned cells with strides that make them fit.
fn requests_for_cells(array: &ArrayEntry, max_array_bytes: usize) -> Vec<ViewRequest> {
    if array.shape.contains(&0) {
        return Vec::new();
    }
    let (axes, cell_bytes) = (array.shape.len(), array.element.bytes as usize);
    let all = ViewRequest::whole(array);
    let [ghosts_before, ghosts_after] = &array.ghosts;
    let complete = array.chunks.len() as u64 == array.chunk_count && array.chunks.len() <= MOST_VIEWS;
    if complete && ghosts_before.iter().chain(ghosts_after).any(|&width| width > 0) {
        let with_ghosts = |(chunk, entry): (usize, &ChunkEntry)| ViewRequest {
            chunk: Some(chunk as u64),
            start: (0..axes).map(|axis| entry.start[axis] - ghosts_before[axis]).collect(),
            end: (0..axes).map(|axis| entry.end[axis] + ghosts_after[axis]).collect(),
            ..all.clone()
        };
        let has_cells =
            |(_, entry): &(usize, &ChunkEntry)| entry.start.iter().zip(&entry.end).all(|(start, end)| start < end);
        let chunks: Vec<ViewRequest> = array.chunks.iter().enumerate().filter(has_cells).map(with_ghosts).collect();
        let bytes = chunks.iter().try_fold(0_usize, |sum, request| sum.checked_add(request.bytes(cell_bytes)?));
        if bytes.is_some_and(|bytes| bytes <= max_array_bytes) {
            return chunks;
        }
    }
    vec![all.fitting(cell_bytes, max_array_bytes)]
}
