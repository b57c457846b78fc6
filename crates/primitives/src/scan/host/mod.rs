//! Scans on the host, the counterpart of `shaders/scan/scan.wgsl`.
//!
//! The cells are cut into tasks of several blocks. A thread combines the cells of its task, which
//! brings them into its cache, waits for the earlier tasks, and then writes its results: cells are
//! loaded from memory once. After D. Merrill and M. Garland, *Single-pass parallel prefix scan with
//! decoupled look-back* (NVIDIA 2016).

mod component;
mod pieces;
mod task;
mod value_chain;

use std::ops::Range;

use zippy::collective::{CellSequence, Lending, LentRange};
use zippy::device::{Device, Operator};
use zippy::error::Result;

use self::component::function;
use self::task::{HeadKind, Items, NumberScan, ScanTask};
use self::value_chain::ValueChain;
use super::association::{CELLS_PER_BLOCK, Item, join};
use super::operation::{Arithmetic, Carry, ScanOperation, for_number};
use crate::heads::Heads;

/// Size, in bytes, of a task's input: with the results, a part of the second-level cache.
const TASK_BYTES: usize = 256 << 10;
/// Size, in bytes, of a copy to the host, if the host cannot access device memory.
const WINDOW_BYTES: usize = 1 << 20;

/// Sums of blocks of cells: one per block if the order of combination matters, otherwise a single
/// one.
pub(super) struct BlockSums {
    values: Vec<u8>,
    /// For each block, true if it has a head.
    heads: Vec<bool>,
}

/// Scans `input` after the value `carry` of the earlier cells, writes to `output` if present, and
/// returns the combination.
pub(crate) fn scan(
    device: &Device,
    operation: &ScanOperation<'_>,
    input: &CellSequence,
    heads: Heads<'_>,
    output: Option<&CellSequence>,
    carry: Carry,
) -> Result<Carry> {
    let Some((number, _)) = operation.scalars() else { return Ok(carry) };
    let Some(output) = output else {
        let (sums, key) = block_sums(device, operation, input, heads, carry.key.clone())?;
        return Ok(Carry { key, ..sums.after(operation, carry) });
    };
    let scan = HostScan { device, operation, input, heads, output: Some(output) };
    for_number!(number, S => scan.write::<S>(carry))
}

/// Returns the sums of the blocks of `input`, and the last key. `key` is the key of the previous
/// cell if keys define the segments.
pub(super) fn block_sums(
    device: &Device,
    operation: &ScanOperation<'_>,
    input: &CellSequence,
    heads: Heads<'_>,
    key: Option<Vec<u8>>,
) -> Result<(BlockSums, Option<Vec<u8>>)> {
    let none = BlockSums { values: Vec::new(), heads: Vec::new() };
    let Some((number, _)) = operation.scalars() else { return Ok((none, key)) };
    let scan = HostScan { device, operation, input, heads, output: None };
    for_number!(number, S => scan.sums::<S>(key))
}

impl BlockSums {
    /// Returns the combination of `before` and all blocks.
    pub(super) fn after(&self, operation: &ScanOperation<'_>, before: Carry) -> Carry {
        let Some((number, lanes)) = operation.scalars() else { return before };
        for_number!(number, S => {
            let sums = bytemuck::pod_collect_to_vec::<u8, S>(&self.values);
            let sums = sums.into_iter().zip(&self.heads).map(|(value, &head)| Item { value, head }).collect::<Vec<_>>();
            let mut items = carry_to_items::<S>(&before, lanes);
            combine(operation.operator, &mut items, &sums);
            Carry { item: items_to_carry(items), key: before.key }
        })
    }
}

fn carry_to_items<S: Arithmetic>(carry: &Carry, lanes: usize) -> Items<S> {
    let Some(Item { value, head }) = &carry.item else { return vec![None; lanes] };
    let values = bytemuck::pod_collect_to_vec::<u8, S>(value);
    values.into_iter().map(|value| Some(Item { value, head: *head })).collect()
}

fn items_to_carry<S: Arithmetic>(items: Items<S>) -> Option<Item<Vec<u8>>> {
    let items: Vec<Item<S>> = items.into_iter().collect::<Option<_>>()?;
    let values: Vec<S> = items.iter().map(|item| item.value).collect();
    Some(Item { value: bytemuck::cast_slice(&values).to_vec(), head: items.iter().any(|item| item.head) })
}

/// Combines the earlier values `items` of the components with the sums of blocks.
fn combine<S: Arithmetic>(operator: &Operator, items: &mut Items<S>, sums: &[Item<S>]) {
    let op = function(operator);
    for block in sums.chunks(items.len()) {
        for (item, sum) in items.iter_mut().zip(block) {
            *item = Some(item.map_or(*sum, |before| join(op, before, *sum)));
        }
    }
}

struct HostScan<'a> {
    device: &'a Device,
    operation: &'a ScanOperation<'a>,
    input: &'a CellSequence,
    heads: Heads<'a>,
    output: Option<&'a CellSequence>,
}

