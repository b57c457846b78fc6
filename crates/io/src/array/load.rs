//! [`load`] and [`load_with`]: a global array from a file.

use std::path::Path;

use zippy::array::{ChunkRef, GlobalArray};
use zippy::element::{Element, ElementInfo};
use zippy::error::CallSite;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{Error, Layout, Result, World};

use super::blocks::Blocks;
#[cfg(feature = "zarr")]
use super::format::Format;
use super::metadata::Metadata;
use super::options::{LoadOptions, Loaded};
use super::plan::Plan;
use super::source::{Found, Source};
use super::staging::ranges;
use super::window::Window;
#[cfg(feature = "zarr")]
use super::zarr;
use crate::IoError;

/// So many bytes of cells are read at once.
const BLOCK_BYTES: u64 = 8 << 20;

/// Blocks that are begun and not done together, of a file that has to be read from front to back.
const STREAM_BYTES: u64 = 16 << 20;

/// A global array called `name` with all cells of a file: [`load_with`] with [`LoadOptions::new`], without the metadata.
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

/// A global array called `name` from a file of the format that the ending of its name says
/// ([`Format`](super::Format)), cut as `layout` says for the shape of what is loaded. Every rank reads the cells of its own
/// chunks; of `.pvti` it opens the pieces that have some, when all pieces together have been looked at once. Collective.
/// Where the options do not ask for ghost cells they are zeros until [`World::ghosts`] fills them.
///
/// With steps, what lies between two cells that are taken is passed over where it is long, and else read with them.
/// Compressed data (gzip) and text are read from front to back by every rank.
///
/// Needs 16 MiB on each rank's host beside the array (24 MiB of records, and in Fortran order), and what writing to chunks stages.
///
/// # Errors
/// The same on every rank: a file that cannot be read, is of another format than its name says, or of another length than its
/// header says, or that is another one on some rank; of Zarr a store that is replaced while it is read; cells of another type, or another number of axes; a section or steps that do not fit; a layout of another
/// shape; as [`World::array`].
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

/// What a caller says of the layout for a shape; not a type of its own, so that a load is compiled once for cells of a type and
/// so many axes.
pub type ToLayout<'a> = Box<dyn FnOnce(&Index) -> Layout + 'a>;

pub fn to_layout<'a, const D: usize>(layout: impl FnOnce([i64; D]) -> Layout + 'a) -> ToLayout<'a> {
    Box::new(move |shape: &Index| layout(std::array::from_fn(|axis| shape[axis])))
}

/// [`load_with`] that reads so many bytes at once.
///
/// # Errors
/// As [`load_with`].
pub fn load_in_blocks<T: Element, const D: usize>(
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
        let place = chunks[chunk].at_global(ranges(region));
        match bytemuck::try_cast_slice(bytes) {
            Ok(values) => place.write(values),
            // Memory that lies between the places where a value may begin.
            Err(_) => place.write(&bytemuck::pod_collect_to_vec::<u8, T>(bytes)),
        }
    };
    world.agree(&what, fill(found, &window, (&regions, &write), (T::INFO.bytes as u64, block_bytes)))?;
    if options.ghosts {
        world.ghosts(&array)?;
    }
    Ok(Loaded { array, metadata })
}

/// Opens a file on every rank; the text says what the call is, the same on every rank.
fn open(
    world: &World,
    path: &Path,
    (element, axes): (&ElementInfo, usize),
    options: &LoadOptions,
) -> Result<(Found, Window, Metadata, String)> {
    let open = || -> std::result::Result<_, IoError> {
        let own = |number: usize| number % world.size() == world.rank();
        let found = Found::open(path, element, axes, options.array.as_deref(), own)?;
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
    let checked = match layout.shape() == *shape {
        true => Ok(()),
        false => {
            let message = format!("holds an array of {shape}, and the layout has {}", layout.shape());
            Err(IoError::request(path, message).into())
        }
    };
    // Ranks that see another shape, or another file, have another call.
    world.agree(&format!("{what} of shape {shape} and header #{fingerprint:016x}"), checked)
}

/// A block of a chunk, which is written at once.
struct Block {
    /// Which chunk of this rank it is of.
    chunk: usize,
    region: Region,
    /// The boxes of it that are read at once, and how many have not been.
    parts: Vec<Region>,
    left: usize,
    /// Empty before the first box is there.
    bytes: Vec<u8>,
}

/// Takes the number of a chunk of this rank, a box of it and the bytes of its cells.
type Write<'a> = &'a dyn Fn(usize, &Region, &[u8]) -> Result<()>;

/// Reads the cells of chunks and hands them to `write`.
fn fill(
    found: Found,
    window: &Window,
    (chunks, write): (&[Region], Write),
    sizes @ (cell_bytes, _): (u64, u64),
) -> Result<()> {
    let plan = |window: Window, shape: &Index| Plan::new(window, shape, cell_bytes);
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
    found: Found,
    plan: &Plan,
    (chunks, write): (&[Region], Write),
    (cell_bytes, block_bytes): (u64, u64),
) -> Result<()> {
    let in_file: Vec<Region> = chunks.iter().map(|chunk| plan.window.in_file(chunk)).collect();
    let mut source = found.cells(&in_file)?;
    let plan = &if source.is_random() { plan.clone() } else { plan.without_gaps() };
    let bytes = cell_bytes.saturating_mul(plan.read_for_one());
    let mut blocks = Reading { plan, write, cell_bytes: cell_bytes as usize, scratch: Vec::new() };
    if source.is_random() {
        return chunks.iter().enumerate().try_for_each(|(chunk, region)| {
            let all = plan.blocks(*region, block_bytes / bytes);
            (0..all.count())
                .try_for_each(|number| blocks.read(&mut source, &mut [Block::new(chunk, all.block(number), plan)]))
        });
    }
    // All in one pass. Each chunk has one block that is begun.
    let most = (STREAM_BYTES / chunks.len().max(1) as u64).min(block_bytes) / bytes;
    let of_chunk = |(chunk, region): (usize, &Region)| {
        let all = Blocks::contiguous(*region, most);
        (0..all.count()).map(|number| Block::new(chunk, all.block(number), plan)).collect::<Vec<_>>()
    };
    let mut all: Vec<Block> = chunks.iter().enumerate().flat_map(of_chunk).collect();
    blocks.read(&mut source, &mut all)
}

impl Block {
    fn new(chunk: usize, region: Region, plan: &Plan) -> Self {
        let parts = plan.parts(&region);
        Self { chunk, region, left: parts.len(), parts, bytes: Vec::new() }
    }
}

/// How blocks come from a file into an array.
struct Reading<'a> {
    plan: &'a Plan,
    write: Write<'a>,
    cell_bytes: usize,
    scratch: Vec<u8>,
}

impl Reading<'_> {
    fn read(&mut self, source: &mut Source, blocks: &mut [Block]) -> Result<()> {
        let parts = |(number, block): (usize, &Block)| (0..block.parts.len()).map(move |part| (number, part));
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

    /// Takes what has been read for a part of a block; the last one writes it.
    fn put(&self, block: &mut Block, part: usize, read: &[u8]) -> Result<()> {
        if block.parts.len() == 1 && self.plan.is_dense() {
            return (self.write)(block.chunk, &block.region, read);
        }
        block.bytes.resize(block.region.cells() as usize * self.cell_bytes, 0);
        self.plan.take(self.cell_bytes, (&block.region, &block.parts[part]), read, &mut block.bytes);
        block.left -= 1;
        match block.left {
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
    fn ranks_that_see_other_files_know() {
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
