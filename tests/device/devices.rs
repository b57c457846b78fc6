//! Devices of the tests: each has another way to move and combine cells.

use std::rc::Rc;

use zippy::device::{Device, DeviceOptions};

/// One device by which the host moves cells where it can map chunks, one that leaves moves to shaders, and one whose
/// shaders see chunks through small windows. Without a driver there are the first and one with small windows.
pub fn devices() -> Vec<Rc<Device>> {
    let with = |host_map, binding_limit_bytes| {
        Device::open(&DeviceOptions { host_map, binding_limit_bytes, ..Default::default() }).unwrap()
    };
    let mapped = with(None, None);
    match moves_by_shaders() {
        Some(false) => vec![mapped, with(Some(false), None), with(Some(false), Some(4096))],
        _ => vec![mapped, with(None, Some(4096))],
    }
}

/// [`DeviceOptions::host_map`] of a device that leaves moves to shaders; without a driver, that of any device.
pub fn moves_by_shaders() -> Option<bool> {
    let device = Device::open(&DeviceOptions::default()).unwrap();
    device.has_driver().then_some(false)
}
