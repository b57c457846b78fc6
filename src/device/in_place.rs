//! Messages sent from chunks as they are, without a copy, where the host maps them.

use std::ops::Range;

use wgpu::MapMode;

use super::{ChunkBuffer, Device, Operator, Staged};
use crate::element::ElementInfo;
use crate::error::DeviceError;

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
        let known = self.read_in_place(&[(chunk.raw(), MapMode::Read)])?.pop();
        let whole = match known {
            Some((_, whole)) => whole,
            None => {
                self.map_many(&[(chunk.raw(), MapMode::Read)])?.keep();
                let whole = Staged::in_chunk(&self.core().memory, chunk)?;
                self.core().in_place.borrow_mut().push((chunk.raw().clone(), whole.clone()));
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
        in_place.retain(|(_, whole)| whole.is_shared());
        in_place.is_empty()
    }

    /// Those of the buffers from which messages are sent: they can be read only.
    pub(super) fn read_in_place(
        &self,
        buffers: &[(&wgpu::Buffer, MapMode)],
    ) -> Result<Vec<(wgpu::Buffer, Staged)>, DeviceError> {
        let mut found = Vec::new();
        for one in self.core().in_place.borrow().iter() {
            let Some((_, mode)) = buffers.iter().find(|(buffer, _)| **buffer == one.0) else { continue };
            if *mode == MapMode::Write {
                return Err(refused("writing", "a message is still being sent from the chunk"));
            }
            found.push(one.clone());
        }
        Ok(found)
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
