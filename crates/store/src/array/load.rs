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
use super::selection::FileSelection;
use super::staging::ranges;
use super::supported::check_supported;
#[cfg(feature = "zarr")]
use super::zarr;
use zippy_io::IoError;
#[cfg(feature = "zarr")]
use zippy_io::array::Format;
use zippy_io::array::Metadata;
use zippy_io::array::{CellSource, OpenedArray};

const BLOCK_BYTES: u64 = 8 << 20;

/// Total bytes of incomplete blocks while a file is read from front to back.
const STREAM_BYTES: u64 = 16 << 20;

/// [`load_with`] with [`LoadOptions::new`], without the metadata.
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

/// Loads a file into a new global array `name`. The file name's extension selects the format
/// ([`Format`](zippy_io::array::Format)); `layout` maps the loaded shape to the array's layout.
/// Collective.
///
/// - Each rank reads the cells of its chunks. For a `.pvti`, the ranks share a first check of all
///   pieces; each rank then opens the pieces that overlap its chunks.
/// - Ghost cells are zeros until [`World::ghosts`], unless the options request them.
/// - With steps, short gaps between loaded cells are read and discarded; long gaps are skipped.
/// - Every rank reads compressed data (gzip) and text from front to back.
/// - Host memory per rank, in addition to the array and the staging of chunk writes: 16 MiB (24 MiB
///   for records and for Fortran order).
///
/// # Errors
/// The same on every rank:
///
/// - a file that cannot be read, is of another format than its name says, has another length than
///   its header says, or is a different file on some rank;
/// - a Zarr store that is replaced during the read;
/// - cells of another type, or another number of axes;
/// - a section or steps that do not fit; a layout of another shape; as [`World::array`].
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

pub(super) fn load_in_blocks<T: Element, const D: usize>(
    world: &World,
    path: &Path,
    name: &str,
    options: &LoadOptions,
    layout: ToLayout<'_>,
    block_bytes: u64,
) -> Result<Loaded<T, D>> {
    let (opened, selection, metadata, call) = open(world, path, (&T::INFO, D), options)?;
    let layout = layout(&selection.shape);
    check_layout(world, path, &layout, (&selection.shape, opened.fingerprint), &call)?;
    let array = world.array::<T, D>(name, &layout)?;
    let chunks: Vec<ChunkRef<T, D>> = array.chunks().filter(|chunk| !chunk.region().is_empty()).collect();
    let regions: Vec<Region> = chunks.iter().map(ChunkRef::region).collect();
    let write = |chunk: usize, region: &Region, bytes: &[u8]| {
        let section = chunks[chunk].at_global(ranges(region));
        match bytemuck::try_cast_slice(bytes) {
            Ok(values) => section.write(values),
            Err(_) => section.write(&bytemuck::pod_collect_to_vec::<u8, T>(bytes)),
        }
    };
    let writer = ChunkWriter { chunks: &regions, write: &write };
    let sizes = ReadSizes { cell_bytes: T::INFO.bytes as u64, block_bytes };
    world.agree(&call, read_chunks(opened, &selection, writer, sizes))?;
    if options.ghosts {
        world.ghosts(&array)?;
    }
    Ok(Loaded { array, metadata })
}

/// Opens a file on every rank. The returned text names the call in errors.
fn open(
    world: &World,
    path: &Path,
    (element, axes): (&ElementInfo, usize),
    options: &LoadOptions,
) -> Result<(OpenedArray, FileSelection, Metadata, String)> {
    let open = || -> std::result::Result<_, IoError> {
        let checks_file = |number: usize| number % world.size() == world.rank();
        check_supported(path)?;
        let opened = OpenedArray::open(path, element, axes, options.array.as_deref(), checks_file)?;
        let selection = FileSelection::new(path, &opened.shape, options.section.as_deref(), options.step.as_deref())?;
        Ok((opened, selection))
    };
    let call = options.call("load", path);
    let (mut opened, selection) = world.agree(&call, open().map_err(Error::from))?;
    let metadata = selection.metadata(std::mem::take(&mut opened.metadata));
    Ok((opened, selection, metadata, call))
}

