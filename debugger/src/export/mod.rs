//! Boxes of arrays as files: exact numbers as `.npy` and `.csv`, colours as `.png`.

mod csv;
mod npy;
mod png;

pub use csv::csv;
pub use npy::npy;
pub use png::{MOST_EDGE, png};

use std::path::Path;

use zippy::debug::protocol::{ElementType, Numbers, View};

use crate::look::Quantity;

/// Kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Colours.
    Png,
    /// Exact numbers, as NumPy has them.
    Npy,
    /// Exact numbers, as text.
    Csv,
}

impl Kind {
    /// All of them, with the endings of their names.
    pub const ALL: [(Self, &str); 3] = [(Self::Npy, "npy"), (Self::Csv, "csv"), (Self::Png, "png")];

    /// The kind of a file of this name.
    ///
    /// # Errors
    /// It ends as none.
    pub fn of(path: &Path) -> Result<Self, String> {
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
        let known = Self::ALL.iter().find(|(_, name)| Some(*name) == ending.as_deref());
        known.map(|(kind, _)| *kind).ok_or_else(|| format!("{path:?} ends in none of .png, .npy and .csv"))
    }
}

/// The cells that a view has along some axes: of a line, a slice, a box.
pub struct Sheet<'a> {
    view: &'a View,
    element: &'a ElementType,
    /// The first one fastest.
    axes: &'a [usize],
    /// Cells along each of them.
    extents: Vec<usize>,
    /// From one to the next in the view.
    steps: Vec<usize>,
    cell_bytes: usize,
}

impl<'a> Sheet<'a> {
    /// What a view of whole cells has along `axes`, the first one fastest; along each other one it has one index.
    ///
    /// # Errors
    /// The view is of something else, or not as long as it says.
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

    /// All its cells, as indices along its axes.
    fn places(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
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

    /// The bytes of some numbers of a cell.
    fn numbers(&self, place: &[usize], numbers: &Numbers) -> &'a [u8] {
        let cell: usize = place.iter().zip(&self.steps).map(|(at, step)| at * step).sum();
        let first = cell * self.cell_bytes + numbers.offset as usize;
        &self.view.cells[first..first + numbers.bytes()]
    }

    /// The index in the array.
    fn index(&self, place: &[usize]) -> Vec<i64> {
        let mut index = self.view.of.start.clone();
        for (&axis, &at) in self.axes.iter().zip(place) {
            index[axis] += at as i64 * self.view.of.stride[axis];
        }
        index
    }
}

/// What is written of each cell: one number, or everything.
pub type Wanted = Option<Quantity>;
