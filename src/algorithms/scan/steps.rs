//! A scan in steps: blocks are combined, what stands before them is found, results are written.

use super::association::{BLOCK, Item, join};
use super::host;
use super::kernels::{self, Blocks};
use super::operation::{Arithmetic, Carry, ScanOperation, for_number};
use crate::World;
use crate::algorithms::heads::Heads;
use crate::array::Cells;
use crate::device::Operator;
use crate::error::Result;

/// A scan of cells of this rank, behind cells of others.
pub struct Steps<'a>(Way<'a>);

enum Way<'a> {
    Host(OnHost<'a>),
    Kernels(Box<Blocks>),
}

struct OnHost<'a> {
    operation: &'a ScanOperation<'a>,
    input: &'a Cells,
    heads: Heads<'a>,
    output: Option<&'a Cells>,
    /// The key of the cell before.
    key: Option<Vec<u8>>,
    /// What blocks come to, one by one where their order matters; nothing where results are written as soon as it is known
    /// what stands before them.
    sums: Vec<Carry>,
    at_once: bool,
    before: Carry,
}

impl<'a> Steps<'a> {
    /// Combines the blocks; `key` is that of the cell before, where keys say where segments begin. Returns the last key, too.
    /// With `at_once` the host leaves that until it is told what comes before: it looks at each cell once.
    pub fn new(
        world: &World,
        operation: &'a ScanOperation<'a>,
        input: &'a Cells,
        heads: Heads<'a>,
        output: Option<&'a Cells>,
        key: Option<Vec<u8>>,
        at_once: bool,
    ) -> Result<(Self, Option<Vec<u8>>)> {
        if !operation.by_host(world.gpu()) {
            let mut last = key;
            let flags = kernels::flags(world, heads, &mut last)?;
            let blocks = Blocks::new(world, operation, input, flags.as_ref(), output)?;
            return Ok((Self(Way::Kernels(Box::new(blocks))), last));
        }
        let mut last = key.clone();
        let mut sums = Vec::new();
        if at_once {
            if let Heads::Keys(keys) = heads {
                last = Some(keys.last()?);
            }
            let on = OnHost { operation, input, heads, output, key, sums, at_once, before: Carry::default() };
            return Ok((Self(Way::Host(on)), last));
        }
        let block = if operation.exact() { input.len() } else { BLOCK as u64 };
        for first in (0..input.len()).step_by(block.max(1) as usize) {
            let cells = first..input.len().min(first + block);
            let of = heads.cells().map(|of| of.only(cells.clone()));
            let heads = heads.with(of.as_ref());
            let carry = Carry { item: None, key: last.take() };
            let sum = host::scan(operation, &input.only(cells), heads, None, carry)?;
            last = sum.key.clone();
            sums.push(sum);
        }
        let before = Carry::default();
        Ok((Self(Way::Host(OnHost { operation, input, heads, output, key, sums, at_once, before })), last))
    }

    /// Finds what stands before each block, behind what has been combined before all; returns what comes with them. What is
    /// done at once is written now.
    pub fn carry(&mut self, before: Carry) -> Result<Carry> {
        match &mut self.0 {
            Way::Kernels(blocks) => blocks.carry(before),
            Way::Host(on) if on.at_once => {
                let before = Carry { key: on.key.take(), ..before };
                let all = host::scan(on.operation, on.input, on.heads, on.output, before)?;
                Ok(Carry { key: None, ..all })
            }
            Way::Host(on) => {
                on.before = before.clone();
                Ok(on.sums.iter().fold(before, |all, sum| joined(on.operation, all, sum)))
            }
        }
    }

    /// Writes the results.
    pub fn write(self) -> Result<()> {
        match self.0 {
            Way::Kernels(blocks) => blocks.write(),
            Way::Host(on) if on.at_once => Ok(()),
            Way::Host(on) => {
                let carry = Carry { key: on.key, ..on.before };
                host::scan(on.operation, on.input, on.heads, on.output, carry).map(drop)
            }
        }
    }
}

/// What comes before, and what comes behind.
fn joined(operation: &ScanOperation, before: Carry, behind: &Carry) -> Carry {
    let item = operation
        .scalars()
        .and_then(|(number, _)| for_number!(number, S => of::<S>(operation.operator, &before, behind)));
    Carry { item, key: None }
}

fn of<S: Arithmetic>(operator: &Operator, before: &Carry, behind: &Carry) -> Option<Item<Vec<u8>>> {
    let (Some(a), Some(b)) = (&before.item, &behind.item) else {
        return behind.item.clone().or_else(|| before.item.clone());
    };
    let numbers = |item: &Item<Vec<u8>>| bytemuck::pod_collect_to_vec::<u8, S>(&item.value);
    let combined = |(a, b): (S, S), heads: (bool, bool)| {
        let op = |a: S, b: S| match operator {
            Operator::Min if a < b => a,
            Operator::Max if a > b => a,
            Operator::Min | Operator::Max => b,
            _ => a.add(b),
        };
        join(op, Item { value: a, head: heads.0 }, Item { value: b, head: heads.1 })
    };
    let pairs = numbers(a).into_iter().zip(numbers(b));
    let values: Vec<S> = pairs.map(|pair| combined(pair, (a.head, b.head)).value).collect();
    Some(Item { value: bytemuck::cast_slice(&values).to_vec(), head: a.head || b.head })
}
