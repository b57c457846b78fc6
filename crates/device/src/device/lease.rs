//! [`Lease`]: the one way to a chunk's bytes.

use std::ops::Deref;

use super::ChunkBuffer;

/// Reach to the bytes of one chunk. While it lives the chunk is pinned: it stays on the device, where it is, also when
/// its array is dropped. From handles of chunks.
#[derive(Debug, Clone)]
pub struct Lease {
    chunk: ChunkBuffer,
}

impl Lease {
    /// A lease of a chunk that is on the device.
    pub fn of(chunk: &ChunkBuffer) -> Self {
        Self { chunk: chunk.clone() }
    }
}

impl Deref for Lease {
    type Target = ChunkBuffer;

    fn deref(&self) -> &ChunkBuffer {
        &self.chunk
    }
}
