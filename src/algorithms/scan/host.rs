//! Scans by the host, some cells at a time: the twin of `shaders/scan/scan.wgsl`.

use super::association::{BLOCK, Item, block, join};
use super::operation::{Arithmetic, Carry, ScanOperation, for_number};
use crate::algorithms::heads::{Heads, read};
use crate::array::Cells;
use crate::device::Operator;
use crate::error::Result;

/// The cells that the host has at hand at a time, at most.
const BYTES: usize = 128 << 10;

/// Scans `input` behind what has been combined before it, writes to `output` where there is one, and returns what has been
/// combined with it.
pub fn scan(
    operation: &ScanOperation,
    input: &Cells,
    heads: Heads,
    output: Option<&Cells>,
    carry: Carry,
) -> Result<Carry> {
    let Some((number, lanes)) = operation.scalars() else { return Ok(carry) };
    let scan = HostScan { operation, input, heads, output, lanes };
    for_number!(number, S => scan.of::<S>(carry))
}

struct HostScan<'a> {
    operation: &'a ScanOperation<'a>,
    input: &'a Cells,
    heads: Heads<'a>,
    output: Option<&'a Cells>,
    /// Numbers of a cell.
    lanes: usize,
}

/// One component of the cells at hand.
struct Component<'a, S> {
    input: &'a [S],
    output: Option<&'a mut [S]>,
    /// Empty where there are no heads but the first cell.
    heads: &'a [bool],
    first: Option<S>,
}

impl HostScan<'_> {
    fn of<S: Arithmetic>(&self, carry: Carry) -> Result<Carry> {
        let lanes = self.lanes;
        let first: Option<Vec<S>> = self.operation.first.map(bytemuck::pod_collect_to_vec);
        let some = (BYTES / self.operation.element.bytes / BLOCK).max(1) * BLOCK;
        let mut items: Vec<Option<Item<S>>> = match carry.item {
            Some(Item { value, head }) => {
                bytemuck::pod_collect_to_vec(&value).into_iter().map(|value| Some(Item { value, head })).collect()
            }
            None => vec![None; lanes],
        };
        let mut key = carry.key;
        let mut values = vec![S::zeroed(); some.min(self.input.len() as usize) * lanes];
        let mut results = vec![S::zeroed(); if self.output.is_some() { values.len() } else { 0 }];
        // Components are scanned apart.
        let cells_at_hand = if lanes > 1 { values.len() / lanes } else { 0 };
        let (mut lane, mut lane_results) = (vec![S::zeroed(); cells_at_hand], vec![S::zeroed(); cells_at_hand]);
        let mut begin = 0;
        while begin < self.input.len() {
            let cells = begin..self.input.len().min(begin + some as u64);
            let numbers = (cells.end - cells.start) as usize * lanes;
            self.input.read(cells.clone(), bytemuck::cast_slice_mut(&mut values[..numbers]))?;
            let heads = read(self.heads, cells.clone(), &mut key)?;
            for (which, item) in items.iter_mut().enumerate() {
                let first = first.as_ref().map(|first| first[which]);
                let scan = |input, output, item| {
                    Component { input, output, heads: &heads, first }.with(self.operation.operator, item)
                };
                if lanes == 1 {
                    let output = self.output.map(|_| &mut results[..numbers]);
                    *item = scan(&values[..numbers], output, *item);
                    continue;
                }
                let cells = numbers / lanes;
                lane.iter_mut().zip(values[which..numbers].iter().step_by(lanes)).for_each(|(to, from)| *to = *from);
                let output = self.output.map(|_| &mut lane_results[..cells]);
                *item = scan(&lane[..cells], output, *item);
                if self.output.is_some() {
                    let results = results[which..numbers].iter_mut().step_by(lanes);
                    results.zip(&lane_results).for_each(|(to, from)| *to = *from);
                }
            }
            if let Some(output) = self.output {
                output.write(cells.clone(), bytemuck::cast_slice(&results[..numbers]))?;
            }
            begin = cells.end;
        }
        let all: Option<Vec<Item<S>>> = items.into_iter().collect();
        let item = all.map(|items| {
            let values: Vec<S> = items.iter().map(|item| item.value).collect();
            Item { value: bytemuck::cast_slice(&values).to_vec(), head: items.iter().any(|item| item.head) }
        });
        Ok(Carry { item, key })
    }
}

