//! [`StagingLoan`] and [`Upload`]: staging buffers of payloads between the host and kernels.

use std::ops::Deref;
use std::sync::Arc;

use wgpu::{BufferUsages, MapMode};

use super::box_dispatch::BufferMove;
use super::staging_slice::StagingSlice;
use crate::device::Device;
use crate::device::allocation::BufferRequest;
use crate::device::box_pair::BoxPair;
use crate::device::boxes::{PackedBox, StridedBox};
use crate::device::mapped_bytes::write_mapped;
use crate::device::memory_pool::{MAX_LENT_STAGING_BYTES, MemoryPool, StagingKind, staging_size};
use crate::error::DeviceError;

/// Loan of a staging buffer, which returns to its pool when dropped.
pub(super) struct StagingLoan {
    kind: StagingKind,
    /// `None` after [`Self::into_buffer`].
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
            // Idle upload buffers must be mapped; this one may not be.
            StagingKind::Upload => self.memory.free_staging(self.kind, buffer),
            // The queue runs commands in order: the next use of the buffer follows this use.
            StagingKind::Device | StagingKind::Readback => self.memory.return_staging(self.kind, buffer),
        }
    }
}

impl Device {
    /// Lends an idle staging buffer of at least `bytes` bytes, or a new one.
    ///
    /// Upload buffers are created in pairs: the host fills one while the device reads the other. If
    /// both are in use, the call waits. So a transfer of any length has bounded staging memory.
    pub(super) fn staging(&self, kind: StagingKind, bytes: u64) -> Result<StagingLoan, DeviceError> {
        let buffer = Some(self.staging_buffer(kind, bytes)?);
        Ok(StagingLoan { kind, buffer, memory: self.logical().memory.clone() })
    }

    fn staging_buffer(&self, kind: StagingKind, bytes: u64) -> Result<wgpu::Buffer, DeviceError> {
        let memory = &self.logical().memory;
        if let Some(buffer) = memory.reuse_staging(kind, bytes) {
            return Ok(buffer);
        }
        let size = staging_size(bytes);
        let create = || {
            if memory.staging_bytes(kind).total + size > MAX_LENT_STAGING_BYTES {
                memory.shrink_staging(kind, size);
            }
            let label = "staging memory for a transfer";
            let kernel_usage = if kind == StagingKind::Device { self.kernel_usages() } else { BufferUsages::empty() };
            let usage = kind.usage() | kernel_usage;
            let request = BufferRequest { size, usage, purpose: label, label };
            let buffer = if kind == StagingKind::Upload {
                self.new_mapped_buffer(&request)?
            } else {
                self.new_buffer(&request)?
            };
            memory.count_new_staging(kind, size);
            Ok(buffer)
        };
        if kind == StagingKind::Upload {
            if memory.staging_exists(kind, bytes) {
                self.wait()?;
                self.poll(wgpu::PollType::Poll)?;
                if let Some(buffer) = memory.reuse_staging(kind, bytes) {
                    return Ok(buffer);
                }
            }
            memory.return_staging(kind, create()?);
        }
        create()
    }

    /// True if a readback buffer of this size can stay lent after the call that fills it.
    pub(super) fn can_lend_readback(&self, bytes: u64) -> bool {
        self.logical().memory.staging_bytes(StagingKind::Readback).lent + staging_size(bytes) <= MAX_LENT_STAGING_BYTES
    }

    /// Maps an upload buffer after the device has read it, and returns it to the pool.
    fn return_upload(&self, loan: StagingLoan) {
        let memory = Arc::downgrade(&self.logical().memory);
        let buffer = loan.into_buffer();
        let returned = buffer.clone();
        buffer.map_async(wgpu::MapMode::Write, .., move |result| {
            let Some(memory) = memory.upgrade() else { return };
            match result {
                Ok(()) => memory.return_staging(StagingKind::Upload, returned),
                Err(_) => memory.free_staging(StagingKind::Upload, returned),
            }
        });
    }

