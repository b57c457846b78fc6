//! What a user asks for: [`Layout`], a shape with its cuts, ghost widths and periodicity.
//!
//! A layout is a wish, without any rank or byte in it; [`Layout::resolve`] turns it into [`Chunks`],
//! which is where everything is validated, once.
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

/// How one axis is cut.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Split {
    /// Not at all.
    Whole,
    /// Into this many parts whose sizes differ by at most one cell, the larger ones first; parts are
    /// empty when the axis has fewer cells.
    Even(usize),
    /// Into parts of these sizes, which add up to the extent of the axis. Zero makes an empty chunk.
    Sizes(Vec<i64>),
    /// By the library, from the number of ranks and the largest chunk that the device can bind:
    /// near-cubic chunks of nearly the same size, one per rank, or a multiple of that when chunks would be
    /// too large; fewer where there are fewer cells. Where every axis is `Auto` and no grid does that, as
    /// with 13 ranks and 12 x 10 x 9 cells, the chunks are boxes that are no grid
    /// ([`Chunks::grid`](crate::chunks::Chunks::grid) is `None`). Beside axes that are cut otherwise it is a
    /// grid, with at least one chunk per rank.
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

/// Shape, cuts, ghost widths and periodicity of an array, as its user wants them.
///
/// Building never fails: the first mistake is kept, and reported by whoever uses the layout. Cells of
/// axis 0 are adjacent in memory. Without cuts every axis is [`Split::Auto`].
///
/// ```
/// use zippy_plan::layout::{Layout, Split};
/// let layout = Layout::new([8, 6, 6]).split([[3, 2, 3].into(), Split::Even(2), Split::Even(2)]).ghost([1, 1, 1]);
/// let chunks = layout.resolve(4, 4, 1 << 27)?;
/// assert_eq!(chunks.count(), 12);
/// assert_eq!(chunks.region(1).to_string(), "[3..5, 0..3, 0..3]");
/// assert_eq!(chunks.storage(1).to_string(), "[2..6, -1..4, -1..4]");
/// # Ok::<(), zippy_plan::error::LayoutError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    shape: Index,
    cuts: Option<AskedCuts>,
    ghost_lo: Index,
    ghost_hi: Index,
    periodic: [bool; MAX_AXES],
    mistake: Option<LayoutError>,
}

#[derive(Debug, Clone, PartialEq)]
enum AskedCuts {
    Splits(Vec<Split>),
    Boxes(Arc<[Region]>),
}

/// Numbers of any integer type as an [`Index`], or the error that names the axis.
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
    /// An array of this shape, in cells, 1 to 7 axes, axis 0 fastest; no ghosts, not periodic. Axes
    /// may have no cells.
    pub fn new<I: Copy + Display + TryInto<i64>, const D: usize>(shape: [I; D]) -> Self {
        Self::from_shape(&shape)
    }

    /// [`new`](Self::new) for a number of axes that is known at run time only.
    pub fn from_shape<I: Copy + Display + TryInto<i64>>(shape: &[I]) -> Self {
        let (shape, mistake) = match sizes("the shape", shape) {
            Ok(shape) => (shape, None),
            Err(mistake) => (Index::zeros(shape.len().clamp(1, MAX_AXES)), Some(mistake)),
        };
        let none = Index::zeros(shape.axes());
        Self { shape, cuts: None, ghost_lo: none, ghost_hi: none, periodic: [false; MAX_AXES], mistake }
    }

    /// Cuts each axis on its own; the chunks are the boxes of the grid that results, numbered axis 0
    /// fastest (but see [`Split::Auto`]).
    pub fn split<const D: usize>(self, splits: [Split; D]) -> Self {
        self.split_list(splits.to_vec())
    }

    /// [`split`](Self::split) for a number of axes that is known at run time only.
    pub fn split_list(mut self, splits: Vec<Split>) -> Self {
        self.check_axes("a split", splits.len());
        if matches!(self.cuts, Some(AskedCuts::Boxes(_))) {
            self.keep(LayoutError::SplitAndBoxes);
        }
        self.cuts = Some(AskedCuts::Splits(splits));
        self
    }

    /// Cuts every axis in the same way.
    pub fn split_all(self, split: Split) -> Self {
        let axes = self.shape.axes();
        self.split_list(vec![split; axes])
    }

    /// Cuts by boxes: chunk `i` is the `i`-th box. They must be disjoint and cover the shape; boxes
    /// may be empty. k-d trees and other irregular cuts.
    pub fn boxes(mut self, boxes: Vec<Region>) -> Self {
        if matches!(self.cuts, Some(AskedCuts::Splits(_))) {
            self.keep(LayoutError::SplitAndBoxes);
        }
        self.cuts = Some(AskedCuts::Boxes(boxes.into()));
        self
    }

    /// Ghost cells around every chunk, the same number on both sides of an axis.
    pub fn ghost<I: Copy + Display + TryInto<i64>, const D: usize>(self, widths: [I; D]) -> Self {
        self.ghost_lists(&widths, &widths)
    }

    /// Ghost cells before and behind every chunk, `(before, behind)` for each axis.
    pub fn ghost_sides<I: Copy + Display + TryInto<i64>, const D: usize>(self, widths: [(I, I); D]) -> Self {
        self.ghost_lists(&widths.map(|(before, _)| before), &widths.map(|(_, behind)| behind))
    }

    /// [`ghost_sides`](Self::ghost_sides) for a number of axes that is known at run time only.
    pub fn ghost_lists<I: Copy + Display + TryInto<i64>>(mut self, before: &[I], behind: &[I]) -> Self {
        self.check_axes("a ghost width", before.len());
        self.check_axes("a ghost width", behind.len());
        match sizes("a ghost width", before).and_then(|lo| Ok((lo, sizes("a ghost width", behind)?))) {
            Ok((lo, hi)) => (self.ghost_lo, self.ghost_hi) = (lo, hi),
            Err(mistake) => self.keep(mistake),
        }
        self
    }

    /// Which axes are periodic: their first cell follows their last one, as far as ghost cells are
    /// concerned.
    pub fn periodic<const D: usize>(self, axes: [bool; D]) -> Self {
        self.periodic_list(&axes)
    }

    /// [`periodic`](Self::periodic) for a number of axes that is known at run time only.
    pub fn periodic_list(mut self, axes: &[bool]) -> Self {
        self.check_axes("periodicity", axes.len());
        for (own, &given) in self.periodic.iter_mut().zip(axes) {
            *own = given;
        }
        self
    }

    /// The shape, in cells. Zeros when the shape given was invalid.
    pub fn shape(&self) -> Index {
        self.shape
    }

    /// The first mistake made while building, if any.
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
