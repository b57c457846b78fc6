//! Staging buffers, and slices of payloads on their way between the host and kernels.

use std::ops::Deref;
use std::sync::Arc;

use wgpu::{BufferUsages, MapMode};

use super::movers::BufferMove;
use super::slices::Slice;
use crate::device::Device;
use crate::device::boxes::{BoxPair, PackedBox, Strided};
use crate::device::memory::{LENT_BYTES, MemoryPool, Staging, class};
use crate::device::ranges::write_mapped;
use crate::error::DeviceError;

/// Loan of a staging buffer, which returns to its pool when dropped.
pub(super) struct StagingLoan {
    kind: Staging,
    /// `None` after `into_buffer`.
    buffer: Option<wgpu::Buffer>,
    memory: Arc<MemoryPool>,
}

impl StagingLoan {
    /// Takes the buffer out of the loan. The caller returns the buffer to the pool.
    fn into_buffer(mut self) -> wgpu::Buffer {
        self.buffer.take().expect("present until dropped")
    }
}

impl Deref for StagingLoan {
    type Target = wgpu::Buffer;

    fn deref(&self) -> &wgpu::Buffer {
        self.buffer.as_ref().expect("present until dropped")
    }
}

impl Drop for StagingLoan {
    fn drop(&mut self) {
        let Some(buffer) = self.buffer.take() else { return };
        match self.kind {
            // Idle upload buffers are mapped, and this one may not be.
            Staging::Upload => self.memory.free_staging(self.kind, buffer),
            // The queue keeps order, so the next use of the buffer follows this one.
            Staging::Device | Staging::Readback => self.memory.keep_staging(self.kind, buffer),
        }
    }
}

impl Device {
    /// An idle staging buffer of at least `bytes` bytes, or a new one.
    ///
    /// Uploads come in pairs, so that the host fills one while the device reads the other; with
    /// both under way this waits. A transfer of any length thus needs a bounded amount of device
    /// memory, the same at every repeat.
    pub(super) fn staging(&self, kind: Staging, bytes: u64) -> Result<StagingLoan, DeviceError> {
        let buffer = Some(self.staging_buffer(kind, bytes)?);
        Ok(StagingLoan { kind, buffer, memory: self.logical().memory.clone() })
    }

    fn staging_buffer(&self, kind: Staging, bytes: u64) -> Result<wgpu::Buffer, DeviceError> {
        let memory = &self.logical().memory;
        if let Some(buffer) = memory.reuse_staging(kind, bytes) {
            return Ok(buffer);
        }
        let size = class(bytes);
        let make = || {
            if memory.staging_bytes(kind).0 + size > LENT_BYTES {
                memory.shrink_staging(kind, size);
            }
            let what = "staging memory for a transfer";
            let usage = if kind == Staging::Device { self.kernel_usages() } else { BufferUsages::empty() };
            let buffer = self.new_buffer(size, kind.usage() | usage, what, what, kind == Staging::Upload)?;
            memory.made_staging(kind, size);
            Ok(buffer)
        };
        if kind == Staging::Upload {
            if memory.staging_exists(kind, bytes) {
                self.wait()?;
                self.poll(wgpu::PollType::Poll)?;
                if let Some(buffer) = memory.reuse_staging(kind, bytes) {
                    return Ok(buffer);
                }
            }
            memory.keep_staging(kind, make()?);
        }
        make()
    }

    /// Whether a readback buffer of this size may be lent beyond the call that fills it.
    pub(super) fn may_lend(&self, bytes: u64) -> bool {
        self.logical().memory.staging_bytes(Staging::Readback).1 + class(bytes) <= LENT_BYTES
    }