    /// Packs a slice and copies it to a readback buffer, which is mapped on return.
    pub(super) fn read_slice(
        &self,
        element_bytes: usize,
        pieces: &[PackedBox<'_>],
        slice: &StagingSlice,
    ) -> Result<wgpu::Buffer, DeviceError> {
        let packed = self.staging(StagingKind::Device, slice.bytes.max(16))?;
        let readback = self.staging(StagingKind::Readback, slice.bytes.max(16))?;
        if element_bytes < 4 && slice.bytes > 0 {
            self.record(|encoder| encoder.clear_buffer(&packed, 0, Some(slice.bytes)));
        }
        let moves = slice.parts.iter().map(|part| {
            let transfer = BoxPair::new(&part.view, &StridedBox::dense(0, part.view.extents));
            BufferMove {
                src: pieces[part.piece].buffer.raw(),
                dst: &packed,
                transfer,
                base_bytes: [0, part.staged_offset],
            }
        });
        self.record_moves(element_bytes, moves)?;
        if slice.bytes > 0 {
            self.record(|encoder| encoder.copy_buffer_to_buffer(&packed, 0, &readback, 0, Some(slice.bytes)));
        }
        drop(packed);
        self.map_buffers(&[(&*readback, MapMode::Read)])?.leave_mapped();
        Ok(readback.into_buffer())
    }

    /// Records the unpacking of an uploaded slice to chunks, and submits it.
    pub(super) fn unpack_slice(
        &self,
        element_bytes: usize,
        pieces: &[PackedBox<'_>],
        slice: &StagingSlice,
        upload: Upload,
    ) -> Result<(), DeviceError> {
        let moves = slice.parts.iter().map(|part| {
            let transfer = BoxPair::new(&StridedBox::dense(0, part.view.extents), &part.view);
            let (src, dst) = (&upload.on_device, pieces[part.piece].buffer.raw());
            BufferMove { src, dst, transfer, base_bytes: [part.staged_offset, 0] }
        });
        self.record_moves(element_bytes, moves)?;
        self.submit_upload(upload)
    }

    /// Records the upload of the parts of a slice to staging memory.
    pub(super) fn upload_slice(&self, payload: &[u8], slice: &StagingSlice) -> Result<Upload, DeviceError> {
        self.upload(slice.bytes, |staging| {
            for part in &slice.parts {
                let cells = &payload[part.payload_offset as usize..][..part.bytes as usize];
                let start = part.staged_offset as usize;
                staging.slice(start..start + cells.len()).copy_from_slice(cells);
            }
        })
    }

    /// Records the upload of a whole payload to staging memory of `bytes` bytes.
    pub(super) fn upload_payload(&self, payload: &[u8], bytes: u64) -> Result<Upload, DeviceError> {
        self.upload(bytes, |staging| staging.slice(..payload.len()).copy_from_slice(payload))
    }

    fn upload(&self, bytes: u64, fill: impl FnOnce(&mut wgpu::BufferViewMut)) -> Result<Upload, DeviceError> {
        let from_host = self.staging(StagingKind::Upload, bytes)?;
        let on_device = self.staging(StagingKind::Device, bytes)?;
        let mut staging = write_mapped(&from_host, 0..bytes)?;
        fill(&mut staging);
        drop(staging);
        from_host.unmap();
        self.record(|encoder| encoder.copy_buffer_to_buffer(&from_host, 0, &on_device, 0, Some(bytes)));
        Ok(Upload { from_host, on_device })
    }

    /// Submits the recorded uses of an upload, and returns its staging memory to the pool.
    pub(super) fn submit_upload(&self, upload: Upload) -> Result<(), DeviceError> {
        self.flush()?;
        self.return_upload(upload.from_host);
        Ok(())
    }
}

/// Staging memory of an upload: the mapped buffer that the host fills, and its copy for the device.
pub(super) struct Upload {
    from_host: StagingLoan,
    pub on_device: StagingLoan,
}
