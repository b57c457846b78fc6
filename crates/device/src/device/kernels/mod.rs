//! Boxes of chunks reached by kernels, which pack and unpack.

mod buffer_window;
mod combine;
pub(super) mod combine_source;
mod copies;
mod fold;
pub(super) mod movers;
pub(super) mod shader;
mod slices;
mod staging;
mod tables;

use std::ops::Range;

pub use self::fold::FoldKernel;
use self::movers::BufferMove;
use self::slices::{Slice, slices, whole};
use super::boxes::{BoxPair, PackedBox, Strided};
use super::memory::SLICE_BYTES;
use super::numbered::{BufferBox, Numbered};
use super::reach::Reach;
use super::staged::pad;
use super::{ChunkBuffer, Device, Operator, Staged};
use crate::element::ElementInfo;
use crate::error::DeviceError;
use crate::extents::Index;

/// Kernels move cells between chunks and staging memory.
pub(super) struct Kernels;

impl Reach for Kernels {
    fn by_host(&self, _: &ElementInfo, _: Option<&Operator>) -> bool {
        false
    }

    fn bytes_at_a_time(&self) -> u64 {
        SLICE_BYTES
    }

    fn gather(
        &self,
        on: &Device,
        element_bytes: usize,
        pieces: &[PackedBox],
        bytes: usize,
    ) -> Result<Staged, DeviceError> {
        let (memory, payload_bytes) = (&on.logical().memory, bytes as u64);
        let limit = SLICE_BYTES.min(on.limits().binding_bytes);
        if payload_bytes.next_multiple_of(16) <= limit && on.may_lend(payload_bytes) {
            let slice = whole(pieces, element_bytes as u64, payload_bytes);
            let filled = on.read_slice(element_bytes, pieces, &slice)?;
            return Staged::in_buffer(memory, bytes, filled);
        }
        Staged::on_host(memory, bytes, |payload| {
            for slice in slices(pieces, element_bytes as u64, limit, 16) {
                let filled = on.read_slice(element_bytes, pieces, &slice)?;
                let staged = Staged::in_buffer(memory, slice.bytes as usize, filled)?;
                for part in &slice.parts {
                    let from = &staged.as_ref()[part.staged as usize..][..part.bytes as usize];
                    payload[part.payload as usize..][..from.len()].copy_from_slice(from);
                    pad(payload, part.payload + part.bytes);
                }
            }
            Ok(())
        })
    }

    fn scatter(
        &self,
        on: &Device,
        element_bytes: usize,
        payload: &[u8],
        pieces: &[PackedBox],
    ) -> Result<(), DeviceError> {
        let limit = SLICE_BYTES.min(on.limits().binding_bytes);
        let payload_bytes = payload.len() as u64;
        if payload_bytes.is_multiple_of(4) && payload_bytes.next_multiple_of(16) <= limit {
            let slice = whole(pieces, element_bytes as u64, payload_bytes);
            return on.write_slice(element_bytes, payload, pieces, &slice, true);
        }
        for slice in slices(pieces, element_bytes as u64, limit, 16) {
            on.write_slice(element_bytes, payload, pieces, &slice, false)?;
        }
        Ok(())
    }

    fn fill(&self, on: &Device, element: &[u8], boxes: &[BufferBox]) -> Result<(), DeviceError> {
        let slice = Slice { parts: Vec::new(), bytes: (element.len() as u64).next_multiple_of(16) };
        let packed = on.upload(&slice, element, true)?;
        let moves = boxes.iter().map(|one| {
            // A source whose cells are all the same one.
            let source = Strided { offset: 0, strides: Index::zeros(one.view.extents.axes()), ..one.view };
            let (src, dst) = (&packed.on_device, one.buffer.raw());
            BufferMove { src, dst, transfer: BoxPair::new(&source, &one.view), base: [0, 0] }
        });
        on.record_moves(element.len(), moves)?;
        on.uploaded(packed)
    }

    fn copy(&self, on: &Device, mut of: Numbered) -> Result<(), DeviceError> {
        let steps = of.in_order(on);
        copies::copy(on, &of, steps)
    }

    fn combine(
        &self,
        on: &Device,
        element: &ElementInfo,
        payload: &[u8],
        pieces: &[PackedBox],
        operator: &Operator,
    ) -> Result<(), DeviceError> {
        combine::payload(on, (element, &on.combiner(element, operator)?), payload, pieces)
    }

    fn combine_boxes(
        &self,
        on: &Device,
        element: &ElementInfo,
        of: &Numbered,
        operator: &Operator,
    ) -> Result<(), DeviceError> {
        combine::boxes(on, (element, &on.combiner(element, operator)?), of)
    }

    fn in_place(&self, _: &Device, _: &ChunkBuffer, _: Range<u64>) -> Result<Staged, DeviceError> {
        Err(not_mapped("sending in place"))
    }

    fn lend_to_read(&self, _: &Device, _: &[&ChunkBuffer], _: &mut dyn FnMut(&[&[u8]])) -> Result<(), DeviceError> {
        Err(not_mapped("lending memory to the host"))
    }

    fn lend(&self, _: &Device, _: &[&ChunkBuffer], _: &mut dyn FnMut(Vec<&mut [u8]>)) -> Result<(), DeviceError> {
        Err(not_mapped("lending memory to the host"))
    }
}

fn not_mapped(what: &str) -> DeviceError {
    DeviceError::Refused { what: what.into(), message: "the device's memory is not mapped".into() }
}
