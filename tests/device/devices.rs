//! Devices of the tests, with different ways to move and combine cells.

use std::rc::Rc;

use zippy::device::{Device, DeviceOptions};

/// Opens devices with all ways to move cells: by the host (if it can map chunks), by shaders, and
/// by shaders through small binding windows. Without a driver: by the host, and with small windows.
pub(crate) fn devices() -> Vec<Rc<Device>> {
    let with = |host_map, binding_limit_bytes| {
        Device::open(&DeviceOptions { host_map, binding_limit_bytes, ..Default::default() }).unwrap()
    };
    let mapped = with(None, None);
    match moves_by_shaders() {
        Some(false) => vec![mapped, with(Some(false), None), with(Some(false), Some(4096))],
        _ => vec![mapped, with(None, Some(4096))],
    }
}

/// [`DeviceOptions::host_map`] of a device with moves by shaders; without a driver, the default.
pub(crate) fn moves_by_shaders() -> Option<bool> {
    let device = Device::open(&DeviceOptions::default()).unwrap();
    device.has_driver().then_some(false)
}
