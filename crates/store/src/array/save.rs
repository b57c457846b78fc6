//! [`save`] and [`save_with`]: a global array to a file.

use std::path::Path;

use zippy::array::{GlobalSection, IntoGlobalSection};
use zippy::element::{Element, ElementInfo};
use zippy::error::CallSite;
use zippy::region::Region;
use zippy::{Result, World};
#[cfg(feature = "zarr")]
use zippy_io::array::Format;
use zippy_io::array::{FilePlan, Metadata};

use super::blocks::BlockGrid;
use super::options::{SaveOptions, save_call};
use super::pieces::save_pieces;
use super::staging::each_block_of_grid;
use super::supported::check_supported;
#[cfg(feature = "zarr")]
use super::zarr;
use crate::collective::CollectiveFile;

const BLOCK_BYTES: u64 = 8 << 20;

/// [`save_with`] with [`SaveOptions::new`]: a section of a global array (`&array`: all of it), with
/// the array's name as the only metadata.
///
/// # Errors
/// As [`save_with`].
///
/// ```
/// use zippy::{Layout, Split};
///
/// let path = std::env::temp_dir().join(format!("zippy-doc-{}.npy", std::process::id()));
/// zippy::run_with(zippy::Config::threads(3), |world| {
///     let layout = Layout::new([5, 4]).split_all(Split::Auto);
///     let array = world.array::<f32, 2>("array", &layout)?;
///     array.fill_with(|[x, y]| (10 * x + y) as f32)?;
///     zippy_store::array::save(world, &path, &array)?;
///
///     // Another cut.
///     let cut = |shape| Layout::new(shape).split_all(Split::Whole);
///     let again = zippy_store::array::load::<f32, 2>(world, &path, "again", cut)?;
///     assert_eq!(again.shape(), [5, 4]);
///     for chunk in again.chunks() {
///         assert_eq!(chunk.at([2..3, 1..2]).read()?, [21.0]);
///     }
///     Ok(())
/// })?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), zippy::Error>(())
/// ```
#[track_caller]
pub fn save<T: Element, const D: usize>(
    world: &World,
    path: impl AsRef<Path>,
    section: impl IntoGlobalSection<T, D>,
) -> Result<u64> {
    let _call = CallSite::enter();
    save_with(world, path, section, &SaveOptions::new())
}

/// Saves a section of a global array, without ghost cells, to a file; returns the bytes of the
/// file, or of all files. The file name's extension selects the format ([`Format`]). Collective;
/// all ranks must see the same file system.
///
/// Every rank writes a share of the file, whatever the cut. The file gets its name when it is
/// complete, and replaces an existing one.
///
/// - A `.pvti` has one piece per chunk with cells; each rank writes the pieces of its own chunks.
/// - A `.zarr` is a directory; each rank writes whole chunks or shards (see [`zarr`](super::zarr)).
///
/// Cost: a thread of each rank writes 8 MiB while the next 8 MiB are read, so each host needs 16
/// MiB (24 MiB for records). An exchange collects the blocks that are not in one chunk of the
/// writing rank; it needs 8 MiB on each rank's device and its staging (at most `ZIPPY_MESSAGE` at a
/// time). The exchange creates an array named "zippy_io: blocks of" followed by the array's name,
/// which must not exist yet.
///
/// The pieces of `field.pvti` are in the folder `field` next to it, with names like
/// `field_0123456789abcdef_3.vti`. Each save draws a random number for these names, so that the
/// index switches from the old pieces to the new ones atomically; the old pieces are then removed.
/// A program that is killed during a save leaves pieces that no index names. A piece has the
/// chunk's points and one more layer at the upper end of each axis, shared with the neighbours,
/// because VTK's extents share points.
///
/// # Errors
/// The same on every rank: an unknown extension; an array or metadata that the format cannot store
/// (the message names formats that can); a bad section; arguments that differ between ranks; an
/// operating system error. Nothing of a failed file is left and an earlier one stays, unless the
/// message says that the new one has its name.
#[track_caller]
pub fn save_with<T: Element, const D: usize>(
    world: &World,
    path: impl AsRef<Path>,
    section: impl IntoGlobalSection<T, D>,
    options: &SaveOptions,
) -> Result<u64> {
    let _call = CallSite::enter();
    let (path, section) = (path.as_ref(), &section.into());
    #[cfg(feature = "zarr")]
    if matches!(Format::of(path), Ok(Format::Zarr)) {
        return zarr::save(world, path, section, &options.named_metadata(), &options.zarr);
    }
    save_in_blocks(world, path, section, options, BLOCK_BYTES)
}

pub(super) fn save_in_blocks<T: Element, const D: usize>(
    world: &World,
    path: &Path,
    section: &GlobalSection<T, D>,
    options: &SaveOptions,
    block_bytes: u64,
) -> Result<u64> {
    let (array, region) = (section.array(), section.region());
    let (region, plan) = plan_file(world, path, (&T::INFO, array.name()), region, &options.named_metadata())?;
    let outline = match plan {
        FilePlan::One(outline) => outline,
        FilePlan::Pieces(image) => return save_pieces(world, path, (&array, region), &image, block_bytes),
    };
    let mut file = CollectiveFile::create(world, path, outline.length)?;
    if world.rank() == 0 {
        outline.fixed.iter().for_each(|(at, bytes)| file.write_at(*at, bytes));
    }
    let blocks = BlockGrid::contiguous(region, block_bytes / T::INFO.bytes as u64);
    let (part, mut scratch) = (file.part(), Vec::new());
    each_block_of_grid(world, &array, &blocks, &mut |block, cells| {
        outline.block((&region, block), (cells, T::INFO.bytes), &mut scratch, &mut |at, bytes| {
            part.write_at(at, bytes);
            part.check()
        })
    })?;
    file.finish()?;
    Ok(outline.length)
}

/// Checks and plans the file. Collective.
fn plan_file(
    world: &World,
    path: &Path,
    (element, name): (&ElementInfo, &str),
    region: Result<Region>,
    metadata: &Metadata,
) -> Result<(Region, FilePlan)> {
    let mut metadata = metadata.sorted();
    metadata.name.get_or_insert_with(|| name.to_string());
    let call = save_call(path, name, region.as_ref().ok(), &metadata);
    let plan = region.and_then(|region| {
        check_supported(path)?;
        Ok((region, FilePlan::new(path, element, &region, &metadata)?))
    });
    world.agree(&call, plan)
}
