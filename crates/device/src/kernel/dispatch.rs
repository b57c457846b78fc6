//! Division of boxes of invocations into dispatches: assigns axes to directions of the dispatch,
//! cuts large boxes, and combines small ones.

use super::geometry::{DomainMap, MAX_BOXES_OF_DISPATCH, vectors};
use super::signature::BoxForm;
use crate::extents::Index;

/// Minimum extent of axis 0 for which it always runs along x of the dispatch.
const MIN_ORDERED_EXTENT: i64 = 32;

/// Maximum number of boxes of a call.
const MAX_BOXES_PER_CALL: i64 = 1 << 16;

/// Boxes of a call's domain, in positions and invocations. Numbers of invocations fit in 31 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grid {
    /// First position and number of invocations along each axis of every box.
    pub boxes: Vec<(Index, Index)>,
    /// Number of cells per invocation along axis 0.
    pub step: i64,
    /// First position of the whole domain.
    pub lo: Index,
    /// Extents of the whole domain, in invocations.
    pub extent: Index,
    /// True if axis 0 runs along x, axis 1 along y and the others along z, even if they are short.
    pub in_order: bool,
    /// True if each box has dispatches of its own.
    pub separate: bool,
}

impl Grid {
    pub(super) fn form(&self) -> BoxForm {
        // Not by the extents: a kernel would be compiled again where a chunk is small.
        match (self.separate || self.boxes.len() < 2, self.in_order) {
            (true, true) => BoxForm::OneInOrder,
            (true, false) => BoxForm::One,
            _ => BoxForm::Several,
        }
    }
}

/// Box of invocations, or part of one that fits in a dispatch: `extents` invocations from the cell
/// at `origin`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct InvocationBlock {
    origin: Index,
    extents: Index,
    /// Axes in the order of directions: the axis along x, the axis along y, and the axes folded
    /// into z.
    order: Vec<usize>,
    /// First invocation of the part along the directions of the dispatch, a multiple of the
    /// workgroup size.
    first: [i64; 3],
    size: [i64; 3],
}

/// One dispatch over up to [`MAX_BOXES_OF_DISPATCH`] boxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dispatch {
    /// Geometry words of the domain for the dispatch.
    pub words: Vec<i32>,
    pub groups: [u32; 3],
}

/// Workgroup size of a kernel, and the limit of workgroups of a dispatch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub workgroup: [u32; 3],
    /// Maximum number of workgroups along one direction.
    pub limit: u32,
}

impl Shape {
    fn invocations(&self, direction: usize) -> i64 {
        self.workgroup[direction].into()
    }
}

impl InvocationBlock {
    fn new(origin: Index, extents: Index, grid: &Grid) -> Self {
        let mut order: Vec<usize> = (0..extents.axes()).collect();
        if grid.in_order {
        } else if extents[0] < MIN_ORDERED_EXTENT {
            order.sort_by_key(|&axis| -extents[axis]);
        } else if grid.boxes.len() > 1 {
            order[1..].sort_by_key(|&axis| -extents[axis]);
        }
        let along = |k: usize| order.get(k).map_or(1, |&axis| extents[axis]);
        let folded = order.iter().skip(2).fold(1_i64, |n, &axis| n.saturating_mul(extents[axis]));
        let size = [along(0), along(1), folded];
        Self { origin, extents, order, first: [0; 3], size }
    }

    /// Returns the number of parts along each direction that fit in one dispatch each.
    fn parts(&self, shape: &Shape) -> [i64; 3] {
        std::array::from_fn(|k| {
            divide_rounding_up(divide_rounding_up(self.size[k], shape.invocations(k)), shape.limit.into())
        })
    }

    /// Splits the box into parts that fit in one dispatch each: of nearly equal size, with whole
    /// workgroups of the original box.
    fn cut(&self, shape: &Shape, out: &mut Vec<Self>) {
        let parts = self.parts(shape);
        let at = |k: usize, i: i64| {
            let groups = divide_rounding_up(self.size[k], shape.invocations(k));
            (groups * i / parts[k] * shape.invocations(k)).min(self.size[k])
        };
        for z in 0..parts[2] {
            for y in 0..parts[1] {
                for x in 0..parts[0] {
                    let part = [x, y, z];
                    let first = std::array::from_fn(|k| at(k, part[k]));
                    let size = std::array::from_fn(|k| at(k, part[k] + 1) - first[k]);
                    out.push(Self { first, size, ..self.clone() });
                }
            }
        }
    }

    /// Returns the words of the box in the domain's geometry.
    fn geometry_words(&self, z_start: i64, step: i64) -> Vec<i32> {
        let axes = self.extents.axes();
        let [[x, y, z], first] = [self.size, self.first];
        let mut words: Vec<i64> = vec![x, y, z, z_start, first[0], first[1], first[2], 0];
        let mut tuple = |values: &dyn Fn(usize) -> i64| {
            for i in 0..4 * vectors(axes) {
                words.push(if i < axes { values(i) } else { 0 });
            }
        };
        // If several axes are folded into z, the unfolding of the first invocation is the start.
        let mut origin = self.origin;
        for (direction, &axis) in self.order.iter().enumerate().take(if axes == 3 { 3 } else { 2 }) {
            origin[axis] += first[direction] * if axis == 0 { step } else { 1 };
        }
        tuple(&|axis| origin[axis]);
        if axes <= 4 {
            for direction in 0..if axes == 4 { 4 } else { 3 } {
                let along = self.order.get(direction).copied();
                tuple(&|axis| if along == Some(axis) { if axis == 0 { step } else { 1 } } else { 0 });
            }
            if axes == 4 {
                tuple(&|i| if i < 2 { self.extents[self.order[2 + i]] } else { 0 });
            }
        } else {
            tuple(&|k| self.order[k] as i64);
            tuple(&|k| self.extents[self.order[k]]);
        }
        debug_assert_eq!(words.len(), 4 * DomainMap::new(axes).vectors_per_box);
        words.into_iter().map(|word| word as i32).collect()
    }
}

