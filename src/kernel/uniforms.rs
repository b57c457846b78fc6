//! Small read-only data of calls (geometry, parameters) in one buffer that is filled once and found again by content.

use std::collections::HashMap;

use crate::device::Device;
use crate::error::{DeviceError, Result};

/// Room for data. When it is full everything is submitted and filling starts over.
const ROOM: u64 = 1 << 20;

/// What a binding may reach beyond its data.
const TAIL: u64 = 64 << 10;

/// One device's uniform data. Bytes that were placed before are found and not written again, so that a call with the
/// geometry and parameters of an earlier one costs a look into a table.
#[derive(Debug, Default)]
pub struct Uniforms {
    buffer: Option<wgpu::Buffer>,
    found: HashMap<Vec<u8>, u32>,
    used: u64,
}

impl Uniforms {
    /// Offsets of all `parts` in the buffer, for dynamic offsets; they hold until the next submission.
    pub fn place(&mut self, device: &Device, parts: &[Vec<u8>]) -> Result<(wgpu::Buffer, Vec<u32>)> {
        let align = u64::from(device.limits().wgpu.min_uniform_buffer_offset_alignment).max(16);
        let size = |part: &Vec<u8>| (part.len() as u64).next_multiple_of(align);
        let total: u64 = parts.iter().map(size).sum();
        if total > ROOM {
            let text = format!("the parameters of one kernel call take {total} bytes; {ROOM} are possible");
            return Err(DeviceError::Other(text).into());
        }
        let buffer = match &self.buffer {
            Some(buffer) => buffer.clone(),
            None => {
                let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
                let made =
                    device.new_buffer(ROOM + TAIL, usage, "making room for parameters", "zippy uniforms", false)?;
                self.buffer.insert(made).clone()
            }
        };
        if self.used + total > ROOM {
            // Writes take effect before the next submission, so nothing recorded may still need the old data.
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
