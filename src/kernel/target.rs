//! [`Target`]: what computes a kernel.

use std::rc::Rc;

use crate::device::Device;

/// The device of a kernel, and whether its host computes the kernel natively or the driver.
#[derive(Debug, Clone)]
pub struct Target {
    pub device: Rc<Device>,
    pub is_native: bool,
}

impl Target {
    /// The largest range of a buffer that the kernel can see at once.
    pub fn binding_bytes(&self) -> u64 {
        self.device.binding_bytes(self.is_native)
    }

    /// The optional features that the kernel can use.
    pub fn features(&self) -> wgpu::Features {
        self.device.kernel_features(self.is_native)
    }
}
