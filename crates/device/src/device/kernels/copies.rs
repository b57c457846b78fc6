//! Boxes of chunks → boxes of chunks, by kernels.

use super::movers::BufferMove;
use super::staging::StagingLoan;
use crate::device::Device;
use crate::device::boxes::{BoxPair, Strided};
use crate::device::memory::Staging;
use crate::device::numbered::Numbered;
use crate::device::order::Step;
use crate::error::DeviceError;

/// Records the steps.
pub(super) fn copy(on: &Device, of: &Numbered, steps: Vec<Step>) -> Result<(), DeviceError> {
    let (element_bytes, limit) = (of.element_bytes, of.staged_cells(on) * of.element_bytes as u64);
    let mut held = Vec::new();
    for step in steps {
        match step {
            Step::Direct(all) if of.better_aside(&all, limit) => {
                for some in of.batches(&all, limit) {
                    let temporary = read_aside(on, of, some)?;
                    write_aside(on, of, some, &temporary)?;
                }
            }
            Step::Direct(all) => {
                let moves = all.iter().map(|&i| of.between(i, None, None));
                on.record_moves(element_bytes, moves)?;
            }
            Step::Staged(all) => {
                let temporary = read_aside(on, of, &all)?;
                write_aside(on, of, &all, &temporary)?;
            }
            Step::Hold(i) => held.push((i, read_aside(on, of, &[i])?)),
            Step::Release(i) => {
                for (_, temporary) in held.extract_if(.., |(held, _)| *held == i) {
                    write_aside(on, of, &[i], &temporary)?;
                }
            }
        }
    }
    Ok(())
}

/// Records reading sources into a temporary buffer, one after the other.
pub(super) fn read_aside(on: &Device, of: &Numbered, which: &[usize]) -> Result<StagingLoan, DeviceError> {
    let places = of.places(which);
    let temporary = on.staging(Staging::Device, places.1)?;
    let moves = which.iter().zip(&places.0).map(|(&i, &at)| of.between(i, None, Some((&*temporary, at))));
    on.record_moves(of.element_bytes, moves)?;
    Ok(temporary)
}

fn write_aside(on: &Device, of: &Numbered, which: &[usize], from: &wgpu::Buffer) -> Result<(), DeviceError> {
    let places = of.places(which).0;
    let moves = which.iter().zip(&places).map(|(&i, &at)| of.between(i, Some((from, at)), None));
    on.record_moves(of.element_bytes, moves)
}

impl<'a> Numbered<'a> {
    /// Copy `i`, one side replaced by a dense box at a byte of a temporary buffer.
    pub(super) fn between<'b>(
        &'b self,
        i: usize,
        src: Option<(&'b wgpu::Buffer, u64)>,
        dst: Option<(&'b wgpu::Buffer, u64)>,
    ) -> BufferMove<'b> {
        let copy = &self.copies[i];
        let dense = Strided::dense(0, copy.src.1.extents);
        let src_view = if src.is_some() { &dense } else { &copy.src.1 };
        let dst_view = if dst.is_some() { &dense } else { &copy.dst.1 };
        let (src, src_at) = src.unwrap_or((self.buffers[copy.src.0], 0));
        let (dst, dst_at) = dst.unwrap_or((self.buffers[copy.dst.0], 0));
        BufferMove { src, dst, transfer: BoxPair::new(src_view, dst_view), base: [src_at, dst_at] }
    }
}
