//! [`StagedBytes`]: shared bytes of a payload, in pooled memory or in a lent chunk.

use std::ops::Range;
use std::sync::Arc;

use super::ChunkBuffer;
use super::mapped_bytes::read_mapped;
use super::memory_pool::{MemoryPool, StagingKind};
use crate::error::DeviceError;

/// Range of the bytes of a gather, in mapped staging memory or in a pooled vector, or of the bytes
/// of a lent chunk.
///
/// Clones and [parts](Self::part) share the memory without a copy. The drop of the last one, on any
/// thread, returns the memory.
#[derive(Clone)]
pub struct StagedBytes {
    loan: Arc<Loan>,
    range: Range<usize>,
}

/// Memory that the parts of a payload share; its drop returns the memory.
struct Loan {
    bytes: Backing,
    memory: Arc<MemoryPool>,
}

enum Backing {
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
        let mut loan = Loan { bytes: Backing::Host(memory.lend_host_block(bytes)), memory: memory.clone() };
        if let Backing::Host(block) = &mut loan.bytes {
            fill(&mut bytemuck::cast_slice_mut(block)[..bytes])?;
        }
        Ok(Self { loan: Arc::new(loan), range: 0..bytes })
    }

    /// Creates a payload from a readback buffer that is mapped for reading.
    pub(super) fn in_buffer(memory: &Arc<MemoryPool>, bytes: usize, buffer: wgpu::Buffer) -> Result<Self, DeviceError> {
        let mut loan = Loan { bytes: Backing::Mapped(None, buffer), memory: memory.clone() };
        if let Backing::Mapped(view, buffer) = &mut loan.bytes {
            *view = Some(read_mapped(buffer, 0..buffer.size())?);
        }
        Ok(Self { loan: Arc::new(loan), range: 0..bytes })
    }

    /// Creates a payload of all bytes of a chunk that is mapped for reading.
    pub(super) fn in_chunk(memory: &Arc<MemoryPool>, chunk: &ChunkBuffer) -> Result<Self, DeviceError> {
        let bytes = chunk.bytes();
        let view = read_mapped(chunk.raw(), 0..bytes)?;
        let loan = Loan { bytes: Backing::Chunk(Some(view), chunk.clone()), memory: memory.clone() };
        Ok(Self { loan: Arc::new(loan), range: 0..bytes as usize })
    }

    /// True if there are clones or parts.
    pub(super) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.loan) > 1
    }

    /// Returns the part of the payload in `range`, in bytes; `None` if `range` leaves the payload.
    pub fn part(&self, range: Range<usize>) -> Option<Self> {
        let is_inside = range.start <= range.end && range.end <= self.range.len();
        let start = self.range.start;
        is_inside.then(|| Self { loan: self.loan.clone(), range: start + range.start..start + range.end })
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// True if the length is 0.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

impl AsRef<[u8]> for StagedBytes {
    fn as_ref(&self) -> &[u8] {
        let all: &[u8] = match &self.loan.bytes {
            Backing::Host(words) => bytemuck::cast_slice(words),
            Backing::Mapped(Some(view), _) | Backing::Chunk(Some(view), _) => view,
            Backing::Mapped(None, _) | Backing::Chunk(None, _) => &[],
        };
        &all[self.range.clone()]
    }
}

impl std::fmt::Debug for StagedBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StagedBytes({} bytes)", self.len())
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        match &mut self.bytes {
            Backing::Host(words) => self.memory.return_host_block(std::mem::take(words)),
            Backing::Mapped(view, buffer) => {
                drop(view.take());
                buffer.unmap();
                self.memory.return_staging(StagingKind::Readback, buffer.clone());
            }
            Backing::Chunk(view, chunk) => {
                drop(view.take());
                chunk.raw().unmap();
            }
        }
    }
}

/// Zeroes the bytes after the end of a box in its last word.
pub(super) fn zero_last_word(payload: &mut [u8], end: u64) {
    let last = (end.next_multiple_of(4) as usize).min(payload.len());
    payload[end as usize..last].fill(0);
}
