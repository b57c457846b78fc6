//! Boxes of chunk buffers → a payload.

use wgpu::MapMode;

use super::boxes::{Piece, Strided, Transfer, check_pieces};
use super::mapping::read_mapped;
use super::memory::{SLICE_BYTES, Staging};
use super::movers::Move;
use super::slices::{Slice, slices, whole};
use super::staged::Staged;
use super::{Device, host_copy};
use crate::error::DeviceError;

impl Device {
    /// Copies boxes of elements of `element_bytes` (1, 2 or a multiple of 4) into a payload of `payload_bytes` bytes.
    ///
    /// Every box stands densely in the payload at its own offset, its view's axis 0 fastest. Bytes that no box covers
    /// are unspecified, except that the last word of a box is filled up with zeros. Recorded work comes first. On
    /// return the bytes are there and the chunks may be changed. One payload can serve several messages:
    /// [`Staged::part`].
    ///
    /// Local. Cost: on host-mapped memory one copy by the host; elsewhere one dispatch for all boxes of a buffer, one
    /// submission and one wait, and for payloads beyond 8 MiB one such round and a copy for every slice of 8 MiB.
    ///
    /// # Errors
    /// A box that leaves its buffer or the payload, an element size that cannot be moved, or a failing device.
    pub fn gather(&self, element_bytes: usize, pieces: &[Piece], payload_bytes: u64) -> Result<Staged, DeviceError> {
        check_pieces("gather", element_bytes, pieces, payload_bytes)?;
        self.check("gather")?;
        let memory = &self.core().memory;
        let bytes = usize::try_from(payload_bytes).map_err(|_| self.out_of_memory("gather"))?;
        if self.host_mapped() {
            return Staged::on_host(memory, bytes, |payload| self.gather_mapped(element_bytes, pieces, payload));
        }
        let limit = SLICE_BYTES.min(self.limits().binding_bytes);
        if payload_bytes.next_multiple_of(16) <= limit && self.may_lend(payload_bytes) {
            let slice = whole(pieces, element_bytes as u64, payload_bytes);
            let filled = self.read_slice(element_bytes, pieces, &slice)?;
            return Staged::in_buffer(memory, bytes, filled);
        }
        Staged::on_host(memory, bytes, |payload| {
            for slice in slices(pieces, element_bytes as u64, limit, 16) {
                let filled = self.read_slice(element_bytes, pieces, &slice)?;
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

    fn gather_mapped(&self, element_bytes: usize, pieces: &[Piece], payload: &mut [u8]) -> Result<(), DeviceError> {
        let buffers = Piece::by_buffer(pieces);
        let modes: Vec<_> = buffers.iter().map(|(buffer, _)| (*buffer, MapMode::Read)).collect();
        let _mapped = self.map_many(&modes)?;
        for (buffer, pieces) in buffers {
            let chunk = read_mapped(buffer, 0..buffer.size())?;
            for piece in pieces {
                let transfer = Transfer::new(&piece.view, &Strided::dense(0, piece.view.extents));
                let begin = piece.payload_offset as usize;
                host_copy::copy(&chunk, &mut payload[begin..], element_bytes, &transfer);
                pad(payload, piece.payload_offset + piece.view.cells() * element_bytes as u64);
            }
        }
        Ok(())
    }

    /// Packs a slice and brings it into a readback buffer, which is mapped on return.
    fn read_slice(&self, element_bytes: usize, pieces: &[Piece], slice: &Slice) -> Result<wgpu::Buffer, DeviceError> {
        let memory = &self.core().memory;
        let packed = self.staging(Staging::Device, slice.bytes.max(16))?;
        let readback = self.staging(Staging::Readback, slice.bytes.max(16))?;
        if element_bytes < 4 && slice.bytes > 0 {
            self.record(|encoder| encoder.clear_buffer(&packed, 0, Some(slice.bytes)));
        }
        let moves = slice.parts.iter().map(|part| {
            let transfer = Transfer::new(&part.view, &Strided::dense(0, part.view.extents));
            Move { src: pieces[part.piece].buffer.raw(), dst: &packed, transfer, base: [0, part.staged] }
        });
        self.record_moves(element_bytes, moves)?;
        if slice.bytes > 0 {
            self.record(|encoder| encoder.copy_buffer_to_buffer(&packed, 0, &readback, 0, Some(slice.bytes)));
        }
        // The queue keeps order: whoever takes the packing buffer next comes after this.
        memory.keep_staging(Staging::Device, packed);
        let mapped = self.map_many(&[(&readback, MapMode::Read)])?;
        mapped.keep();
        Ok(readback)
    }
}

/// Zeros from the end of a box to the end of its last word.
fn pad(payload: &mut [u8], end: u64) {
    let last = (end.next_multiple_of(4) as usize).min(payload.len());
    payload[end as usize..last].fill(0);
}
