//! [`Model`]: an array of a random program with its expected cells.

use std::cell::RefCell;
use std::collections::HashMap;

use zippy::chunks::Chunks;
use zippy::{ArrayOptions, GlobalArray, Layout, Operator, Ownership, Result, World};
use zippy_testing::oracle::Memory;
use zippy_testing::oracle::truth::Cells;

use super::Cut;
use crate::support::cells::mix;

pub(crate) const OPERATORS: usize = 3;

/// Operator and its definition. The result of the last operator depends on the order.
pub(crate) fn operator(which: usize) -> (Operator, fn(&u32, &u32) -> u32) {
    match which {
        0 => (Operator::Add, |new, there| new.wrapping_add(*there)),
        1 => (Operator::Max, |new, there| *new.max(there)),
        _ => {
            let wgsl = "fn combine(src: T, dst: T) -> T { return 3u * dst + src; }";
            (Operator::custom("shifted", wgsl), |new, there| there.wrapping_mul(3).wrapping_add(*new))
        }
    }
}

pub(crate) fn replace(new: &u32, _: &u32) -> u32 {
    *new
}

/// Array of the program, with the expected values of all its cells.
pub(crate) struct Model<const D: usize> {
    pub array: GlobalArray<u32, D>,
    pub cells: Cells<u32>,
    /// Number of writes to each chunk of this rank, and its cells after the last write.
    written: RefCell<HashMap<usize, (u64, Vec<u32>)>>,
}

impl<const D: usize> Model<D> {
    pub(crate) fn new(world: &World, number: usize, (chunks, owners): &Cut) -> Result<Self> {
        let boxes = (0..chunks.count()).map(|chunk| chunks.region(chunk)).collect();
        let layout = Layout::from_shape(&chunks.shape()).boxes(boxes);
        let layout = layout.ghost_lists(&chunks.ghost_lo(), &chunks.ghost_hi()).periodic_list(chunks.periodic());
        let name = format!("array {number}");
        let array: GlobalArray<u32, D> = match owners {
            None => world.array(&name, &layout)?,
            Some(table) => {
                let table = table.iter().map(|rank| rank % world.size()).collect();
                world.array(&name, ArrayOptions::new(&layout).owned_by(Ownership::table(table, world.size())?))?
            }
        };
        let value = |chunk: usize, cell: &[i64]| {
            let place = cell.iter().fold(number as u64, |code, &x| code * 103 + (x + 51) as u64);
            mix(place << 12 | chunk as u64) as u32
        };
        let memory = Memory::new(array.placement(), |chunk, cell| value(chunk, &cell));
        let cells = Cells::of(&memory, array.placement());
        for chunk in array.chunks() {
            chunk.with_ghosts().write(memory.chunk(array.placement(), chunk.id()))?;
        }
        Ok(Self { array, cells, written: RefCell::default() })
    }

    pub(crate) fn chunks(&self) -> &Chunks {
        self.array.placement().chunks()
    }

    /// Axis without ghost cells, for component lists.
    pub(crate) fn component_axis(&self) -> Option<usize> {
        (0..D).rev().find(|&axis| self.chunks().ghost_lo()[axis] == 0 && self.chunks().ghost_hi()[axis] == 0)
    }

    /// Checks all stored cells of this rank, and the write counters of its chunks.
    pub(crate) fn check(&self, world: &World, label: &dyn std::fmt::Debug) -> Result<()> {
        let listed =
            world.debug().arrays().into_iter().find(|array| array.name == self.array.name()).expect("it is alive");
        for (chunk, text) in self.array.chunks().zip(listed.chunks) {
            let now = (text.writes, chunk.all().read()?);
            if let Some(before) = self.written.borrow_mut().insert(chunk.id(), now.clone()) {
                assert!(before.1 == now.1 || before.0 < now.0, "{} counted nothing in {label:?}", self.array.name());
            }
            let section = chunk.with_ghosts();
            for (cell, found) in section.region()?.points().zip(section.read()?) {
                let expected = self.cells.0[&(chunk.id(), cell.to_vec())];
                assert_eq!(
                    found,
                    expected,
                    "cell {cell} of chunk {} of {} after {label:?}",
                    chunk.id(),
                    self.array.name()
                );
            }
        }
        Ok(())
    }
}