    /// Takes an upload buffer back once the device has read it.
    fn return_upload(&self, loan: StagingLoan) {
        let memory = Arc::downgrade(&self.logical().memory);
        let buffer = loan.into_buffer();
        let returned = buffer.clone();
        buffer.map_async(wgpu::MapMode::Write, .., move |result| {
            let Some(memory) = memory.upgrade() else { return };
            match result {
                Ok(()) => memory.keep_staging(Staging::Upload, returned),
                Err(_) => memory.free_staging(Staging::Upload, returned),
            }
        });
    }

    /// Packs a slice and brings it into a readback buffer, which is mapped on return.
    pub(super) fn read_slice(
        &self,
        element_bytes: usize,
        pieces: &[PackedBox],
        slice: &Slice,
    ) -> Result<wgpu::Buffer, DeviceError> {
        let packed = self.staging(Staging::Device, slice.bytes.max(16))?;
        let readback = self.staging(Staging::Readback, slice.bytes.max(16))?;
        if element_bytes < 4 && slice.bytes > 0 {
            self.record(|encoder| encoder.clear_buffer(&packed, 0, Some(slice.bytes)));
        }
        let moves = slice.parts.iter().map(|part| {
            let transfer = BoxPair::new(&part.view, &Strided::dense(0, part.view.extents));
            BufferMove { src: pieces[part.piece].buffer.raw(), dst: &packed, transfer, base: [0, part.staged] }
        });
        self.record_moves(element_bytes, moves)?;
        if slice.bytes > 0 {
            self.record(|encoder| encoder.copy_buffer_to_buffer(&packed, 0, &readback, 0, Some(slice.bytes)));
        }
        drop(packed);
        let mapped = self.map_many(&[(&*readback, MapMode::Read)])?;
        mapped.keep();
        Ok(readback.into_buffer())
    }

    /// Uploads a slice and unpacks it. `as_is`: its staging offsets are payload offsets, so that it
    /// is one copy.
    pub(super) fn write_slice(
        &self,
        element_bytes: usize,
        payload: &[u8],
        pieces: &[PackedBox],
        slice: &Slice,
        as_is: bool,
    ) -> Result<(), DeviceError> {
        if slice.parts.is_empty() {
            return Ok(());
        }
        let packed = self.upload(slice, payload, as_is)?;
        let moves = slice.parts.iter().map(|part| {
            let transfer = BoxPair::new(&Strided::dense(0, part.view.extents), &part.view);
            BufferMove {
                src: &packed.on_device,
                dst: pieces[part.piece].buffer.raw(),
                transfer,
                base: [part.staged, 0],
            }
        });
        self.record_moves(element_bytes, moves)?;
        self.uploaded(packed)
    }

    /// Records the copy of a slice of a payload into staging memory of the device.
    pub(super) fn upload(&self, slice: &Slice, payload: &[u8], as_is: bool) -> Result<Uploading, DeviceError> {
        let from_host = self.staging(Staging::Upload, slice.bytes)?;
        let on_device = self.staging(Staging::Device, slice.bytes)?;
        let mut staging = write_mapped(&from_host, 0..slice.bytes)?;
        if as_is {
            staging.slice(..payload.len()).copy_from_slice(payload);
        } else {
            for part in &slice.parts {
                let from = &payload[part.payload as usize..][..part.bytes as usize];
                let start = part.staged as usize;
                staging.slice(start..start + from.len()).copy_from_slice(from);
            }
        }
        drop(staging);
        from_host.unmap();
        self.record(|encoder| encoder.copy_buffer_to_buffer(&from_host, 0, &on_device, 0, Some(slice.bytes)));
        Ok(Uploading { from_host, on_device })
    }

    /// Submits the recorded uses of an upload, and returns its memory.
    pub(super) fn uploaded(&self, uploading: Uploading) -> Result<(), DeviceError> {
        self.flush()?;
        self.return_upload(uploading.from_host);
        Ok(())
    }
}

/// Staging memory of an upload that is being recorded.
pub(super) struct Uploading {
    from_host: StagingLoan,
    pub on_device: StagingLoan,
}
