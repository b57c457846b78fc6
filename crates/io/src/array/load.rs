//! [`load`]: a global array from a file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use zippy::array::GlobalArray;
use zippy::element::Element;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{Error, Layout, Result, World};

use super::blocks::Blocks;
use super::staging::ranges;
use crate::files::Head;
use crate::npy::array::Cells;
use crate::store::open_regular;
use crate::{IoError, npy};

/// So many bytes of cells are read at once.
const BLOCK_BYTES: u64 = 8 << 20;

/// What lies between two rows is read with them if it is no longer, or no longer than a row.
const PAGE: u64 = 4096;

/// A global array called `name` from a NumPy file, cut as `layout` says for the shape of the array in the file. Every rank
/// reads the cells of its own chunks. A name that ends with `.zarr` is that of a Zarr store: see
/// [`zarr::load`](super::zarr::load). Collective; ghost cells are zeros until [`World::ghosts`] fills them.
///
/// Needs 16 MiB on each rank's host beside the array, and what writing to chunks stages.
///
/// # Errors
/// The same on every rank: a file that cannot be read, is no NumPy file or of another length than its header says; cells of
/// another type, or another number of axes; a layout of another shape; as [`World::array`].
pub fn load<T: Element, const D: usize>(
    world: &World,
    path: impl AsRef<Path>,
    name: &str,
    layout: impl FnOnce([i64; D]) -> Layout,
) -> Result<GlobalArray<T, D>> {
    let path = path.as_ref();
    #[cfg(feature = "zarr")]
    if path.extension().is_some_and(|ending| ending == "zarr") {
        return Ok(super::zarr::load(world, path, name, None, None, [1; D], layout)?.0);
    }
    load_in_blocks(world, path, name, layout, BLOCK_BYTES)
}

/// [`load`] that reads so many bytes at once.
///
/// # Errors
/// As [`load`].
pub fn load_in_blocks<T: Element, const D: usize>(
    world: &World,
    path: &Path,
    name: &str,
    layout: impl FnOnce([i64; D]) -> Layout,
    block_bytes: u64,
) -> Result<GlobalArray<T, D>> {
    let open = || -> std::result::Result<_, IoError> {
        let head = Head::read(path)?;
        let cells = npy::array::open(&head, &T::INFO, D)?;
        let (file, length) = open_regular(path)?;
        match length == head.length {
            true => Ok((cells, file)),
            false => Err(IoError::request(path, "has become another file while it was opened")),
        }
    };
    let what = format!("loading {}", path.display());
    let (cells, mut file) = world.agree(&what, open().map_err(Error::from))?;
    let shape: [i64; D] = std::array::from_fn(|axis| cells.shape[axis]);
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
    let read = array.chunks().try_for_each(|chunk| -> Result<()> {
        let blocks = Blocks::contiguous(chunk.region(), block_bytes / T::INFO.bytes as u64);
        (0..blocks.count()).try_for_each(|number| {
            let block = blocks.block(number);
            let read = read_box::<T>(&mut file, &cells, &block, block_bytes);
            let values = read.map_err(|error| IoError::system(path, "read", &error))?;
            chunk.at_global(ranges(&block)).write(&values)
        })
    });
    world.agree(&what, read)?;
    Ok(array)
}

/// The cells of a box, axis 0 fastest.
fn read_box<T: Element>(file: &mut File, cells: &Cells, wanted: &Region, block_bytes: u64) -> std::io::Result<Vec<T>> {
    let (size, whole) = (size_of::<T>() as u64, Region::whole(Index::new(&cells.shape)));
    let (shape, extents) = (whole.extents(), wanted.extents());
    let mut values = vec![T::zeroed(); wanted.cells() as usize];
    // A row is what lies together in the file: axes of which all is wanted are one with the next.
    let (mut axis, mut row, mut step) = (0, extents[0] as u64, shape[0] as u64);
    while row == step && axis + 1 < shape.axes() {
        axis += 1;
        row *= extents[axis] as u64;
        step *= shape[axis] as u64;
    }
    // Rows along the next axis are read at once, with what lies between them, where that is not much.
    let along = if axis + 1 < shape.axes() { extents[axis + 1] as u64 } else { 1 };
    let is_near = (step - row) * size <= (row * size).max(PAGE);
    let together = if is_near { (block_bytes / (step * size)).max(1) } else { 1 };
    let (mut read, mut done) = (Vec::new(), 0);
    while done < wanted.cells() / row {
        let count = together.min(along - done % along);
        let first = first_of_row(wanted, axis, done);
        read.resize((((count - 1) * step + row) * size) as usize, 0);
        file.seek(SeekFrom::Start(cells.start + size * whole.offset(&first)))?;
        file.read_exact(&mut read)?;
        for number in 0..count {
            let from = (number * step * size) as usize;
            let to = ((done + number) * row) as usize;
            let values: &mut [u8] = bytemuck::cast_slice_mut(&mut values[to..to + row as usize]);
            values.copy_from_slice(&read[from..from + (row * size) as usize]);
        }
        done += count;
    }
    if cells.swap_width > 1 {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        bytes.chunks_exact_mut(cells.swap_width).for_each(<[u8]>::reverse);
    }
    Ok(values)
}

/// The first cell of a row of a box; a row runs along the axes up to one, and they are numbered with the next one fastest.
fn first_of_row(wanted: &Region, axis: usize, row: u64) -> Index {
    let mut rest = row as i64;
    Index::from_fn(wanted.axes(), |at| {
        if at <= axis {
            return wanted.start[at];
        }
        let extent = wanted.end[at] - wanted.start[at];
        let place = rest % extent;
        rest /= extent;
        wanted.start[at] + place
    })
}