fn check_layout(
    world: &World,
    path: &Path,
    layout: &Layout,
    (shape, fingerprint): (&Index, u64),
    call: &str,
) -> Result<()> {
    let checked = if layout.shape() == *shape {
        Ok(())
    } else {
        let message = format!("holds an array of {shape}, and the layout has {}", layout.shape());
        Err(IoError::request(path, message).into())
    };
    // Different shapes or headers give different call names, which `agree` reports.
    world.agree(&format!("{call} of shape {shape} and header #{fingerprint:016x}"), checked)
}

struct ChunkBlock {
    chunk: usize,
    region: Region,
    parts: Vec<Region>,
    missing: usize,
    /// Cells; empty before the first box.
    bytes: Vec<u8>,
}

type WriteCells<'a> = &'a dyn Fn(usize, &Region, &[u8]) -> Result<()>;

#[derive(Clone, Copy)]
struct ChunkWriter<'a> {
    chunks: &'a [Region],
    write: WriteCells<'a>,
}

#[derive(Clone, Copy)]
struct ReadSizes {
    cell_bytes: u64,
    block_bytes: u64,
}

fn read_chunks(
    opened: OpenedArray,
    selection: &FileSelection,
    writer: ChunkWriter<'_>,
    sizes: ReadSizes,
) -> Result<()> {
    let plan = |selection: FileSelection, shape: &Index| ReadPlan::new(selection, shape, sizes.cell_bytes);
    let Some(order) = opened.order.clone() else {
        let plan = plan(selection.clone(), &opened.shape);
        return read_chunks_in_file_order(opened, &plan, writer, sizes);
    };
    let plan = plan(selection.reordered(&order), &order.to_file(&opened.shape));
    let chunks: Vec<Region> = writer.chunks.iter().map(|chunk| order.region_in_file(chunk)).collect();
    let arrange = |chunk: usize, region: &Region, bytes: &[u8]| {
        let mut arranged = vec![0; bytes.len()];
        order.arrange(&region.extents(), sizes.cell_bytes as usize, bytes, &mut arranged);
        (writer.write)(chunk, &order.region_in_array(region), &arranged)
    };
    read_chunks_in_file_order(opened, &plan, ChunkWriter { chunks: &chunks, write: &arrange }, sizes)
}

fn read_chunks_in_file_order(
    opened: OpenedArray,
    plan: &ReadPlan,
    writer: ChunkWriter<'_>,
    sizes: ReadSizes,
) -> Result<()> {
    let ChunkWriter { chunks, write } = writer;
    let ReadSizes { cell_bytes, block_bytes } = sizes;
    let in_file: Vec<Region> = chunks.iter().map(|chunk| plan.selection.in_file(chunk)).collect();
    let mut source = opened.cells(&in_file)?;
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
    // One pass for all chunks; each chunk has at most one incomplete block.
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

struct BlockReader<'a> {
    plan: &'a ReadPlan,
    write: WriteCells<'a>,
    cell_bytes: usize,
    scratch: Vec<u8>,
}

impl BlockReader<'_> {
    fn read(&mut self, source: &mut CellSource, blocks: &mut [ChunkBlock]) -> Result<()> {
        let parts = |(number, block): (usize, &ChunkBlock)| (0..block.parts.len()).map(move |part| (number, part));
        let all: Vec<(usize, usize)> = blocks.iter().enumerate().flat_map(parts).collect();
        let in_file = |&(block, part): &(usize, usize)| self.plan.selection.in_file(&blocks[block].parts[part]);
        let boxes: Vec<Region> = all.iter().map(in_file).collect();
        let mut scratch = std::mem::take(&mut self.scratch);
        let read = source.read(&boxes, &mut scratch, &mut |number, bytes| {
            let (block, part) = all[number];
            self.add_box(&mut blocks[block], part, bytes)
        });
        self.scratch = scratch;
        read
    }

    /// The last box completes the block and writes it.
    fn add_box(&self, block: &mut ChunkBlock, part: usize, read: &[u8]) -> Result<()> {
        if block.parts.len() == 1 && self.plan.is_dense() {
            return (self.write)(block.chunk, &block.region, read);
        }
        block.bytes.resize(block.region.cells() as usize * self.cell_bytes, 0);
        self.plan.take(self.cell_bytes, (&block.region, &block.parts[part]), read, &mut block.bytes);
        block.missing -= 1;
        if block.missing > 0 {
            return Ok(());
        }
        (self.write)(block.chunk, &block.region, &std::mem::take(&mut block.bytes))
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
