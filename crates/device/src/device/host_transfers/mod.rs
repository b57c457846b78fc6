//! [`HostTransfers`]: transfers by the host in mapped memory.

mod combine;
mod copy_boxes;
pub(super) mod copy_cells;
mod host_write;

use std::ops::Range;

use wgpu::MapMode;

use self::combine::host_combine;
use self::copy_cells::copy_cells;
use self::host_write::{HostWrite, write_payload};
use super::box_pair::BoxPair;
use super::boxes::{BufferBox, PackedBox, StridedBox};
use super::copy_order::{CopyStep, has_hazard};
use super::copy_set::CopySet;
use super::kernel_transfers::KernelTransfers;
use super::mapped_bytes::{access_all_mapped, access_mapped, read_mapped};
use super::staged_bytes::zero_last_word;
use super::transfer_backend::{CellMerge, TransferBackend};
use super::{ChunkBuffer, Device, Operator, StagedBytes};
use crate::element::ElementInfo;
use crate::error::DeviceError;
use crate::extents::Index;

/// Preferred size, in bytes, of a block of a streaming pass by the host: copies stay in the caches
/// of the CPU.
const BLOCK_BYTES: u64 = 128 << 10;

/// Transfers between chunks and payloads by the host. Kernels combine elements and operators
/// without a host function.
pub(super) struct HostTransfers;

impl TransferBackend for HostTransfers {
    fn is_host_transfer(&self, element: &ElementInfo, operator: Option<&Operator>) -> bool {
        operator.is_none_or(|operator| host_combine(element, operator).is_some())
    }

    fn preferred_block_bytes(&self) -> u64 {
        BLOCK_BYTES
    }

    fn gather(
        &self,
        device: &Device,
        element_bytes: usize,
        pieces: &[PackedBox<'_>],
        bytes: usize,
    ) -> Result<StagedBytes, DeviceError> {
        StagedBytes::on_host(&device.logical().memory, bytes, |payload| gather(device, element_bytes, pieces, payload))
    }

    fn gather_into(
        &self,
        device: &Device,
        element_bytes: usize,
        pieces: &[PackedBox<'_>],
        payload: &mut [u8],
    ) -> Result<(), DeviceError> {
        gather(device, element_bytes, pieces, payload)
    }

    fn scatter(
        &self,
        device: &Device,
        element_bytes: usize,
        payload: &[u8],
        pieces: &[PackedBox<'_>],
    ) -> Result<(), DeviceError> {
        write_payload(device, payload, pieces, &HostWrite::copy(element_bytes))
    }

    fn fill(&self, device: &Device, element: &[u8], boxes: &[BufferBox<'_>]) -> Result<(), DeviceError> {
        for BufferBox { buffer, view } in boxes {
            let buffer = buffer.raw();
            let _mapped = device.map_buffers(&[(buffer, MapMode::Write)])?;
            access_mapped(buffer, 0..buffer.size(), |chunk| {
                // Strides of 0: all cells of the source are the same element.
                let source = StridedBox { offset: 0, strides: Index::zeros(view.extents.axes()), ..*view };
                copy_cells(element, chunk, element.len(), &BoxPair::new(&source, view));
            })?;
        }
        Ok(())
    }

    fn copy(&self, device: &Device, mut set: CopySet<'_>) -> Result<(), DeviceError> {
        let steps = set.order(device);
        copy_boxes::run_steps(device, &set, &steps, &HostWrite::copy(set.element_bytes))
    }

    fn combine(
        &self,
        device: &Device,
        merge: &CellMerge<'_>,
        payload: &[u8],
        pieces: &[PackedBox<'_>],
    ) -> Result<(), DeviceError> {
        match host_combine(merge.element, merge.operator) {
            Some(cells) => write_payload(device, payload, pieces, &HostWrite { cells, reads_destination: true }),
            None => KernelTransfers.combine(device, merge, payload, pieces),
        }
    }

    fn combine_boxes(&self, device: &Device, merge: &CellMerge<'_>, set: &CopySet<'_>) -> Result<(), DeviceError> {
        let Some(cells) = host_combine(merge.element, merge.operator) else {
            return KernelTransfers.combine_boxes(device, merge, set);
        };
        if set.copies.is_empty() {
            return Ok(());
        }
        let all = (0..set.copies.len()).collect();
        let step = if has_hazard(&set.copies) { CopyStep::Staged(all) } else { CopyStep::Direct(all) };
        copy_boxes::run_steps(device, set, &[step], &HostWrite { cells, reads_destination: true })
    }

    fn in_place_payload(
        &self,
        device: &Device,
        chunk: &ChunkBuffer,
        bytes: Range<u64>,
    ) -> Result<StagedBytes, DeviceError> {
        device.lend_chunk_as_payload(chunk, bytes)
    }

    fn lend_to_read(
        &self,
        device: &Device,
        chunks: &[&ChunkBuffer],
        f: &mut dyn FnMut(&[&[u8]]),
    ) -> Result<(), DeviceError> {
        let buffers: Vec<_> = chunks.iter().map(|chunk| (chunk.raw(), MapMode::Read)).collect();
        let _mapped = device.map_buffers(&buffers)?;
        let views = buffers.iter().map(|(buffer, _)| read_mapped(buffer, 0..buffer.size()));
        let views = views.collect::<Result<Vec<_>, _>>()?;
        f(&views.iter().map(|view| &**view).collect::<Vec<_>>());
        Ok(())
    }

    fn lend(
        &self,
        device: &Device,
        chunks: &[&ChunkBuffer],
        f: &mut dyn FnMut(Vec<&mut [u8]>),
    ) -> Result<(), DeviceError> {
        if (1..chunks.len()).any(|i| chunks[..i].iter().any(|earlier| earlier.same_as(chunks[i]))) {
            let message = "one of the buffers is given twice".to_string();
            return Err(DeviceError::Refused { what: "lending memory to the host".into(), message });
        }
        let buffers: Vec<_> = chunks.iter().map(|chunk| (chunk.raw(), MapMode::Write)).collect();
        let _mapped = device.map_buffers(&buffers)?;
        access_all_mapped(&buffers.iter().map(|(buffer, _)| *buffer).collect::<Vec<_>>(), f)
    }
}

fn gather(
    device: &Device,
    element_bytes: usize,
    pieces: &[PackedBox<'_>],
    payload: &mut [u8],
) -> Result<(), DeviceError> {
    let groups = PackedBox::group_by_buffer(pieces);
    let modes: Vec<_> = groups.iter().map(|(buffer, _)| (*buffer, MapMode::Read)).collect();
    let _mapped = device.map_buffers(&modes)?;
    for (buffer, pieces) in groups {
        let chunk = read_mapped(buffer, 0..buffer.size())?;
        for piece in pieces {
            let transfer = BoxPair::new(&piece.view, &StridedBox::dense(0, piece.view.extents));
            copy_cells(&chunk, &mut payload[piece.payload_offset as usize..], element_bytes, &transfer);
            zero_last_word(payload, piece.payload_offset + piece.view.cells() * element_bytes as u64);
        }
    }
    Ok(())
}
