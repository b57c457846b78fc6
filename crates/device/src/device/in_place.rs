//! Messages sent from chunks as they are, without a copy, where the host maps them.

use std::ops::Range;

use wgpu::MapMode;

use super::{ChunkBuffer, Device, Staged};
use crate::error::DeviceError;

/// Why a chunk cannot be used.
const UNREAD: &str = "a message is still being sent from a chunk, which another rank has not read";

impl Device {
    /// Bytes of a chunk as a payload that is the mapped chunk itself.
    pub(super) fn lent_chunk(&self, chunk: &ChunkBuffer, bytes: Range<u64>) -> Result<Staged, DeviceError> {
        let known = self.logical().in_place.borrow().get(chunk.raw()).cloned();
        let whole = match known {
            Some(whole) => whole,
            None => {
                self.map_many(&[(chunk.raw(), MapMode::Read)])?.keep();
                let whole = Staged::in_chunk(&self.logical().memory, chunk)?;
                self.logical().in_place.borrow_mut().insert(chunk.raw().clone(), whole.clone());
                whole
            }
        };
        whole
            .part(bytes.start as usize..bytes.end as usize)
            .ok_or_else(|| refused("sending in place", "the bytes leave the chunk"))
    }

    /// Takes chunks back of which no payload is left; whether these were all.
    pub fn take_back(&self) -> bool {
        let mut in_place = self.logical().in_place.borrow_mut();
        in_place.retain(|_, whole| whole.is_shared());
        in_place.is_empty()
    }

    /// Those of the buffers from which messages are sent: they can be read only.
    pub(super) fn read_in_place(
        &self,
        buffers: &[(&wgpu::Buffer, MapMode)],
    ) -> Result<Vec<(wgpu::Buffer, Staged)>, DeviceError> {
        let mut found = Vec::new();
        for (buffer, mode) in buffers {
            let lent = || self.logical().in_place.borrow().get(*buffer).cloned();
            match (lent(), mode) {
                (None, _) => {}
                (Some(whole), MapMode::Read) => found.push(((*buffer).clone(), whole)),
                (Some(whole), MapMode::Write) => {
                    // It may have been read by now.
                    drop(whole);
                    self.take_back();
                    if lent().is_some() {
                        return Err(refused("writing", UNREAD));
                    }
                }
            }
        }
        Ok(found)
    }

    /// Refuses to run what was recorded while chunks are lent, as it might use them. That they still are shows that
    /// another rank has failed.
    pub(super) fn check_in_place(&self) -> Result<(), DeviceError> {
        if self.take_back() { Ok(()) } else { Err(refused("running recorded work", UNREAD)) }
    }
}

fn refused(what: &str, message: &str) -> DeviceError {
    DeviceError::Refused { what: what.into(), message: message.into() }
}
