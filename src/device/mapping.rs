//! Host access to buffers: mapping several at once, for the duration of one operation.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wgpu::MapMode;

use super::counters::Tally;
use super::{Device, Staged};
use crate::error::DeviceError;

/// How many of the maps asked for have come; kept by the device, so that an operation allocates none.
#[derive(Default)]
pub(super) struct MapProgress {
    done: AtomicUsize,
    failed: AtomicUsize,
}

/// Buffers mapped as a whole; unmapped when dropped.
pub(super) struct MappedBuffers {
    buffers: Vec<wgpu::Buffer>,
    /// What was mapped before, and stays so at least as long.
    in_place: Vec<(wgpu::Buffer, Staged)>,
}

impl MappedBuffers {
    /// Leaves the buffers mapped.
    pub fn keep(mut self) {
        self.buffers.clear();
    }
}

impl Drop for MappedBuffers {
    fn drop(&mut self) {
        for buffer in &self.buffers {
            buffer.unmap();
        }
    }
}

impl Device {
    /// Maps buffers for the host when all work that uses them is done. Submits what was recorded and waits for it; when
    /// the device is idle this is less than a microsecond a buffer. Those from which messages are sent
    /// [in place](Self::in_place) are mapped already and can be read.
    pub(super) fn map_many(&self, buffers: &[(&wgpu::Buffer, MapMode)]) -> Result<MappedBuffers, DeviceError> {
        self.wait()?;
        let core = self.core();
        let in_place = self.read_in_place(buffers)?;
        let mut mapped = MappedBuffers { buffers: Vec::with_capacity(buffers.len()), in_place };
        let fresh = buffers.iter().filter(|(buffer, _)| mapped.in_place.iter().all(|(one, _)| one != *buffer));
        let progress = &core.map_progress;
        progress.done.store(0, Ordering::Relaxed);
        progress.failed.store(0, Ordering::Relaxed);
        for (buffer, mode) in fresh {
            mapped.buffers.push((*buffer).clone());
            let progress: Arc<MapProgress> = progress.clone();
            buffer.map_async(*mode, .., move |result| {
                if result.is_err() {
                    progress.failed.fetch_add(1, Ordering::Relaxed);
                }
                progress.done.fetch_add(1, Ordering::Release);
            });
            Tally::add(&core.memory.tally.maps);
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

/// Runs `f` on the bytes `range` of a buffer that is mapped for writing.
pub(super) fn write_mapped<R>(
    buffer: &wgpu::Buffer,
    range: Range<u64>,
    f: impl FnOnce(&mut [u8]) -> R,
) -> Result<R, DeviceError> {
    let mut view = buffer.get_mapped_range_mut(range).map_err(refused)?;
    let mut bytes = view.slice(..);
    let (len, start) = (bytes.len(), bytes.as_raw_element_ptr());
    // SAFETY: the view lends this range exclusively while it lives, wgpu has initialised it (buffers are zeroed before
    // they are mapped), and `f` cannot keep the slice.
    Ok(f(unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), len) }))
}

/// The bytes `range` of a buffer that is mapped for reading.
pub(super) fn read_mapped(buffer: &wgpu::Buffer, range: Range<u64>) -> Result<wgpu::BufferView, DeviceError> {
    buffer.get_mapped_range(range).map_err(refused)
}

fn refused(error: wgpu::MapRangeError) -> DeviceError {
    DeviceError::Refused { what: "host access to a mapped buffer".into(), message: error.to_string() }
}
