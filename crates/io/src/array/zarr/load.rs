//! [`load`]: a global array from a Zarr store.

use std::ops::Range;
use std::path::Path;

use zippy::array::GlobalArray;
use zippy::element::Element;
use zippy::{Layout, Result, World};

use super::fields::leaves;
use super::open::open;
use super::read::read;
use super::stored::Stored;
use super::wanted::Wanted;
use crate::IoError;
use crate::array::metadata::Metadata;

/// A global array called `name` from a Zarr store of version 3 or 2, cut as `layout` says for the shape that results. `which` is
/// the array in the store, as "density" or "levels/1/density"; `None`: its only one, not counting those of places along axes,
/// or the first that OME-Zarr's metadata name. `section` are the cells that are wanted (`None`: all), axis 0 first, and of
/// these every `step`-th along each axis, from the first on. Returns what the store says of the array, too: `name` is that in
/// the store, and spacing and origin are those of the cells that were read. Collective; the same arguments on every rank.
///
/// Every rank reads the chunks that its cells are in. Ghost cells are zeros until [`World::ghosts`] fills them.
///
/// Cells can be plain numbers, vectors, which have one more, last dimension, and records, which are a group with an array for
/// each field. Numbers are of the same type, in either byte order; booleans are read as `u8`. Chunks can be raw or compressed
/// by gzip or zstd, with or without checksums, by themselves or in shards. A chunk that is missing means the fill value. Not
/// read are other codecs (blosc, transposed cells and so Fortran order), chunks that do not hold all numbers of a vector, and
/// chunks of more than 1 GiB; in shards of any size only those that are wanted are read.
///
/// Needs on each rank's host up to three chunks for each field of the cells, the index of a shard, and 8 MiB.
///
/// # Errors
/// The same on every rank: no store or no such array, or several to choose from; cells of another type or another number of
/// axes; a section that does not fit; a layout of another shape; what is damaged or not read here; as [`World::array`].
pub fn load<T: Element, const D: usize>(
    world: &World,
    path: impl AsRef<Path>,
    name: &str,
    which: Option<&str>,
    section: Option<[Range<i64>; D]>,
    step: [i64; D],
    layout: impl FnOnce([i64; D]) -> Layout,
) -> Result<(GlobalArray<T, D>, Metadata)> {
    let path = path.as_ref();
    let what = format!("loading {which:?}, {section:?} in steps of {step:?}, of {}", path.display());
    let opened = || -> Result<Opened> {
        let (stored, metadata) = open(path, which, &leaves(&T::INFO), D)?;
        let wanted = Wanted::new(path, &stored[0].shape, section.as_ref().map(|ranges| &ranges[..]), &step)?;
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
    Ok((array, metadata))
}

struct Opened {
    stored: Vec<Stored>,
    wanted: Wanted,
    metadata: Metadata,
}
