//! [`Reference`]: a recording that a program is held against.

use std::path::Path;
use std::rc::Rc;

use zippy::debug::protocol::{Answer, ArrayEntry, Request, View, ViewRequest};
use zippy_io::shown;

use crate::look::{Differences, Quantity};
use crate::session::{Replay, Session};

/// So many views and differences are kept.
const KEPT: usize = 16;

/// Which cells, at which debug point.
type Seen = (u64, ViewRequest);

/// A recording that a program, or another recording, is held against: at the debug point of the same number, by arrays of the
/// same name. What was found is kept, so that it costs nothing to ask in every frame.
pub struct Reference {
    replay: Replay,
    name: String,
    views: Vec<(Seen, Result<Rc<View>, String>)>,
    differences: Vec<((Seen, Quantity), Rc<Differences>)>,
}

/// What was kept for a key.
fn known<K: PartialEq, V: Clone>(all: &[(K, V)], key: &K) -> Option<V> {
    all.iter().find(|(other, _)| other == key).map(|(_, known)| known.clone())
}

/// Keeps what was found, and forgets the oldest.
fn keep<K, V: Clone>(all: &mut Vec<(K, V)>, key: K, found: V) -> V {
    if all.len() >= KEPT {
        all.remove(0);
    }
    all.push((key, found.clone()));
    found
}

impl Reference {
    /// Opens a recording.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, String> {
        let path = path.as_ref();
        let replay = Replay::open(path).map_err(|error| format!("cannot open {}: {error}", shown(path)))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(Self { replay, name, views: Vec::new(), differences: Vec::new() })
    }

    /// The name of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The numbers of its debug points, rising.
    pub fn steps(&self) -> &[u64] {
        self.replay.steps()
    }

    /// What a person should know of it, as that it was cut off.
    pub fn notice(&self) -> Option<String> {
        self.replay.notice()
    }

    /// Another run is held against it.
    pub fn forget(&mut self) {
        self.differences.clear();
    }

    /// Its array that goes with one of the program at a debug point: of the same name and rank, type and shape; of several the
    /// youngest.
    ///
    /// # Errors
    /// There is none, or it has not this debug point.
    pub fn array(&mut self, step: u64, like: &ArrayEntry) -> Result<ArrayEntry, String> {
        let name = &like.name;
        let Answer::Arrays(arrays) = self.replay.answer_at(step, Request::Arrays)? else {
            return Err("the recording has no list of arrays".into());
        };
        let named = arrays.into_iter().filter(|entry| entry.name == *name && entry.array.rank == like.array.rank);
        let found = named.max_by_key(|entry| entry.array.number);
        let found = found.ok_or_else(|| format!("the recording has no array `{name}` at debug point {step}"))?;
        let what = |entry: &ArrayEntry| format!("{} of shape {:?}", entry.element.name, entry.shape);
        if found.element != like.element || found.shape != like.shape {
            return Err(format!("`{name}` is {} in the recording, and {} in the program", what(&found), what(like)));
        }
        Ok(found)
    }

    /// The cells of its array that goes with one of the program, as they were asked of the program's. Of a coarse recording
    /// those that it has: the view says which, and differences are found with a view of the program of just these.
    ///
    /// # Errors
    /// As [`array`](Self::array); the cells were not recorded.
    pub fn view(&mut self, step: u64, like: &ArrayEntry, of: &ViewRequest) -> Result<Rc<View>, String> {
        let key = (step, ViewRequest { array: like.array, ..of.clone() });
        if let Some(known) = known(&self.views, &key) {
            return known;
        }
        let found = self.fetch(step, like, of);
        keep(&mut self.views, key, found)
    }

    fn fetch(&mut self, step: u64, like: &ArrayEntry, of: &ViewRequest) -> Result<Rc<View>, String> {
        let array = self.array(step, like)?.array;
        match self.replay.answer_at(step, Request::View(ViewRequest { array, ..of.clone() }))? {
            Answer::View(view) => Ok(Rc::new(view)),
            _ => Err("the recording has no view".into()),
        }
    }

    /// Where a view of the program differs from the recording at its debug point: the first one is the recording's.
    ///
    /// # Errors
    /// As [`view`](Self::view); the recording has other cells, as where it is coarse.
    pub fn differences(
        &mut self,
        like: &ArrayEntry,
        view: &View,
        quantity: Quantity,
    ) -> Result<Rc<Differences>, String> {
        let key = ((view.step, view.of.clone()), quantity);
        if let Some(known) = known(&self.differences, &key) {
            return Ok(known);
        }
        let recorded = self.view(view.step, like, &view.of)?;
        let element = &like.element;
        let found = Rc::new(Differences::new((&recorded, element), (view, element), quantity)?);
        Ok(keep(&mut self.differences, key, found))
    }
}
