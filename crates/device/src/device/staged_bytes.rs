//! [`StagedBytes`]: shared bytes of a payload, in pooled memory or in a lent chunk.

use std::ops::Range;
use std::sync::Arc;

use super::ChunkBuffer;
use super::mapped_bytes::read_mapped;
use super::memory_pool::{MemoryPool, StagingKind};
use crate::error::DeviceError;

/// Bytes of a message payload: the result of a gather, in mapped staging memory or in a pooled
/// vector, or a range of the bytes of a lent chunk.
///
/// Clones and [parts](Self::part) share the memory without a copy. The drop of the last clone, on
/// any thread, returns the memory.
#[derive(Clone)]
pub struct StagedBytes {
    loan: Arc<PayloadLoan>,
    range: Range<usize>,
}

/// Memory that the clones and parts of a payload share; its drop returns the memory to the pool.
struct PayloadLoan {
    bytes: PayloadMemory,
    memory: Arc<MemoryPool>,
}

enum PayloadMemory {
    Host(Vec<u64>),
    /// Readback buffer. The view is dropped before the buffer is unmapped.
    Mapped(Option<wgpu::BufferView>, wgpu::Buffer),
    /// Lent chunk. The view is dropped before the buffer is unmapped.
    Chunk(Option<wgpu::BufferView>, ChunkBuffer),
}

impl StagedBytes {
    /// Creates a payload of `bytes` bytes in a pooled vector. `fill` must write all bytes, as the
    /// contents are unspecified.
    pub(super) fn on_host(
        memory: &Arc<MemoryPool>,
        bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), DeviceError>,
    ) -> Result<Self, DeviceError> {
        // The loan returns the block, also if `fill` fails.
        let mut loan =
            PayloadLoan { bytes: PayloadMemory::Host(memory.lend_host_block(bytes)), memory: memory.clone() };
        if let PayloadMemory::Host(block) = &mut loan.bytes {
            fill(&mut bytemuck::cast_slice_mut(block)[..bytes])?;
        }
        Ok(Self { loan: Arc::new(loan), range: 0..bytes })
    }

    /// Creates a payload from a readback buffer that is mapped for reading.
    pub(super) fn in_buffer(memory: &Arc<MemoryPool>, bytes: usize, buffer: wgpu::Buffer) -> Result<Self, DeviceError> {
        let mut loan = PayloadLoan { bytes: PayloadMemory::Mapped(None, buffer), memory: memory.clone() };
        if let PayloadMemory::Mapped(view, buffer) = &mut loan.bytes {
            *view = Some(read_mapped(buffer, 0..buffer.size())?);
        }
        Ok(Self { loan: Arc::new(loan), range: 0..bytes })
    }

    /// Creates a payload of all bytes of a chunk that is mapped for reading.
    pub(super) fn in_chunk(memory: &Arc<MemoryPool>, chunk: &ChunkBuffer) -> Result<Self, DeviceError> {
        let bytes = chunk.bytes();
        let view = read_mapped(chunk.raw(), 0..bytes)?;
        let loan = PayloadLoan { bytes: PayloadMemory::Chunk(Some(view), chunk.clone()), memory: memory.clone() };
        Ok(Self { loan: Arc::new(loan), range: 0..bytes as usize })
    }

    pub(super) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.loan) > 1
    }

    /// Returns the part of the payload in `range`, in bytes; `None` if `range` leaves the payload.
    pub fn part(&self, range: Range<usize>) -> Option<Self> {
        let is_inside = range.start <= range.end && range.end <= self.range.len();
        let start = self.range.start;
        is_inside.then(|| Self { loan: self.loan.clone(), range: start + range.start..start + range.end })
    }

    /// Returns the length of the payload in bytes.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// True if the payload has no bytes.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

impl AsRef<[u8]> for StagedBytes {
    fn as_ref(&self) -> &[u8] {
        let all: &[u8] = match &self.loan.bytes {
            PayloadMemory::Host(words) => bytemuck::cast_slice(words),
            PayloadMemory::Mapped(Some(view), _) | PayloadMemory::Chunk(Some(view), _) => view,
            PayloadMemory::Mapped(None, _) | PayloadMemory::Chunk(None, _) => &[],
        };
        &all[self.range.clone()]
    }
}

impl std::fmt::Debug for StagedBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StagedBytes({} bytes)", self.len())
    }
}

impl Drop for PayloadLoan {
    fn drop(&mut self) {
        match &mut self.bytes {
            PayloadMemory::Host(words) => self.memory.return_host_block(std::mem::take(words)),
            PayloadMemory::Mapped(view, buffer) => {
                drop(view.take());
                buffer.unmap();
                self.memory.return_staging(StagingKind::Readback, buffer.clone());
            }
            PayloadMemory::Chunk(view, chunk) => {
                drop(view.take());
                chunk.raw().unmap();
            }
        }
    }
}

/// Zeroes the bytes of the last word of a packed box after its end, at byte `end` of the payload.
pub(super) fn zero_last_word(payload: &mut [u8], end: u64) {
    let last = (end.next_multiple_of(4) as usize).min(payload.len());
    payload[end as usize..last].fill(0);
}
