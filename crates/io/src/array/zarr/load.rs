//! [`load`]: a global array from a Zarr store.

use std::path::Path;

use zippy::element::Element;
use zippy::{Layout, Result, World};

use super::fields::leaves;
use super::open::open;
use super::read::read;
use super::stored::Stored;
use super::wanted::Wanted;
use crate::IoError;
use crate::array::metadata::Metadata;
use crate::array::options::{LoadOptions, Loaded};

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
        let (stored, metadata) = open(path, options.array.as_deref(), &leaves(&T::INFO), D)?;
        let step = options.step.clone().unwrap_or_else(|| vec![1; D]);
        let wanted = Wanted::new(path, &stored[0].shape, options.section.as_deref(), &step)?;
        Ok(Opened { metadata: wanted.of(metadata), stored, wanted })
    };
    let Opened { stored, wanted, metadata } = world.agree(&what, opened())?;
    let shape: [i64; D] = std::array::from_fn(|axis| wanted.shape[axis]);
    let layout = layout(shape);
    let checked = match *layout.shape() == *wanted.shape {
        true => Ok(()),
        false => {
            let message = format!("{} are to be read, and the layout has {}", wanted.shape, layout.shape());
            Err(IoError::request(path, message).into())
        }
    };
    // Ranks that see another shape have another call.
    world.agree(&format!("{what}, of shape {shape:?}"), checked)?;
    let array = world.array::<T, D>(name, &layout)?;
    world.agree(&what, read(&array, stored, &wanted))?;
    if options.ghosts {
        world.ghosts(&array)?;
    }
    Ok(Loaded { array, metadata })
}

struct Opened {
    stored: Vec<Stored>,
    wanted: Wanted,
    metadata: Metadata,
}
