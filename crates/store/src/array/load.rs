//! [`load`] and [`load_with`]: a global array from a file.

use std::path::Path;

use zippy::array::{ChunkRef, GlobalArray};
use zippy::element::{Element, ElementInfo};
use zippy::error::CallSite;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{Error, Layout, Result, World};

use super::blocks::BlockGrid;
use super::options::{LoadOptions, Loaded, ToLayout, to_layout};
use super::plan::ReadPlan;
use super::staging::ranges;
use super::supported::check_supported;
use super::window::Window;
#[cfg(feature = "zarr")]
use super::zarr;
use zippy_io::IoError;
#[cfg(feature = "zarr")]
use zippy_io::array::Format;
use zippy_io::array::Metadata;
use zippy_io::array::{CellSource, OpenedArray};

/// Bytes of cells per read.
const BLOCK_BYTES: u64 = 8 << 20;

/// Total bytes of incomplete blocks while a file is read from front to back.
const STREAM_BYTES: u64 = 16 << 20;

/// Loads all cells of a file into a new global array `name`: [`load_with`] with
/// [`LoadOptions::new`], without the metadata.
///
/// # Errors
/// As [`load_with`].
#[track_caller]
pub fn load<T: Element, const D: usize>(
    world: &World,
    path: impl AsRef<Path>,
    name: &str,
    layout: impl FnOnce([i64; D]) -> Layout,
) -> Result<GlobalArray<T, D>> {
    let _call = CallSite::enter();
    load_with(world, path, name, &LoadOptions::new(), layout).map(|loaded| loaded.array)
}

/// Loads a file into a new global array `name`. The file's extension selects the format
/// ([`Format`](zippy_io::array::Format)); `layout` returns the layout for the loaded shape.
/// Collective.
///
/// Every rank reads the cells of its own chunks. For a `.pvti`, the ranks share a first check of
/// all pieces, and each rank then opens the pieces that overlap its chunks. Ghost cells are zeros
/// until [`World::ghosts`], unless the options ask for them.
///
/// With steps, short gaps between loaded cells are read and discarded; long gaps are skipped. Every
/// rank reads compressed data (gzip) and text from front to back.
///
/// Each rank's host needs 16 MiB in addition to the array (24 MiB for records and for Fortran
/// order), and the staging of chunk writes.
///
/// # Errors
/// The same on every rank:
///
/// * a file that cannot be read, is of another format than its name says, has another length than
///   its header says, or is a different file on some rank;
/// * a Zarr store that is replaced during the read;
/// * cells of another type, or another number of axes;
/// * a section or steps that do not fit; a layout of another shape; as [`World::array`].
#[track_caller]
pub fn load_with<T: Element, const D: usize>(
    world: &World,
    path: impl AsRef<Path>,
    name: &str,
    options: &LoadOptions,
    layout: impl FnOnce([i64; D]) -> Layout,
) -> Result<Loaded<T, D>> {
    let _call = CallSite::enter();
    let path = path.as_ref();
    let layout = to_layout(layout);
    #[cfg(feature = "zarr")]
    if matches!(Format::of(path), Ok(Format::Zarr)) {
        return zarr::load(world, path, name, options, layout);
    }
    load_in_blocks(world, path, name, options, layout, BLOCK_BYTES)
}

