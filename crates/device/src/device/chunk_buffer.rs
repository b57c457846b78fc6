//! [`ChunkBuffer`]: pooled device memory of a chunk.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::memory_pool::MemoryPool;

/// Handle of the device memory of a chunk: a storage buffer that is zero at first. Clones share the
/// memory. When the last handle is dropped, the memory returns to the pool of its device.
///
/// The length is a multiple of 16 bytes and at least 256 bytes, so that it can be bound with every
/// element type.
#[derive(Debug, Clone)]
pub struct ChunkBuffer {
    shared: Arc<SharedBuffer>,
}

/// Memory that the handles of a [`ChunkBuffer`] share.
#[derive(Debug)]
struct SharedBuffer {
    raw: Option<wgpu::Buffer>,
    id: u64,
    memory: Arc<MemoryPool>,
}

impl ChunkBuffer {
    /// Creates the first handle of a buffer that returns to the pool `memory`.
    pub(super) fn new(raw: wgpu::Buffer, memory: &Arc<MemoryPool>) -> Self {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Self { shared: Arc::new(SharedBuffer { raw: Some(raw), id, memory: memory.clone() }) }
    }

    pub(super) fn belongs_to(&self, memory: &Arc<MemoryPool>) -> bool {
        Arc::ptr_eq(&self.shared.memory, memory)
    }

    /// Returns the wgpu buffer, for bindings.
    pub fn raw(&self) -> &wgpu::Buffer {
        self.shared.raw.as_ref().expect("present until dropped")
    }

    /// Returns the length in bytes: at least the requested length.
    pub fn bytes(&self) -> u64 {
        self.raw().size()
    }

    /// Returns an id that is unique among the chunk buffers of the process.
    pub fn id(&self) -> u64 {
        self.shared.id
    }

    /// True if both handles share their memory.
    pub fn same_as(&self, other: &Self) -> bool {
        self.id() == other.id()
    }

    /// Returns a weak handle of the buffer, which does not keep the memory alive.
    pub fn downgrade(&self) -> WeakChunkBuffer {
        WeakChunkBuffer(Arc::downgrade(&self.shared))
    }
}

/// Weak handle of a [`ChunkBuffer`], for caches.
#[derive(Debug, Clone)]
pub struct WeakChunkBuffer(std::sync::Weak<SharedBuffer>);

impl WeakChunkBuffer {
    /// True if the chunk buffer still has a strong handle.
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }
}

impl Drop for SharedBuffer {
    fn drop(&mut self) {
        if let Some(raw) = self.raw.take() {
            self.memory.return_chunk(raw);
        }
    }
}

/// Returns the allocated length, in bytes, of a storage buffer for `bytes` bytes.
pub fn buffer_bytes(bytes: u64) -> u64 {
    bytes.next_multiple_of(16).max(256)
}
