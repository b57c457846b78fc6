//! Scans by the host, some cells at a time: the twin of `shaders/scan/scan.wgsl`.

use bytemuck::Pod;
use half::f16;

use super::association::{BLOCK, Item, block};
use super::operation::{Arithmetic, Carry, Number, Operation};
use crate::algorithms::heads::{Heads, read};
use crate::array::Cells;
use crate::device::Operator;
use crate::error::Result;

/// The cells that the host has at hand at a time, at most.
const BYTES: usize = 128 << 10;

/// Scans `input` behind what has been combined before it, writes to `output` where there is one, and returns what has been
/// combined with it.
pub fn scan(operation: &Operation, input: &Cells, heads: Heads, output: Option<&Cells>, carry: Carry) -> Result<Carry> {
    let Some((number, lanes)) = operation.scalars() else { return Ok(carry) };
    let scan = Scan { operation, input, heads, output, lanes };
    match number {
        Number::F32 => scan.of::<f32>(carry),
        Number::I32 => scan.of::<i32>(carry),
        Number::U32 => scan.of::<u32>(carry),
        Number::F16 => scan.of::<f16>(carry),
        Number::F64 => scan.of::<f64>(carry),
        Number::I64 => scan.of::<i64>(carry),
        Number::U64 => scan.of::<u64>(carry),
        Number::U8 => scan.of::<u8>(carry),
        Number::I8 => scan.of::<i8>(carry),
        Number::U16 => scan.of::<u16>(carry),
        Number::I16 => scan.of::<i16>(carry),
    }
}

struct Scan<'a> {
    operation: &'a Operation<'a>,
    input: &'a Cells,
    heads: Heads<'a>,
    output: Option<&'a Cells>,
    /// Numbers of a cell.
    lanes: usize,
}

/// One component of the cells at hand.
struct Lane<'a, S> {
    input: &'a [S],
    output: Option<&'a mut [S]>,
    /// Empty where there are no heads but the first cell.
    heads: &'a [bool],
    first: Option<S>,
    which: usize,
    of: usize,
}

impl Scan<'_> {
    fn of<S: Arithmetic>(&self, carry: Carry) -> Result<Carry> {
        match self.operation.operator {
            Operator::Min => self.with(carry, |a: S, b: S| if a < b { a } else { b }),
            Operator::Max => self.with(carry, |a: S, b: S| if a > b { a } else { b }),
            _ => self.with(carry, S::add),
        }
    }

    fn with<S: Pod>(&self, carry: Carry, op: impl Fn(S, S) -> S + Copy) -> Result<Carry> {
        let (lanes, exact) = (self.lanes, self.operation.exact());
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
        let mut begin = 0;
        while begin < self.input.len() {
            let cells = begin..self.input.len().min(begin + some as u64);
            let numbers = (cells.end - cells.start) as usize * lanes;
            self.input.read(cells.clone(), bytemuck::cast_slice_mut(&mut values[..numbers]))?;
            let heads = read(self.heads, cells.clone(), &mut key)?;
            for (which, item) in items.iter_mut().enumerate() {
                let lane = Lane {
                    input: &values[..numbers],
                    output: self.output.map(|_| &mut results[..numbers]),
                    heads: &heads,
                    first: first.as_ref().map(|first| first[which]),
                    which,
                    of: lanes,
                };
                *item = if exact { lane.in_one_go(op, *item) } else { lane.by_blocks(op, *item) };
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

impl<S: Copy> Lane<'_, S> {
    fn cells(&self) -> usize {
        self.input.len() / self.of
    }

    fn cell(&self, i: usize) -> Item<S> {
        let head = self.heads.get(i).copied().unwrap_or(false);
        Item { value: self.input[i * self.of + self.which], head }
    }

    /// Where the order does not matter.
    fn in_one_go(mut self, op: impl Fn(S, S) -> S + Copy, carry: Option<Item<S>>) -> Option<Item<S>> {
        if let (true, Some(output), Some(Item { value: mut all, head })) =
            (self.heads.is_empty(), &mut self.output, carry)
        {
            let (input, output) = (self.input[self.which..].iter(), output[self.which..].iter_mut());
            let cells = input.step_by(self.of).zip(output.step_by(self.of));
            match self.first {
                None => cells.for_each(|(cell, out)| {
                    all = op(all, *cell);
                    *out = all;
                }),
                Some(first) => cells.for_each(|(cell, out)| {
                    *out = op(first, all);
                    all = op(all, *cell);
                }),
            }
            return Some(Item { value: all, head });
        }
        let mut last = carry;
        for i in 0..self.cells() {
            let cell = self.cell(i);
            let all = super::association::join(op, last, Some(cell));
            self.put(op, i, last, all.unwrap_or(cell));
            last = all;
        }
        last
    }

    fn by_blocks(mut self, op: impl Fn(S, S) -> S + Copy, mut carry: Option<Item<S>>) -> Option<Item<S>> {
        let cells = self.cells();
        for begin in (0..cells).step_by(BLOCK) {
            let some = BLOCK.min(cells - begin);
            let here: Vec<Item<S>> = (begin..begin + some).map(|i| self.cell(i)).collect();
            let writes = self.output.is_some();
            let put = writes.then_some(|i: usize, last, all| self.put(op, begin + i, last, all));
            carry = block(op, carry, some, |i| here[i], put);
        }
        carry
    }

    fn put(&mut self, op: impl Fn(S, S) -> S, i: usize, last: Option<Item<S>>, all: Item<S>) {
        let head = self.heads.get(i).copied().unwrap_or(false);
        let Some(output) = &mut self.output else { return };
        output[i * self.of + self.which] = match (self.first, last) {
            (None, _) => all.value,
            (Some(first), Some(last)) if !head => op(first, last.value),
            (Some(first), _) => first,
        };
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
