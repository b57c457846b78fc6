//! [`Recorder`]: writes what a viewer would be told.

use std::fs::File;
use std::io::{BufWriter, ErrorKind};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::protocol::{ArrayEntry, ArrayKind, ArrayRef, ChunkEntry, Moves, Point, Program, Recorded, ViewRequest};
use super::recording::Writer;
use super::settings::Recording;
use super::{listing, moves, timeline, views};
use crate::World;
use crate::error::{Result, describe_refusal};
use crate::trace;
use crate::transport::{decoded, encoded};

/// The ghost cells of arrays of more chunks are not recorded: each takes a gather of its own.
const MOST_CHUNKS: usize = 256;
/// What a box that was moved takes, about.
const MOVE_BYTES: usize = 64;

/// The recording of a run.
#[derive(Debug)]
pub(super) struct Recorder {
    /// Of so many debug points it takes one.
    every: u64,
    /// So many bytes of an array at most.
    most: usize,
    /// On rank 0, until it cannot be written.
    file: Option<(PathBuf, Writer<BufWriter<File>>)>,
    /// The moves that were recorded last.
    moves: Option<Moves>,
    /// Until when spans are recorded.
    since: u64,
}

impl Recorder {
    /// Begins a recording, on rank 0.
    ///
    /// # Errors
    /// The file cannot be made, in words.
    pub fn new(settings: &Recording, program: &Program) -> Result<Self, String> {
        let begin = || -> std::io::Result<_> {
            let mut writer = Writer::new(BufWriter::new(File::create(&settings.file)?))?;
            writer.add(&Recorded::Program(program.clone()))?;
            Ok(writer)
        };
        let file = &settings.file;
        let refused = |error| format!("cannot record to {}: {}", file.display(), describe_refusal(file, &error));
        let writer = begin().map_err(refused)?;
        let file = Some((settings.file.clone(), writer));
        Ok(Self { most: settings.most, file, ..Self::elsewhere(settings.every) })
    }

    /// The same on another rank.
    pub fn elsewhere(every: u64) -> Self {
        Self { every, most: 0, file: None, moves: None, since: 0 }
    }

    /// Whether it takes a debug point.
    pub fn wants(&self, step: u64) -> bool {
        (step - 1).is_multiple_of(self.every)
    }

    /// Records a debug point. Called by all ranks; `false` when that is no more possible.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn add(&mut self, world: &World, point: &Point) -> Result<bool> {
        let arrays = listing::arrays(world)?;
        let listed = match arrays {
            Some(Ok(arrays)) => {
                self.write(&Recorded::Point(point.clone()));
                self.write(&Recorded::Arrays(arrays.clone()));
                arrays
            }
            _ => Vec::new(),
        };
        let own = (world.rank() == 0).then(|| encoded(&self.told(world, &listed))).transpose()?;
        let Told { goes_on, views, ghosts, since, room } = decoded(&world.inner().broadcast(0, own)?)?;
        if !goes_on {
            return Ok(false);
        }
        for request in &views {
            if let Some(Ok(view)) = views::view(world, request, point.step)? {
                self.write(&Recorded::View(view));
            }
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
        Ok(true)
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
        let Err(error) = writer.add(entry) else { return true };
        if error.kind() == ErrorKind::InvalidInput {
            trace::warn(&format!("the recording {} lacks an entry: {error}", path.display()));
        } else {
            trace::warn(&format!("the recording {} ends here, as it cannot be written: {error}", path.display()));
            self.file = None;
        }
        false
    }

    /// The run is over.
    pub fn end(&mut self, how: &str) {
        self.write(&Recorded::End(how.to_string()));
    }
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
    let complete = array.chunks.len() as u64 == array.chunk_count && array.chunks.len() <= MOST_CHUNKS;
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
