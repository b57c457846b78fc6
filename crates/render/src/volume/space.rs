//! Empty space: blocks of cells without visible values. Rays leap over such blocks; bricks of such
//! blocks have no layer.

use std::cell::{Cell, RefCell};

use zippy::Result;
use zippy::World;
use zippy::array::{ChunkRef, LocalArray};
use zippy::element::Element;
use zippy::kernel::{Kernel, KernelSource, WgslComposer};
use zippy::layout::Layout;
use zippy::transport::{copied, values};
use zippy::wgsl_module;

use super::bricks::{BLOCK, BrickBox, CellBox, Lattice};
use super::classes::Classes;
use super::storage::{BrickChunk, Storage};

/// Transfer table in an array of this rank.
#[derive(Clone)]
pub(super) struct TableOnDevice {
    classes: Classes,
    pub entries: Entries,
}

/// Content of a transfer table.
#[derive(Clone)]
pub(super) enum Entries {
    Points(LocalArray<[f32; 4], 1>),
    Segments(LocalArray<[u32; 4], 1>),
}

/// Numbers of rebuilds of data that depends on the volume and on the transfer function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rebuilds {
    /// Rebuilds of the least and greatest value of each block of cells: one per change of the
    /// volume.
    pub ranges: u64,
    /// Rebuilds of the visible blocks: one per change of the volume or of the opacities.
    pub visible: u64,
}

/// Visible cells of the bricks of all ranks.
pub(super) struct Space<'w> {
    world: &'w World,
    name: String,
    range: Kernel,
    mark: Kernel,
    blocks: Vec<Option<Blocks>>,
    table: RefCell<Option<TableOnDevice>>,
    known: RefCell<Cache>,
    rebuilds: Cell<Rebuilds>,
}

/// Blocks of one part.
struct Blocks {
    cells: CellBox,
    bricks: BrickBox,
    origin: [i32; 3],
    ranges: LocalArray<[f32; 2], 3>,
    occupied: LocalArray<u32, 3>,
}

/// Cached results.
#[derive(Default)]
struct Cache {
    /// Reach of the ranges; `None` if they are outdated.
    ranges: Option<i32>,
    /// Input of the marks; `None` if they are outdated.
    marks: Option<MarkInputs>,
    /// Visible cells of each brick, in whole blocks.
    visible: Vec<Option<CellBox>>,
}

/// Input of visibility, except for the volume.
#[derive(PartialEq)]
struct MarkInputs {
    first: f32,
    per_value: f32,
    /// For each entry, the first non-transparent entry at or after it; the number of entries if
    /// there is none.
    next: Vec<u32>,
}

/// The text of the kernel that finds the ranges of blocks, for voxels of WGSL type `cell`.
fn range_kernel(cell: &str, components: usize) -> WgslComposer {
    WgslComposer::new()
        .alias("Cell", cell)
        .constant("COMPONENTS", components as i32)
        // The last component determines the opacity.
        .constant("OPACITY", (components - 1).min(3) as i32)
        .constant("SIDE", BLOCK as i32)
        .module(wgsl_module!("../../shaders/volume/ranges.wgsl"))
}

/// The text of the kernel that marks visible blocks.
fn mark_kernel() -> WgslComposer {
    WgslComposer::new().module(wgsl_module!("../../shaders/volume/visible.wgsl"))
}

/// The texts of the kernels of empty space, with names.
#[cfg(test)]
pub(super) fn kernel_texts() -> Vec<(String, WgslComposer)> {
    let cells = ["f32", "i32", "u32"].into_iter().flat_map(|cell| [1, 2, 4].map(|components| (cell, components)));
    let ranges =
        cells.map(|(cell, components)| (format!("ranges of {components} {cell}"), range_kernel(cell, components)));
    ranges.chain([("visible".to_owned(), mark_kernel())]).collect()
}

impl<'w> Space<'w> {
    pub(super) fn new<T: Element>(
        world: &'w World,
        name: &str,
        cell: &str,
        components: usize,
        storage: &Storage<'_, T>,
        lattice: &Lattice,
    ) -> Result<Self> {
        let text = range_kernel(cell, components).compose()?;
        let range = world.kernel(KernelSource::text("shaders/volume/ranges.wgsl", text))?;
        let text = mark_kernel().compose()?;
        let mark = world.kernel(KernelSource::text("shaders/volume/visible.wgsl", text))?;
        let blocks = |(number, part): (usize, &BrickChunk)| {
            let Some(chunk) = storage.chunk(number) else { return Ok(None) };
            let cells = lattice.cells(&part.bricks);
            let extent = |axis: usize| (i64::from(cells.1[axis] - cells.0[axis]) + BLOCK - 1) / BLOCK;
            let layout = Layout::new(std::array::from_fn::<i64, 3, _>(extent));
            let ranges = world.local_array(&format!("{name}.ranges"), &layout)?;
            let occupied = world.local_array(&format!("{name}.occupied"), &layout)?;
            let start = chunk.with_ghosts().region()?.start;
            let origin = [start[0] / components as i64, start[1], start[2]].map(|at| at as i32);
            Ok(Some(Blocks { cells, bricks: part.bricks, origin, ranges, occupied }))
        };
        let blocks = storage.parts().iter().enumerate().map(blocks).collect::<Result<_>>()?;
        let (table, known) = (RefCell::default(), RefCell::default());
        Ok(Self { world, name: name.to_string(), range, mark, blocks, table, known, rebuilds: Cell::default() })
    }

