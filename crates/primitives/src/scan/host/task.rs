//! [`ScanTask`]: the cells that one thread scans, in tiles.

use bytemuck::{cast_slice, cast_slice_mut, try_cast_slice_mut};
use zippy::device::Operator;

use super::super::association::{CELLS_PER_BLOCK, Item};
use super::super::operation::Arithmetic;
use super::component::Component;
use super::pieces::{PieceReader, PieceWriter};
use crate::heads::find_heads;

/// Number of cells per tile of a task: a tile fits in the first-level cache.
const CELLS_PER_TILE: usize = 2 * CELLS_PER_BLOCK;

/// Scan of numbers of one type, shared by the threads of a rank.
pub(super) struct NumberScan<'a, S> {
    pub operator: &'a Operator,
    pub lanes: usize,
    /// Initial value of an exclusive scan, for each component.
    pub first: Option<Vec<S>>,
    /// True if the result does not depend on the order of combination.
    pub exact: bool,
    pub heads: HeadKind,
}

/// Representation of the segment heads of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadKind {
    None,
    Flags,
    /// Keys of this number of bytes; a key that differs from the previous key is a head.
    Keys(usize),
}

/// Sum of each component of the earlier cells; `None` before the first cell.
pub(super) type Items<S> = Vec<Option<Item<S>>>;

/// Cells that one thread scans, beginning at a block boundary.
pub(super) struct ScanTask<'a> {
    pub cells: usize,
    /// `None` if the output is the input.
    pub input: Option<Vec<&'a [u8]>>,
    pub heads: Vec<&'a [u8]>,
    /// Key of the cell before the task.
    pub key: Option<Vec<u8>>,
    pub output: Vec<&'a mut [u8]>,
}

impl ScanTask<'_> {
    /// Returns the number of cells of each tile, at most `most`.
    fn tiles(&self, most: usize) -> impl Iterator<Item = usize> + use<> {
        let cells = self.cells;
        (0..cells).step_by(most).map(move |begin| most.min(cells - begin))
    }
}

impl<S: Arithmetic> NumberScan<'_, S> {
    /// Sums the components of a task: one sum per block if the order of combination matters,
    /// otherwise a single one.
    pub(super) fn sums(&self, task: &ScanTask<'_>) -> Vec<Item<S>> {
        let written: Vec<&[u8]> = task.output.iter().map(|bytes| &**bytes).collect();
        let mut input = PieceReader::new(task.input.as_ref().unwrap_or(&written));
        let mut heads = TaskHeads::new(self.heads, task);
        let (mut items, mut sums) = (vec![None; self.lanes], Vec::new());
        for cells in task.tiles(if self.exact { CELLS_PER_TILE } else { CELLS_PER_BLOCK }) {
            self.tile(input.next(cells * self.lanes), heads.next(cells), None, &mut items);
            if !self.exact {
                sums.extend(items.iter_mut().filter_map(Option::take));
            }
        }
        sums.extend(items.into_iter().flatten());
        sums
    }

    /// Writes the results of a task; `items` are the sums of the cells before the task. Returns the
    /// sums with the task.
    pub(super) fn write(&self, task: ScanTask<'_>, mut items: Items<S>) -> Items<S> {
        let (mut heads, tiles) = (TaskHeads::new(self.heads, &task), task.tiles(CELLS_PER_TILE));
        let mut input = task.input.as_deref().map(PieceReader::new);
        let mut output = PieceWriter::new(task.output);
        let (mut before, mut results) = (Vec::new(), Vec::new());
        for cells in tiles {
            let numbers = cells * self.lanes;
            let mut onto = output.take(numbers * size_of::<S>());
            let values = match &mut input {
                Some(input) => input.next(numbers),
                None => {
                    before.resize(numbers, S::zeroed());
                    let mut rest: &mut [u8] = cast_slice_mut(&mut before);
                    for bytes in &onto {
                        let (head, tail) = rest.split_at_mut(bytes.len());
                        head.copy_from_slice(bytes);
                        rest = tail;
                    }
                    &before
                }
            };
            let heads = heads.next(cells);
            if let [only] = &mut onto[..]
                && let Ok(results) = try_cast_slice_mut(only)
            {
                self.tile(values, heads, Some(results), &mut items);
                continue;
            }
            results.resize(numbers, S::zeroed());
            self.tile(values, heads, Some(&mut results), &mut items);
            let mut rest: &[u8] = cast_slice(&results);
            for bytes in onto {
                let (head, tail) = rest.split_at(bytes.len());
                bytes.copy_from_slice(head);
                rest = tail;
            }
        }
        items
    }

    fn tile(&self, values: &[S], heads: &[bool], mut results: Option<&mut [S]>, items: &mut Items<S>) {
        for (which, item) in items.iter_mut().enumerate() {
            let first = self.first.as_ref().map(|first| first[which]);
            if self.lanes == 1 {
                let all = Component { input: values, output: results.as_deref_mut(), heads, first };
                *item = all.scan(self.operator, *item);
                continue;
            }
            let input: Vec<S> = values[which..].iter().step_by(self.lanes).copied().collect();
            let mut output = results.as_ref().map(|_| vec![S::zeroed(); input.len()]);
            let component_scan = Component { input: &input, output: output.as_deref_mut(), heads, first };
            *item = component_scan.scan(self.operator, *item);
            if let (Some(results), Some(output)) = (&mut results, output) {
                results[which..].iter_mut().step_by(self.lanes).zip(output).for_each(|(to, from)| *to = from);
            }
        }
    }
}

/// Segment heads of the cells of a task.
struct TaskHeads<'a> {
    kind: HeadKind,
    bytes: PieceReader<'a, u8>,
    flags: PieceReader<'a, u32>,
    /// Key of the cell before the next cell.
    key: Option<Vec<u8>>,
    found: Vec<bool>,
}

impl<'a> TaskHeads<'a> {
    fn new(kind: HeadKind, task: &ScanTask<'a>) -> Self {
        let (bytes, flags) = (PieceReader::new(&task.heads), PieceReader::new(&task.heads));
        Self { kind, bytes, flags, key: task.key.clone(), found: Vec::new() }
    }

    /// Returns for each of the next cells whether the cell is a head; empty without segments.
    fn next(&mut self, cells: usize) -> &[bool] {
        match self.kind {
            HeadKind::None => {}
            HeadKind::Flags => {
                self.found.clear();
                self.found.extend(self.flags.next(cells).iter().map(|&flag| flag != 0));
            }
            HeadKind::Keys(size) => {
                self.found.resize(cells, true);
                let keys = self.bytes.next(cells * size);
                find_heads(size, keys, self.key.as_deref(), &mut self.found);
                self.key = Some(keys[keys.len() - size..].to_vec());
            }
        }
        &self.found
    }
}
