//! [`Recorder`]: writes what a viewer would be told.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::protocol::{
    ArrayEntry, ArrayKind, ArrayRef, ChunkEntry, Moves, Point, Program, Recorded, View, ViewRequest, frame,
};
use super::recording::{LIMIT_REACHED, MOST_VIEWS, Writer};
use super::settings::{Recording, size_text};
use super::{listing, moves, timeline, views};
use crate::World;
use crate::error::{Result, describe_refusal};
use crate::trace;
use crate::transport::{decoded, encoded};

/// What a box that was moved takes, about.
const MOVE_BYTES: usize = 64;
/// Bytes that are kept free for the last entry of a recording with a limit.
const END_BYTES: u64 = 512;

/// The recording of a run.
#[derive(Debug)]
pub(super) struct Recorder {
    /// Debug points whose number is a multiple of this are recorded.
    every: u64,
    /// So many bytes of an array at most.
    most: usize,
    /// Largest size of the file, in bytes.
    limit: u64,
    /// On rank 0, until it cannot be written.
    file: Option<(PathBuf, Writer<BufWriter<File>>)>,
    /// The last debug point that was recorded.
    last: Option<u64>,
    /// The hash of the cells of each array that were recorded last, and the debug point that has
    /// them.
    cells: BTreeMap<ArrayRef, (blake3::Hash, u64)>,
    /// The moves that were recorded last.
    moves: Option<Moves>,
    /// Until when spans are recorded.
    since: u64,
}

/// How long a pipe may be without a reader.
const WAIT_FOR_READER: Duration = Duration::from_secs(5);

/// Creates a file, or opens a device or a pipe, the latter only where a program reads it.
fn create(path: &Path) -> io::Result<File> {
    let is_special = std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    if !is_special {
        return File::create(path);
    }
    // To open a pipe waits for its reader, without an end.
    let (sender, opened) = mpsc::channel();
    let path = path.to_owned();
    thread::spawn(move || sender.send(File::create(path)));
    let unread =
        || io::Error::other("it is a pipe that no program reads; start its reader first, or name a regular file");
    opened.recv_timeout(WAIT_FOR_READER).unwrap_or_else(|_| Err(unread()))
}

impl Recorder {
    /// Begins a recording, on rank 0.
    ///
    /// # Errors
    /// The file cannot be made, in words.
    pub fn new(settings: &Recording, program: &Program) -> Result<Self, String> {
        let begin = || -> io::Result<_> {
            let mut writer = Writer::new(BufWriter::new(create(&settings.file)?))?;
            writer.add(&Recorded::Program(program.clone()))?;
            Ok(writer)
        };
        let file = &settings.file;
        let refused = |error| format!("cannot record to {}: {}", file.display(), describe_refusal(file, &error));
        let writer = begin().map_err(refused)?;
        let file = Some((settings.file.clone(), writer));
        let limit = settings.limit.unwrap_or(u64::MAX);
        Ok(Self { most: settings.most, limit, file, ..Self::elsewhere(settings.every) })
    }

    /// The same on another rank.
    pub fn elsewhere(every: u64) -> Self {
        let (cells, limit) = (BTreeMap::new(), u64::MAX);
        Self { every, most: 0, limit, file: None, last: None, cells, moves: None, since: 0 }
    }

    /// True for debug points that are recorded.
    pub fn wants(&self, step: u64) -> bool {
        step.is_multiple_of(self.every)
    }

