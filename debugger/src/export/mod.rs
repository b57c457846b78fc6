//! Export of boxes of arrays: exact numbers as `.npy` and `.csv`, colours as `.png`.

mod csv;
mod npy;
mod png;

pub use csv::csv;
pub use npy::npy;
pub use png::{MAX_EDGE, png};

use std::path::Path;

use zippy_protocol::{ElementType, Numbers, View};

use crate::imaging::Quantity;

/// Format of an exported file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Colours.
    Png,
    /// Exact numbers, as a NumPy array.
    Npy,
    /// Exact numbers, as text.
    Csv,
}

impl FileFormat {
    /// All formats with their file name extensions.
    pub const ALL: [(Self, &str); 3] = [(Self::Npy, "npy"), (Self::Csv, "csv"), (Self::Png, "png")];

    /// Returns the format of a file name.
    ///
    /// # Errors
    /// The name has no known extension.
    pub fn of(path: &Path) -> Result<Self, String> {
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
        let known = Self::ALL.iter().find(|(_, name)| Some(*name) == ending.as_deref());
        known.map(|(kind, _)| *kind).ok_or_else(|| format!("{path:?} ends in none of .png, .npy and .csv"))
    }
}

/// The cells of a view along some axes: a line, a plane or a box.
pub struct CellGrid<'a> {
    view: &'a View,
    element: &'a ElementType,
    /// Axes, with the first one fastest.
    axes: &'a [usize],
    /// Number of cells along each axis.
    extents: Vec<usize>,
    /// Distance of neighbours in the view along each axis, in cells.
    steps: Vec<usize>,
    cell_bytes: usize,
}

impl<'a> CellGrid<'a> {
    /// Creates the grid of a view of whole cells along `axes`, with the first one fastest. Along
    /// each other axis, the view must have a single index.
    ///
    /// # Errors
    /// The view has other axes or a wrong number of bytes.
    pub fn new(view: &'a View, element: &'a ElementType, axes: &'a [usize]) -> Result<Self, String> {
        let wrong = || "the view is not of these axes".to_string();
        let all = view.of.extents().ok_or_else(wrong)?;
        let cell_bytes = element.bytes as usize;
        let whole = view.of.numbers.is_none() && view.of.bytes(cell_bytes) == Some(view.cells.len()) && cell_bytes > 0;
        let fixed = (0..all.len()).all(|axis| axes.contains(&axis) || all[axis] == 1);
        if !whole || !fixed || axes.iter().any(|&axis| axis >= all.len()) {
            return Err(wrong());
        }
        if let Some(beyond) =
            element.numbers.iter().find(|numbers| numbers.offset as usize + numbers.bytes() > cell_bytes)
        {
            return Err(format!("`{}` of {} reaches beyond its cell", beyond.name, element.name));
        }
        let step = |axis: usize| all[..axis].iter().product::<i64>() as usize;
        let extents = axes.iter().map(|&axis| all[axis] as usize).collect();
        let steps = axes.iter().map(|&axis| step(axis)).collect();
        Ok(Self { view, element, axes, extents, steps, cell_bytes })
    }

    /// Returns all cells as indices along the axes.
    fn cells(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        let count: usize = self.extents.iter().product();
        (0..count).map(|number| {
            let mut rest = number;
            let along = |&extent: &usize| {
                let at = rest % extent;
                rest /= extent;
                at
            };
            self.extents.iter().map(along).collect()
        })
    }

    /// Returns the bytes of some numbers of a cell.
    fn numbers(&self, cell: &[usize], numbers: &Numbers) -> &'a [u8] {
        let position: usize = cell.iter().zip(&self.steps).map(|(at, step)| at * step).sum();
        let first = position * self.cell_bytes + numbers.offset as usize;
        &self.view.cells[first..first + numbers.bytes()]
    }

    fn index(&self, cell: &[usize]) -> Vec<i64> {
        let mut index = self.view.of.start.clone();
        for (&axis, &at) in self.axes.iter().zip(cell) {
            index[axis] += at as i64 * self.view.of.stride[axis];
        }
        index
    }
}

/// Selected numbers of each cell: one quantity, or all numbers for `None`.
pub type NumberSelection = Option<Quantity>;
