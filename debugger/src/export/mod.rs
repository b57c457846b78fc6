//! Slices as files: exact numbers as `.npy` and `.csv`, colours as `.png`.

mod csv;
mod npy;
mod png;

pub use csv::csv;
pub use npy::npy;
pub use png::{MOST_EDGE, png};

use zippy::debug::protocol::{ElementType, Numbers, View};

use crate::look::{Quantity, Slice};

/// The cells of a slice that a view has, in rows.
pub struct Sheet<'a> {
    view: &'a View,
    element: &'a ElementType,
    slice: &'a Slice,
    /// Cells in a row.
    pub width: usize,
    /// Rows, the lower one first.
    pub height: usize,
    strides: [usize; 2],
    cell_bytes: usize,
}

impl<'a> Sheet<'a> {
    /// The slice of a view of whole cells, which has one index along each axis that the slice does not show.
    ///
    /// # Errors
    /// The view is of something else, or not as long as it says.
    pub fn new(view: &'a View, element: &'a ElementType, slice: &'a Slice) -> Result<Self, String> {
        let wrong = || "the view is not of this slice".to_string();
        let extents = view.of.extents().filter(|extents| extents.len() == slice.at.len()).ok_or_else(wrong)?;
        let cell_bytes = element.bytes as usize;
        let whole = view.of.numbers.is_none() && view.of.bytes(cell_bytes) == Some(view.cells.len()) && cell_bytes > 0;
        if !whole || slice.fixed().any(|axis| extents[axis] != 1) {
            return Err(wrong());
        }
        if let Some(beyond) =
            element.numbers.iter().find(|numbers| numbers.offset as usize + numbers.bytes() > cell_bytes)
        {
            return Err(format!("`{}` of {} reaches beyond its cell", beyond.name, element.name));
        }
        let width = extents[slice.across] as usize;
        let height = slice.up.map_or(1, |up| extents[up] as usize);
        // All other axes have one index.
        let strides = if slice.up.is_some_and(|up| up < slice.across) { [height, 1] } else { [1, width] };
        Ok(Self { view, element, slice, width, height, strides, cell_bytes })
    }

    /// The bytes of a cell.
    fn cell(&self, column: usize, row: usize) -> &'a [u8] {
        let at = (column * self.strides[0] + row * self.strides[1]) * self.cell_bytes;
        &self.view.cells[at..at + self.cell_bytes]
    }

    /// The bytes of some numbers of a cell.
    fn numbers(&self, column: usize, row: usize, numbers: &Numbers) -> &'a [u8] {
        let first = numbers.offset as usize;
        &self.cell(column, row)[first..first + numbers.bytes()]
    }

    /// The index in the array.
    fn index(&self, column: usize, row: usize) -> Vec<i64> {
        let mut index = self.view.of.start.clone();
        index[self.slice.across] += column as i64 * self.view.of.stride[self.slice.across];
        if let Some(up) = self.slice.up {
            index[up] += row as i64 * self.view.of.stride[up];
        }
        index
    }
}

/// What is written of each cell: one number, or everything.
pub type Wanted = Option<Quantity>;
