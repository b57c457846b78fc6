use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::Path;

use zippy::Layout;
use zippy::array::GlobalArray;
use zippy::extents::Index;
use zippy::region::Region;

#[cfg(feature = "zarr")]
use super::zarr::ZarrOptions;
use zippy_io::array::Metadata;

/// Options of [`save_with`](super::save_with). [`save`](super::save) uses [`Self::new`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SaveOptions {
    /// Name of the array in the file. `None`: the name in the metadata, else the array's own.
    pub name: Option<String>,
    /// Metadata of the saved section. Its first cell is the first cell of the section. A format
    /// that cannot store it is an error.
    pub metadata: Metadata,
    /// Structure of a Zarr store; ignored for other formats.
    #[cfg(feature = "zarr")]
    pub zarr: ZarrOptions,
}

impl SaveOptions {
    /// Options with the array's name as the only metadata.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name of the array in the file. An array's own name moves with it when variables are
    /// swapped after each step.
    ///
    /// ```
    /// use zippy::Layout;
    /// use zippy_store::array::{LoadOptions, SaveOptions, load_with, save_with};
    ///
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let path = directory.path().join("u.vti");
    /// zippy::run_with(zippy::Config::threads(2), |world| {
    ///     let layout = Layout::new([9]);
    ///     let mut now = world.array::<f32, 1>("now", &layout)?;
    ///     let mut next = world.array::<f32, 1>("next", &layout)?;
    ///     std::mem::swap(&mut now, &mut next);
    ///     save_with(world, &path, &now, &SaveOptions::new().name("u"))?;
    ///
    ///     let options = LoadOptions::new().array("u");
    ///     load_with::<f32, 1>(world, &path, "u", &options, Layout::new).map(drop)
    /// })?;
    /// # Ok::<(), zippy::Error>(())
    /// ```
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    pub(super) fn named_metadata(&self) -> Metadata {
        let mut metadata = self.metadata.clone();
        metadata.name = self.name.clone().or(metadata.name);
        metadata
    }

    /// Sets the metadata.
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// Sets chunks, shards, compression and levels of detail of a Zarr store.
    #[cfg(feature = "zarr")]
    pub fn zarr(mut self, options: ZarrOptions) -> Self {
        self.zarr = options;
        self
    }
}

/// Options of [`load_with`](super::load_with). [`load`](super::load) uses [`Self::new`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Box of the file to load, one range of cells per axis; `None`: all cells.
    pub section: Option<Vec<Range<i64>>>,
    /// Load every n-th cell along each axis, from the first; `None`: every cell.
    pub step: Option<Vec<i64>>,
    /// Fill the ghost cells of the loaded array, by [`World::ghosts`](zippy::World::ghosts).
    pub ghosts: bool,
    /// Name of the array in a file with several arrays (VTI, PVTI, Zarr). `None`: the active
    /// scalars, else the first array; for a Zarr store its only array, or the first one in OME-Zarr
    /// metadata.
    pub array: Option<String>,
}

impl LoadOptions {
    /// All cells, without ghost cells.
    pub fn new() -> Self {
        Self::default()
    }

    /// Loads only this box.
    pub fn section<const D: usize>(mut self, ranges: [Range<i64>; D]) -> Self {
        self.section = Some(ranges.into());
        self
    }

    /// Loads only every n-th cell along each axis, from the first.
    pub fn step<const D: usize>(mut self, step: [i64; D]) -> Self {
        self.step = Some(step.into());
        self
    }

    /// Fills the ghost cells.
    pub fn ghosts(mut self) -> Self {
        self.ghosts = true;
        self
    }

    /// Loads the array with this name.
    pub fn array(mut self, name: impl Into<String>) -> Self {
        self.array = Some(name.into());
        self
    }

    /// Describes a call in errors.
    pub(super) fn call(&self, verb: &str, path: &Path) -> String {
        let mut text = format!("{verb}({}", path.display());
        if let Some(section) = &self.section {
            text += &format!(", section {section:?}");
        }
        if let Some(step) = &self.step {
            text += &format!(", every {step:?}");
        }
        if let Some(array) = &self.array {
            text += &format!(", array {array:?}");
        }
        text + if self.ghosts { ", with ghost cells)" } else { ")" }
    }
}

/// Result of [`load_with`](super::load_with).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded<T, const D: usize> {
    /// The cells.
    pub array: GlobalArray<T, D>,
    /// Metadata of the file, adapted to the section and the step.
    pub metadata: Metadata,
}

/// Layout for a shape. Boxed, so that a load is compiled once per element type and number of axes.
pub(super) type ToLayout<'a> = Box<dyn FnOnce(&Index) -> Layout + 'a>;

pub(super) fn to_layout<'a, const D: usize>(layout: impl FnOnce([i64; D]) -> Layout + 'a) -> ToLayout<'a> {
    Box::new(move |shape: &Index| layout(std::array::from_fn(|axis| shape[axis])))
}

/// Describes a save in errors; the same on every rank if all arguments are.
pub(super) fn save_call(path: &Path, name: &str, region: Option<&Region>, options: &impl Debug) -> String {
    let mut hasher = DefaultHasher::new();
    format!("{options:?}").hash(&mut hasher);
    let region = region.map_or_else(|| "a section that does not fit".to_owned(), Region::to_string);
    format!("save({}, {name:?} {region}, with options #{:016x})", path.display(), hasher.finish())
}
