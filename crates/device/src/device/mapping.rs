//! Host access to buffers: mapping several at once, for the duration of one operation.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use wgpu::MapMode;

use super::counters::Tally;
use super::logical::MapProgress;
use super::{Device, Staged};
use crate::error::DeviceError;

/// Buffers mapped as a whole; unmapped when dropped.
pub(super) struct MappedBuffers {
    buffers: Vec<wgpu::Buffer>,
    progress: Arc<MapProgress>,
    /// What was mapped before, and stays so at least as long.
    in_place: Vec<(wgpu::Buffer, Staged)>,
}

impl MappedBuffers {
    /// Leaves the buffers mapped.
    pub fn keep(mut self) {
        self.progress.forget(&self.buffers);
        self.buffers.clear();
    }
}

impl Drop for MappedBuffers {
    fn drop(&mut self) {
        self.progress.forget(&self.buffers);
        for buffer in &self.buffers {
            buffer.unmap();
        }
    }
}

impl Device {
    /// Maps buffers for the host when all work that uses them is done. Submits what was recorded and waits for it; when
    /// the device is idle this is less than a microsecond a buffer. Those from which messages are sent
    /// [in place](Self::in_place) are mapped already and can be read.
    ///
    /// # Errors
    /// A buffer that the host has at this moment, as within [`lend`](Self::lend); a failing device.
    pub(super) fn map_many(&self, buffers: &[(&wgpu::Buffer, MapMode)]) -> Result<MappedBuffers, DeviceError> {
        let logical = self.logical();
        let progress = &logical.map_progress;
        // To map one twice is a panic of wgpu's.
        if buffers.iter().any(|(buffer, _)| progress.holds(buffer)) {
            let message = "the host has a buffer already: it is lent, and the call is made before it is given back";
            return Err(DeviceError::Refused { what: "mapping memory for the host".into(), message: message.into() });
        }
        self.wait()?;
        let in_place = self.read_in_place(buffers)?;
        let room = Vec::with_capacity(buffers.len());
        let mut mapped = MappedBuffers { buffers: room, progress: progress.clone(), in_place };
        let fresh = buffers.iter().filter(|(buffer, _)| mapped.in_place.iter().all(|(one, _)| one != *buffer));
        progress.done.store(0, Ordering::Relaxed);
        progress.failed.store(0, Ordering::Relaxed);
        for (buffer, mode) in fresh {
            mapped.buffers.push((*buffer).clone());
            progress.hold(buffer);
            let progress: Arc<MapProgress> = progress.clone();
            buffer.map_async(*mode, .., move |result| {
                if result.is_err() {
                    progress.failed.fetch_add(1, Ordering::Relaxed);
                }
                progress.done.fetch_add(1, Ordering::Release);
            });
            Tally::add(&logical.memory.tally.maps);
        }
        let missing = || progress.done.load(Ordering::Acquire) < mapped.buffers.len();
        self.poll(wgpu::PollType::Poll)?;
        if missing() {
            // Work that went to the queue past us.
            self.poll(wgpu::PollType::wait_indefinitely())?;
        }
        if missing() || progress.failed.load(Ordering::Relaxed) > 0 {
            self.check("mapping memory for the host")?;
            return Err(DeviceError::Refused {
                what: "mapping memory for the host".into(),
                message: "a buffer is mapped already or cannot be mapped".into(),
            });
        }
        Ok(mapped)
    }
}
