//! A payload → boxes of chunk buffers.

use super::Device;
use super::boxes::{Piece, Strided, Transfer, bad, check_pieces};
use super::host_put::HostPut;
use super::mapping::write_mapped;
use super::memory::{SLICE_BYTES, Staging};
use super::movers::Move;
use super::slices::{Slice, slices, whole};
use crate::error::DeviceError;

impl Device {
    /// Copies a payload into boxes of chunk buffers: the reverse of [`Device::gather`].
    ///
    /// Recorded work comes first, later work sees the new cells. The payload may be dropped on return; the copy into
    /// the chunks may still be under way on the device. Boxes must not overlap each other (which one wins is
    /// unspecified); two boxes may share a word.
    ///
    /// Local. Cost: on host-mapped memory one copy by the host; elsewhere one upload, one dispatch for all boxes of a
    /// buffer and one submission, for every 8 MiB of the payload.
    ///
    /// # Errors
    /// A box that leaves its buffer or the payload, an element size that cannot be moved, or a failing device.
    pub fn scatter(&self, element_bytes: usize, payload: &[u8], pieces: &[Piece]) -> Result<(), DeviceError> {
        check_pieces("scatter", element_bytes, pieces, payload.len() as u64)?;
        check_destinations("scatter", pieces.iter().map(|piece| &piece.view))?;
        self.check("scatter")?;
        if self.host_mapped() {
            return self.put_mapped(payload, pieces, &HostPut::copying(element_bytes));
        }
        let limit = SLICE_BYTES.min(self.limits().binding_bytes);
        let payload_bytes = payload.len() as u64;
        if payload_bytes.is_multiple_of(4) && payload_bytes.next_multiple_of(16) <= limit {
            let slice = whole(pieces, element_bytes as u64, payload_bytes);
            return self.write_slice(element_bytes, payload, pieces, &slice, true);
        }
        for slice in slices(pieces, element_bytes as u64, limit, 16) {
            self.write_slice(element_bytes, payload, pieces, &slice, false)?;
        }
        Ok(())
    }

    /// Puts a payload into mapped chunks, the boxes of a chunk in the order listed.
    pub(super) fn put_mapped(&self, payload: &[u8], pieces: &[Piece], put: &HostPut) -> Result<(), DeviceError> {
        let buffers = Piece::by_buffer(pieces);
        let raw: Vec<_> = buffers.iter().map(|(buffer, _)| *buffer).collect();
        let _mapped = self.map_for(put, &[], &raw)?;
        for (buffer, pieces) in buffers {
            write_mapped(buffer, 0..buffer.size(), |chunk| {
                for piece in pieces {
                    let transfer = Transfer::new(&Strided::dense(0, piece.view.extents), &piece.view);
                    (put.cells)(&payload[piece.payload_offset as usize..], chunk, &transfer);
                }
            })?;
        }
        Ok(())
    }

    /// Uploads a slice and unpacks it. `as_is`: its staging offsets are payload offsets, so that it is one copy.
    fn write_slice(
        &self,
        element_bytes: usize,
        payload: &[u8],
        pieces: &[Piece],
        slice: &Slice,
        as_is: bool,
    ) -> Result<(), DeviceError> {
        if slice.parts.is_empty() {
            return Ok(());
        }
        let packed = self.upload(slice, payload, as_is)?;
        let moves = slice.parts.iter().map(|part| {
            let transfer = Transfer::new(&Strided::dense(0, part.view.extents), &part.view);
            Move { src: &packed.on_device, dst: pieces[part.piece].buffer.raw(), transfer, base: [part.staged, 0] }
        });
        self.record_moves(element_bytes, moves)?;
        self.uploaded(packed)
    }

    /// Records the copy of a slice of a payload into staging memory of the device.
    pub(super) fn upload(&self, slice: &Slice, payload: &[u8], as_is: bool) -> Result<Uploading, DeviceError> {
        let from_host = self.staging(Staging::Upload, slice.bytes)?;
        let on_device = self.staging(Staging::Device, slice.bytes)?;
        write_mapped(&from_host, 0..slice.bytes, |staging| {
            if as_is {
                staging[..payload.len()].copy_from_slice(payload);
                return;
            }
            for part in &slice.parts {
                let from = &payload[part.payload as usize..][..part.bytes as usize];
                staging[part.staged as usize..][..from.len()].copy_from_slice(from);
            }
        })?;
        from_host.unmap();
        self.record(|encoder| encoder.copy_buffer_to_buffer(&from_host, 0, &on_device, 0, Some(slice.bytes)));
        Ok(Uploading { from_host, on_device })
    }

    /// Submits what was recorded from an upload and gives its memory back.
    pub(super) fn uploaded(&self, uploading: Uploading) -> Result<(), DeviceError> {
        self.flush()?;
        self.return_upload(uploading.from_host);
        self.core().memory.keep_staging(Staging::Device, uploading.on_device);
        Ok(())
    }
}

/// Staging memory of an upload that is being recorded.
pub(super) struct Uploading {
    from_host: wgpu::Buffer,
    pub on_device: wgpu::Buffer,
}

/// `Err` where the cells of one box coincide.
pub(super) fn check_destinations<'a>(what: &str, views: impl Iterator<Item = &'a Strided>) -> Result<(), DeviceError> {
    for view in views {
        let mut axes = view.extents.iter().zip(view.strides.iter());
        if view.cells() > 0 && axes.any(|(&n, &stride)| n > 1 && stride == 0) {
            return Err(bad(what, format!("strides {} make cells of a destination coincide", view.strides)));
        }
    }
    Ok(())
}