    /// Marks all cached data as outdated, after a change of the volume. Local.
    pub(super) fn changed(&self) {
        *self.known.borrow_mut() = Cache::default();
    }

    pub(super) fn rebuilds(&self) -> Rebuilds {
        self.rebuilds.get()
    }

    /// Global coordinate of the first voxel that kernels read of a part of this rank.
    pub(super) fn origin(&self, part: usize) -> [i32; 3] {
        self.blocks[part].as_ref().map_or([0; 3], |blocks| blocks.origin)
    }

    /// Marks of a part of this rank, and the coordinates of its first block in the volume.
    pub(super) fn occupied(&self, part: usize) -> Option<(&LocalArray<u32, 3>, [i32; 3])> {
        let blocks = self.blocks[part].as_ref()?;
        Some((&blocks.occupied, blocks.cells.0.map(|at| at / BLOCK as i32)))
    }

    /// Smallest box of blocks that holds the visible cells of a brick of any rank; `None` if none
    /// is visible.
    pub(super) fn visible(&self, brick: usize) -> Option<CellBox> {
        self.known.borrow().visible.get(brick).copied().flatten()
    }

    /// Transfer table on this rank; written only if it has changed. Local.
    pub(super) fn table(&self, classes: &Classes) -> Result<TableOnDevice> {
        let mut kept = self.table.borrow_mut();
        if let Some(known) = kept.as_ref().filter(|known| known.classes == *classes) {
            return Ok(known.clone());
        }
        *kept = None;
        let entries = match classes {
            Classes::Points(table) => Entries::Points(self.entries(&table.entries)?),
            Classes::Segments(table) => Entries::Segments(self.entries(&table.entries)?),
        };
        Ok(kept.insert(TableOnDevice { classes: classes.clone(), entries }).clone())
    }

    fn entries<E: Element>(&self, entries: &[E]) -> Result<LocalArray<E, 1>> {
        let array = self.world.local_array(&format!("{}.transfer", self.name), &Layout::new([entries.len() as i64]))?;
        array.all().write(entries)?;
        Ok(array)
    }

    /// Updates ranges and marks for a table. Collective; does not communicate if nothing has
    /// changed.
    pub(super) fn update<T: Element>(
        &self,
        storage: &Storage<'_, T>,
        lattice: &Lattice,
        classes: &Classes,
    ) -> Result<()> {
        let ((first, per_value), reach) = (classes.scale(), classes.reach());
        let marks = MarkInputs { first, per_value, next: classes.next_visible() };
        let (fresh, marked) = {
            let known = self.known.borrow();
            (known.ranges == Some(reach), known.marks.as_ref() == Some(&marks))
        };
        if fresh && marked {
            return Ok(());
        }
        *self.known.borrow_mut() = Cache::default();
        let found = self.find(storage, lattice, &marks, (!fresh).then_some(reach));
        let found = self.world.agree("finding empty space", found)?;
        let visible = gather_boxes(self.world, found, lattice.count())?;
        let Rebuilds { ranges, visible: marked } = self.rebuilds.get();
        self.rebuilds.set(Rebuilds { ranges: ranges + u64::from(!fresh), visible: marked + 1 });
        *self.known.borrow_mut() = Cache { ranges: Some(reach), marks: Some(marks), visible };
        Ok(())
    }