impl<S: Arithmetic> Component<'_, S> {
    // A way that a type does not need is not compiled for it.
    fn with(self, operator: &Operator, carry: Option<Item<S>>) -> Option<Item<S>> {
        let least = |a: S, b: S| if a < b { a } else { b };
        let greatest = |a: S, b: S| if a > b { a } else { b };
        match operator {
            Operator::Min if S::EXACT_EXTREMES => self.in_one_go(least, carry),
            Operator::Min => self.by_blocks(least, carry),
            Operator::Max if S::EXACT_EXTREMES => self.in_one_go(greatest, carry),
            Operator::Max => self.by_blocks(greatest, carry),
            _ if S::EXACT_SUM => self.in_one_go(S::add, carry),
            _ => self.by_blocks(S::add, carry),
        }
    }

    /// Where the order does not matter.
    fn in_one_go(mut self, op: impl Fn(S, S) -> S + Copy, carry: Option<Item<S>>) -> Option<Item<S>> {
        let Some(Item { value, head }) = carry else {
            let value = *self.input.first()?;
            if let Some(output) = &mut self.output {
                output[0] = self.first.unwrap_or(value);
            }
            let head = self.heads.first().is_some_and(|&head| head);
            let rest = Component {
                input: &self.input[1..],
                output: self.output.map(|output| &mut output[1..]),
                heads: self.heads.get(1..).unwrap_or(&[]),
                first: self.first,
            };
            return rest.in_one_go(op, Some(Item { value, head }));
        };
        if self.heads.is_empty() {
            let value = self.steps(op, value, std::iter::repeat(false));
            return Some(Item { value, head });
        }
        let heads = self.heads;
        Some(Item { value: self.steps(op, value, heads.iter().copied()), head: head || heads.contains(&true) })
    }

    /// Combines cell by cell.
    fn steps(self, op: impl Fn(S, S) -> S + Copy, mut all: S, heads: impl Iterator<Item = bool>) -> S {
        let cells = self.input.iter().zip(heads);
        let with = |all, cell, head| if head { cell } else { op(all, cell) };
        match (self.output, self.first) {
            (None, _) => cells.for_each(|(cell, head)| all = with(all, *cell, head)),
            (Some(output), None) => cells.zip(output).for_each(|((cell, head), out)| {
                all = with(all, *cell, head);
                *out = all;
            }),
            (Some(output), Some(first)) => cells.zip(output).for_each(|((cell, head), out)| {
                *out = if head { first } else { op(first, all) };
                all = with(all, *cell, head);
            }),
        }
        all
    }

    fn by_blocks(mut self, op: impl Fn(S, S) -> S + Copy, mut carry: Option<Item<S>>) -> Option<Item<S>> {
        let (first, writes) = (self.first, self.output.is_some());
        for (number, input) in self.input.chunks(BLOCK).enumerate() {
            let cells = number * BLOCK..number * BLOCK + input.len();
            let output = self.output.as_mut().map_or(&mut [][..], |output| &mut output[cells.clone()]);
            if self.heads.is_empty() {
                let put = |i: usize, last: Option<S>, all| {
                    output[i] = match first {
                        None => all,
                        Some(first) => last.map_or(first, |last| op(first, last)),
                    };
                };
                let head = carry.is_some_and(|carry| carry.head);
                let all = block(op, carry.map(|carry| carry.value), input, writes.then_some(put));
                carry = all.map(|value| Item { value, head });
                continue;
            }
            let items = input.iter().zip(&self.heads[cells]).map(|(&value, &head)| Item { value, head });
            let items: Vec<Item<S>> = items.collect();
            let put = |i: usize, last: Option<Item<S>>, all: Item<S>| {
                output[i] = match (first, last) {
                    (None, _) => all.value,
                    (Some(first), Some(last)) if !items[i].head => op(first, last.value),
                    (Some(first), _) => first,
                };
            };
            carry = block(|a, b| join(op, a, b), carry, &items, writes.then_some(put));
        }
        carry
    }
}

/// The sum of some numbers in 64 bits.
pub fn widened_sum(numbers: &Cells) -> Result<u64> {
    let mut all = 0;
    for slice in numbers.slices(BYTES, 1) {
        let mut some = vec![0_u32; (slice.end - slice.start) as usize];
        numbers.read(slice, bytemuck::cast_slice_mut(&mut some))?;
        all += some.into_iter().map(u64::from).sum::<u64>();
    }
    Ok(all)
}
