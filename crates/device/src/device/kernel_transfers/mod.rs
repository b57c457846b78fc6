//! [`KernelTransfers`]: transfers by kernels that pack and unpack.

mod box_dispatch;
mod buffer_window;
mod combine;
pub(super) mod combine_source;
mod copy_boxes;
mod job_table;
mod reduction;
pub(super) mod shader;
#[cfg(test)]
mod shader_tests;
mod staging;
mod staging_slice;

use std::ops::Range;

use self::box_dispatch::BufferMove;
pub use self::reduction::ReductionKernel;
use self::staging_slice::{cut_slices, whole_payload_slice};
use super::box_pair::BoxPair;
use super::boxes::{BufferBox, PackedBox, StridedBox};
use super::copy_set::CopySet;
use super::memory_pool::SLICE_BYTES;
use super::staged_bytes::zero_last_word;
use super::transfer_backend::{CellMerge, TransferBackend};
use super::{ChunkBuffer, Device, Operator, StagedBytes};
use crate::element::ElementInfo;
use crate::error::DeviceError;
use crate::extents::Index;

/// Transfers by kernels that pack and unpack cells between chunks and staging memory.
pub(super) struct KernelTransfers;

impl TransferBackend for KernelTransfers {
    fn is_host_transfer(&self, _: &ElementInfo, _: Option<&Operator>) -> bool {
        false
    }

    fn preferred_block_bytes(&self) -> u64 {
        SLICE_BYTES
    }

    fn gather(
        &self,
        device: &Device,
        element_bytes: usize,
        pieces: &[PackedBox<'_>],
        bytes: usize,
    ) -> Result<StagedBytes, DeviceError> {
        let (memory, payload_bytes) = (&device.logical().memory, bytes as u64);
        let limit = SLICE_BYTES.min(device.limits().binding_bytes);
        if payload_bytes.next_multiple_of(16) <= limit && device.can_lend_readback(payload_bytes) {
            let slice = whole_payload_slice(pieces, element_bytes as u64, payload_bytes);
            let readback = device.read_slice(element_bytes, pieces, &slice)?;
            return StagedBytes::in_buffer(memory, bytes, readback);
        }
        StagedBytes::on_host(memory, bytes, |payload| {
            for slice in cut_slices(pieces, element_bytes as u64, limit, 16) {
                let readback = device.read_slice(element_bytes, pieces, &slice)?;
                let staged = StagedBytes::in_buffer(memory, slice.bytes as usize, readback)?;
                for part in &slice.parts {
                    let cells = &staged.as_ref()[part.staged_offset as usize..][..part.bytes as usize];
                    payload[part.payload_offset as usize..][..cells.len()].copy_from_slice(cells);
                    zero_last_word(payload, part.payload_offset + part.bytes);
                }
            }
            Ok(())
        })
    }

    fn scatter(
        &self,
        device: &Device,
        element_bytes: usize,
        payload: &[u8],
        pieces: &[PackedBox<'_>],
    ) -> Result<(), DeviceError> {
        let limit = SLICE_BYTES.min(device.limits().binding_bytes);
        let payload_bytes = payload.len() as u64;
        if payload_bytes.is_multiple_of(4) && payload_bytes.next_multiple_of(16) <= limit {
            let slice = whole_payload_slice(pieces, element_bytes as u64, payload_bytes);
            let upload = device.upload_payload(payload, slice.bytes)?;
            return device.unpack_slice(element_bytes, pieces, &slice, upload);
        }
        for slice in cut_slices(pieces, element_bytes as u64, limit, 16) {
            let upload = device.upload_slice(payload, &slice)?;
            device.unpack_slice(element_bytes, pieces, &slice, upload)?;
        }
        Ok(())
    }

    fn fill(&self, device: &Device, element: &[u8], boxes: &[BufferBox<'_>]) -> Result<(), DeviceError> {
        let upload = device.upload_payload(element, (element.len() as u64).next_multiple_of(16))?;
        let moves = boxes.iter().map(|BufferBox { buffer, view }| {
            // Strides of 0: all cells of the source are the same element.
            let source = StridedBox { offset: 0, strides: Index::zeros(view.extents.axes()), ..*view };
            let transfer = BoxPair::new(&source, view);
            BufferMove { src: &upload.on_device, dst: buffer.raw(), transfer, base_bytes: [0, 0] }
        });
        device.record_moves(element.len(), moves)?;
        device.submit_upload(upload)
    }

    fn copy(&self, device: &Device, mut set: CopySet<'_>) -> Result<(), DeviceError> {
        let steps = set.order(device);
        copy_boxes::record_steps(device, &set, steps)
    }

    fn combine(
        &self,
        device: &Device,
        merge: &CellMerge<'_>,
        payload: &[u8],
        pieces: &[PackedBox<'_>],
    ) -> Result<(), DeviceError> {
        device.combine_kernel(merge)?.combine_payload(device, payload, pieces)
    }

    fn combine_boxes(&self, device: &Device, merge: &CellMerge<'_>, set: &CopySet<'_>) -> Result<(), DeviceError> {
        device.combine_kernel(merge)?.combine_boxes(device, set)
    }

    fn in_place_payload(&self, _: &Device, _: &ChunkBuffer, _: Range<u64>) -> Result<StagedBytes, DeviceError> {
        Err(not_mapped("sending in place"))
    }

    fn lend_to_read(&self, _: &Device, _: &[&ChunkBuffer], _: &mut dyn FnMut(&[&[u8]])) -> Result<(), DeviceError> {
        Err(not_mapped("lending memory to the host"))
    }

    fn lend(&self, _: &Device, _: &[&ChunkBuffer], _: &mut dyn FnMut(Vec<&mut [u8]>)) -> Result<(), DeviceError> {
        Err(not_mapped("lending memory to the host"))
    }
}

fn not_mapped(operation: &str) -> DeviceError {
    DeviceError::Refused { what: operation.into(), message: "the device's memory is not mapped".into() }
}
