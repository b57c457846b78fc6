//! [`load`]: a global array from a Zarr store.

use std::path::Path;

use zippy::element::Element;
use zippy::{Error, Layout, Result, World};

use super::fields::leaves;
use super::generation::{Generation, fingerprint};
use super::open::open;
use super::read::read;
use super::stored::Stored;
use crate::IoError;
use crate::array::metadata::Metadata;
use crate::array::options::{LoadOptions, Loaded};
use crate::array::window::Window;

/// A global array from a Zarr store; see [`load_with`](crate::array::load_with) and the documentation of [the module](super).
///
/// # Errors
/// The same on every rank.
pub fn load<T: Element, const D: usize>(
    world: &World,
    path: &Path,
    name: &str,
    options: &LoadOptions,
    layout: impl FnOnce([i64; D]) -> Layout,
) -> Result<Loaded<T, D>> {
    let what = format!("loading {} with {options:?}", path.display());
    let opened = || -> Result<Opened> {
        let generation = Generation::now(path);
        let (stored, metadata) = open(path, options.array.as_deref(), &leaves(&T::INFO), D)?;
        let window = Window::new(path, &stored[0].shape, options.section.as_deref(), options.step.as_deref())?;
        let directories = stored.iter().map(|one| one.directory.as_path());
        let fingerprint = fingerprint(std::iter::once(path).chain(directories))?;
        Ok(Opened { metadata: window.metadata(metadata), stored, window, generation, fingerprint })
    };
    let Opened { stored, window, metadata, generation, fingerprint } = world.agree(&what, opened())?;
    let shape: [i64; D] = std::array::from_fn(|axis| window.shape[axis]);
    let layout = layout(shape);
    let checked = match *layout.shape() == *window.shape {
        true => Ok(()),
        false => {
            let message = format!("{} are to be read, and the layout has {}", window.shape, layout.shape());
            Err(IoError::request(path, message).into())
        }
    };
    // Ranks that see another shape, or another store, have another call.
    world.agree(&format!("{what}, of shape {shape:?} and documents #{fingerprint:016x}"), checked)?;
    let array = world.array::<T, D>(name, &layout)?;
    world.agree(&what, read(&array, stored, &window))?;
    // When all have read: another store may have the same documents.
    world.agree(&format!("{what}, again"), generation.check().map_err(Error::from))?;
    if options.ghosts {
        world.ghosts(&array)?;
    }
    Ok(Loaded { array, metadata })
}

struct Opened {
    stored: Vec<Stored>,
    window: Window,
    metadata: Metadata,
    generation: Generation,
    fingerprint: u64,
}
