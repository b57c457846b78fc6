//! [`Layout`]: requested shape, cuts, ghost widths and periodicity of an array, independent of
//! ranks and element types. [`Layout::resolve`] checks the layout and converts it to [`Chunks`].
//!
//! [`Chunks`]: crate::chunks::Chunks

mod auto;
mod bisect;
mod resolve;

use std::fmt::Display;
use std::sync::Arc;

use crate::error::LayoutError;
use crate::extents::{Index, MAX_AXES};
use crate::region::Region;

/// Cuts of an axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Split {
    /// No cuts.
    Whole,
    /// This number of parts with sizes that differ by at most one cell, larger parts first. Surplus
    /// parts are empty.
    Even(usize),
    /// Parts of these sizes. Their sum is the extent of the axis. Size 0 gives an empty chunk.
    Sizes(Vec<i64>),
    /// Nearly cubic chunks of nearly equal sizes, chosen from the number of ranks and the largest
    /// chunk that the device can bind.
    ///
    /// * The number of chunks is the number of ranks, a multiple for a smaller chunk size, or less
    ///   if the array has fewer cells.
    /// * If all axes are `Auto` and no grid has this number of chunks, as with 13 ranks and 12 x 10
    ///   x 9 cells, the chunks are boxes without a grid
    ///   ([`Chunks::grid`](crate::chunks::Chunks::grid) is `None`).
    /// * With other splits on other axes, the chunks form a grid with at least one chunk per rank.
    Auto,
}

impl<const N: usize> From<[i64; N]> for Split {
    fn from(sizes: [i64; N]) -> Self {
        Self::Sizes(sizes.to_vec())
    }
}

impl From<Vec<i64>> for Split {
    fn from(sizes: Vec<i64>) -> Self {
        Self::Sizes(sizes)
    }
}

/// Requested shape, cuts, ghost widths and periodicity of an array.
///
/// The methods that build a layout never fail: a layout keeps its first mistake for the functions
/// that use it. Cells along axis 0 are adjacent in memory. The default is [`Split::Auto`] on all
/// axes.
///
/// ```
/// use zippy_plan::layout::{Layout, Split};
/// let splits = [[3, 2, 3].into(), Split::Even(2), Split::Even(2)];
/// let layout = Layout::new([8, 6, 6]).split(splits).ghost([1, 1, 1]);
/// let chunks = layout.resolve(4, 4, 1 << 27)?;
/// assert_eq!(chunks.count(), 12);
/// assert_eq!(chunks.region(1).to_string(), "[3..5, 0..3, 0..3]");
/// assert_eq!(chunks.storage(1).to_string(), "[2..6, -1..4, -1..4]");
/// # Ok::<(), zippy_plan::error::LayoutError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    shape: Index,
    cuts: Option<RequestedCuts>,
    ghost_lo: Index,
    ghost_hi: Index,
    periodic: [bool; MAX_AXES],
    mistake: Option<LayoutError>,
}

#[derive(Debug, Clone, PartialEq)]
enum RequestedCuts {
    Splits(Vec<Split>),
    Boxes(Arc<[Region]>),
}

/// Converts sizes of any integer type to an [`Index`]. `what` is the name of the sizes in the
/// error.
fn sizes<I: Copy + Display + TryInto<i64>>(what: &'static str, given: &[I]) -> Result<Index, LayoutError> {
    if given.is_empty() || given.len() > MAX_AXES {
        return Err(LayoutError::AxisCount { given: given.len() });
    }
    let mut out = Index::zeros(given.len());
    for (axis, &size) in given.iter().enumerate() {
        match size.try_into() {
            Ok(size) if size >= 0 => out[axis] = size,
            _ => return Err(LayoutError::Size { what, axis, given: size.to_string() }),
        }
    }
    Ok(out)
}

impl Layout {
    /// Layout with this shape in cells, 1 to 7 axes, axis 0 fastest, without ghost cells and
    /// periodic axes. Extents can be 0.
    pub fn new<I: Copy + Display + TryInto<i64>, const D: usize>(shape: [I; D]) -> Self {
        Self::from_shape(&shape)
    }

