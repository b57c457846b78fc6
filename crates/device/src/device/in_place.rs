//! Payloads in the mapped memory of chunks, for messages without a copy.

use std::ops::Range;

use wgpu::MapMode;

use super::{ChunkBuffer, Device, StagedBytes};
use crate::error::DeviceError;

const STILL_SENDING: &str = "a message is still being sent from a chunk, which another rank has not read";

impl Device {
    /// Maps a chunk and lends a range of its bytes as a message payload, without a copy.
    pub(super) fn lend_chunk_as_payload(
        &self,
        chunk: &ChunkBuffer,
        bytes: Range<u64>,
    ) -> Result<StagedBytes, DeviceError> {
        let lent = self.logical().lent_chunks.borrow().get(chunk.raw()).cloned();
        let whole = match lent {
            Some(whole) => whole,
            None => {
                self.map_buffers(&[(chunk.raw(), MapMode::Read)])?.leave_mapped();
                let whole = StagedBytes::in_chunk(&self.logical().memory, chunk)?;
                self.logical().lent_chunks.borrow_mut().insert(chunk.raw().clone(), whole.clone());
                whole
            }
        };
        whole
            .part(bytes.start as usize..bytes.end as usize)
            .ok_or_else(|| refused_error("sending in place", "the bytes leave the chunk"))
    }

    /// Ends the loan of chunks whose payloads are dropped, and unmaps them. True if no chunk is
    /// lent any more.
    pub fn reclaim_chunks(&self) -> bool {
        let mut lent_chunks = self.logical().lent_chunks.borrow_mut();
        lent_chunks.retain(|_, whole| whole.is_shared());
        lent_chunks.is_empty()
    }

    /// Returns those of the buffers that are lent as payloads, for reads.
    ///
    /// # Errors
    /// A lent chunk is to be written.
    pub(super) fn find_lent_chunks(
        &self,
        buffers: &[(&wgpu::Buffer, MapMode)],
    ) -> Result<Vec<(wgpu::Buffer, StagedBytes)>, DeviceError> {
        let mut found = Vec::new();
        for (buffer, mode) in buffers {
            let lent = || self.logical().lent_chunks.borrow().get(*buffer).cloned();
            match (lent(), mode) {
                (None, _) => {}
                (Some(whole), MapMode::Read) => found.push(((*buffer).clone(), whole)),
                (Some(whole), MapMode::Write) => {
                    drop(whole);
                    // The other rank may have read the message in the meantime.
                    self.reclaim_chunks();
                    if lent().is_some() {
                        return Err(refused_error("writing", STILL_SENDING));
                    }
                }
            }
        }
        Ok(found)
    }

    /// Fails if a chunk is lent as a payload: the recorded commands could use it. Chunks stay lent
    /// only if another rank has failed.
    pub(super) fn check_no_chunk_lent(&self) -> Result<(), DeviceError> {
        if self.reclaim_chunks() { Ok(()) } else { Err(refused_error("running recorded commands", STILL_SENDING)) }
    }
}

fn refused_error(operation: &str, message: &str) -> DeviceError {
    DeviceError::Refused { what: operation.into(), message: message.into() }
}
