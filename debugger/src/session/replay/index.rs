//! [`Index`]: file offsets of the entries of a recording.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use zippy_protocol::recording::{LIMIT_REACHED, MOST_VIEWS, Reader};
use zippy_protocol::{ArrayRef, Point, Program, Recorded};

/// File offset of each view of an array, with the chunk of the view. Debug points with the same
/// cells share the list.
pub(super) type ViewOffsets = Arc<Vec<(u64, Option<u64>)>>;

/// A debug point and the file offsets of its entries.
pub(super) struct Step {
    pub point: Point,
    /// File offset of the list of arrays.
    pub arrays: Option<u64>,
    /// Offsets of the latest views of each array up to this debug point.
    pub views: BTreeMap<ArrayRef, ViewOffsets>,
    /// File offset of the ghost cell states of each array.
    pub ghosts: BTreeMap<ArrayRef, u64>,
    /// Offsets of the last moves and of their boxes. The boxes are in an earlier entry if they are
    /// the same.
    pub moves: Option<[u64; 2]>,
    /// Offset of the spans since the previous debug point.
    pub timeline: Option<u64>,
}

impl Step {
    fn new(point: Point, previous: Option<&Step>) -> Self {
        let (views, ghosts) = (BTreeMap::new(), BTreeMap::new());
        Self { point, arrays: None, views, ghosts, moves: previous.and_then(|step| step.moves), timeline: None }
    }

    fn add(&mut self, entry: &Recorded, offset: u64) -> Result<(), String> {
        match entry {
            Recorded::Arrays(_) => self.arrays = Some(offset),
            Recorded::View(view) => {
                let offsets = self.views.entry(view.of.array).or_default();
                if offsets.len() >= MOST_VIEWS {
                    return Err(format!(
                        "an array has more than {MOST_VIEWS} views at debug point {}",
                        self.point.step
                    ));
                }
                // A copy of a shared list at each debug point would need far more memory than the
                // file has bytes.
                let Some(offsets) = Arc::get_mut(offsets) else {
                    let step = self.point.step;
                    return Err(format!("debug point {step} has cells of an array that it also calls unchanged"));
                };
                offsets.push((offset, view.of.chunk));
            }
            Recorded::Ghosts(array, _) => drop(self.ghosts.insert(*array, offset)),
            Recorded::Moves(moves) => {
                let previous = self.moves.filter(|_| moves.moves.is_empty() && moves.count > 0);
                self.moves = Some([offset, previous.map_or(offset, |[_, boxes]| boxes)]);
            }
            Recorded::Timeline(_) => self.timeline = Some(offset),
            Recorded::Program(_) | Recorded::Point(_) | Recorded::End(_) | Recorded::Unchanged(..) => {}
        }
        Ok(())
    }
}

/// Index of the valid part of a recording.
pub(super) struct Index {
    reader: Reader<BufReader<File>>,
    file: File,
    pub program: Option<Program>,
    pub points: Vec<Step>,
    /// Numbers of the debug points.
    pub steps: Vec<u64>,
    /// Reason for the end of the run, if the recording contains it.
    pub end: Option<String>,
    /// Error that stopped the last scan before the end of the file.
    damage: Option<String>,
    /// File offset of the next entry to scan.
    next: u64,
    /// True if the reader is at `next`.
    is_positioned: bool,
    length: u64,
    has_more: bool,
}

