//! Selection on the host, in portions.

use std::ops::Range;

use zippy::World;
use zippy::collective::{CellSequence, CollectiveWorld};
use zippy::element::Element;
use zippy::error::Result;

use super::check_room::check_room;
use crate::by_size::by_size;
use crate::heads::{Heads, read};
use crate::scan::{CELLS_PER_BLOCK, Carry, ScanOperation, scan_on_host};

/// Size, in bytes, of the portion of cells that the host processes at a time.
const PORTION_BYTES: usize = 128 << 10;

/// Combines the values of each run of equal keys on the host, with outputs in separate memory.
pub(crate) fn reduce_runs_on_host(
    world: &World,
    operation: &ScanOperation<'_>,
    [keys, values]: [&CellSequence; 2],
    [keys_output, values_output]: [&CellSequence; 2],
) -> Result<u64> {
    let (mut count, mut key) = (0, None);
    for slice in keys.slices(PORTION_BYTES, 1) {
        count += read(Heads::Keys(keys), slice, &mut key)?.into_iter().filter(|&head| head).count() as u64;
    }
    check_room(count, values_output)?;
    check_room(count, keys_output)?;
    let all = values.len();
    let most = values.slices(PORTION_BYTES, CELLS_PER_BLOCK).next().map_or(0, |slice| slice.end);
    let sums = world.scratch_cells("reduced by key", values.element(), most)?;
    let (mut carry, mut keys_mover, mut values_mover) =
        (Carry::default(), SelectedCellCopier::default(), SelectedCellCopier::default());
    for slice in values.slices(PORTION_BYTES, CELLS_PER_BLOCK) {
        let cells = slice.end - slice.start;
        let heads = keys.only(slice.clone());
        carry = scan_on_host(
            world.gpu(),
            operation,
            &values.only(slice.clone()),
            Heads::Keys(&heads),
            Some(&sums.only(0..cells)),
            carry,
        )?;
        // A run ends at the head of the next run.
        let heads = read(Heads::Keys(keys), slice.start..all.min(slice.end + 1), &mut None)?;
        let mut tails: Vec<u32> = heads[1..].iter().copied().map(u32::from).collect();
        tails.resize(cells as usize, 1);
        keys_mover.add(keys, slice, &tails, true, keys_output)?;
        values_mover.add(&sums, 0..cells, &tails, true, values_output)?;
    }
    Ok(count)
}

/// Returns the number of cells whose flag is not 0.
pub(crate) fn count_selected_on_host(flags: &CellSequence) -> Result<u64> {
    let (mut count, mut some) = (0, Vec::new());
    for slice in flags.slices(PORTION_BYTES, 1) {
        read_words(flags, slice, &mut some)?;
        count += some.iter().filter(|&&flag| flag != 0).count() as u64;
    }
    Ok(count)
}

/// Copies the cells whose flag is not 0 or, without `selected`, the others.
pub(super) fn copy(input: &CellSequence, flags: &CellSequence, output: &CellSequence, selected: bool) -> Result<()> {
    let (mut mover, mut found) = (SelectedCellCopier::default(), Vec::new());
    for slice in input.slices(PORTION_BYTES, 1) {
        read_words(flags, slice.clone(), &mut found)?;
        mover.add(input, slice, &found, selected, output)?;
    }
    Ok(())
}

#[derive(Default)]
struct SelectedCellCopier {
    cells: Vec<u8>,
    found: Vec<u8>,
    /// Number of cells written to the output so far.
    written: u64,
}

impl SelectedCellCopier {
    /// Appends the cells of a range that are selected or, without `selected`, the others.
    fn add(
        &mut self,
        input: &CellSequence,
        some: Range<u64>,
        flags: &[u32],
        selected: bool,
        output: &CellSequence,
    ) -> Result<()> {
        let size = input.element().bytes;
        self.cells.resize((some.end - some.start) as usize * size, 0);
        self.found.resize(self.cells.len() + size, 0);
        input.read(some, &mut self.cells)?;
        let bytes = by_size!(move_selected, size, &self.cells, flags, selected, &mut self.found);
        let end = self.written + (bytes / size) as u64;
        output.write(self.written..end, &self.found[..bytes])?;
        self.written = end;
        Ok(())
    }
}

/// Moves the cells whose flag is not 0 or, without `selected`, the others to the front of `found`,
/// which has memory for one more than all cells. Returns the number of their bytes.
#[inline(always)]
fn move_selected(size: usize, cells: &[u8], flags: &[u32], selected: bool, found: &mut [u8]) -> usize {
    let mut end = 0;
    for (cell, flag) in cells.chunks_exact(size).zip(flags) {
        // Without a branch, which the processor would mispredict.
        found[end..end + size].copy_from_slice(cell);
        end += size * usize::from((*flag != 0) == selected);
    }
    end
}

fn read_words(of: &CellSequence, slice: Range<u64>, words: &mut Vec<u32>) -> Result<()> {
    words.resize((slice.end - slice.start) as usize, 0);
    of.read(slice, bytemuck::cast_slice_mut(words))
}

pub(crate) fn mark_on_host(flags: &CellSequence, marks: &CellSequence) -> Result<()> {
    let mut found = Vec::new();
    for slice in flags.slices(PORTION_BYTES, 1) {
        read_words(flags, slice.clone(), &mut found)?;
        found.iter_mut().for_each(|flag| *flag = u32::from(*flag != 0));
        marks.write(slice, bytemuck::cast_slice(&found))?;
    }
    Ok(())
}

pub(crate) fn tails_on_host(world: &World, heads: &CellSequence) -> Result<CellSequence> {
    let tails = world.scratch_cells("ends of segments", &u32::INFO, heads.len())?;
    let mut next = Vec::new();
    for slice in heads.slices(PORTION_BYTES, 1) {
        read_words(heads, slice.start + 1..heads.len().min(slice.end + 1), &mut next)?;
        if slice.end == heads.len() {
            next.push(1);
        }
        tails.write(slice, bytemuck::cast_slice(&next))?;
    }
    Ok(tails)
}
