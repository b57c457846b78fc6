//! Empty space: blocks of cells of which no value is visible, so that rays leap over them.

use std::cell::RefCell;

use super::transfer::TransferTable;
use crate::array::{ChunkRef, LocalArray};
use crate::element::Element;
use crate::error::Result;
use crate::kernel::{Kernel, KernelSource};
use crate::layout::Layout;
use crate::world::World;

/// Cells along each side of a block; `shaders/occupancy.wgsl` and `shaders/raycast.wgsl` know it too.
const SIDE: i64 = 8;

/// A transfer table in arrays of this rank.
#[derive(Clone)]
pub(super) struct TableOnDevice {
    pub table: TransferTable,
    pub entries: LocalArray<[f32; 4], 1>,
    /// For each entry the first one from it on that is not transparent; the number of entries where there is none.
    visible: LocalArray<u32, 1>,
}

/// Marks what is visible in the chunks of this rank.
pub(super) struct Space<'w> {
    world: &'w World,
    name: String,
    kernel: Kernel,
    table: RefCell<Option<TableOnDevice>>,
}

impl<'w> Space<'w> {
    /// For the volume `name` with voxels that WGSL sees as `cell`. Local.
    pub fn new(world: &'w World, name: &str, cell: &str) -> Result<Self> {
        let text = include_str!("../../../shaders/occupancy.wgsl").replace("CELL", cell);
        let kernel = world.kernel(KernelSource::text("shaders/occupancy.wgsl", text))?;
        Ok(Self { world, name: name.to_string(), kernel, table: RefCell::new(None) })
    }

    /// The table on this rank; written anew only when it has changed. Local.
    pub fn table(&self, table: TransferTable) -> Result<TableOnDevice> {
        let mut kept = self.table.borrow_mut();
        if let Some(known) = kept.as_ref().filter(|known| known.table == table) {
            return Ok(known.clone());
        }
        *kept = None;
        let layout = Layout::new([table.entries.len() as i64]);
        let entries = self.world.local_array(&format!("{}.transfer", self.name), &layout)?;
        entries.all().write(&table.entries)?;
        let visible = self.world.local_array(&format!("{}.visible", self.name), &layout)?;
        visible.all().write(&first_visible(&table))?;
        let made = TableOnDevice { table, entries, visible };
        *kept = Some(made.clone());
        Ok(made)
    }

    /// An array with a word for each block of the cells `low..high` of a chunk. Local.
    pub fn blocks(&self, (low, high): ([i32; 3], [i32; 3])) -> Result<LocalArray<u32, 3>> {
        let blocks =
            std::array::from_fn::<i64, 3, _>(|axis| (i64::from(high[axis] - low[axis]).max(0) + SIDE - 1) / SIDE);
        self.world.local_array(&format!("{}.occupied", self.name), &Layout::new(blocks))
    }

    /// Sets the words of the blocks in which a value may be visible to 1, the others to 0. Reads the chunk as it is now;
    /// queues one dispatch. Local.
    pub fn mark<T: Element>(
        &self,
        chunk: &ChunkRef<T, 3>,
        origin: [i32; 3],
        (low, high): ([i32; 3], [i32; 3]),
        table: &TableOnDevice,
        blocks: &LocalArray<u32, 3>,
    ) -> Result<()> {
        self.kernel
            .call()
            .read("volume", chunk.with_ghosts())
            .read("visible", table.visible.all())
            .write("occupied", blocks.all())
            .param("origin", origin)
            .param("first_value", table.table.first)
            .param("low", low)
            .param("per_value", table.table.per_value)
            .param("high", high)
            .param("last_entry", (table.table.entries.len() - 1) as f32)
            .run()
    }
}

fn first_visible(table: &TransferTable) -> Vec<u32> {
    let mut next = table.entries.len() as u32;
    let mut visible: Vec<u32> = (0..next)
        .rev()
        .map(|entry| {
            if table.entries[entry as usize][3] > 0.0 {
                next = entry;
            }
            next
        })
        .collect();
    visible.reverse();
    visible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_visible_entry_is_found_from_everywhere() {
        let entry = |alpha| [1.0, 1.0, 1.0, alpha];
        let table = |alphas: &[f32]| TransferTable {
            first: 0.0,
            per_value: 1.0,
            entries: alphas.iter().map(|&alpha| entry(alpha)).collect(),
        };
        assert_eq!(first_visible(&table(&[0.0, 0.0, 0.5, 0.0, 0.1, 0.0])), [2, 2, 2, 4, 4, 6]);
        assert_eq!(first_visible(&table(&[0.0, 0.0])), [2, 2]);
        assert_eq!(first_visible(&table(&[0.3, 0.0])), [0, 2]);
    }
}
