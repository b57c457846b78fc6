//! Creation of buffers, from the pool or new.

use wgpu::BufferUsages;

use super::chunk_buffer::buffer_bytes;
use super::counters::AtomicCounters;
use super::{ChunkBuffer, Device};
use crate::error::DeviceError;

/// Request for a new wgpu buffer.
pub(crate) struct BufferRequest<'a> {
    /// Size in bytes.
    pub size: u64,
    pub usage: BufferUsages,
    /// Purpose of the buffer, for errors.
    pub purpose: &'a str,
    /// Label of the wgpu buffer; may be empty.
    pub label: &'a str,
}

impl Device {
    /// True if a buffer is in the memory of this device; another device cannot use it.
    pub fn owns(&self, buffer: &ChunkBuffer) -> bool {
        buffer.belongs_to(&self.logical().memory)
    }

    /// Creates a storage buffer of at least `bytes` zero bytes, for transfers and kernels.
    ///
    /// # Errors
    /// * `bytes` exceeds the limit of buffers.
    /// * The device is out of memory, or lost.
    pub fn storage_buffer(&self, bytes: u64, label: &str) -> Result<ChunkBuffer, DeviceError> {
        self.storage_buffer_with(bytes, BufferUsages::empty(), label)
    }

    /// Creates a buffer as [`Device::storage_buffer`] does, with further usages (`VERTEX`, `INDEX`,
    /// `INDIRECT`, `UNIFORM`).
    ///
    /// # Errors
    /// As [`Device::storage_buffer`].
    pub fn storage_buffer_with(
        &self,
        bytes: u64,
        extra: BufferUsages,
        label: &str,
    ) -> Result<ChunkBuffer, DeviceError> {
        let purpose = || if label.is_empty() { "a storage buffer".to_string() } else { format!("storage for {label}") };
        let mut usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST | extra;
        if self.host_mapped() {
            usage |= BufferUsages::MAP_READ | BufferUsages::MAP_WRITE;
        }
        // wgpu adds a byte to a vertex buffer.
        let limit = self.limits().buffer_bytes;
        let limit = if usage.contains(BufferUsages::VERTEX) { limit - 16 } else { limit };
        if bytes > limit {
            return Err(DeviceError::TooLarge { adapter: self.adapter().name.clone(), what: purpose(), bytes, limit });
        }
        let size = buffer_bytes(bytes);
        self.check(&purpose())?;
        let memory = &self.logical().memory;
        let wrap = |raw| ChunkBuffer::new(raw, memory);
        // A buffer that fits in a binding must stay within a binding.
        let binding = self.limits().binding_bytes;
        let largest = if size <= binding { binding } else { limit };
        if let Some(raw) = memory.reuse_chunk(size, largest, usage) {
            self.record(|encoder| encoder.clear_buffer(&raw, 0, None));
            // Writes of the caller through the queue must follow the clear.
            self.flush()?;
            return Ok(wrap(raw));
        }
        memory.count_new_chunk(size);
        let buffer = self.new_buffer(&BufferRequest { size, usage, purpose: &purpose(), label });
        buffer.map(wrap).inspect_err(|_| memory.forget_chunk(size))
    }

    /// Checks that `bytes` more bytes are within the memory limits. Some drivers allocate memory at
    /// its first write, when a lack of memory ends the process.
    ///
    /// # Errors
    /// [`DeviceError::NoRoom`].
    pub fn check_memory_limits(&self, bytes: u64, purpose: &str) -> Result<(), DeviceError> {
        let limits = self.memory_limits();
        let rank = (self.counters().bytes_now, limits.rank_bytes);
        let process = (AtomicCounters::process_bytes(), limits.process_bytes);
        for (taken, limit) in [rank, process] {
            if taken.saturating_add(bytes) > limit {
                let (adapter, what) = (self.adapter().name.clone(), purpose.to_string());
                return Err(DeviceError::NoRoom { adapter, what, bytes, taken, limit });
            }
        }
        Ok(())
    }

    /// Creates a wgpu buffer outside of the pool. If memory is not sufficient, frees idle memory
    /// and tries again.
    pub(crate) fn new_buffer(&self, request: &BufferRequest<'_>) -> Result<wgpu::Buffer, DeviceError> {
        self.create_buffer(request, false)
    }

    /// Creates a buffer as [`Device::new_buffer`] does, mapped for writing.
    pub(super) fn new_mapped_buffer(&self, request: &BufferRequest<'_>) -> Result<wgpu::Buffer, DeviceError> {
        self.create_buffer(request, true)
    }

    fn create_buffer(
        &self,
        &BufferRequest { size, usage, purpose, label }: &BufferRequest<'_>,
        mapped_at_creation: bool,
    ) -> Result<wgpu::Buffer, DeviceError> {
        let label = if label.is_empty() { None } else { Some(label) };
        let descriptor = wgpu::BufferDescriptor { label, size, usage, mapped_at_creation };
        let create = || {
            self.check_memory_limits(size, purpose)?;
            self.checked(purpose, || self.raw().create_buffer(&descriptor))
        };
        let buffer = match create() {
            Err(DeviceError::OutOfMemory { .. } | DeviceError::NoRoom { .. }) => {
                // wgpu frees a dropped buffer in a poll after its last use.
                self.logical().memory.free_idle();
                self.wait()?;
                self.poll(wgpu::PollType::Poll)?;
                create()?
            }
            result => result?,
        };
        self.logical().memory.counters.add_buffer(size);
        Ok(buffer)
    }
}
