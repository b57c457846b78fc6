//! Chunk buffers and the pool that they come from.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wgpu::BufferUsages;

use super::Device;
use super::memory::Memory;
use crate::error::DeviceError;

/// Device memory for one chunk (or any other storage): a zeroed storage buffer, given back to its device when dropped.
///
/// Its length is a multiple of 16 bytes and at least 256, so that it can be bound under every element type.
#[derive(Debug, Clone)]
pub struct ChunkBuffer {
    shared: Arc<Shared>,
}

/// Clones of a [`ChunkBuffer`] are handles of the same memory; it goes back when the last is dropped.
#[derive(Debug)]
struct Shared {
    raw: Option<wgpu::Buffer>,
    id: u64,
    memory: Arc<Memory>,
}

impl ChunkBuffer {
    /// The wgpu buffer, for binding.
    pub fn raw(&self) -> &wgpu::Buffer {
        self.shared.raw.as_ref().expect("present until dropped")
    }

    /// Length in bytes; at least what was asked for.
    pub fn bytes(&self) -> u64 {
        self.raw().size()
    }

    /// Different for every chunk buffer of the process.
    pub fn id(&self) -> u64 {
        self.shared.id
    }

    /// Whether both are handles of the same memory.
    pub fn same_as(&self, other: &Self) -> bool {
        self.id() == other.id()
    }

    /// A look from outside that does not keep the memory, for caches.
    pub fn downgrade(&self) -> WeakChunkBuffer {
        WeakChunkBuffer(Arc::downgrade(&self.shared))
    }
}

/// Tells whether a [`ChunkBuffer`] still has handles.
#[derive(Debug, Clone)]
pub struct WeakChunkBuffer(std::sync::Weak<Shared>);

impl WeakChunkBuffer {
    /// Whether it has.
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(raw) = self.raw.take() {
            self.memory.keep_chunk(raw);
        }
    }
}

/// Bytes of a buffer for so many.
pub(crate) fn buffer_bytes(bytes: u64) -> u64 {
    bytes.next_multiple_of(16).max(256)
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Device {
    /// Whether a buffer is in this device's memory; another device cannot use it.
    pub fn owns(&self, buffer: &ChunkBuffer) -> bool {
        Arc::ptr_eq(&buffer.shared.memory, &self.core().memory)
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
        let usage =
            BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST | extra | self.reach().uses();
        // A vertex buffer is one byte longer inside wgpu.
        let limit = self.limits().buffer_bytes;
        let limit = if usage.contains(BufferUsages::VERTEX) { limit - 16 } else { limit };
        if bytes > limit {
            return Err(DeviceError::TooLarge { adapter: self.adapter().name.clone(), what: what(), bytes, limit });
        }
        let size = buffer_bytes(bytes);
        self.check(&what())?;
        let memory = &self.core().memory;
        let wrap = |raw| {
            let shared = Shared { raw: Some(raw), id: next_id(), memory: memory.clone() };
            ChunkBuffer { shared: Arc::new(shared) }
        };
        if let Some(raw) = memory.reuse_chunk(size, usage) {
            self.record(|encoder| encoder.clear_buffer(&raw, 0, None));
            // Submitted at once, so that the caller may write through the queue.
            self.flush()?;
            return Ok(wrap(raw));
        }
        self.new_buffer(size, usage, &what(), label, false).map(wrap)
    }

    /// Whether there is memory for so many bytes more. Drivers may take it when it is first written only, and then it is
    /// the system that ends the program.
    pub(crate) fn check_room(&self, size: u64, what: &str) -> Result<(), DeviceError> {
        let [own, of_process] = self.core().memory.tally.bytes_now();
        for (taken, limit) in [(own, self.room().rank), (of_process, self.room().process)] {
            if taken.saturating_add(size) > limit {
                let (adapter, what) = (self.adapter().name.clone(), what.to_string());
                return Err(DeviceError::NoRoom { adapter, what, bytes: size, taken, limit });
            }
        }
        Ok(())
    }

    /// A buffer that no pool has; idle memory is freed and the call repeated when there is not enough.
    pub(crate) fn new_buffer(
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
                self.core().memory.trim();
                self.wait()?;
                self.poll(wgpu::PollType::Poll)?;
                make()?
            }
            other => other?,
        };
        self.core().memory.tally.allocated(size);
        Ok(made)
    }
}
