//! [`MappedBuffers`]: buffers that the host maps for an operation.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use wgpu::MapMode;

use super::counters::AtomicCounters;
use super::logical_device::MapProgress;
use super::{Device, StagedBytes};
use crate::error::DeviceError;

/// Guard of buffers that the host has mapped: the drop unmaps them.
pub(super) struct MappedBuffers {
    buffers: Vec<wgpu::Buffer>,
    progress: Arc<MapProgress>,
    /// Lent chunks, which stay mapped at least as long as the guard.
    lent_chunks: Vec<(wgpu::Buffer, StagedBytes)>,
}

impl MappedBuffers {
    /// Drops the guard without unmapping the buffers.
    pub(super) fn leave_mapped(mut self) {
        self.progress.remove_mapped(&self.buffers);
        self.buffers.clear();
    }
}

impl Drop for MappedBuffers {
    fn drop(&mut self) {
        self.progress.remove_mapped(&self.buffers);
        for buffer in &self.buffers {
            buffer.unmap();
        }
    }
}

impl Device {
    /// Submits the recorded commands, waits for the device, and maps whole buffers. Chunks that are
    /// lent as [payloads](Self::in_place_payload) are mapped already and can be read. Cost with an
    /// idle device: less than 1 µs per buffer.
    ///
    /// # Errors
    /// * A buffer is mapped already, such as inside [`lend`](Self::lend).
    /// * The device fails.
    pub(super) fn map_buffers(&self, buffers: &[(&wgpu::Buffer, MapMode)]) -> Result<MappedBuffers, DeviceError> {
        let logical = self.logical();
        let progress = &logical.map_progress;
        // wgpu panics if a buffer is mapped twice.
        if buffers.iter().any(|(buffer, _)| progress.has_mapped(buffer)) {
            let message = "a buffer is lent to the host, and the call is made before the end of the loan";
            return Err(DeviceError::Refused { what: "mapping memory for the host".into(), message: message.into() });
        }
        self.wait()?;
        let lent_chunks = self.find_lent_chunks(buffers)?;
        let capacity = buffers.len();
        let mut mapped =
            MappedBuffers { buffers: Vec::with_capacity(capacity), progress: progress.clone(), lent_chunks };
        let unmapped = buffers.iter().filter(|(buffer, _)| mapped.lent_chunks.iter().all(|(lent, _)| lent != *buffer));
        progress.done.store(0, Ordering::Relaxed);
        progress.failed.store(0, Ordering::Relaxed);
        for (buffer, mode) in unmapped {
            mapped.buffers.push((*buffer).clone());
            progress.add_mapped(buffer);
            let progress: Arc<MapProgress> = progress.clone();
            buffer.map_async(*mode, .., move |result| {
                if result.is_err() {
                    progress.failed.fetch_add(1, Ordering::Relaxed);
                }
                progress.done.fetch_add(1, Ordering::Release);
            });
            AtomicCounters::increment(&logical.memory.counters.maps);
        }
        let is_pending = || progress.done.load(Ordering::Acquire) < mapped.buffers.len();
        self.poll(wgpu::PollType::Poll)?;
        if is_pending() {
            // The program has submitted work to the queue directly.
            self.poll(wgpu::PollType::wait_indefinitely())?;
        }
        if is_pending() || progress.failed.load(Ordering::Relaxed) > 0 {
            self.check("mapping memory for the host")?;
            return Err(DeviceError::Refused {
                what: "mapping memory for the host".into(),
                message: "a buffer is mapped already or cannot be mapped".into(),
            });
        }
        Ok(mapped)
    }
}
