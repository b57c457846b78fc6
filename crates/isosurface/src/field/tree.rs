//! [`Tree`]: least and greatest values of bricks. A surface reads only bricks that it crosses. In
//! kernels: `shaders/field/tree.wgsl`.

use std::ops::Range;

use super::block::{Block, Samples};
use super::bricked_chunk::BrickedChunk;

/// Least and greatest value of a brick's cells; NaN counts as minus infinity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extremes {
    pub least: f32,
    pub largest: f32,
}

impl Extremes {
    pub(crate) const NONE: Self = Self { least: f32::INFINITY, largest: f32::NEG_INFINITY };

    fn with(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), largest: self.largest.max(other.largest) }
    }

    fn of_row(self, row: &[f32]) -> Self {
        // Plain comparisons, which the compiler vectorises.
        let (mut least, mut largest, mut is_number) = (self.least, self.largest, true);
        for &value in row {
            least = if value < least { value } else { least };
            largest = if value > largest { value } else { largest };
            is_number &= !value.is_nan();
        }
        Self { least: if is_number { least } else { f32::NEG_INFINITY }, largest }
    }

    /// Converts the ordered integer keys of a kernel, which are absent if all samples are NaN.
    pub(crate) fn of_keys([least, largest]: [u32; 2]) -> Self {
        let value = |key: u32| f32::from_bits(if key >> 31 == 1 { key ^ 1 << 31 } else { !key });
        Self {
            least: if least == u32::MAX { Self::NONE.least } else { value(least) },
            largest: if largest == 0 { Self::NONE.largest } else { value(largest) },
        }
    }

    /// Indices of the (ascending) isovalues that have values on both sides.
    pub(crate) fn crossed_by(self, isovalues: &[f32]) -> Range<usize> {
        let up_to = |bound: f32| isovalues.partition_point(|&isovalue| isovalue <= bound);
        up_to(self.least)..up_to(self.largest)
    }
}

/// Selects the layers that need a brick with these extremes. If no layer does, none needs a brick
/// with narrower extremes.
pub(crate) type LayerSelector<'a> = &'a dyn Fn(Extremes) -> Range<usize>;

/// Bricks of a chunk, searchable by their values.
pub(crate) trait Bricks {
    /// Calls `found` with each brick for which `wanted` selects layers, and these layers.
    fn visit(&self, wanted: LayerSelector<'_>, found: &mut dyn FnMut([i64; 3], Range<usize>));
}

/// Tree over the bricks of a chunk: each node has two children along each axis.
pub(crate) struct Tree {
    /// Levels from the bricks up to the root.
    levels: Vec<Level>,
}

struct Level {
    counts: [i64; 3],
    nodes: Vec<Extremes>,
}

impl Level {
    fn node(&self, at: [i64; 3]) -> Extremes {
        self.nodes[(at[0] + self.counts[0] * (at[1] + self.counts[1] * at[2])) as usize]
    }
}

fn positions(counts: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    let [x, y, z] = counts;
    (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])))
}

impl Tree {
    pub(crate) fn new(part: &BrickedChunk, samples: &dyn Samples) -> Self {
        let mut block = Block::new();
        let brick = |at: [i64; 3]| {
            let own = part.samples(at);
            let span = part.with_next(&own);
            samples.load(part.in_memory(&own).start, part.in_memory(&span), &mut block);
            let [x, y, z] = span.extents();
            let rows = (0..z).flat_map(|k| (0..y).map(move |j| (j, k)));
            rows.fold(Extremes::NONE, |found, (j, k)| found.of_row(block.row(0..x, j, k)))
        };
        Self::over(part, positions(part.bricks()).map(brick).collect())
    }

    /// Builds the tree over bricks with these extremes, axis 0 fastest.
    pub(crate) fn over(part: &BrickedChunk, bricks: Vec<Extremes>) -> Self {
        let mut levels = vec![Level { counts: part.bricks(), nodes: bricks }];
        while let Some(below) = levels.last().filter(|level| level.nodes.len() > 1) {
            let counts = below.counts.map(|count| (count + 1) / 2);
            let node = |at: [i64; 3]| {
                let children = children_of(at, below.counts).map(|child| below.node(child));
                children.fold(Extremes::NONE, Extremes::with)
            };
            let nodes = positions(counts).map(node).collect();
            levels.push(Level { counts, nodes });
        }
        Self { levels }
    }

    fn descend(
        &self,
        level: usize,
        at: [i64; 3],
        wanted: LayerSelector<'_>,
        found: &mut dyn FnMut([i64; 3], Range<usize>),
    ) {
        let range = wanted(self.levels[level].node(at));
        if range.is_empty() {
        } else if level == 0 {
            found(at, range);
        } else {
            let children = children_of(at, self.levels[level - 1].counts);
            children.for_each(|child| self.descend(level - 1, child, wanted, found));
        }
    }
}

impl Bricks for Tree {
    fn visit(&self, wanted: LayerSelector<'_>, found: &mut dyn FnMut([i64; 3], Range<usize>)) {
        if let Some(root) = self.levels.last().filter(|level| !level.nodes.is_empty()) {
            positions(root.counts).for_each(|at| self.descend(self.levels.len() - 1, at, wanted, found));
        }
    }
}

fn children_of(at: [i64; 3], counts: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    let two = |axis: usize| 2 * at[axis]..(2 * at[axis] + 2).min(counts[axis]);
    let (x, y, z) = (two(0), two(1), two(2));
    z.flat_map(move |k| {
        let x = x.clone();
        y.clone().flat_map(move |j| x.clone().map(move |i| [i, j, k]))
    })
}
