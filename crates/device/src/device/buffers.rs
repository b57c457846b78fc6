//! Chunk buffers, which go back to the pool that they come from.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::memory::MemoryPool;

/// Device memory for one chunk (or any other storage): a zeroed storage buffer, given back to its device when dropped.
///
/// Its length is a multiple of 16 bytes and at least 256, so that it can be bound under every element type.
#[derive(Debug, Clone)]
pub struct ChunkBuffer {
    shared: Arc<SharedBuffer>,
}

/// Clones of a [`ChunkBuffer`] are handles of the same memory; it goes back when the last is dropped.
#[derive(Debug)]
struct SharedBuffer {
    raw: Option<wgpu::Buffer>,
    id: u64,
    memory: Arc<MemoryPool>,
}

impl ChunkBuffer {
    /// One that goes back to `memory`.
    pub(super) fn new(raw: wgpu::Buffer, memory: &Arc<MemoryPool>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { shared: Arc::new(SharedBuffer { raw: Some(raw), id, memory: memory.clone() }) }
    }

    /// Whether it goes back to this memory.
    pub(super) fn is_of(&self, memory: &Arc<MemoryPool>) -> bool {
        Arc::ptr_eq(&self.shared.memory, memory)
    }

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
pub struct WeakChunkBuffer(std::sync::Weak<SharedBuffer>);

impl WeakChunkBuffer {
    /// Whether it has.
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }
}

impl Drop for SharedBuffer {
    fn drop(&mut self) {
        if let Some(raw) = self.raw.take() {
            self.memory.keep_chunk(raw);
        }
    }
}

/// Bytes of a buffer for so many.
pub fn buffer_bytes(bytes: u64) -> u64 {
    bytes.next_multiple_of(16).max(256)
}
