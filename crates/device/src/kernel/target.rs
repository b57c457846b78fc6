//! [`Target`]: device and backend of a kernel.

use std::rc::Rc;

use crate::device::Device;

/// Device of a kernel, and the choice between the host's threads and the driver.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub device: Rc<Device>,
    pub is_native: bool,
}

impl Target {
    /// Returns the maximum range of a buffer, in bytes, that the kernel can access at once.
    pub(super) fn binding_bytes(&self) -> u64 {
        self.device.binding_bytes(self.is_native)
    }

    /// Returns the optional features that the kernel can use.
    pub(super) fn features(&self) -> wgpu::Features {
        self.device.kernel_features(self.is_native)
    }
}
