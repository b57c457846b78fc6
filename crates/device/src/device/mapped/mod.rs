//! Boxes of chunks reached by the host, which maps their memory.

mod combine;
mod copies;
pub(super) mod copy;
mod put;

use std::ops::Range;

use wgpu::MapMode;

use self::combine::host_combine;
use self::put::HostPut;
use super::boxes::{BoxPair, PackedBox, Strided};
use super::kernels::Kernels;
use super::numbered::{BufferBox, Numbered};
use super::order::{Step, any_hazard};
use super::ranges::{access_all_mapped, access_mapped, read_mapped};
use super::reach::Reach;
use super::staged::pad;
use super::{ChunkBuffer, Device, Operator, Staged};
use crate::element::ElementInfo;
use crate::error::DeviceError;
use crate::extents::Index;

/// The host moves cells itself; what it cannot combine, kernels do.
pub(super) struct Mapped;

impl Reach for Mapped {
    fn by_host(&self, element: &ElementInfo, operator: Option<&Operator>) -> bool {
        operator.is_none_or(|operator| host_combine(element, operator).is_some())
    }

    fn bytes_at_a_time(&self) -> u64 {
        // What is copied stays in the caches.
        128 << 10
    }

    fn gather(
        &self,
        on: &Device,
        element_bytes: usize,
        pieces: &[PackedBox],
        bytes: usize,
    ) -> Result<Staged, DeviceError> {
        Staged::on_host(&on.logical().memory, bytes, |payload| gather(on, element_bytes, pieces, payload))
    }

    fn gather_into(
        &self,
        on: &Device,
        element_bytes: usize,
        pieces: &[PackedBox],
        payload: &mut [u8],
    ) -> Result<(), DeviceError> {
        gather(on, element_bytes, pieces, payload)
    }

    fn scatter(
        &self,
        on: &Device,
        element_bytes: usize,
        payload: &[u8],
        pieces: &[PackedBox],
    ) -> Result<(), DeviceError> {
        put::put(on, payload, pieces, &HostPut::copying(element_bytes))
    }

    fn fill(&self, on: &Device, element: &[u8], boxes: &[BufferBox]) -> Result<(), DeviceError> {
        for one in boxes {
            let buffer = one.buffer.raw();
            let _mapped = on.map_many(&[(buffer, MapMode::Write)])?;
            access_mapped(buffer, 0..buffer.size(), |chunk| {
                // A source whose cells are all the same one.
                let strides = Index::zeros(one.view.extents.axes());
                let source = Strided { offset: 0, strides, ..one.view };
                copy::copy(element, chunk, element.len(), &BoxPair::new(&source, &one.view));
            })?;
        }
        Ok(())
    }

    fn copy(&self, on: &Device, mut of: Numbered) -> Result<(), DeviceError> {
        let steps = of.in_order(on);
        copies::copy(on, &of, &steps, &HostPut::copying(of.element_bytes))
    }

    fn combine(
        &self,
        on: &Device,
        element: &ElementInfo,
        payload: &[u8],
        pieces: &[PackedBox],
        operator: &Operator,
    ) -> Result<(), DeviceError> {
        match host_combine(element, operator) {
            Some(cells) => put::put(on, payload, pieces, &HostPut { cells, reads: true }),
            None => Kernels.combine(on, element, payload, pieces, operator),
        }
    }

    fn combine_boxes(
        &self,
        on: &Device,
        element: &ElementInfo,
        of: &Numbered,
        operator: &Operator,
    ) -> Result<(), DeviceError> {
        let Some(cells) = host_combine(element, operator) else {
            return Kernels.combine_boxes(on, element, of, operator);
        };
        if of.copies.is_empty() {
            return Ok(());
        }
        let all = (0..of.copies.len()).collect();
        let step = if any_hazard(&of.copies) { Step::Staged(all) } else { Step::Direct(all) };
        copies::copy(on, of, &[step], &HostPut { cells, reads: true })
    }

    fn in_place(&self, on: &Device, chunk: &ChunkBuffer, bytes: Range<u64>) -> Result<Staged, DeviceError> {
        on.lent_chunk(chunk, bytes)
    }

    fn lend_to_read(
        &self,
        on: &Device,
        chunks: &[&ChunkBuffer],
        f: &mut dyn FnMut(&[&[u8]]),
    ) -> Result<(), DeviceError> {
        let buffers: Vec<_> = chunks.iter().map(|chunk| (chunk.raw(), MapMode::Read)).collect();
        let _mapped = on.map_many(&buffers)?;
        let views = buffers.iter().map(|(buffer, _)| read_mapped(buffer, 0..buffer.size()));
        let views = views.collect::<Result<Vec<_>, _>>()?;
        f(&views.iter().map(|view| &**view).collect::<Vec<_>>());
        Ok(())
    }

    fn lend(&self, on: &Device, chunks: &[&ChunkBuffer], f: &mut dyn FnMut(Vec<&mut [u8]>)) -> Result<(), DeviceError> {
        if (1..chunks.len()).any(|i| chunks[..i].iter().any(|other| other.same_as(chunks[i]))) {
            let message = "one of the buffers is given twice".to_string();
            return Err(DeviceError::Refused { what: "lending memory to the host".into(), message });
        }
        let buffers: Vec<_> = chunks.iter().map(|chunk| (chunk.raw(), MapMode::Write)).collect();
        let _mapped = on.map_many(&buffers)?;
        access_all_mapped(&buffers.iter().map(|(buffer, _)| *buffer).collect::<Vec<_>>(), f)
    }
}

fn gather(on: &Device, element_bytes: usize, pieces: &[PackedBox], payload: &mut [u8]) -> Result<(), DeviceError> {
    let buffers = PackedBox::by_buffer(pieces);
    let modes: Vec<_> = buffers.iter().map(|(buffer, _)| (*buffer, MapMode::Read)).collect();
    let _mapped = on.map_many(&modes)?;
    for (buffer, pieces) in buffers {
        let chunk = read_mapped(buffer, 0..buffer.size())?;
        for piece in pieces {
            let transfer = BoxPair::new(&piece.view, &Strided::dense(0, piece.view.extents));
            let begin = piece.payload_offset as usize;
            copy::copy(&chunk, &mut payload[begin..], element_bytes, &transfer);
            pad(payload, piece.payload_offset + piece.view.cells() * element_bytes as u64);
        }
    }
    Ok(())
}