    /// Visible bricks of this rank with the boxes of their visible cells. Computes the ranges first
    /// if `reach` is given.
    fn find<T: Element>(
        &self,
        storage: &Storage<'_, T>,
        lattice: &Lattice,
        marks: &MarkInputs,
        reach: Option<i32>,
    ) -> Result<Vec<(usize, CellBox)>> {
        let layout = Layout::new([marks.next.len() as i64]);
        let next = self.world.local_array::<u32, 1>(&format!("{}.visible", self.name), &layout)?;
        next.all().write(&marks.next)?;
        let own = || self.blocks.iter().enumerate().filter_map(|(part, blocks)| Some((part, blocks.as_ref()?)));
        for (part, blocks) in own() {
            if let (Some(reach), Some(chunk)) = (reach, storage.chunk(part)) {
                self.make_ranges(chunk, blocks, lattice, reach)?;
            }
            self.mark
                .call()
                .read("ranges", blocks.ranges.all())
                .read("visible", next.all())
                .write("occupied", blocks.occupied.all())
                .param("first_value", marks.first)
                .param("per_value", marks.per_value)
                .param("last_entry", (marks.next.len() - 1) as f32)
                .run()?;
        }
        let mut found = Vec::new();
        for (_, blocks) in own() {
            let occupied = blocks.occupied.all().read()?;
            for brick in lattice.within(&blocks.bricks) {
                let cells = lattice.cells(&lattice.single(brick));
                let visible_cells = tight_box(&occupied, blocks.occupied.shape(), blocks.cells.0, &cells);
                found.extend(visible_cells.map(|cells| (brick, cells)));
            }
        }
        Ok(found)
    }

    fn make_ranges<T: Element>(
        &self,
        chunk: &ChunkRef<T, 3>,
        blocks: &Blocks,
        lattice: &Lattice,
        reach: i32,
    ) -> Result<()> {
        self.range
            .call()
            .read("volume", chunk.with_ghosts())
            .write("ranges", blocks.ranges.all())
            .param("origin", blocks.origin)
            .param("reach", reach)
            .param("low", blocks.cells.0)
            .param("high", blocks.cells.1)
            .param("cells", lattice.cell_counts())
            .run()
    }
}

/// Box of cells of each brick, gathered from the ranks of the bricks. Collective.
pub(super) fn gather_boxes(
    world: &World,
    own: impl IntoIterator<Item = (usize, CellBox)>,
    bricks: usize,
) -> Result<Vec<Option<CellBox>>> {
    let own_boxes =
        own.into_iter().map(|(brick, ([x, y, z], [to_x, to_y, to_z]))| [brick as i32, x, y, z, to_x, to_y, to_z]);
    let mut all = vec![None; bricks];
    for payload in world.group().all_gather_v(copied(&own_boxes.collect::<Vec<_>>()))? {
        for [brick, x, y, z, to_x, to_y, to_z] in values::<[i32; 7]>(&payload)? {
            all[brick as usize] = Some(([x, y, z], [to_x, to_y, to_z]));
        }
    }
    Ok(all)
}

/// Smallest box of marked blocks within `cells`, clipped to them; `first` is the first cell of the
/// first block.
fn tight_box(occupied: &[u32], blocks: [i64; 3], first: [i32; 3], cells: &CellBox) -> Option<CellBox> {
    let side = BLOCK as i32;
    let range = |axis: usize| (cells.0[axis] - first[axis]) / side..(cells.1[axis] - first[axis] + side - 1) / side;
    let (mut low, mut high) = ([i32::MAX; 3], [i32::MIN; 3]);
    for z in range(2) {
        for y in range(1) {
            let row = (blocks[0] * (i64::from(y) + blocks[1] * i64::from(z))) as usize;
            for x in range(0).filter(|&x| occupied[row + x as usize] != 0) {
                let block = [x, y, z];
                low = std::array::from_fn(|axis| low[axis].min(first[axis] + block[axis] * side));
                high = std::array::from_fn(|axis| high[axis].max(first[axis] + (block[axis] + 1) * side));
            }
        }
    }
    (low[0] < high[0]).then(|| (low, std::array::from_fn(|axis| high[axis].min(cells.1[axis]))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tight_boxes_hold_the_marked_blocks_of_their_brick() {
        // 4 x 3 x 2 blocks from cell [16, 0, 8]; marked are [1, 0, 0], [2, 2, 0] and [3, 1, 1].
        let mut occupied = vec![0; 24];
        for [x, y, z] in [[1, 0, 0], [2, 2, 0], [3, 1, 1]] {
            occupied[x + 4 * (y + 3 * z)] = 1;
        }
        let tight_box = |low, high| tight_box(&occupied, [4, 3, 2], [16, 0, 8], &(low, high));
        assert_eq!(tight_box([16, 0, 8], [48, 24, 24]), Some(([24, 0, 8], [48, 24, 24])));
        assert_eq!(tight_box([16, 0, 8], [32, 16, 24]), Some(([24, 0, 8], [32, 8, 16])));
        assert_eq!(tight_box([32, 0, 8], [45, 21, 20]), Some(([32, 8, 8], [45, 21, 20])));
        assert_eq!(tight_box([16, 8, 8], [32, 24, 24]), None);
    }
}
