//! [`Component`]: scan of one component of consecutive cells.

use zippy::device::Operator;

use super::super::association::{CELLS_PER_BLOCK, Item, block, join};
use super::super::operation::Arithmetic;

pub(super) struct Component<'a, S> {
    pub input: &'a [S],
    pub output: Option<&'a mut [S]>,
    /// True for each cell that is a segment head; empty if only the first cell is a head.
    pub heads: &'a [bool],
    /// Initial value of an exclusive scan.
    pub first: Option<S>,
}

pub(super) fn function<S: Arithmetic>(operator: &Operator) -> fn(S, S) -> S {
    match operator {
        Operator::Min => least,
        Operator::Max => greatest,
        _ => S::add,
    }
}

fn least<S: Arithmetic>(a: S, b: S) -> S {
    if a < b { a } else { b }
}

fn greatest<S: Arithmetic>(a: S, b: S) -> S {
    if a > b { a } else { b }
}

impl<S: Arithmetic> Component<'_, S> {
    /// Scans the cells after the earlier value `carry`, and returns the combination of the carry
    /// and the cells. If the order of combination matters, the cells begin at a block boundary.
    // Variants that a type does not need are not compiled for it.
    pub(super) fn scan(self, operator: &Operator, carry: Option<Item<S>>) -> Option<Item<S>> {
        match operator {
            Operator::Min if S::EXACT_EXTREMES => self.scan_in_any_order(least, carry),
            Operator::Min => self.by_blocks(least, carry),
            Operator::Max if S::EXACT_EXTREMES => self.scan_in_any_order(greatest, carry),
            Operator::Max => self.by_blocks(greatest, carry),
            _ if S::EXACT_SUM => self.scan_in_any_order(S::add, carry),
            _ => self.by_blocks(S::add, carry),
        }
    }

    /// Scans with an operator whose result does not depend on the order of combination.
    fn scan_in_any_order(mut self, op: impl Fn(S, S) -> S + Copy, carry: Option<Item<S>>) -> Option<Item<S>> {
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
            return rest.scan_in_any_order(op, Some(Item { value, head }));
        };
        let last_head = self.heads.iter().rposition(|&head| head);
        let head = head || last_head.is_some();
        let value = match (self.output, self.first) {
            (None, _) => match last_head {
                None => reduce_in_any_order(op, value, self.input),
                Some(last) => reduce_in_any_order(op, self.input[last], &self.input[last + 1..]),
            },
            (Some(output), first) if self.heads.is_empty() => scan_without_heads(op, value, self.input, output, first),
            (Some(output), first) => scan_with_heads(op, value, self.input, (self.heads, output), first),
        };
        Some(Item { value, head })
    }

    fn by_blocks(mut self, op: impl Fn(S, S) -> S + Copy, mut carry: Option<Item<S>>) -> Option<Item<S>> {
        let (first, writes) = (self.first, self.output.is_some());
        for (number, input) in self.input.chunks(CELLS_PER_BLOCK).enumerate() {
            let cells = number * CELLS_PER_BLOCK..number * CELLS_PER_BLOCK + input.len();
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

/// Combines `all` with the cells in any order: several partial results, which the compiler keeps in
/// vector registers.
fn reduce_in_any_order<S: Copy>(op: impl Fn(S, S) -> S, all: S, input: &[S]) -> S {
    let (groups, rest) = input.as_chunks::<16>();
    let all = rest.iter().fold(all, |all, cell| op(all, *cell));
    let Some((first, groups)) = groups.split_first() else { return all };
    let mut sums = *first;
    for group in groups {
        sums.iter_mut().zip(group).for_each(|(sum, cell)| *sum = op(*sum, *cell));
    }
    sums.iter().fold(all, |all, sum| op(all, *sum))
}

/// Scans cells of one segment after the value `all`, and returns the combination.
fn scan_without_heads<S: Copy>(
    op: impl Fn(S, S) -> S,
    mut all: S,
    input: &[S],
    output: &mut [S],
    first: Option<S>,
) -> S {
    let cells = input.iter().zip(output);
    match first {
        None => cells.for_each(|(cell, out)| {
            all = op(all, *cell);
            *out = all;
        }),
        Some(first) => cells.for_each(|(cell, out)| {
            *out = op(first, all);
            all = op(all, *cell);
        }),
    }
    all
}

/// Scans cells as [`scan_without_heads`] does, with several segments.
fn scan_with_heads<S: Copy>(
    op: impl Fn(S, S) -> S,
    mut all: S,
    input: &[S],
    (heads, output): (&[bool], &mut [S]),
    first: Option<S>,
) -> S {
    let cells = input.iter().zip(heads).zip(output);
    match first {
        None => cells.for_each(|((cell, head), out)| {
            all = if *head { *cell } else { op(all, *cell) };
            *out = all;
        }),
        Some(first) => cells.for_each(|((cell, head), out)| {
            *out = if *head { first } else { op(first, all) };
            all = if *head { *cell } else { op(all, *cell) };
        }),
    }
    all
}
