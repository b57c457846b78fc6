//! What else to say when an array is saved or loaded.

use std::ops::Range;
use std::path::Path;

use zippy::array::GlobalArray;

use super::metadata::Metadata;
#[cfg(feature = "zarr")]
use super::zarr::ZarrOptions;

/// What [`save_with`](super::save_with) takes beside the array; [`Self::new`] is what [`save`](super::save) does.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SaveOptions {
    /// Name of the array in the file; `None`: that of the metadata, else the array's own.
    pub name: Option<String>,
    /// What goes into the file beside the cells. It describes what is saved: its first cell is that of the section. A format
    /// that cannot keep it is an error.
    pub metadata: Metadata,
    /// How a Zarr store is made; other formats do not look at it.
    #[cfg(feature = "zarr")]
    pub zarr: ZarrOptions,
}

impl SaveOptions {
    /// No metadata but the array's name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name of the array in the file.
    ///
    /// The array's own name moves with the array when variables are swapped after each step.
    ///
    /// ```
    /// use zippy::Layout;
    /// use zippy_io::array::{LoadOptions, SaveOptions, load_with, save_with};
    ///
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let path = directory.path().join("u.vti");
    /// zippy::run_with(zippy::Config::threads(2), |world| {
    ///     let layout = Layout::new([9]);
    ///     let [mut now, mut next] = [world.array::<f32, 1>("now", &layout)?, world.array("next", &layout)?];
    ///     std::mem::swap(&mut now, &mut next);
    ///     save_with(world, &path, &now, &SaveOptions::new().name("u"))?;
    ///
    ///     load_with::<f32, 1>(world, &path, "u", &LoadOptions::new().array("u"), Layout::new).map(drop)
    /// })?;
    /// # Ok::<(), zippy::Error>(())
    /// ```
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The metadata, with the name that the array is given.
    pub(super) fn named_metadata(&self) -> Metadata {
        let mut metadata = self.metadata.clone();
        metadata.name = self.name.clone().or(metadata.name);
        metadata
    }

    /// With this metadata.
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// With these chunks, shards, compression and levels of detail, where it is a Zarr store.
    #[cfg(feature = "zarr")]
    pub fn zarr(mut self, options: ZarrOptions) -> Self {
        self.zarr = options;
        self
    }
}

/// What [`load_with`](super::load_with) takes beside the file; [`Self::new`] is what [`load`](super::load) does.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// The box to load, a range for each axis, in the cells of the file; `None`: all of it.
    pub section: Option<Vec<Range<i64>>>,
    /// Along each axis every n-th cell is loaded, beginning with the first; `None`: every cell.
    pub step: Option<Vec<i64>>,
    /// Fill the ghost cells of the array that is loaded, by [`World::ghosts`](zippy::World::ghosts).
    pub ghosts: bool,
    /// Which array of a file that has several (VTI, PVTI, Zarr); `None`: the active scalars, else the first one; of a Zarr
    /// store its only one, or the first that OME-Zarr's metadata name.
    pub array: Option<String>,
}

impl LoadOptions {
    /// All cells, and no ghost cells.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only this box.
    pub fn section<const D: usize>(mut self, ranges: [Range<i64>; D]) -> Self {
        self.section = Some(ranges.into());
        self
    }

    /// Only every n-th cell along each axis, beginning with the first.
    pub fn step<const D: usize>(mut self, step: [i64; D]) -> Self {
        self.step = Some(step.into());
        self
    }

    /// With its ghost cells filled.
    pub fn ghosts(mut self) -> Self {
        self.ghosts = true;
        self
    }

    /// The array of this name.
    pub fn array(mut self, name: impl Into<String>) -> Self {
        self.array = Some(name.into());
        self
    }

    /// A call with these options, as errors name it.
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

/// What [`load_with`](super::load_with) has found in a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded<T, const D: usize> {
    /// The cells.
    pub array: GlobalArray<T, D>,
    /// What the file says of them: the first cell and the spacing are those of the section and the step.
    pub metadata: Metadata,
}