impl HostScan<'_> {
    fn write<S: Arithmetic>(&self, carry: Carry) -> Result<Carry> {
        let scan = self.numbers::<S>();
        let (mut items, mut key) = (carry_to_items::<S>(&carry, scan.lanes), carry.key);
        let threads = self.device.host_threads();
        self.for_each_window(&mut key, |tasks| {
            let before = std::mem::take(&mut items);
            if threads.count() == 1 || tasks.len() == 1 {
                items = tasks.into_iter().fold(before, |items, task| scan.write(task, items));
                return;
            }
            let chain = ValueChain::new(before, tasks.len());
            threads.map(tasks.into_iter().enumerate().collect(), |(number, task)| {
                let link = chain.link(number);
                let sums = scan.sums(&task);
                // The thread with the previous task is working on it, so the wait is short.
                let Some(before) = link.before() else { return };
                let mut after = before.clone();
                combine(scan.operator, &mut after, &sums);
                link.set(after);
                scan.write(task, before.clone());
            });
            items = chain.into_last().unwrap_or_default();
        })?;
        Ok(Carry { item: items_to_carry(items), key })
    }

    fn sums<S: Arithmetic>(&self, mut key: Option<Vec<u8>>) -> Result<(BlockSums, Option<Vec<u8>>)> {
        let scan = self.numbers::<S>();
        let threads = self.device.host_threads();
        let (mut all, mut sums) = (vec![None; scan.lanes], Vec::new());
        self.for_each_window(&mut key, |tasks| {
            for found in threads.map(tasks, |task| scan.sums(&task)) {
                if scan.exact { combine(scan.operator, &mut all, &found) } else { sums.extend(found) }
            }
        })?;
        sums.extend(all.into_iter().flatten());
        let values: Vec<S> = sums.iter().map(|sum| sum.value).collect();
        let heads = sums.iter().map(|sum| sum.head).collect();
        Ok((BlockSums { values: bytemuck::cast_slice(&values).to_vec(), heads }, key))
    }

    fn numbers<S: Arithmetic>(&self) -> NumberScan<'_, S> {
        let heads = match self.heads {
            Heads::None => HeadKind::None,
            Heads::Flags(_) => HeadKind::Flags,
            Heads::Keys(keys) => HeadKind::Keys(keys.element().bytes),
        };
        let ScanOperation { operator, first, .. } = *self.operation;
        let lanes = self.operation.scalars().map_or(1, |(_, lanes)| lanes);
        let first = first.map(bytemuck::pod_collect_to_vec);
        NumberScan { operator, lanes, first, exact: self.operation.exact(), heads }
    }

    /// Calls `f` with the tasks of all cells, in portions if the host cannot access device memory.
    /// `key` is the key of the previous cell, and is set to the last key.
    fn for_each_window(&self, key: &mut Option<Vec<u8>>, mut f: impl FnMut(Vec<ScanTask<'_>>)) -> Result<()> {
        let in_place = self.output.is_some_and(|output| output.same_as(self.input));
        let input = (!in_place).then_some(self.input);
        let read: Vec<&CellSequence> = input.into_iter().chain(self.heads.cells()).collect();
        let lending = Lending::new(self.device, read, self.output, in_place);
        let some = (TASK_BYTES / self.operation.element.bytes / CELLS_PER_BLOCK).max(1) * CELLS_PER_BLOCK;
        for window in lending.windows(WINDOW_BYTES, CELLS_PER_BLOCK) {
            let starts = window.clone().step_by(some);
            let ranges: Vec<Range<u64>> = starts.map(|start| start..window.end.min(start + some as u64)).collect();
            lending.with(&ranges, |lent| {
                let of = lent.into_iter().zip(&ranges).map(|(lent, range)| self.task(lent, range, in_place, key));
                f(of.collect());
            })?;
        }
        Ok(())
    }

    fn task<'l>(
        &self,
        LentRange { read, written }: LentRange<'l>,
        range: &Range<u64>,
        in_place: bool,
        key: &mut Option<Vec<u8>>,
    ) -> ScanTask<'l> {
        let mut read = read.into_iter();
        let input = if in_place { None } else { read.next() };
        let heads = read.next().unwrap_or_default();
        let before = key.clone();
        if let (Heads::Keys(keys), Some(last)) = (self.heads, heads.last()) {
            *key = Some(last[last.len() - keys.element().bytes..].to_vec());
        }
        ScanTask { cells: (range.end - range.start) as usize, input, heads, key: before, output: written }
    }
}

/// Returns the sum of 32-bit numbers in 64 bits.
pub(crate) fn widened_sum(numbers: &CellSequence) -> Result<u64> {
    let mut all = 0;
    for slice in numbers.slices(WINDOW_BYTES, 1) {
        let mut some = vec![0_u32; (slice.end - slice.start) as usize];
        numbers.read(slice, bytemuck::cast_slice_mut(&mut some))?;
        all += some.into_iter().map(u64::from).sum::<u64>();
    }
    Ok(all)
}
