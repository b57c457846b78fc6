//! [`load`] and [`load_with`]: a global array from a file.

use std::path::Path;

use zippy::array::{ChunkRef, GlobalArray};
use zippy::element::Element;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{Error, Layout, Result, World};

use super::blocks::Blocks;
use super::options::{LoadOptions, Loaded};
use super::source::{Found, Source};
use super::staging::ranges;
use super::window::Window;
use crate::IoError;

/// So many bytes of cells are read at once.
const BLOCK_BYTES: u64 = 8 << 20;

/// Blocks that are begun and not done together, of a file that has to be read from front to back.
const STREAM_BYTES: u64 = 16 << 20;

/// A global array called `name` with all cells of a file: [`load_with`] with [`LoadOptions::new`], without the metadata.
///
/// # Errors
/// As [`load_with`].
pub fn load<T: Element, const D: usize>(
    world: &World,
    path: impl AsRef<Path>,
    name: &str,
    layout: impl FnOnce([i64; D]) -> Layout,
) -> Result<GlobalArray<T, D>> {
    load_with(world, path, name, &LoadOptions::new(), layout).map(|loaded| loaded.array)
}

/// A global array called `name` from a file of the format that the ending of its name says
/// ([`Format`](super::Format)), cut as `layout` says for the shape of what is loaded. Every rank reads the cells of its own
/// chunks; of `.pvti` it opens only the pieces that have some. Collective; where the options do not ask for ghost cells they
/// are zeros until [`World::ghosts`] fills them.
///
/// With steps, what lies between two cells that are taken is passed over where it is long, and else read with them.
/// Compressed data (gzip) and text are read from front to back by every rank.
///
/// Needs 16 MiB on each rank's host beside the array (24 MiB of records), and what writing to chunks stages.
///
/// # Errors
/// The same on every rank: a file that cannot be read, is of another format than its name says, or of another length than its
/// header says; cells of another type, or another number of axes; a section or steps that do not fit; a layout of another
/// shape; as [`World::array`].
pub fn load_with<T: Element, const D: usize>(
    world: &World,
    path: impl AsRef<Path>,
    name: &str,
    options: &LoadOptions,
    layout: impl FnOnce([i64; D]) -> Layout,
) -> Result<Loaded<T, D>> {
    load_in_blocks(world, path.as_ref(), name, options, layout, BLOCK_BYTES)
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
    layout: impl FnOnce([i64; D]) -> Layout,
    block_bytes: u64,
) -> Result<Loaded<T, D>> {
    let open = || -> std::result::Result<_, IoError> {
        let found = Found::open(path, &T::INFO, D, options.array.as_deref())?;
        let window = Window::new(path, &found.shape, options, T::INFO.bytes as u64)?;
        Ok((found, window))
    };
    let what = format!("loading {} with {options:?}", path.display());
    let (mut found, window) = world.agree(&what, open().map_err(Error::from))?;
    let metadata = window.metadata(std::mem::take(&mut found.metadata));
    let shape: [i64; D] = std::array::from_fn(|axis| window.shape[axis]);
    let layout = layout(shape);
    let checked = match *layout.shape() == *Index::new(&shape) {
        true => Ok(()),
        false => {
            let message = format!("holds an array of {}, and the layout has {}", Index::new(&shape), layout.shape());
            Err(IoError::request(path, message).into())
        }
    };
    // Ranks that see another shape have another call.
    world.agree(&format!("{what}, of shape {shape:?}"), checked)?;
    let array = world.array::<T, D>(name, &layout)?;
    world.agree(&what, fill(found, &window, &array, block_bytes))?;
    if options.ghosts {
        world.ghosts(&array)?;
    }
    Ok(Loaded { array, metadata })
}

/// A block of a chunk, which is written at once.
struct Block<T, const D: usize> {
    chunk: ChunkRef<T, D>,
    region: Region,
    /// The boxes of it that are read at once, and how many have not been.
    parts: Vec<Region>,
    left: usize,
    /// Empty before the first box is there.
    values: Vec<T>,
}

fn fill<T: Element, const D: usize>(
    found: Found,
    window: &Window,
    array: &GlobalArray<T, D>,
    block_bytes: u64,
) -> Result<()> {
    let chunks: Vec<ChunkRef<T, D>> = array.chunks().filter(|chunk| !chunk.region().is_empty()).collect();
    let in_file: Vec<Region> = chunks.iter().map(|chunk| window.in_file(&chunk.region())).collect();
    let mut source = found.cells(&in_file)?;
    let window = &if source.is_random() { window.clone() } else { window.without_gaps() };
    let bytes = (T::INFO.bytes as u64).saturating_mul(window.read_for_one());
    let mut values = Vec::new();
    if source.is_random() {
        return chunks.iter().try_for_each(|chunk| {
            let blocks = Blocks::contiguous(chunk.region(), block_bytes / bytes);
            (0..blocks.count()).try_for_each(|number| {
                let block = Block::new(chunk, blocks.block(number), window);
                read(&mut source, window, &mut [block], &mut values)
            })
        });
    }
    // All in one pass. Each chunk has one block that is begun.
    let most = (STREAM_BYTES / chunks.len().max(1) as u64).min(block_bytes) / bytes;
    let of_chunk = |chunk: &ChunkRef<T, D>| {
        let blocks = Blocks::contiguous(chunk.region(), most);
        (0..blocks.count()).map(|number| Block::new(chunk, blocks.block(number), window)).collect::<Vec<_>>()
    };
    let mut all: Vec<Block<T, D>> = chunks.iter().flat_map(of_chunk).collect();
    read(&mut source, window, &mut all, &mut values)
}

impl<T: Element, const D: usize> Block<T, D> {
    fn new(chunk: &ChunkRef<T, D>, region: Region, window: &Window) -> Self {
        let parts = window.parts(&region);
        Self { chunk: chunk.clone(), region, left: parts.len(), parts, values: Vec::new() }
    }

    /// Takes what has been read for a part; the last one writes the block.
    fn put(&mut self, part: usize, read: &[T], window: &Window) -> Result<()> {
        let whole = self.chunk.at_global(ranges(&self.region));
        if self.parts.len() == 1 && window.is_dense() {
            return whole.write(read);
        }
        self.values.resize(self.region.cells() as usize, T::zeroed());
        window.take((&self.region, &self.parts[part]), read, &mut self.values);
        self.left -= 1;
        match self.left {
            0 => whole.write(&std::mem::take(&mut self.values)),
            _ => Ok(()),
        }
    }
}

fn read<T: Element, const D: usize>(
    source: &mut Source,
    window: &Window,
    blocks: &mut [Block<T, D>],
    values: &mut Vec<T>,
) -> Result<()> {
    let parts = |(number, block): (usize, &Block<T, D>)| (0..block.parts.len()).map(move |part| (number, part));
    let all: Vec<(usize, usize)> = blocks.iter().enumerate().flat_map(parts).collect();
    let boxes: Vec<Region> = all.iter().map(|&(block, part)| window.in_file(&blocks[block].parts[part])).collect();
    source.read(&boxes, values, |number, values| {
        let (block, part) = all[number];
        blocks[block].put(part, values, window)
    })
}
