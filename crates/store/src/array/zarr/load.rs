//! [`load`]: a global array from a Zarr store.

use std::path::Path;

use zippy::element::{Element, ElementInfo};
use zippy::{Error, Layout, Result, World, trace};
use zippy_files::{FileError, quoted, shown};

use super::fields::leaves;
use super::generation::Generation;
use super::open::open;
use super::read::read;
use super::stored::StoredArray;
use super::tree::StoreTree;
use crate::array::options::{LoadOptions, Loaded, ToLayout};
use crate::array::window::Window;
use zippy_io::array::Metadata;

/// Loads a global array from a Zarr store; see [`load_with`](crate::array::load_with) and [the
/// module](super).
///
/// # Errors
/// As there, the same on every rank.
pub(crate) fn load<T: Element, const D: usize>(
    world: &World,
    path: &Path,
    name: &str,
    options: &LoadOptions,
    layout: ToLayout<'_>,
) -> Result<Loaded<T, D>> {
    let what = options.call("load", path);
    let opened = world.agree(&what, OpenedStore::open(path, (&T::INFO, D), options))?;
    let layout = layout(&opened.window.shape);
    // Different shapes or documents give different call names, which `agree` reports.
    let (shape, fingerprint) = (opened.window.shape, opened.fingerprint);
    let call = format!("{what} of shape {shape} and documents #{fingerprint:016x}");
    world.agree(&call, opened.check(path, &layout))?;
    if world.rank() == 0 {
        opened.stored.iter().for_each(warn_of_strangers);
    }
    let array = world.array::<T, D>(name, &layout)?;
    let OpenedStore { stored, metadata, window, generation, .. } = opened;
    world.agree(&what, read(&array, stored, &window))?;
    // After all ranks have read, because a new store may have the same documents.
    world.agree(&format!("{what}, again"), generation.check().map_err(Error::from))?;
    if options.ghosts {
        world.ghosts(&array)?;
    }
    Ok(Loaded { array, metadata })
}

/// Warns about an array without chunks whose directory has other files: probably its key encoding
/// is wrong.
fn warn_of_strangers(stored: &StoredArray) {
    if let Some((stranger, wanted)) = stored.stranger() {
        trace::warn(&format!(
            "{}: no file has the name of a chunk, as {wanted}, so every cell is the fill value; there are other files, as {}",
            shown(&stored.directory),
            quoted(&stranger)
        ));
    }
}

struct OpenedStore {
    stored: Vec<StoredArray>,
    window: Window,
    metadata: Metadata,
    generation: Generation,
    fingerprint: u64,
}

impl OpenedStore {
    fn open(path: &Path, (element, axes): (&ElementInfo, usize), options: &LoadOptions) -> Result<Self> {
        let generation = Generation::now(path);
        let mut tree = StoreTree::new(path);
        let (stored, metadata) = open(&mut tree, options.array.as_deref(), &leaves(element), axes)?;
        let window = Window::new(path, &stored[0].shape, options.section.as_deref(), options.step.as_deref())?;
        let directories = stored.iter().map(|array| array.directory.as_path());
        let fingerprint = tree.fingerprint(directories);
        Ok(Self { metadata: window.metadata(metadata), stored, window, generation, fingerprint })
    }

    fn check(&self, path: &Path, layout: &Layout) -> Result<()> {
        if *layout.shape() == *self.window.shape {
            return Ok(());
        }
        let message = format!("{} are to be read, and the layout has {}", self.window.shape, layout.shape());
        Err(FileError::request(path, message).into())
    }
}
