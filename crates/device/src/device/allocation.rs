//! Buffers from the pool, and new ones.

use wgpu::BufferUsages;

use super::buffers::buffer_bytes;
use super::{ChunkBuffer, Device};
use crate::error::DeviceError;

impl Device {
    /// Whether a buffer is in this device's memory; another device cannot use it.
    pub fn owns(&self, buffer: &ChunkBuffer) -> bool {
        buffer.is_of(&self.logical().memory)
    }

    /// A zeroed storage buffer of at least `bytes` bytes that transfers and kernels can use.
    ///
    /// # Errors
    /// More bytes than a buffer can have, out of memory, a lost device.
    pub fn storage_buffer(&self, bytes: u64, label: &str) -> Result<ChunkBuffer, DeviceError> {
        self.storage_buffer_with(bytes, BufferUsages::empty(), label)
    }

    /// As [`Device::storage_buffer`], for more uses (`VERTEX`, `INDEX`, `INDIRECT`, `UNIFORM`).
    ///
    /// # Errors
    /// As [`Device::storage_buffer`].
    pub fn storage_buffer_with(
        &self,
        bytes: u64,
        extra: BufferUsages,
        label: &str,
    ) -> Result<ChunkBuffer, DeviceError> {
        let what = || if label.is_empty() { "a storage buffer".to_string() } else { format!("storage for {label}") };
        let mut usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST | extra;
        if self.host_mapped() {
            usage |= BufferUsages::MAP_READ | BufferUsages::MAP_WRITE;
        }
        // A vertex buffer is one byte longer inside wgpu.
        let limit = self.limits().buffer_bytes;
        let limit = if usage.contains(BufferUsages::VERTEX) { limit - 16 } else { limit };
        if bytes > limit {
            return Err(DeviceError::TooLarge { adapter: self.adapter().name.clone(), what: what(), bytes, limit });
        }
        let size = buffer_bytes(bytes);
        self.check(&what())?;
        let memory = &self.logical().memory;
        let wrap = |raw| ChunkBuffer::new(raw, memory);
        // A buffer that fits a binding stays one.
        let binding = self.limits().binding_bytes;
        let largest = if size <= binding { binding } else { limit };
        if let Some(raw) = memory.reuse_chunk(size, largest, usage) {
            self.record(|encoder| encoder.clear_buffer(&raw, 0, None));
            // Submitted at once, so that the caller may write through the queue.
            self.flush()?;
            return Ok(wrap(raw));
        }
        memory.lend_new_chunk(size);
        let made = self.new_buffer(size, usage, &what(), label, false);
        made.map(wrap).inspect_err(|_| memory.forget_chunk(size))
    }

    /// Checks that `size` more bytes for `what` fit the memory of this rank. Call it before an
    /// allocation of host memory in proportion to the cells: drivers and the system may take memory
    /// at its first write only, and then end the program.
    ///
    /// # Errors
    /// Too little memory, or more than `ZIPPY_MEMORY_LIMIT`.
    pub fn check_room(&self, size: u64, what: &str) -> Result<(), DeviceError> {
        let [own, of_process] = self.logical().memory.tally.bytes_now();
        for (taken, limit) in [(own, self.room().rank), (of_process, self.room().process)] {
            if taken.saturating_add(size) > limit {
                let (adapter, what) = (self.adapter().name.clone(), what.to_string());
                return Err(DeviceError::NoRoom { adapter, what, bytes: size, taken, limit });
            }
        }
        Ok(())
    }

    /// A buffer that no pool has; idle memory is freed and the call repeated when there is not enough.
    pub fn new_buffer(
        &self,
        size: u64,
        usage: BufferUsages,
        what: &str,
        label: &str,
        mapped_at_creation: bool,
    ) -> Result<wgpu::Buffer, DeviceError> {
        let label = if label.is_empty() { None } else { Some(label) };
        let descriptor = wgpu::BufferDescriptor { label, size, usage, mapped_at_creation };
        let make = || {
            self.check_room(size, what)?;
            self.checked(what, || self.raw().create_buffer(&descriptor))
        };
        let made = match make() {
            Err(DeviceError::OutOfMemory { .. } | DeviceError::NoRoom { .. }) => {
                // wgpu frees dropped buffers when it is polled after their last use.
                self.logical().memory.trim();
                self.wait()?;
                self.poll(wgpu::PollType::Poll)?;
                make()?
            }
            other => other?,
        };
        self.logical().memory.tally.allocated(size);
        Ok(made)
    }
}
