//! Chunk buffers lent to the host as plain bytes, where the device is the host itself.

use wgpu::MapMode;

use super::mapping::write_mapped;
use super::{ChunkBuffer, Device};
use crate::error::DeviceError;

impl Device {
    /// Whether the device is a software adapter whose memory is mapped: then the host does a kernel's work faster.
    pub fn is_host(&self) -> bool {
        self.host_mapped() && self.adapter().device_type == wgpu::DeviceType::Cpu
    }

    /// Lends all bytes of two different buffers to `f`, when queued work is done. For a device that
    /// [is the host](Self::is_host); elsewhere use [`gather`](Self::gather) and [`scatter`](Self::scatter).
    ///
    /// # Errors
    /// Memory that is not mapped, twice the same buffer, or a failing device.
    pub fn lend<R>(
        &self,
        [first, second]: [&ChunkBuffer; 2],
        f: impl FnOnce(&mut [u8], &mut [u8]) -> R,
    ) -> Result<R, DeviceError> {
        let (first, second) = (first.raw(), second.raw());
        if !self.host_mapped() || first == second {
            let message = "the buffers must be two, and mapped".to_string();
            return Err(DeviceError::Refused { what: "lending memory to the host".into(), message });
        }
        let _mapped = self.map_many(&[(first, MapMode::Write), (second, MapMode::Write)])?;
        write_mapped(first, 0..first.size(), |a| write_mapped(second, 0..second.size(), |b| f(a, b)))?
    }
}
