//! [`Lease`]: access to the bytes of a chunk.

use std::ops::Deref;

use super::ChunkBuffer;

/// Access to the memory of a chunk. The lease pins the chunk: its memory stays on the device, at
/// the same address, even after the drop of its array.
#[derive(Debug, Clone)]
pub struct Lease {
    chunk: ChunkBuffer,
}

impl Lease {
    /// Creates a lease of a chunk that is in device memory.
    pub fn new(chunk: &ChunkBuffer) -> Self {
        Self { chunk: chunk.clone() }
    }
}

impl Deref for Lease {
    type Target = ChunkBuffer;

    fn deref(&self) -> &ChunkBuffer {
        &self.chunk
    }
}
