//! Payloads: bytes gathered from a device or lent by a chunk, to be sent and then given back.

use std::ops::Range;
use std::sync::Arc;

use super::ChunkBuffer;
use super::memory::{MemoryPool, Staging};
use super::ranges::read_mapped;
use crate::error::DeviceError;

/// The bytes that a gather has produced, in mapped staging memory or a pooled vector, or those of a
/// chunk itself. Cheap to clone and to cut into messages; the memory goes back when the last part
/// is dropped, on whichever thread that happens.
#[derive(Clone)]
pub struct Staged {
    loan: Arc<Loan>,
    range: Range<usize>,
}

/// Goes back when the last part is dropped.
struct Loan {
    bytes: Backing,
    memory: Arc<MemoryPool>,
}

enum Backing {
    Host(Vec<u64>),
    /// The view goes first, then the buffer is unmapped.
    Mapped(Option<wgpu::BufferView>, wgpu::Buffer),
    /// The same.
    Chunk(Option<wgpu::BufferView>, ChunkBuffer),
}

impl Staged {
    /// A payload of `bytes` bytes that `fill` writes; it finds old contents.
    pub(super) fn on_host(
        memory: &Arc<MemoryPool>,
        bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), DeviceError>,
    ) -> Result<Self, DeviceError> {
        // The loan returns the block also if `fill` fails.
        let mut loan = Loan { bytes: Backing::Host(memory.host_block(bytes)), memory: memory.clone() };
        if let Backing::Host(block) = &mut loan.bytes {
            fill(&mut bytemuck::cast_slice_mut(block)[..bytes])?;
        }
        Ok(Self { loan: Arc::new(loan), range: 0..bytes })
    }

    /// A payload in a readback buffer that is mapped for reading.
    pub(super) fn in_buffer(memory: &Arc<MemoryPool>, bytes: usize, buffer: wgpu::Buffer) -> Result<Self, DeviceError> {
        let mut loan = Loan { bytes: Backing::Mapped(None, buffer), memory: memory.clone() };
        if let Backing::Mapped(view, buffer) = &mut loan.bytes {
            *view = Some(read_mapped(buffer, 0..buffer.size())?);
        }
        Ok(Self { loan: Arc::new(loan), range: 0..bytes })
    }

    /// All bytes of a chunk that is mapped for reading.
    pub(super) fn in_chunk(memory: &Arc<MemoryPool>, chunk: &ChunkBuffer) -> Result<Self, DeviceError> {
        let bytes = chunk.bytes();
        let view = read_mapped(chunk.raw(), 0..bytes)?;
        let loan = Loan { bytes: Backing::Chunk(Some(view), chunk.clone()), memory: memory.clone() };
        Ok(Self { loan: Arc::new(loan), range: 0..bytes as usize })
    }

    /// Whether it has clones or parts.
    pub(super) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.loan) > 1
    }

    /// A part of the payload, `range` in bytes: one message. `None` where it leaves the payload.
    pub fn part(&self, range: Range<usize>) -> Option<Self> {
        let inside = range.start <= range.end && range.end <= self.range.len();
        let start = self.range.start;
        inside.then(|| Self { loan: self.loan.clone(), range: start + range.start..start + range.end })
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

impl AsRef<[u8]> for Staged {
    fn as_ref(&self) -> &[u8] {
        let all: &[u8] = match &self.loan.bytes {
            Backing::Host(words) => bytemuck::cast_slice(words),
            Backing::Mapped(Some(view), _) | Backing::Chunk(Some(view), _) => view,
            Backing::Mapped(None, _) | Backing::Chunk(None, _) => &[],
        };
        &all[self.range.clone()]
    }
}

impl std::fmt::Debug for Staged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Staged({} bytes)", self.len())
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        match &mut self.bytes {
            Backing::Host(words) => self.memory.keep_host_block(std::mem::take(words)),
            Backing::Mapped(view, buffer) => {
                drop(view.take());
                buffer.unmap();
                self.memory.keep_staging(Staging::Readback, buffer.clone());
            }
            Backing::Chunk(view, chunk) => {
                drop(view.take());
                chunk.raw().unmap();
            }
        }
    }
}

/// Zeros from the end of a box to the end of its last word.
pub(super) fn pad(payload: &mut [u8], end: u64) {
    let last = (end.next_multiple_of(4) as usize).min(payload.len());
    payload[end as usize..last].fill(0);
}