/// [`load_with`] with `block_bytes` per read.
///
/// # Errors
/// As [`load_with`].
pub(super) fn load_in_blocks<T: Element, const D: usize>(
    world: &World,
    path: &Path,
    name: &str,
    options: &LoadOptions,
    layout: ToLayout<'_>,
    block_bytes: u64,
) -> Result<Loaded<T, D>> {
    let (found, window, metadata, what) = open(world, path, (&T::INFO, D), options)?;
    let layout = layout(&window.shape);
    check_layout(world, path, &layout, (&window.shape, found.fingerprint), &what)?;
    let array = world.array::<T, D>(name, &layout)?;
    let chunks: Vec<ChunkRef<T, D>> = array.chunks().filter(|chunk| !chunk.region().is_empty()).collect();
    let regions: Vec<Region> = chunks.iter().map(ChunkRef::region).collect();
    let write = |chunk: usize, region: &Region, bytes: &[u8]| {
        let section = chunks[chunk].at_global(ranges(region));
        match bytemuck::try_cast_slice(bytes) {
            Ok(values) => section.write(values),
            // The bytes are not aligned for the element type.
            Err(_) => section.write(&bytemuck::pod_collect_to_vec::<u8, T>(bytes)),
        }
    };
    world.agree(&what, fill(found, &window, (&regions, &write), (T::INFO.bytes as u64, block_bytes)))?;
    if options.ghosts {
        world.ghosts(&array)?;
    }
    Ok(Loaded { array, metadata })
}

/// Opens a file on every rank. The returned text names the call in errors, the same on every rank.
fn open(
    world: &World,
    path: &Path,
    (element, axes): (&ElementInfo, usize),
    options: &LoadOptions,
) -> Result<(OpenedArray, Window, Metadata, String)> {
    let open = || -> std::result::Result<_, IoError> {
        let checks_file = |number: usize| number % world.size() == world.rank();
        check_supported(path)?;
        let found = OpenedArray::open(path, element, axes, options.array.as_deref(), checks_file)?;
        let window = Window::new(path, &found.shape, options.section.as_deref(), options.step.as_deref())?;
        Ok((found, window))
    };
    let what = options.call("load", path);
    let (mut found, window) = world.agree(&what, open().map_err(Error::from))?;
    let metadata = window.metadata(std::mem::take(&mut found.metadata));
    Ok((found, window, metadata, what))
}

fn check_layout(
    world: &World,
    path: &Path,
    layout: &Layout,
    (shape, fingerprint): (&Index, u64),
    what: &str,
) -> Result<()> {
    let checked = if layout.shape() == *shape {
        Ok(())
    } else {
        let message = format!("holds an array of {shape}, and the layout has {}", layout.shape());
        Err(IoError::request(path, message).into())
    };
    // Different shapes or headers give different call names, which `agree` reports.
    world.agree(&format!("{what} of shape {shape} and header #{fingerprint:016x}"), checked)
}

/// A block of a chunk, written at once.
struct ChunkBlock {
    /// Index of the chunk among this rank's chunks.
    chunk: usize,
    region: Region,
    /// Boxes that are read separately.
    parts: Vec<Region>,
    /// Number of boxes that have not been read.
    missing: usize,
    /// Cells; empty before the first box.
    bytes: Vec<u8>,
}

/// Receives the index of this rank's chunk, a box of the chunk and the bytes of its cells.
type Write<'a> = &'a dyn Fn(usize, &Region, &[u8]) -> Result<()>;

