//! Messages sent from chunks as they are, without a copy, where the host maps them.

use std::ops::Range;

use wgpu::MapMode;

use super::{ChunkBuffer, Device, Operator, Staged};
use crate::element::ElementInfo;
use crate::error::DeviceError;

/// Why a chunk cannot be used.
const UNREAD: &str = "a message is still being sent from a chunk, which another rank has not read";

impl Device {
    /// Bytes of a chunk as a payload, without a copy; recorded work comes first. Until [`take_back`](Self::take_back)
    /// says that all is back, the chunk may only be read by the host: gathered, or the source of copies and combines that
    /// the [host does](Self::host_moves).
    ///
    /// # Errors
    /// Chunks that the host does not map, bytes outside of the chunk, or a failing device.
    pub fn in_place(&self, chunk: &ChunkBuffer, bytes: Range<u64>) -> Result<Staged, DeviceError> {
        if !self.host_mapped() {
            return Err(refused("sending in place", "the device's memory is not mapped"));
        }
        let known = self.core().in_place.borrow().get(chunk.raw()).cloned();
        let whole = match known {
            Some(whole) => whole,
            None => {
                self.map_many(&[(chunk.raw(), MapMode::Read)])?.keep();
                let whole = Staged::in_chunk(&self.core().memory, chunk)?;
                self.core().in_place.borrow_mut().insert(chunk.raw().clone(), whole.clone());
                whole
            }
        };
        whole
            .part(bytes.start as usize..bytes.end as usize)
            .ok_or_else(|| refused("sending in place", "the bytes leave the chunk"))
    }

    /// Takes chunks back of which no payload is left; whether these were all.
    pub fn take_back(&self) -> bool {
        let mut in_place = self.core().in_place.borrow_mut();
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
            let lent = || self.core().in_place.borrow().get(*buffer).cloned();
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

    /// Whether the host moves cells of this type, and combines them where there is an operator, with no kernel.
    pub fn host_moves(&self, element: &ElementInfo, operator: Option<&Operator>) -> Result<bool, DeviceError> {
        match operator {
            None => Ok(self.host_mapped()),
            Some(operator) => Ok(self.host_combiner(element, operator)?.is_some()),
        }
    }
}

fn refused(what: &str, message: &str) -> DeviceError {
    DeviceError::Refused { what: what.into(), message: message.into() }
}
