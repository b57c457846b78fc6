//! [`save`] and [`save_with`]: a global array to a file.

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use zippy::array::{GlobalSection, IntoGlobalSection};
use zippy::element::{Element, ElementInfo};
use zippy::error::CallSite;
use zippy::region::Region;
use zippy::{Result, World};

use super::blocks::Blocks;
use super::format::Format;
use super::metadata::Metadata;
use super::options::SaveOptions;
use super::outline::Outline;
use super::pieces::save_pieces;
use super::staging::each_of;
use super::vti::Image;
#[cfg(feature = "zarr")]
use super::zarr;
use super::{nrrd, pieces};
use crate::atomic::CollectiveFile;
use crate::{IoError, npy};

/// So many bytes of cells are brought together at once.
const BLOCK_BYTES: u64 = 8 << 20;

/// Saves a section of a global array (`&array`: all of it), without metadata but its name: [`save_with`] with
/// [`SaveOptions::new`].
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
///     zippy_io::array::save(world, &path, &array)?;
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
#[track_caller]
pub fn save<T: Element, const D: usize>(
    world: &World,
    path: impl AsRef<Path>,
    section: impl IntoGlobalSection<T, D>,
) -> Result<u64> {
    let _call = CallSite::enter();
    save_with(world, path, section, &SaveOptions::new())
}

/// Saves a section of a global array to a file of the format that the ending of its name says ([`Format`]). Ghost cells are
/// not saved. Every rank writes a share of the one file, whatever the cut; of a `.pvti` it writes the pieces of its own
/// chunks. The file appears when it is whole, and replaces one that was there. Collective; all ranks see the same file
/// system. A `.zarr` is a directory, of which each rank writes whole chunks or shards
/// ([`zarr`](super::zarr) says more). Returns the bytes of the file, or of all files.
///
/// A thread of each rank writes 8 MiB while the next 8 are read: needs so much twice on its host (of records three times).
/// Where they are not all in one chunk of this rank, they come by an exchange; that needs 8 MiB on each rank's device and what
/// it stages (at most `ZIPPY_MESSAGE` at a time). An array called "zippy_io: blocks of", and then its name, must not be there
/// already.
///
/// The pieces of `field.pvti` are in the folder `field` beside it, one for each chunk with cells, as
/// `field_0123456789abcdef_3.vti`: each save draws a number of its own, so that the index changes from the old pieces to the
/// new ones in one moment. Then the old ones are removed. A program that is killed meanwhile leaves pieces that no index
/// names. A piece has the chunk's points and one layer more behind them along each axis, those of its neighbours: VTK's
/// extents share points, so that no gap is between two pieces.
///
/// # Errors
/// The same on every rank: another ending; an array or metadata that the format cannot hold (the message says which format
/// can); a bad section; other arguments than on another rank; what the operating system says. Nothing is left of a file that
/// failed, and one that was there before stays, unless the message says that the new one is in its place.
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

/// What is to be written.
enum Plan {
    One(Outline),
    Pieces(Image),
}

/// [`save_with`] that brings so many bytes together at once.
///
/// # Errors
/// As [`save_with`].
pub fn save_in_blocks<T: Element, const D: usize>(
    world: &World,
    path: &Path,
    section: &GlobalSection<T, D>,
    options: &SaveOptions,
    block_bytes: u64,
) -> Result<u64> {
    let (array, region) = (section.array(), section.region());
    let (region, plan) = planned(world, path, (&T::INFO, array.name()), region, &options.named_metadata())?;
    let outline = match plan {
        Plan::One(outline) => outline,
        Plan::Pieces(image) => return save_pieces(world, path, (&array, region), &image, block_bytes),
    };
    let mut file = CollectiveFile::create(world, path, outline.length)?;
    if world.rank() == 0 {
        outline.fixed.iter().for_each(|(at, bytes)| file.write_at(*at, bytes));
    }
    let blocks = Blocks::contiguous(region, block_bytes / T::INFO.bytes as u64);
    let (own, mut scratch) = (file.own(), Vec::new());
    each_of(world, &array, &blocks, &mut |block, cells| {
        outline.block((&region, block), (cells, T::INFO.bytes), &mut scratch, &mut |at, bytes| {
            own.write_at(at, bytes);
            own.check()
        })
    })?;
    file.finish()?;
    Ok(outline.length)
}

/// What all ranks are about to write. Collective.
fn planned(
    world: &World,
    path: &Path,
    (element, name): (&ElementInfo, &str),
    region: Result<Region>,
    metadata: &Metadata,
) -> Result<(Region, Plan)> {
    let mut metadata = metadata.sorted();
    metadata.name.get_or_insert_with(|| name.to_string());
    let what = saving(path, name, region.as_ref().ok(), &metadata);
    let plan = region.and_then(|region| Ok((region, plan(path, element, &region, &metadata)?)));
    world.agree(&what, plan)
}

/// The call of [`save`] or [`save_with`], as errors name it: the same on every rank where all that is saved is.
pub fn saving(path: &Path, name: &str, region: Option<&Region>, options: &impl Debug) -> String {
    let mut hasher = DefaultHasher::new();
    format!("{options:?}").hash(&mut hasher);
    let region = region.map_or_else(|| "a section that does not fit".to_owned(), Region::to_string);
    format!("save({}, {name:?} {region}, with options #{:016x})", path.display(), hasher.finish())
}

/// What a file of a box of an array will be.
///
/// # Errors
/// The format cannot hold it.
fn plan(
    path: &Path,
    element: &ElementInfo,
    region: &Region,
    metadata: &Metadata,
) -> std::result::Result<Plan, IoError> {
    let wrong = |message: String| IoError::request(path, message);
    let format = Format::of(path)?;
    if format != Format::Npy {
        metadata.check(region.axes()).map_err(wrong)?;
    }
    let shape = region.extents();
    let plan = match format {
        Format::Npy if !metadata.is_name_alone() => {
            Err("is NumPy, which keeps no axes, directions or attributes beside the \
             cells; .zarr, .vti, .pvti and .nrrd do"
                .into())
        }
        Format::Npy => numpy(element, region).map(Plan::One),
        Format::Vti => Image::new(element, &shape, metadata)
            .and_then(|image| image.file(&Region::whole(shape), true))
            .map(Plan::One),
        Format::Pvti => {
            pieces::check_name(path)?;
            Image::new(element, &shape, metadata).map(Plan::Pieces)
        }
        Format::Zarr => Err("is the name of a Zarr store, which is a directory".into()),
        Format::Nrrd if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("nhdr")) => {
            Err("is the name of a header alone; an array is saved to one file, which ends with .nrrd".into())
        }
        Format::Nrrd => nrrd::outline(element, region, metadata).map(Plan::One),
    };
    plan.map_err(wrong)
}

fn numpy(element: &ElementInfo, region: &Region) -> std::result::Result<Outline, String> {
    let mut outline = Outline::default();
    let header = npy::array::header(element, &region.extents());
    match outline.put(header) && outline.cells(element, region.cells()) {
        true => Ok(outline),
        false => Err("would have more bytes than fit 63 bits".into()),
    }
}
