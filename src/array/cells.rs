//! Access of the host to the cells of a box of one chunk, without a static element type.

use super::core::ArrayCore;
use crate::chunks::ChunkId;
use crate::device::{BufferBox, PackedBox};
use crate::error::Result;
use crate::region::Region;

impl ArrayCore {
    /// Copies the cells of a box to `into`, axis 0 fastest. `into` has the size of the box in
    /// bytes.
    pub(crate) fn read(&self, chunk: ChunkId, region: &Region, into: &mut [u8]) -> Result<()> {
        if let (Some(lease), false) = (self.lease(chunk)?, into.is_empty()) {
            let pieces = [PackedBox { buffer: &lease, view: self.strided(chunk, region), payload_offset: 0 }];
            self.device().gather_into(self.element().bytes, &pieces, into)?;
        }
        Ok(())
    }

    /// Replaces the cells of a box by `bytes`, axis 0 fastest. `bytes` has the size of the box.
    pub(crate) fn write(&self, chunk: ChunkId, region: &Region, bytes: &[u8]) -> Result<()> {
        if let (Some(lease), false) = (self.lease(chunk)?, bytes.is_empty()) {
            let pieces = [PackedBox { buffer: &lease, view: self.strided(chunk, region), payload_offset: 0 }];
            let mut padded = Vec::new();
            let mut payload = bytes;
            if !bytes.len().is_multiple_of(4) {
                padded.extend_from_slice(bytes);
                padded.resize(bytes.len().next_multiple_of(4), 0);
                payload = &padded;
            }
            self.device().scatter(self.element().bytes, payload, &pieces)?;
        }
        Ok(())
    }

    /// Sets all cells of a box to one value.
    pub(super) fn fill(&self, chunk: ChunkId, region: &Region, value: &[u8]) -> Result<()> {
        if let (Some(lease), false) = (self.lease(chunk)?, region.is_empty()) {
            self.device().fill(value, &[BufferBox { buffer: &lease, view: self.strided(chunk, region) }])?;
        }
        Ok(())
    }
}
