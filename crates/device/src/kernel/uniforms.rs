//! [`Uniforms`]: small read-only data of calls (geometry, parameters) in one buffer, deduplicated
//! by content.

use std::collections::HashMap;

use crate::device::{BufferRequest, Device};
use crate::error::{DeviceError, Result};

/// Size of the uniform buffer, in bytes. If the buffer is full, all work is submitted and the
/// buffer is reused.
const UNIFORM_BUFFER_BYTES: u64 = 1 << 20;

/// Maximum number of bytes that a binding may cover after its data.
const MAX_TAIL_BYTES: u64 = 64 << 10;

/// Uniform data of the calls on one device. Bytes that are already in the buffer are not written
/// again, so that a call with known geometry and parameters costs only a table lookup.
#[derive(Debug, Default)]
pub(super) struct Uniforms {
    buffer: Option<wgpu::Buffer>,
    found: HashMap<Vec<u8>, u32>,
    used: u64,
}

impl Uniforms {
    /// Writes `parts` to the buffer unless they are in it already. Returns their dynamic offsets,
    /// which are valid until the next submission.
    pub(super) fn write(&mut self, device: &Device, parts: &[Vec<u8>]) -> Result<(wgpu::Buffer, Vec<u32>)> {
        let align = u64::from(device.limits().wgpu.min_uniform_buffer_offset_alignment).max(16);
        let size = |part: &Vec<u8>| (part.len() as u64).next_multiple_of(align);
        let total: u64 = parts.iter().map(size).sum();
        if total > UNIFORM_BUFFER_BYTES {
            let text =
                format!("the parameters of one kernel call take {total} bytes; {UNIFORM_BUFFER_BYTES} are possible");
            return Err(DeviceError::Other(text).into());
        }
        let buffer = match &self.buffer {
            Some(buffer) => buffer.clone(),
            None => {
                let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
                let made = device.new_buffer(&BufferRequest {
                    size: UNIFORM_BUFFER_BYTES + MAX_TAIL_BYTES,
                    usage,
                    purpose: "storage for parameters",
                    label: "zippy uniforms",
                })?;
                self.buffer.insert(made).clone()
            }
        };
        if self.used + total > UNIFORM_BUFFER_BYTES {
            // Writes take effect before the next submission, so no recorded command may still use
            // the old data.
            device.flush()?;
            self.found.clear();
            self.used = 0;
        }
        let mut offsets = Vec::with_capacity(parts.len());
        for part in parts {
            let at = match self.found.get(part) {
                Some(&at) => at,
                None => {
                    let at = self.used as u32;
                    device.queue().write_buffer(&buffer, u64::from(at), part);
                    self.used += size(part);
                    self.found.insert(part.clone(), at);
                    at
                }
            };
            offsets.push(at);
        }
        Ok((buffer, offsets))
    }
}
