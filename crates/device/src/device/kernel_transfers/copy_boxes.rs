//! Copies between boxes of chunks by kernels.

use super::box_dispatch::BufferMove;
use super::staging::StagingLoan;
use crate::device::Device;
use crate::device::box_pair::BoxPair;
use crate::device::boxes::StridedBox;
use crate::device::copy_order::CopyStep;
use crate::device::copy_set::CopySet;
use crate::device::memory_pool::StagingKind;
use crate::error::DeviceError;

/// Records the steps of copies as dispatches.
pub(super) fn record_steps(device: &Device, set: &CopySet<'_>, steps: Vec<CopyStep>) -> Result<(), DeviceError> {
    let limit = set.max_staged_cells(device) * set.element_bytes as u64;
    let mut held = Vec::new();
    for step in steps {
        match step {
            CopyStep::Direct(list) if set.needs_fewer_dispatches_staged(&list, limit) => {
                for batch in set.batches(&list, limit) {
                    let staged = stage_sources(device, set, batch)?;
                    write_destinations(device, set, batch, &staged)?;
                }
            }
            CopyStep::Direct(list) => {
                let moves = list.iter().map(|&copy| set.direct_move(copy));
                device.record_moves(set.element_bytes, moves)?;
            }
            CopyStep::Staged(list) => {
                let staged = stage_sources(device, set, &list)?;
                write_destinations(device, set, &list, &staged)?;
            }
            CopyStep::Hold(copy) => held.push((copy, stage_sources(device, set, &[copy])?)),
            CopyStep::Release(copy) => {
                for (_, staged) in held.extract_if(.., |(held, _)| *held == copy) {
                    write_destinations(device, set, &[copy], &staged)?;
                }
            }
        }
    }
    Ok(())
}

/// Records copies of the sources of listed copies to temporary memory.
pub(super) fn stage_sources(device: &Device, set: &CopySet<'_>, list: &[usize]) -> Result<StagingLoan, DeviceError> {
    let layout = set.temporary_layout(list);
    let staged = device.staging(StagingKind::Device, layout.bytes)?;
    let moves = list.iter().zip(&layout.offsets).map(|(&copy, &offset)| set.move_to_staged(copy, &staged, offset));
    device.record_moves(set.element_bytes, moves)?;
    Ok(staged)
}

fn write_destinations(
    device: &Device,
    set: &CopySet<'_>,
    list: &[usize],
    staged: &wgpu::Buffer,
) -> Result<(), DeviceError> {
    let layout = set.temporary_layout(list);
    let moves = list.iter().zip(&layout.offsets).map(|(&copy, &offset)| set.move_from_staged(copy, staged, offset));
    device.record_moves(set.element_bytes, moves)
}

impl CopySet<'_> {
    /// Returns the move of a copy from its source to its destination, without temporary memory.
    pub(super) fn direct_move(&self, copy: usize) -> BufferMove<'_> {
        let copy = &self.copies[copy];
        let (src, dst) = (self.buffers[copy.src.buffer], self.buffers[copy.dst.buffer]);
        let transfer = BoxPair::new(&copy.src.view, &copy.dst.view);
        BufferMove { src, dst, transfer, base_bytes: [0, 0] }
    }

    /// Returns the move from the source of a copy to a dense box at byte `offset` of temporary
    /// memory.
    fn move_to_staged<'b>(&'b self, copy: usize, staged: &'b wgpu::Buffer, offset: u64) -> BufferMove<'b> {
        let src = &self.copies[copy].src;
        let transfer = BoxPair::new(&src.view, &StridedBox::dense(0, src.view.extents));
        BufferMove { src: self.buffers[src.buffer], dst: staged, transfer, base_bytes: [0, offset] }
    }

    /// Returns the move from a dense box at byte `offset` of temporary memory to the destination of
    /// a copy.
    pub(super) fn move_from_staged<'b>(&'b self, copy: usize, staged: &'b wgpu::Buffer, offset: u64) -> BufferMove<'b> {
        let dst = &self.copies[copy].dst;
        let transfer = BoxPair::new(&StridedBox::dense(0, dst.view.extents), &dst.view);
        BufferMove { src: staged, dst: self.buffers[dst.buffer], transfer, base_bytes: [offset, 0] }
    }
}
