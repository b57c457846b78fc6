//! [`PlainCells`]: cells that a file stores in their memory layout.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use zippy_files::open_regular;
use zippy_plan::extents::Index;
use zippy_plan::region::Region;

use crate::IoError;
use crate::head::Head;
use crate::npy::array::NpyCells;

/// Maximum gap between two rows, in bytes, that is read with them; longer rows allow gaps of a
/// row's length.
const MAX_GAP: u64 = 4096;

const GROUP_BYTES: u64 = 8 << 20;

pub(super) struct PlainCells {
    path: PathBuf,
    file: File,
    cells: NpyCells,
    element_bytes: usize,
    scratch: Vec<u8>,
}

impl PlainCells {
    /// Opens the file; an error if it has changed since its header was read.
    pub(super) fn open(head: &Head, cells: NpyCells, element_bytes: usize) -> Result<Self, IoError> {
        let (file, length) = open_regular(&head.path)?;
        let path = head.path.clone();
        if length == head.length {
            Ok(Self { path, file, cells, element_bytes, scratch: Vec::new() })
        } else {
            Err(IoError::request(&path, "has become another file while it was opened"))
        }
    }

    /// The file's fastest axis is first.
    pub(super) fn read(&mut self, wanted: &Region, values: &mut Vec<u8>) -> Result<(), IoError> {
        values.resize(wanted.cells() as usize * self.element_bytes, 0);
        if values.is_empty() {
            return Ok(());
        }
        let read = if self.cells.planes == 1 {
            self.read_rows(
                wanted,
                values,
                StoredPlane { start: self.cells.start, cell_bytes: self.element_bytes as u64 },
            )
        } else {
            self.read_planes(wanted, values)
        };
        read.map_err(|error| IoError::system(&self.path, "read", &error))?;
        if self.cells.swap_width > 1 {
            values.chunks_exact_mut(self.cells.swap_width).for_each(<[u8]>::reverse);
        }
        Ok(())
    }

    /// Reads cells whose numbers are stored in separate planes.
    fn read_planes(&mut self, wanted: &Region, values: &mut [u8]) -> std::io::Result<()> {
        let size = self.element_bytes / self.cells.planes;
        let plane_bytes = self.shape().cells() * size as u64;
        let mut plane = vec![0; wanted.cells() as usize * size];
        for number in 0..self.cells.planes {
            let start = self.cells.start + number as u64 * plane_bytes;
            self.read_rows(wanted, &mut plane, StoredPlane { start, cell_bytes: size as u64 })?;
            let targets = values.chunks_exact_mut(self.element_bytes).map(|cell| &mut cell[number * size..][..size]);
            targets.zip(plane.chunks_exact(size)).for_each(|(target, number)| target.copy_from_slice(number));
        }
        Ok(())
    }

    fn shape(&self) -> Region {
        let shape = Index::new(&self.cells.shape);
        Region::whole(self.cells.order.as_ref().map_or(shape, |order| order.to_file(&shape)))
    }

    fn read_rows(&mut self, wanted: &Region, values: &mut [u8], plane: StoredPlane) -> std::io::Result<()> {
        let StoredPlane { start, cell_bytes: size } = plane;
        let whole = self.shape();
        let (shape, extents) = (whole.extents(), wanted.extents());
        // A row is contiguous in the file: fully read axes join with the next axis.
        let (mut axis, mut row, mut step) = (0, extents[0] as u64, shape[0] as u64);
        while row == step && axis + 1 < shape.axes() {
            axis += 1;
            row *= extents[axis] as u64;
            step *= shape[axis] as u64;
        }
        // Rows along the next axis are read together if the gaps are small.
        let along = if axis + 1 < shape.axes() { extents[axis + 1] as u64 } else { 1 };
        let is_near = (step - row) * size <= (row * size).max(MAX_GAP);
        let together = if is_near { (GROUP_BYTES / (step * size)).max(1) } else { 1 };
        let mut done = 0;
        while done < wanted.cells() / row {
            let count = together.min(along - done % along);
            let first = first_of_row(wanted, axis, done);
            self.file.seek(SeekFrom::Start(start + size * whole.offset(&first)))?;
            let to = (done * row * size) as usize;
            done += count;
            if count == 1 {
                self.file.read_exact(&mut values[to..to + (row * size) as usize])?;
                continue;
            }
            self.scratch.resize((((count - 1) * step + row) * size) as usize, 0);
            self.file.read_exact(&mut self.scratch)?;
            let read_rows = self.scratch.chunks((step * size) as usize);
            let targets = values[to..].chunks_exact_mut((row * size) as usize);
            targets.zip(read_rows).for_each(|(target, read)| target.copy_from_slice(&read[..target.len()]));
        }
        Ok(())
    }
}

/// Cells that follow each other in a file: all bytes of each cell, or one number of each.
#[derive(Clone, Copy)]
struct StoredPlane {
    /// Offset in the file.
    start: u64,
    cell_bytes: u64,
}

/// First cell of a row of a box. Rows run along axes up to `axis` and are numbered with the next
/// axis fastest.
fn first_of_row(wanted: &Region, axis: usize, row: u64) -> Index {
    let mut rest = row as i64;
    Index::from_fn(wanted.axes(), |at| {
        if at <= axis {
            return wanted.start[at];
        }
        let extent = wanted.end[at] - wanted.start[at];
        let index = rest % extent;
        rest /= extent;
        wanted.start[at] + index
    })
}
