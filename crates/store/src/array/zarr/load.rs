use std::path::Path;

use zippy::element::{Element, ElementInfo};
use zippy::{Error, Layout, Result, World, trace};
use zippy_files::{FileError, quoted, shown};

use super::fields::leaves;
use super::identity::StoreIdentity;
use super::open::open;
use super::read::read;
use super::stored::StoredArray;
use super::tree::StoreTree;
use crate::array::options::{LoadOptions, Loaded, ToLayout};
use crate::array::selection::FileSelection;
use zippy_io::array::Metadata;

/// Implementation of [`load_with`](crate::array::load_with); see [the module](super).
pub(crate) fn load<T: Element, const D: usize>(
    world: &World,
    path: &Path,
    name: &str,
    options: &LoadOptions,
    layout: ToLayout<'_>,
) -> Result<Loaded<T, D>> {
    let call_name = options.call("load", path);
    let opened = world.agree(&call_name, OpenedStore::open(path, (&T::INFO, D), options))?;
    let layout = layout(&opened.selection.shape);
    // Different shapes or documents give different call names, which `agree` reports.
    let (shape, fingerprint) = (opened.selection.shape, opened.fingerprint);
    let call = format!("{call_name} of shape {shape} and documents #{fingerprint:016x}");
    world.agree(&call, opened.check(path, &layout))?;
    if world.rank() == 0 {
        opened.stored.iter().for_each(warn_of_foreign_files);
    }
    let array = world.array::<T, D>(name, &layout)?;
    let OpenedStore { stored, metadata, selection, identity, .. } = opened;
    world.agree(&call_name, read(&array, stored, &selection))?;
    // A new store may have the same documents.
    world.agree(&format!("{call_name}, again"), identity.check().map_err(Error::from))?;
    if options.ghosts {
        world.ghosts(&array)?;
    }
    Ok(Loaded { array, metadata })
}

/// Warns about an array without chunks whose directory has other files: probably a wrong key
/// encoding.
fn warn_of_foreign_files(stored: &StoredArray) {
    if let Some((foreign_file, expected)) = stored.foreign_file() {
        trace::warn(&format!(
            "{}: no file has the name of a chunk, as {expected}, so every cell is the fill value; there are other files, as {}",
            shown(&stored.directory),
            quoted(&foreign_file)
        ));
    }
}

struct OpenedStore {
    stored: Vec<StoredArray>,
    selection: FileSelection,
    metadata: Metadata,
    identity: StoreIdentity,
    fingerprint: u64,
}

impl OpenedStore {
    fn open(path: &Path, (element, axes): (&ElementInfo, usize), options: &LoadOptions) -> Result<Self> {
        let identity = StoreIdentity::of_store(path);
        let mut tree = StoreTree::new(path);
        let (stored, metadata) = open(&mut tree, options.array.as_deref(), &leaves(element), axes)?;
        let selection =
            FileSelection::new(path, &stored[0].shape, options.section.as_deref(), options.step.as_deref())?;
        let directories = stored.iter().map(|array| array.directory.as_path());
        let fingerprint = tree.fingerprint(directories);
        Ok(Self { metadata: selection.metadata(metadata), stored, selection, identity, fingerprint })
    }

    fn check(&self, path: &Path, layout: &Layout) -> Result<()> {
        if *layout.shape() == *self.selection.shape {
            return Ok(());
        }
        let message = format!("{} are to be read, and the layout has {}", self.selection.shape, layout.shape());
        Err(FileError::request(path, message).into())
    }
}
