//! A scan in steps: blocks are combined, what stands before them is found, results are written.

use super::host::{self, BlockSums};
use super::kernels::{self, Blocks};
use super::operation::{Carry, ScanOperation};
use crate::World;
use crate::algorithms::heads::Heads;
use crate::array::Cells;
use crate::device::Device;
use crate::error::Result;

/// A scan of cells of this rank, behind cells of others.
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
    /// The key of the cell before.
    key: Option<Vec<u8>>,
    /// Sums of the blocks; `None` where results are written as soon as the sum before them is
    /// known.
    sums: Option<BlockSums>,
    before: Carry,
}

impl<'a> Steps<'a> {
    /// Combines the blocks; `key` is that of the cell before, where keys say where segments begin. Returns the last key, too.
    /// With `at_once` the host leaves that until it is told what comes before: it looks at each cell once.
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

    /// Finds what stands before each block, behind what has been combined before all; returns what comes with them. What is
    /// done at once is written now.
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
