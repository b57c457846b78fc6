use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::extents::Index;
use crate::region::{Region, RegionTree};

/// Index of a chunk. Axis 0 is fastest in a grid; boxes have the order of their list.
pub type ChunkId = usize;

pub(crate) fn write_list<T: Display>(
    f: &mut Formatter<'_>,
    mut items: impl ExactSizeIterator<Item = T>,
    max_items: usize,
) -> fmt::Result {
    let is_complete = items.len() <= max_items;
    f.write_str("[")?;
    items
        .by_ref()
        .take(max_items)
        .enumerate()
        .try_for_each(|(index, item)| write!(f, "{}{item}", if index > 0 { ", " } else { "" }))?;
    f.write_str(if is_complete { "]" } else { ", …]" })
}

/// Cuts of an array: a grid of per-axis cuts, or boxes with a spatial index.
#[derive(Debug, Clone, PartialEq, Hash)]
pub(crate) enum Cuts {
    /// Cuts per axis. Axis 0 is fastest in the order of chunks.
    Grid(Vec<AxisCuts>),
    /// Disjoint boxes that cover the shape, one per chunk.
    Boxes(BoxCuts),
}

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
    /// Writes the sizes along each axis, or the boxes, at most `max_items` per list. Returns true
    /// for complete lists.
    pub(crate) fn write(&self, f: &mut Formatter<'_>, max_items: usize) -> Result<bool, fmt::Error> {
        match self {
            Self::Grid(axes) => {
                for (axis, cuts) in axes.iter().enumerate() {
                    f.write_str(if axis > 0 { " x " } else { "" })?;
                    let sizes = (0..cuts.count()).map(|part| cuts.range(part).1 - cuts.range(part).0);
                    write_list(f, sizes, max_items)?;
                }
                Ok(axes.iter().all(|cuts| cuts.count() <= max_items))
            }
            Self::Boxes(cuts) => {
                write_list(f, cuts.boxes.iter(), max_items)?;
                Ok(cuts.boxes.len() <= max_items)
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
                let mut quotient = chunk;
                let mut region = Region::whole(Index::zeros(axes.len()));
                for (axis, cuts) in axes.iter().enumerate() {
                    (region.start[axis], region.end[axis]) = cuts.range(quotient % cuts.count());
                    quotient /= cuts.count();
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
    // Grid coordinates with axis 0 fastest give ascending chunk indices.
    let mut grid = Region::whole(Index::zeros(axes.len()));
    for (axis, cuts) in axes.iter().enumerate() {
        let (lo, hi) = (region.start[axis].max(0), region.end[axis].min(cuts.extent()));
        if lo >= hi {
            return ControlFlow::Continue(());
        }
        (grid.start[axis], grid.end[axis]) = (cuts.at(lo) as i64, cuts.at(hi - 1) as i64 + 1);
    }
    let strides = Index::from_fn(axes.len(), |axis| axes[axis].count() as i64).dense_strides();
    for coordinates in grid.points() {
        let mut part = *region;
        for (axis, cuts) in axes.iter().enumerate() {
            let (start, end) = cuts.range(coordinates[axis] as usize);
            (part.start[axis], part.end[axis]) = (part.start[axis].max(start), part.end[axis].min(end));
        }
        // Empty chunks can lie between other chunks.
        if !part.is_empty() {
            found(coordinates.dot(&strides) as usize, part)?;
        }
    }
    ControlFlow::Continue(())
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum AxisCuts {
    /// Parts with sizes that differ by at most one cell, larger parts first. No memory per part.
    Even { extent: i64, count: usize },
    /// Parts of any sizes: part `i` is `[starts[i], starts[i + 1])`.
    Sizes { starts: Arc<[i64]> },
}

impl AxisCuts {
    pub(crate) fn even(extent: i64, count: usize) -> Self {
        Self::Even { extent, count }
    }

    /// Cuts from non-negative sizes without overflow of their sum.
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

    fn at(&self, cell: i64) -> usize {
        match self {
            Self::Even { extent, count } => {
                let (size, larger) = (extent / *count as i64, extent % *count as i64);
                let larger_end = larger * (size + 1);
                let part = if cell < larger_end { cell / (size + 1) } else { larger + (cell - larger_end) / size };
                part as usize
            }
            Self::Sizes { starts } => starts.partition_point(|&start| start <= cell) - 1,
        }
    }

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