/// Computes the dispatches over all boxes, none of which may be empty.
///
/// # Errors
/// The number of dispatches or boxes exceeds the limits.
pub(super) fn dispatches(grid: &Grid, shape: &Shape) -> Result<Vec<Dispatch>, String> {
    let whole: Vec<_> =
        grid.boxes.iter().map(|&(origin, extents)| InvocationBlock::new(origin, extents, grid)).collect();
    if let Some(block) = whole.iter().find(|block| block.size[2] > i32::MAX.into()) {
        return Err(format!(
            "extents {} are too large: those from axis 2 on, which share one direction, make {} invocations; {} are \
             possible",
            block.extents,
            block.size[2],
            i32::MAX
        ));
    }
    let parts = |block: &InvocationBlock| block.parts(shape).iter().fold(1_i64, |n, &m| n.saturating_mul(m));
    let boxes = whole.iter().fold(0_i64, |n, block| n.saturating_add(parts(block)));
    if boxes > MAX_BOXES_PER_CALL {
        let [x, y, z] = shape.workgroup;
        return Err(format!(
            "{} invocations with @workgroup_size({x}, {y}, {z}) are too many for one call: they take {boxes} parts of {} \
             workgroups a direction, and {MAX_BOXES_PER_CALL} are possible; take larger workgroups, or several calls",
            grid.extent, shape.limit
        ));
    }
    let mut blocks = Vec::new();
    whole.iter().for_each(|block| block.cut(shape, &mut blocks));
    let mut out = Vec::new();
    let mut batch = BlockBatch::default();
    for block in blocks {
        if !batch.accepts(&block, grid, shape) {
            out.extend(std::mem::take(&mut batch).finish(grid, shape));
        }
        batch.add(block, shape);
    }
    out.extend(batch.finish(grid, shape));
    Ok(out)
}

#[derive(Default)]
struct BlockBatch {
    blocks: Vec<(InvocationBlock, i64)>,
    /// Extents of all boxes together along x and y; along z, the boxes follow one another.
    size: [i64; 3],
    /// Number of invocations of the batch that have a cell.
    useful: i128,
}

impl BlockBatch {
    /// Returns the size of the batch, in invocations along each direction, with another box added.
    fn size_with(&self, block: &InvocationBlock, shape: &Shape) -> [i64; 3] {
        let [x, y, z] = block.size;
        // Every box begins with a workgroup of its own.
        [
            self.size[0].max(x),
            self.size[1].max(y),
            divide_rounding_up(self.size[2] + z, shape.invocations(2)) * shape.invocations(2),
        ]
    }

    /// True if another box can join the batch.
    fn accepts(&self, block: &InvocationBlock, grid: &Grid, shape: &Shape) -> bool {
        let joined = self.size_with(block, shape);
        let volume = |size: [i64; 3]| size.iter().fold(1_i128, |n, &m| n * i128::from(m));
        // Boxes of very different shapes would leave most invocations idle.
        let idle = volume(joined) > 4 * (self.useful + volume(block.size)) + (1 << 16);
        self.blocks.is_empty()
            || (grid.form() == BoxForm::Several
                && self.blocks.len() < MAX_BOXES_OF_DISPATCH
                && joined[2] <= shape.invocations(2) * i64::from(shape.limit)
                && !idle)
    }

    fn add(&mut self, block: InvocationBlock, shape: &Shape) {
        let start = self.size[2];
        self.useful += block.size.iter().fold(1_i128, |n, &m| n * i128::from(m));
        self.size = self.size_with(&block, shape);
        self.blocks.push((block, start));
    }

    fn finish(self, grid: &Grid, shape: &Shape) -> Option<Dispatch> {
        let mut words = vec![self.blocks.len() as i32, grid.step as i32, 0, 0];
        for tuple in [grid.lo, grid.extent] {
            words.extend((0..4 * vectors(tuple.axes())).map(|axis| tuple.get(axis).map_or(0, |&n| n as i32)));
        }
        words.extend(workgroup_words(shape.workgroup));
        for k in 0..MAX_BOXES_OF_DISPATCH {
            // The entry after the last box is larger than all invocation ids.
            words.push(self.blocks.get(k + 1).map_or(i32::MAX, |(_, start)| *start as i32));
        }
        for (block, start) in &self.blocks {
            words.extend(block.geometry_words(*start, grid.step));
        }
        let groups = std::array::from_fn(|k| divide_rounding_up(self.size[k], shape.invocations(k)) as u32);
        (!self.blocks.is_empty()).then_some(Dispatch { words, groups })
    }
}

/// Returns the vector of the domain's geometry that has the extents of a workgroup.
pub(super) fn workgroup_words([x, y, z]: [u32; 3]) -> [i32; 4] {
    [x as i32, y as i32, z as i32, 0]
}

fn divide_rounding_up(value: i64, by: i64) -> i64 {
    (value - 1).div_euclid(by) + 1
}
