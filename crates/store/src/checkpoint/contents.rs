//! [`Contents`]: arrays and program state of a checkpoint.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;
use zippy::array::{GlobalArray, Growable};
use zippy::element::{Element, ElementInfo};
use zippy::locate::Placement;
use zippy::transport::Payload;
use zippy::{Error, Result};

use super::element::SavedType;
use super::sizes::{MOST_STATE, PIECE_BYTES};

/// Contents of a checkpoint: named arrays and the program's state. Every rank adds the same ones in
/// the same order.
///
/// [`save`](super::Checkpoints::save) and [`start`](super::Checkpoints::start) read the arrays;
/// [`state`](Self::state) serializes the state at once.
#[derive(Default)]
#[must_use]
pub struct Contents<'a> {
    pub(super) entries: Vec<NamedArray<'a>>,
    state: Option<Result<Vec<u8>, String>>,
}

impl<'a> Contents<'a> {
    /// Empty contents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a global array under its own name: the cells of all chunks, without ghost cells.
    ///
    /// Arrays that are swapped (`mem::swap`) exchange their names in the checkpoint, because a name
    /// belongs to the array and not to the variable; [`array_as`](Self::array_as) names them
    /// explicitly.
    pub fn array<T: Element, const D: usize>(self, array: &'a GlobalArray<T, D>) -> Self {
        self.array_as(array.name(), array)
    }

    /// Adds a global array under the given name, which [`Checkpoint`](super::Checkpoint) uses.
    ///
    /// ```
    /// # use zippy::{Layout, World};
    /// # use zippy_store::checkpoint::{Checkpoints, Contents};
    /// # let directory = tempfile::tempdir().unwrap();
    /// # zippy::run_with(zippy::Config::threads(2), |world: &World| {
    /// # let layout = Layout::new([9]);
    /// let mut now = world.array::<f32, 1>("now", &layout)?;
    /// let mut next = world.array::<f32, 1>("next", &layout)?;
    /// next.fill(1.0)?;
    /// std::mem::swap(&mut now, &mut next);
    /// let checkpoints = Checkpoints::new(directory.path(), 1);
    /// checkpoints.save(world, 1, &Contents::new().array_as("u", &now))?;
    ///
    /// let u = checkpoints.at(world, 1)?.array::<f32, 1>(world, "u", Layout::new)?;
    /// assert_eq!(world.sum(&u)?, 9.0);
    /// # Ok(())
    /// # })?;
    /// # Ok::<(), zippy::Error>(())
    /// ```
    pub fn array_as<T: Element, const D: usize>(
        self,
        name: impl Into<Cow<'a, str>>,
        array: &'a GlobalArray<T, D>,
    ) -> Self {
        self.entry(name.into(), Box::new(array))
    }

    /// Adds a growable array under its own name: each rank's cells in use. Every rank adds one of
    /// this name, possibly empty.
    pub fn growable<T: Element>(self, growable: &'a Growable<T>) -> Self {
        self.growable_as(growable.core().name(), growable)
    }

    /// Adds a growable array under the given name. Every rank adds one of this name, possibly
    /// empty.
    pub fn growable_as<T: Element>(self, name: impl Into<Cow<'a, str>>, growable: &'a Growable<T>) -> Self {
        self.entry(name.into(), Box::new(growable))
    }

    fn entry(mut self, name: Cow<'a, str>, saved: Box<dyn SavableArray + 'a>) -> Self {
        self.entries.push(NamedArray { name, saved });
        self
    }

    /// Adds other program state, such as step sizes, seeds and settings, at most once: at most 16
    /// MiB in MessagePack, with field names and all bits of numbers. The bytes must be the same on
    /// every rank, so maps must be ordered. The save reports an error of the serialization.
    pub fn state(mut self, state: &impl Serialize) -> Self {
        self.state = Some(match self.state {
            None => rmp_serde::to_vec_named(state).map_err(|error| format!("the state cannot be written: {error}")),
            Some(_) => Err("a checkpoint has one state, and this one was given two".to_string()),
        });
        self
    }

    pub(super) fn state_bytes(&self) -> Option<&[u8]> {
        self.state.as_ref()?.as_deref().ok()
    }

    pub(super) fn check(&self) -> Result<()> {
        let mut names = BTreeSet::new();
        if let Some(NamedArray { name, .. }) = self.entries.iter().find(|entry| !names.insert(&*entry.name)) {
            return Err(Error::program(format!("two arrays of the checkpoint are called {name:?}; names must differ")));
        }
        match &self.state {
            Some(Err(message)) => Err(Error::program(message)),
            Some(Ok(state)) if state.len() as u64 > MOST_STATE => {
                let length = state.len();
                let message = format!("the state has {length} bytes, and may have {MOST_STATE}; arrays are for more");
                Err(Error::program(message))
            }
            _ => Ok(()),
        }
    }

    /// Hash for comparison between ranks: names, types and cuts of the arrays.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for NamedArray { name, saved } in &self.entries {
            (name, SavedType::of(saved.element()).to_string()).hash(&mut hasher);
            if let CellLayout::Array(placement) = saved.cells() {
                (placement.chunks().fingerprint(), placement.ownership().fingerprint()).hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

pub(super) struct NamedArray<'a> {
    pub name: Cow<'a, str>,
    pub saved: Box<dyn SavableArray + 'a>,
}

pub(super) enum CellLayout<'s> {
    Array(&'s Placement),
    Growable(u64),
}

pub(super) trait SavableArray {
    fn element(&self) -> &'static ElementInfo;
    fn cells(&self) -> CellLayout<'_>;

    /// Reads this rank's cells in portions, chunk by chunk, axis 0 fastest.
    fn read(&self, each: &mut dyn FnMut(Payload) -> Result<()>) -> Result<()>;
}

struct CellBytes<T>(Vec<T>);

impl<T: Element> AsRef<[u8]> for CellBytes<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

fn max_portion_cells<T: Element>() -> u64 {
    (PIECE_BYTES / size_of::<T>() as u64).max(1)
}

impl<T: Element, const D: usize> SavableArray for &GlobalArray<T, D> {
    fn element(&self) -> &'static ElementInfo {
        self.core().element()
    }

    fn cells(&self) -> CellLayout<'_> {
        CellLayout::Array(self.core().placement())
    }

    fn read(&self, each: &mut dyn FnMut(Payload) -> Result<()>) -> Result<()> {
        for chunk in self.chunks().filter(|chunk| !chunk.region().is_empty()) {
            for piece in chunk.region().cut(max_portion_cells::<T>()) {
                each(Box::new(CellBytes(chunk.at_global(piece).read()?)))?;
            }
        }
        Ok(())
    }
}

impl<T: Element> SavableArray for &Growable<T> {
    fn element(&self) -> &'static ElementInfo {
        self.core().element()
    }

    fn cells(&self) -> CellLayout<'_> {
        CellLayout::Growable(self.len())
    }

    fn read(&self, each: &mut dyn FnMut(Payload) -> Result<()>) -> Result<()> {
        let mut start = 0;
        while start < self.len() {
            let end = self.len().min(start + max_portion_cells::<T>());
            each(Box::new(CellBytes(self.at(start..end).read()?)))?;
            start = end;
        }
        Ok(())
    }
}
