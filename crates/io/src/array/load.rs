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

/// Shorter rows are read together with what lies between them.
const LONG_ROW: u64 = 1 << 14;

/// A global array called `name` from a NumPy file, cut as `layout` says for the shape of the array in the file. Every rank
/// reads the cells of its own chunks. Collective; ghost cells are zeros until [`World::ghosts`] fills them.
///
/// Needs 16 MiB on each host beside the array.
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
    let open = || -> std::result::Result<_, IoError> {
        let cells = npy::array::open(&Head::read(path)?, &T::INFO, D)?;
        Ok((cells, open_regular(path)?.0))
    };
    let what = format!("loading {}", path.display());
    let (cells, mut file) = world.agree(&what, open().map_err(Error::from))?;
    let shape: [i64; D] = std::array::from_fn(|axis| cells.shape[axis]);
    let array = world.array::<T, D>(name, &layout(shape))?;
    let checked = match array.shape() == shape {
        true => Ok(()),
        false => {
            let message = format!("holds an array of shape {shape:?}, and the layout has {:?}", array.shape());
            Err(IoError::request(path, message).into())
        }
    };
    world.agree(&what, checked)?;
    let read = array.chunks().try_for_each(|chunk| -> Result<()> {
        let blocks = Blocks::contiguous(chunk.region(), BLOCK_BYTES / T::INFO.bytes as u64);
        (0..blocks.count()).try_for_each(|number| {
            let block = blocks.block(number);
            let read = read_box::<T>(&mut file, &cells, &block);
            let values = read.map_err(|error| IoError::system(path, "read", &error))?;
            chunk.at_global(ranges(&block)).write(&values)
        })
    });
    world.agree(&what, read)?;
    Ok(array)
}

/// The cells of a box, axis 0 fastest.
fn read_box<T: Element>(file: &mut File, cells: &Cells, wanted: &Region) -> std::io::Result<Vec<T>> {
    let (size, shape) = (size_of::<T>() as u64, Index::new(&cells.shape));
    let whole = Blocks::contiguous(Region::whole(shape), 1);
    let mut values = vec![T::zeroed(); wanted.cells() as usize];
    // Rows along axis 0, in the order of the file; those that lie near each other are read at once.
    let (row, step) = (wanted.extents()[0] as u64, shape[0] as u64);
    let rows = wanted.cells() / row.max(1);
    let together = if shape.axes() == 1 || row * size >= LONG_ROW && row < step {
        1
    } else {
        (BLOCK_BYTES / (step * size)).clamp(1, wanted.extents()[1] as u64)
    };
    let mut read = Vec::new();
    let mut done = 0;
    while done < rows {
        let (first, along) = (first_of_row(wanted, done), wanted.extents());
        // As many as are left along axis 1.
        let left = if shape.axes() == 1 { 1 } else { along[1] as u64 - done % along[1] as u64 };
        let count = together.min(left);
        let span = (count - 1) * step + row;
        read.resize((span * size) as usize, 0);
        file.seek(SeekFrom::Start(cells.start + size * whole.before(&first)))?;
        file.read_exact(&mut read)?;
        for number in 0..count {
            let from = (number * step * size) as usize;
            let to = ((done + number) * row) as usize;
            let values: &mut [u8] = bytemuck::cast_slice_mut(&mut values[to..to + row as usize]);
            values.copy_from_slice(&read[from..from + (row * size) as usize]);
        }
        done += count;
    }
    if cells.swapped > 1 {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        bytes.chunks_exact_mut(cells.swapped).for_each(<[u8]>::reverse);
    }
    Ok(values)
}

/// The first cell of a row of a box; rows are numbered axis 1 fastest.
fn first_of_row(wanted: &Region, row: u64) -> Index {
    let mut rest = row as i64;
    Index::from_fn(wanted.axes(), |axis| {
        if axis == 0 {
            return wanted.start[0];
        }
        let extent = wanted.end[axis] - wanted.start[axis];
        let at = rest % extent;
        rest /= extent;
        wanted.start[axis] + at
    })
}
