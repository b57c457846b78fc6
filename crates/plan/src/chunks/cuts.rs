//! The two kinds of cuts: a grid of per-axis cuts, and boxes under a spatial index.

use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::extents::Index;
use crate::region::{Region, RegionTree};

/// The number of a chunk: grid chunks are numbered axis 0 fastest, boxes in the order given.
pub type ChunkId = usize;

/// Writes the first of a list.
pub(crate) fn write_list<T: Display>(
    f: &mut Formatter<'_>,
    mut items: impl ExactSizeIterator<Item = T>,
    most: usize,
) -> fmt::Result {
    let all = items.len() <= most;
    f.write_str("[")?;
    items
        .by_ref()
        .take(most)
        .enumerate()
        .try_for_each(|(place, item)| write!(f, "{}{item}", if place > 0 { ", " } else { "" }))?;
    f.write_str(if all { "]" } else { ", …]" })
}

/// How an array is cut.
#[derive(Debug, Clone, PartialEq, Hash)]
pub(crate) enum Cuts {
    /// One cut per axis; chunks are numbered axis 0 fastest.
    Grid(Vec<AxisCuts>),
    /// Disjoint boxes that cover the shape.
    Boxes(BoxCuts),
}

/// Boxes with their spatial index, shared by clones.
#[derive(Debug, Clone)]
pub(crate) struct BoxCuts {
    boxes: Arc<[Region]>,
    tree: Arc<RegionTree>,
}

impl BoxCuts {
    pub(crate) fn new(boxes: Arc<[Region]>, tree: RegionTree) -> Self {
        Self { boxes, tree: Arc::new(tree) }
    }
}

impl PartialEq for BoxCuts {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.boxes, &other.boxes) || self.boxes == other.boxes
    }
}

impl Hash for BoxCuts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.boxes.hash(state);
    }
}

impl Cuts {
    /// Writes sizes along each axis, or boxes, at most so many; whether that was all.
    pub(crate) fn write(&self, f: &mut Formatter<'_>, most: usize) -> Result<bool, fmt::Error> {
        match self {
            Self::Grid(axes) => {
                for (axis, cuts) in axes.iter().enumerate() {
                    f.write_str(if axis > 0 { " x " } else { "" })?;
                    let sizes = (0..cuts.count()).map(|part| cuts.range(part).1 - cuts.range(part).0);
                    write_list(f, sizes, most)?;
                }
                Ok(axes.iter().all(|cuts| cuts.count() <= most))
            }
            Self::Boxes(cuts) => {
                write_list(f, cuts.boxes.iter(), most)?;
                Ok(cuts.boxes.len() <= most)
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Self::Grid(axes) => axes.iter().map(AxisCuts::count).product(),
            Self::Boxes(cuts) => cuts.boxes.len(),
        }
    }

    pub(super) fn region(&self, chunk: ChunkId) -> Region {
        match self {
            Self::Grid(axes) => {
                let mut rest = chunk;
                let mut region = Region::whole(Index::zeros(axes.len()));
                for (axis, cuts) in axes.iter().enumerate() {
                    (region.start[axis], region.end[axis]) = cuts.range(rest % cuts.count());
                    rest /= cuts.count();
                }
                region
            }
            Self::Boxes(cuts) => cuts.boxes[chunk],
        }
    }

    pub(super) fn visit(
        &self,
        region: &Region,
        found: &mut dyn FnMut(ChunkId, Region) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match self {
            Self::Grid(axes) => visit_grid(axes, region, found),
            Self::Boxes(cuts) => {
                let mut hits = Vec::new();
                cuts.tree.visit(region, &mut |chunk, part| {
                    hits.push((chunk, part));
                    ControlFlow::Continue(())
                })?;
                hits.sort_unstable_by_key(|(chunk, _)| *chunk);
                hits.into_iter().try_for_each(|(chunk, part)| found(chunk, part))
            }
        }
    }
}

fn visit_grid(
    axes: &[AxisCuts],
    region: &Region,
    found: &mut dyn FnMut(ChunkId, Region) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if region.is_empty() {
        return ControlFlow::Continue(());
    }
    // The box of grid coordinates, walked axis 0 fastest, which is ascending chunk numbers.
    let mut grid = Region::whole(Index::zeros(axes.len()));
    for (axis, cuts) in axes.iter().enumerate() {
        let (lo, hi) = (region.start[axis].max(0), region.end[axis].min(cuts.extent()));
        if lo >= hi {
            return ControlFlow::Continue(());
        }
        (grid.start[axis], grid.end[axis]) = (cuts.at(lo) as i64, cuts.at(hi - 1) as i64 + 1);
    }
    let strides = Index::from_fn(axes.len(), |axis| axes[axis].count() as i64).dense_strides();
    for place in grid.points() {
        let mut part = *region;
        for (axis, cuts) in axes.iter().enumerate() {
            let (start, end) = cuts.range(place[axis] as usize);
            (part.start[axis], part.end[axis]) = (part.start[axis].max(start), part.end[axis].min(end));
        }
        // Zero sizes make chunks between others that hold nothing.
        if !part.is_empty() {
            found(place.dot(&strides) as usize, part)?;
        }
    }
    ControlFlow::Continue(())
}

/// The cuts of one axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum AxisCuts {
    /// Parts that differ by at most one cell, larger ones first: pure arithmetic.
    Even { extent: i64, count: usize },
    /// Part `i` is `[starts[i], starts[i + 1])`.
    Sizes { starts: Arc<[i64]> },
}

impl AxisCuts {
    pub(crate) fn even(extent: i64, count: usize) -> Self {
        Self::Even { extent, count }
    }

    /// Sizes that are not negative and add up without overflow.
    pub(crate) fn sizes(sizes: &[i64]) -> Self {
        let ends = sizes.iter().scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        });
        Self::Sizes { starts: std::iter::once(0).chain(ends).collect() }
    }

    fn extent(&self) -> i64 {
        match self {
            Self::Even { extent, .. } => *extent,
            Self::Sizes { starts } => starts[starts.len() - 1],
        }
    }

    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Even { count, .. } => *count,
            Self::Sizes { starts } => starts.len() - 1,
        }
    }

    fn range(&self, part: usize) -> (i64, i64) {
        match self {
            Self::Even { extent, count } => {
                let (size, larger) = (extent / *count as i64, extent % *count as i64);
                let start = |part: i64| part * size + part.min(larger);
                (start(part as i64), start(part as i64 + 1))
            }
            Self::Sizes { starts } => (starts[part], starts[part + 1]),
        }
    }

    /// The part that holds a cell of the axis.
    fn at(&self, cell: i64) -> usize {
        match self {
            Self::Even { extent, count } => {
                let (size, larger) = (extent / *count as i64, extent % *count as i64);
                let in_larger = larger * (size + 1);
                let part = if cell < in_larger { cell / (size + 1) } else { larger + (cell - in_larger) / size };
                part as usize
            }
            Self::Sizes { starts } => starts.partition_point(|&start| start <= cell) - 1,
        }
    }

    /// The first of the largest parts, and its size.
    pub(crate) fn largest(&self) -> (usize, i64) {
        match self {
            Self::Even { .. } => (0, self.range(0).1),
            Self::Sizes { starts } => starts
                .windows(2)
                .map(|pair| pair[1] - pair[0])
                .enumerate()
                .fold((0, 0), |best, (part, size)| if size > best.1 { (part, size) } else { best }),
        }
    }
}
