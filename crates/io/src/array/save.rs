//! [`save`]: a global array to a file.

use std::path::Path;

use zippy::array::GlobalSection;
use zippy::element::Element;
use zippy::{Error, Result, World};

use super::blocks::Blocks;
use super::staging::each_block;
use crate::atomic::CollectiveFile;
use crate::{IoError, npy};

/// So many bytes of cells are brought together at once.
const BLOCK_BYTES: u64 = 8 << 20;

/// Saves a section of a global array (`array.at(..)`: all of it) to a NumPy file: the name must end with `.npy`. A name that
/// ends with `.zarr` makes a Zarr store, as [`zarr::save`](super::zarr::save) does with its defaults. Ghost cells are not saved.
/// Every rank writes a share of the one file, whatever the cut; the file appears when it is whole, and replaces one that was
/// there. Collective; all ranks see the same file system. Returns the bytes of the file.
///
/// Needs 8 MiB on each rank's device and on its host, and what an exchange of so much stages (at most `ZIPPY_MESSAGE` at a
/// time). An array called "zippy_io: blocks of", and then its name, must not be there already.
///
/// # Errors
/// The same on every rank: another ending; a bad section; what the operating system says. Nothing is left of a file that
/// failed, and one that was there before stays.
///
/// ```
/// use zippy::{Layout, Split};
///
/// let path = std::env::temp_dir().join(format!("zippy-doc-{}.npy", std::process::id()));
/// zippy::run_with(zippy::Config::threads(3), |world| {
///     let layout = Layout::new([5, 4]).split_all(Split::Auto);
///     let array = world.array::<f32, 2>("array", &layout)?;
///     array.fill_with(|[x, y]| (10 * x + y) as f32)?;
///     zippy_io::array::save(world, &path, &array.at(..))?;
///
///     // Cut in another way.
///     let again = zippy_io::array::load::<f32, 2>(world, &path, "again", |shape| Layout::new(shape).split_all(Split::Whole))?;
///     assert_eq!(again.shape(), [5, 4]);
///     for chunk in again.chunks() {
///         assert_eq!(chunk.at([2..3, 1..2]).read()?, [21.0]);
///     }
///     Ok(())
/// })?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), zippy::Error>(())
/// ```
pub fn save<T: Element, const D: usize>(
    world: &World,
    path: impl AsRef<Path>,
    section: &GlobalSection<T, D>,
) -> Result<u64> {
    let path = path.as_ref();
    #[cfg(feature = "zarr")]
    if path.extension().is_some_and(|ending| ending == "zarr") {
        return super::zarr::save(world, path, section, &Default::default(), &Default::default());
    }
    save_in_blocks(world, path, section, BLOCK_BYTES)
}

/// [`save`] that brings so many bytes together at once.
///
/// # Errors
/// As [`save`].
pub fn save_in_blocks<T: Element, const D: usize>(
    world: &World,
    path: &Path,
    section: &GlobalSection<T, D>,
    block_bytes: u64,
) -> Result<u64> {
    let bytes = T::INFO.bytes as u64;
    let laid_out = || {
        if path.extension().is_none_or(|ending| ending != "npy") {
            return Err(IoError::request(path, "is not the name of a NumPy file; it must end with .npy").into());
        }
        let region = section.region()?;
        let header = npy::array::header(&T::INFO, &region.extents());
        let length = region.cells().checked_mul(bytes).and_then(|length| length.checked_add(header.len() as u64));
        match length.filter(|&length| i64::try_from(length).is_ok()) {
            Some(length) => Ok((region, header, length)),
            None => Err(Error::from(IoError::request(path, "would have more bytes than fit 63 bits"))),
        }
    };
    let what = format!("saving {:?} to {}", section.region().ok(), path.display());
    let (region, header, length) = world.agree(&what, laid_out())?;
    let mut file = CollectiveFile::create(world, path, length)?;
    if world.rank() == 0 {
        file.write_at(0, &header);
    }
    let blocks = Blocks::contiguous(region, block_bytes / bytes);
    each_block(world, section, &blocks, |block, cells: &[T]| {
        file.write_at(header.len() as u64 + bytes * region.offset(&block.start), bytemuck::cast_slice(cells));
    })?;
    file.finish()?;
    Ok(length)
}
