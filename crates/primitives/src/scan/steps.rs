//! [`ScanSteps`]: a scan in three steps: reduce the blocks, compute the prefix of each block, write
//! the results.

use zippy::World;
use zippy::collective::CellSequence;
use zippy::device::Device;
use zippy::error::Result;

use super::host::{self, BlockSums};
use super::kernels::{self, Blocks};
use super::operation::{Carry, ScanOperation};
use crate::backend::HasBackend;
use crate::heads::Heads;

/// Scan of cells of this rank after cells of other ranks, in separate steps.
pub(super) struct ScanSteps<'a>(ScanBackend<'a>);

enum ScanBackend<'a> {
    Host(HostScan<'a>),
    Kernels(Box<Blocks>),
}

struct HostScan<'a> {
    device: &'a Device,
    operation: &'a ScanOperation<'a>,
    input: &'a CellSequence,
    heads: Heads<'a>,
    output: Option<&'a CellSequence>,
    /// Key of the cell before the scanned cells.
    key: Option<Vec<u8>>,
    /// Sums of the blocks; `None` if the results are written as soon as the value before the blocks
    /// is known.
    sums: Option<BlockSums>,
    before: Carry,
}

impl<'a> ScanSteps<'a> {
    /// Reduces the blocks. `key` is the key of the previous cell, if keys define the segments. Also
    /// returns the last key. With `at_once`, the host skips this step and reads each cell only
    /// once, in [`carry`](Self::carry).
    pub(super) fn new(
        world: &'a World,
        operation: &'a ScanOperation<'a>,
        input: &'a CellSequence,
        heads: Heads<'a>,
        output: Option<&'a CellSequence>,
        key: Option<Vec<u8>>,
        at_once: bool,
    ) -> Result<(Self, Option<Vec<u8>>)> {
        if !world.backend().is_host_scan(operation) {
            let mut last = key;
            let flags = kernels::flags(world, heads, &mut last)?;
            let blocks = Blocks::new(world, operation, input, flags.as_ref(), output)?;
            return Ok((Self(ScanBackend::Kernels(Box::new(blocks))), last));
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
        Ok((Self(ScanBackend::Host(HostScan { device, operation, input, heads, output, key, sums, before })), last))
    }

    /// Computes the prefix of each block after the value of all earlier cells; returns the value
    /// including the blocks. With `at_once`, also writes the results.
    pub(super) fn carry(&mut self, before: Carry) -> Result<Carry> {
        match &mut self.0 {
            ScanBackend::Kernels(blocks) => blocks.carry(before),
            ScanBackend::Host(scan) => match &scan.sums {
                Some(sums) => {
                    scan.before = before.clone();
                    Ok(sums.after(scan.operation, before))
                }
                None => {
                    let before = Carry { key: scan.key.take(), ..before };
                    let all = host::scan(scan.device, scan.operation, scan.input, scan.heads, scan.output, before)?;
                    Ok(Carry { key: None, ..all })
                }
            },
        }
    }

    pub(super) fn write(self) -> Result<()> {
        match self.0 {
            ScanBackend::Kernels(blocks) => blocks.write(),
            ScanBackend::Host(scan) if scan.sums.is_none() => Ok(()),
            ScanBackend::Host(scan) => {
                let carry = Carry { key: scan.key, ..scan.before };
                host::scan(scan.device, scan.operation, scan.input, scan.heads, scan.output, carry).map(drop)
            }
        }
    }
}
