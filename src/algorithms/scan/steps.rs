//! A scan in three steps: reduce the blocks, compute the prefix of each block, write the results.

use super::host::{self, BlockSums};
use super::kernels::{self, Blocks};
use super::operation::{Carry, ScanOperation};
use crate::World;
use crate::algorithms::heads::Heads;
use crate::array::Cells;
use crate::device::Device;
use crate::error::Result;

/// A scan of cells of this rank after cells of other ranks.
pub struct Steps<'a>(Way<'a>);

enum Way<'a> {
    Host(OnHost<'a>),
    Kernels(Box<Blocks>),
}

struct OnHost<'a> {
    device: &'a Device,
    operation: &'a ScanOperation<'a>,
    input: &'a Cells,
    heads: Heads<'a>,
    output: Option<&'a Cells>,
    /// The key of the previous cell.
    key: Option<Vec<u8>>,
    /// Sums of the blocks; `None` if the results are written as soon as the value before them is
    /// known.
    sums: Option<BlockSums>,
    before: Carry,
}

impl<'a> Steps<'a> {
    /// Reduces the blocks. `key` is the key of the previous cell, if keys define the segments. Also
    /// returns the last key. With `at_once`, the host skips this step and reads each cell only
    /// once, in [`carry`](Self::carry).
    pub fn new(
        world: &'a World,
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
        let device = world.gpu();
        let (sums, last) = match (at_once, heads) {
            (true, Heads::Keys(keys)) => (None, Some(keys.last()?)),
            (true, _) => (None, key.clone()),
            (false, _) => {
                let (sums, last) = host::block_sums(device, operation, input, heads, key.clone())?;
                (Some(sums), last)
            }
        };
        let before = Carry::default();
        Ok((Self(Way::Host(OnHost { device, operation, input, heads, output, key, sums, before })), last))
    }

    /// Computes the prefix of each block after the value of all earlier cells; returns the value
    /// including the blocks. With `at_once`, also writes the results.
    pub fn carry(&mut self, before: Carry) -> Result<Carry> {
        match &mut self.0 {
            Way::Kernels(blocks) => blocks.carry(before),
            Way::Host(on) => match &on.sums {
                Some(sums) => {
                    on.before = before.clone();
                    Ok(sums.after(on.operation, before))
                }
                None => {
                    let before = Carry { key: on.key.take(), ..before };
                    let all = host::scan(on.device, on.operation, on.input, on.heads, on.output, before)?;
                    Ok(Carry { key: None, ..all })
                }
            },
        }
    }

    /// Writes the results.
    pub fn write(self) -> Result<()> {
        match self.0 {
            Way::Kernels(blocks) => blocks.write(),
            Way::Host(on) if on.sums.is_none() => Ok(()),
            Way::Host(on) => {
                let carry = Carry { key: on.key, ..on.before };
                host::scan(on.device, on.operation, on.input, on.heads, on.output, carry).map(drop)
            }
        }
    }
}