    /// [`new`](Self::new) for a number of axes known at run time.
    pub fn from_shape<I: Copy + Display + TryInto<i64>>(shape: &[I]) -> Self {
        let (shape, mistake) = match sizes("the shape", shape) {
            Ok(shape) => (shape, None),
            Err(mistake) => (Index::zeros(shape.len().clamp(1, MAX_AXES)), Some(mistake)),
        };
        let none = Index::zeros(shape.axes());
        Self { shape, cuts: None, ghost_lo: none, ghost_hi: none, periodic: [false; MAX_AXES], mistake }
    }

    /// Sets the cuts of each axis. The chunks form a grid with axis 0 fastest, except with
    /// [`Split::Auto`] on all axes.
    pub fn split<const D: usize>(self, splits: [Split; D]) -> Self {
        self.split_list(splits.to_vec())
    }

    /// [`split`](Self::split) for a number of axes known at run time.
    pub fn split_list(mut self, splits: Vec<Split>) -> Self {
        self.check_axes("a split", splits.len());
        if matches!(self.cuts, Some(RequestedCuts::Boxes(_))) {
            self.keep(LayoutError::SplitAndBoxes);
        }
        self.cuts = Some(RequestedCuts::Splits(splits));
        self
    }

    /// Sets the same cuts for all axes.
    pub fn split_all(self, split: Split) -> Self {
        let axes = self.shape.axes();
        self.split_list(vec![split; axes])
    }

    /// Sets chunk `i` to box `i`. The boxes must be disjoint and cover the shape, and can be empty.
    pub fn boxes(mut self, boxes: Vec<Region>) -> Self {
        if matches!(self.cuts, Some(RequestedCuts::Splits(_))) {
            self.keep(LayoutError::SplitAndBoxes);
        }
        self.cuts = Some(RequestedCuts::Boxes(boxes.into()));
        self
    }

    /// Sets the ghost widths of all chunks, equal on both sides of an axis.
    pub fn ghost<I: Copy + Display + TryInto<i64>, const D: usize>(self, widths: [I; D]) -> Self {
        self.ghost_lists(&widths, &widths)
    }

    /// Sets the ghost widths of all chunks, as `(before, after)` per axis.
    pub fn ghost_sides<I: Copy + Display + TryInto<i64>, const D: usize>(self, widths: [(I, I); D]) -> Self {
        self.ghost_lists(&widths.map(|(before, _)| before), &widths.map(|(_, after)| after))
    }

    /// [`ghost_sides`](Self::ghost_sides) for a number of axes known at run time.
    pub fn ghost_lists<I: Copy + Display + TryInto<i64>>(mut self, before: &[I], after: &[I]) -> Self {
        self.check_axes("a ghost width", before.len());
        self.check_axes("a ghost width", after.len());
        match sizes("a ghost width", before).and_then(|lo| Ok((lo, sizes("a ghost width", after)?))) {
            Ok((lo, hi)) => (self.ghost_lo, self.ghost_hi) = (lo, hi),
            Err(mistake) => self.keep(mistake),
        }
        self
    }

    /// Sets the periodic axes. Ghost cells beyond a periodic axis are images of its opposite end.
    pub fn periodic<const D: usize>(self, axes: [bool; D]) -> Self {
        self.periodic_list(&axes)
    }

    /// [`periodic`](Self::periodic) for a number of axes known at run time.
    pub fn periodic_list(mut self, axes: &[bool]) -> Self {
        self.check_axes("periodicity", axes.len());
        for (is_periodic, &value) in self.periodic.iter_mut().zip(axes) {
            *is_periodic = value;
        }
        self
    }

    /// Shape in cells. Zeros for an invalid shape.
    pub fn shape(&self) -> Index {
        self.shape
    }

    /// First mistake of the layout, if any.
    pub fn mistake(&self) -> Option<&LayoutError> {
        self.mistake.as_ref()
    }

    fn check_axes(&mut self, what: &'static str, given: usize) {
        let expected = self.shape.axes();
        if given != expected {
            self.keep(LayoutError::Axes { what, given, expected });
        }
    }

    fn keep(&mut self, mistake: LayoutError) {
        self.mistake.get_or_insert(mistake);
    }
}

#[cfg(test)]
mod tests;