    /// Records a debug point. Called by all ranks; `false` when that is no more possible.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn add(&mut self, world: &World, point: &Point) -> Result<bool> {
        // A viewer that follows the file never sees a debug point that the limit takes back.
        if let Some((_, writer)) = self.file.as_mut().filter(|_| self.limit < u64::MAX) {
            writer.hold();
        }
        let arrays = listing::arrays(world)?;
        let listed = match arrays {
            Some(Ok(arrays)) => {
                self.write(&Recorded::Point(point.clone()));
                self.write(&Recorded::Arrays(arrays.clone()));
                // Numbers of arrays that are gone are not used again.
                self.cells.retain(|array, _| arrays.iter().any(|entry| entry.array == *array));
                arrays
            }
            _ => Vec::new(),
        };
        let own = (world.rank() == 0).then(|| encoded(&self.told(world, &listed))).transpose()?;
        let Told { goes_on, views, ghosts, since, room } = decoded(&world.inner().broadcast(0, own)?)?;
        if !goes_on {
            return Ok(false);
        }
        for of_array in views.chunk_by(|one, other| one.array == other.array) {
            let mut found = Vec::new();
            for request in of_array {
                found.extend(views::view(world, request, point.step)?);
            }
            self.add_cells(found, point.step);
        }
        for &array in &ghosts {
            if let Some(Ok(ghosts)) = listing::ghosts(world, array)? {
                self.write(&Recorded::Ghosts(array, ghosts));
            }
        }
        if let Some(moves) = moves::moves(world)? {
            self.add_moves(moves);
        }
        if let Some(timeline) = timeline::timeline(world, since, room)? {
            self.since = timeline.until;
            self.write(&Recorded::Timeline(timeline));
        }
        self.release();
        if self.file.is_some() {
            self.last = Some(point.step);
        }
        Ok(true)
    }

    /// The cells of an array; where they are those that were recorded last, the debug point that
    /// has them. Bytes are compared, by their hash: the counts of writes know neither ghost updates
    /// nor the program's own wgpu calls.
    fn add_cells(&mut self, found: Vec<Result<View, String>>, step: u64) {
        let Some(array) = found.iter().flatten().map(|view| view.of.array).next() else { return };
        let hash = cells_hash(&found);
        if let Some((before, of)) = self.cells.get(&array)
            && Some(*before) == hash
        {
            let unchanged = Recorded::Unchanged(array, *of);
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

    /// Boxes only where there are others than before: most programs move the same again and again.
    fn add_moves(&mut self, mut moves: Moves) {
        moves.moves.truncate(self.most / MOVE_BYTES);
        match &self.moves {
            Some(before) if *before == moves => {}
            before => {
                let same =
                    before.as_ref().is_some_and(|before| before.count == moves.count && before.moves == moves.moves);
                let boxes = if same { Vec::new() } else { moves.moves.clone() };
                // Later ones may have the boxes of these, if they are there.
                if self.write(&Recorded::Moves(Moves { moves: boxes, ..moves.clone() })) {
                    self.moves = Some(moves);
                }
            }
        }
    }

    /// What rank 0 wants of the arrays that there are.
    fn told(&self, world: &World, arrays: &[ArrayEntry]) -> Told {
        let has_ghosts = |array: &&ArrayEntry| array.ghosts.iter().flatten().any(|&width| width > 0);
        let checked = |array: &&ArrayEntry| world.is_checked() && array.kind == ArrayKind::Global;
        Told {
            goes_on: self.file.is_some(),
            views: arrays.iter().flat_map(|array| cells(array, self.most)).collect(),
            ghosts: arrays.iter().filter(checked).filter(has_ghosts).map(|array| array.array).collect(),
            since: self.since,
            room: self.most as u64,
        }
    }

    /// Whether the entry is there now.
    fn write(&mut self, entry: &Recorded) -> bool {
        let Some((path, writer)) = &mut self.file else { return false };
        match writer.add_within(entry, self.limit.saturating_sub(END_BYTES)) {
            Ok(true) => return true,
            Ok(false) => self.stop(),
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                trace::warn(&format!("the recording {} lacks an entry: {error}", path.display()));
            }
            Err(error) => self.give_up(&error),
        }
        false
    }

    /// Writes the entries of a debug point that were held.
    fn release(&mut self) {
        if let Some(Err(error)) = self.file.as_mut().map(|(_, writer)| writer.release()) {
            self.give_up(&error);
        }
    }

    /// Ends the recording where the file cannot be written.
    fn give_up(&mut self, error: &std::io::Error) {
        if let Some((path, _)) = self.file.take() {
            trace::warn(&format!("the recording {} ends here, as it cannot be written: {error}", path.display()));
        }
    }

    /// Ends the recording at its limit, with whole debug points only.
    fn stop(&mut self) {
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

    /// The run is over.
    pub fn end(&mut self, how: &str) {
        // Of a debug point that failed, its first entries.
        self.release();
        let Some((path, writer)) = &mut self.file else { return };
        if let (None, every @ 2..) = (self.last, self.every) {
            trace::warn(&format!(
                "the recording {} has no debug point: with `every:{every}` those are recorded whose number is a multiple of {every}",
                path.display()
            ));
        }
        // Cut to the bytes that were kept free.
        let room = self.limit.saturating_sub(writer.bytes()).min(frame::MOST_TOLD as u64 / 2) as usize;
        let end =
            (0..=how.len().min(room.saturating_sub(64))).rev().find(|&end| how.is_char_boundary(end)).unwrap_or(0);
        if let Err(error) = writer.add(&Recorded::End(how[..end].to_string())) {
            trace::warn(&format!("the recording {} lacks its end: {error}", path.display()));
        }
    }
}

/// Hash of the cells of an array and of their regions; none if some cells could not be read.
fn cells_hash(found: &[Result<View, String>]) -> Option<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    for view in found {
        let View { of, cells, .. } = view.as_ref().ok()?;
        hasher.update(&postcard::to_allocvec(&(of, cells.len() as u64)).ok()?).update(cells);
    }
    Some(hasher.finalize())
}

/// What rank 0 tells the others to record.
#[derive(Serialize, Deserialize)]
struct Told {
    goes_on: bool,
    views: Vec<ViewRequest>,
    /// The arrays whose ghost cells are known.
    ghosts: Vec<ArrayRef>,
    /// From when on spans are recorded, and how many bytes of them.
    since: u64,
    room: u64,
}

/// The cells of an array: each chunk's with its ghost cells, where there is room for them, else those that are owned, with strides
/// so that they fit.
fn cells(array: &ArrayEntry, most: usize) -> Vec<ViewRequest> {
    if array.shape.contains(&0) {
        return Vec::new();
    }
    let (axes, cell_bytes) = (array.shape.len(), array.element.bytes as usize);
    let all = ViewRequest::whole(array);
    let [before, behind] = &array.ghosts;
    let complete = array.chunks.len() as u64 == array.chunk_count && array.chunks.len() <= MOST_VIEWS;
    if complete && before.iter().chain(behind).any(|&width| width > 0) {
        let grown = |(chunk, of): (usize, &ChunkEntry)| ViewRequest {
            chunk: Some(chunk as u64),
            start: (0..axes).map(|axis| of.start[axis] - before[axis]).collect(),
            end: (0..axes).map(|axis| of.end[axis] + behind[axis]).collect(),
            ..all.clone()
        };
        let has_cells = |(_, of): &(usize, &ChunkEntry)| of.start.iter().zip(&of.end).all(|(start, end)| start < end);
        let chunks: Vec<ViewRequest> = array.chunks.iter().enumerate().filter(has_cells).map(grown).collect();
        let bytes = chunks.iter().try_fold(0_usize, |sum, of| sum.checked_add(of.bytes(cell_bytes)?));
        if bytes.is_some_and(|bytes| bytes <= most) {
            return chunks;
        }
    }
    vec![all.fitting(cell_bytes, most)]
}