/// Reads the cells of chunks and passes them to `write`.
fn fill(
    found: OpenedArray,
    window: &Window,
    (chunks, write): (&[Region], Write<'_>),
    sizes @ (cell_bytes, _): (u64, u64),
) -> Result<()> {
    let plan = |window: Window, shape: &Index| ReadPlan::new(window, shape, cell_bytes);
    let Some(order) = found.order.clone() else {
        let plan = plan(window.clone(), &found.shape);
        return fill_in_file(found, &plan, (chunks, write), sizes);
    };
    let plan = plan(window.reordered(&order), &order.to_file(&found.shape));
    let chunks: Vec<Region> = chunks.iter().map(|chunk| order.region_in_file(chunk)).collect();
    let arrange = |chunk: usize, region: &Region, bytes: &[u8]| {
        let mut arranged = vec![0; bytes.len()];
        order.arrange(&region.extents(), cell_bytes as usize, bytes, &mut arranged);
        write(chunk, &order.region_in_array(region), &arranged)
    };
    fill_in_file(found, &plan, (&chunks, &arrange), sizes)
}

/// [`fill`] of chunks whose axes are in the file's order.
fn fill_in_file(
    found: OpenedArray,
    plan: &ReadPlan,
    (chunks, write): (&[Region], Write<'_>),
    (cell_bytes, block_bytes): (u64, u64),
) -> Result<()> {
    let in_file: Vec<Region> = chunks.iter().map(|chunk| plan.window.in_file(chunk)).collect();
    let mut source = found.cells(&in_file)?;
    let plan = &if source.is_random() { plan.clone() } else { plan.without_gaps() };
    let bytes = cell_bytes.saturating_mul(plan.read_amplification());
    let mut blocks = BlockReader { plan, write, cell_bytes: cell_bytes as usize, scratch: Vec::new() };
    if source.is_random() {
        return chunks.iter().enumerate().try_for_each(|(chunk, region)| {
            let all = plan.blocks(*region, block_bytes / bytes);
            (0..all.count())
                .try_for_each(|number| blocks.read(&mut source, &mut [ChunkBlock::new(chunk, all.block(number), plan)]))
        });
    }
    // One pass for all chunks. Each chunk has at most one incomplete block.
    let most = (STREAM_BYTES / chunks.len().max(1) as u64).min(block_bytes) / bytes;
    let chunk_blocks = |(chunk, region): (usize, &Region)| {
        let all = BlockGrid::contiguous(*region, most);
        (0..all.count()).map(|number| ChunkBlock::new(chunk, all.block(number), plan)).collect::<Vec<_>>()
    };
    let mut all: Vec<ChunkBlock> = chunks.iter().enumerate().flat_map(chunk_blocks).collect();
    blocks.read(&mut source, &mut all)
}

impl ChunkBlock {
    fn new(chunk: usize, region: Region, plan: &ReadPlan) -> Self {
        let parts = plan.parts(&region);
        Self { chunk, region, missing: parts.len(), parts, bytes: Vec::new() }
    }
}

/// Transfer of blocks from a file to an array.
struct BlockReader<'a> {
    plan: &'a ReadPlan,
    write: Write<'a>,
    cell_bytes: usize,
    scratch: Vec<u8>,
}

impl BlockReader<'_> {
    fn read(&mut self, source: &mut CellSource, blocks: &mut [ChunkBlock]) -> Result<()> {
        let parts = |(number, block): (usize, &ChunkBlock)| (0..block.parts.len()).map(move |part| (number, part));
        let all: Vec<(usize, usize)> = blocks.iter().enumerate().flat_map(parts).collect();
        let in_file = |&(block, part): &(usize, usize)| self.plan.window.in_file(&blocks[block].parts[part]);
        let boxes: Vec<Region> = all.iter().map(in_file).collect();
        let mut scratch = std::mem::take(&mut self.scratch);
        let read = source.read(&boxes, &mut scratch, &mut |number, bytes| {
            let (block, part) = all[number];
            self.put(&mut blocks[block], part, bytes)
        });
        self.scratch = scratch;
        read
    }

    /// Adds a box to a block; the last box writes the block.
    fn put(&self, block: &mut ChunkBlock, part: usize, read: &[u8]) -> Result<()> {
        if block.parts.len() == 1 && self.plan.is_dense() {
            return (self.write)(block.chunk, &block.region, read);
        }
        block.bytes.resize(block.region.cells() as usize * self.cell_bytes, 0);
        self.plan.take(self.cell_bytes, (&block.region, &block.parts[part]), read, &mut block.bytes);
        block.missing -= 1;
        match block.missing {
            0 => (self.write)(block.chunk, &block.region, &std::mem::take(&mut block.bytes)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use zippy::{Config, run_with};

    use super::*;

    #[test]
    fn ranks_with_different_files_get_an_error() {
        let layout = Layout::new([3]);
        for other in [7, 8] {
            let result = run_with(Config::threads(3), |world| {
                let fingerprint = if world.rank() == 2 { other } else { 7 };
                check_layout(world, Path::new("a.npy"), &layout, (&Index::new(&[3]), fingerprint), "load(a.npy)")
            });
            assert_eq!(result.is_ok(), other == 7);
        }
    }
}