impl Index {
    /// Opens a recording and scans all of it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is a directory, and a recording is a file"));
        }
        let mut reader = Reader::new(BufReader::with_capacity(1 << 16, file.try_clone()?))?;
        let next = reader.offset()?;
        let mut index = Self {
            reader,
            file,
            program: None,
            points: Vec::new(),
            steps: Vec::new(),
            end: None,
            damage: None,
            next,
            is_positioned: true,
            length: 0,
            has_more: false,
        };
        index.grow(u64::MAX);
        Ok(index)
    }

    /// Scans up to about `most` bytes that were added to the file. Returns true if there were any.
    pub(super) fn grow(&mut self, most: u64) -> bool {
        self.has_more = false;
        let Ok(length) = self.file.metadata().map(|data| data.len()) else { return false };
        let stopped = self.damage.is_some() || self.next >= self.length;
        if self.end.is_some() || length == self.length && stopped {
            return false;
        }
        self.length = length;
        if length < self.next {
            let text = "the file has become shorter than it was: another run may be writing it; open it again";
            self.damage = Some(text.into());
            return true;
        }
        let (begin, point_count) = (self.next, self.points.len());
        // The reader's buffer may end at the old end of the file.
        self.is_positioned = false;
        while self.end.is_none() {
            if self.next - begin >= most {
                self.has_more = true;
                break;
            }
            match self.read_next_entry() {
                Ok(Some(entry)) => {
                    self.damage = self.add_entry(entry).err();
                    if self.damage.is_some() {
                        break;
                    }
                }
                Ok(None) => {
                    self.damage = None;
                    break;
                }
                Err(error) => {
                    self.damage = Some(error.to_string());
                    break;
                }
            }
        }
        self.next > begin || self.points.len() > point_count || self.damage.is_some()
    }

    /// Reads the next entry. [`add_entry`](Self::add_entry) advances `next`.
    fn read_next_entry(&mut self) -> io::Result<Option<Recorded>> {
        // A seek empties the reader's buffer.
        if !std::mem::replace(&mut self.is_positioned, true) {
            self.reader.seek(self.next)?;
        }
        self.reader.next_entry()
    }

    fn add_entry(&mut self, entry: Recorded) -> Result<(), String> {
        let offset = self.next;
        match entry {
            Recorded::Program(program) if self.program.is_none() => self.program = Some(program),
            Recorded::Program(_) => return Err("a second run begins in the midst of it".into()),
            _ if self.program.is_none() => return Err("it does not begin with what the program is".into()),
            Recorded::Point(point) => {
                if let Some(last) = self.steps.last().filter(|&&last| last >= point.step) {
                    return Err(format!("debug point {} follows debug point {last}", point.step));
                }
                self.steps.push(point.step);
                let step = Step::new(point, self.points.last());
                self.points.push(step);
            }
            Recorded::End(how) => self.end = Some(how),
            Recorded::Unchanged(array, of) => {
                let missing = || format!("the array refers to cells of debug point {of}, which has none");
                let previous =
                    self.steps.binary_search(&of).ok().and_then(|at| self.points[at].views.get(&array).cloned());
                let views = previous.ok_or_else(missing)?;
                if let Some(step) = self.points.last_mut() {
                    step.views.insert(array, views);
                }
            }
            entry => {
                if let Some(step) = self.points.last_mut() {
                    step.add(&entry, offset)?;
                }
            }
        }
        self.next = self.reader.offset().map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Reads the entry at a file offset.
    pub(super) fn read(&mut self, offset: u64) -> Result<Recorded, String> {
        let length = self.file.metadata().map_err(|error| error.to_string())?.len();
        if offset >= length {
            return Err("the file has become shorter than it was: open it again".into());
        }
        self.is_positioned = false;
        let read = self.reader.seek(offset).and_then(|()| self.reader.next_entry());
        match read {
            Ok(Some(entry)) => Ok(entry),
            Ok(None) => Err("the file has become shorter than it was: open it again".into()),
            Err(error) => Err(format!("the recording cannot be read at byte {offset}: {error}")),
        }
    }

    /// Returns another handle of the file, or `None` if the system refuses it.
    pub(super) fn file(&self) -> Option<File> {
        self.file.try_clone().ok()
    }

    /// True if the last scan stopped at its limit, and not at the end of the file.
    pub(super) fn has_more(&self) -> bool {
        self.has_more
    }

    /// Length of the file in bytes at the last scan.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Length of the valid part of the file in bytes.
    pub(super) fn valid_bytes(&self) -> u64 {
        self.next
    }

    /// Notice about the end of the recording. `None` if the recording holds the whole run.
    pub(super) fn notice(&self) -> Option<String> {
        let last = match self.steps.last() {
            Some(step) => format!("debug point {step}"),
            None if self.program.is_some() => "the beginning".into(),
            None => {
                return Some(format!("the recording has nothing: {}", self.damage.as_deref().unwrap_or("it is empty")));
            }
        };
        match (&self.damage, &self.end) {
            (Some(damage), _) => Some(format!(
                "the recording is good up to {last}, of {} of its {} bytes: {damage}",
                self.next, self.length
            )),
            (None, None) => Some(format!("the recording has no end after {last}: the run goes on, or was killed")),
            (None, Some(end)) => Some(end.clone()).filter(|end| end.starts_with(LIMIT_REACHED)),
        }
    }
}
