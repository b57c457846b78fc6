//! What several test programs share.
#![allow(dead_code, reason = "each test program uses its own part")]

pub mod analytic;
pub mod scenes;
pub mod units;

use zippy::device::{Device, DeviceOptions};
use zippy_io::image::Difference;

/// Whether a picture is as close to that of the twin as the largest difference and the least ratio of signal to noise say. On GPUs
/// it may be four times as far: they round divisions, roots and powers as they like.
pub fn is_close(difference: &Difference, max_abs: f64, psnr_db: f64) -> bool {
    let device = Device::open(&DeviceOptions::default()).expect("a device, as there is a picture");
    let times = if device.adapter().device_type == zippy::wgpu::DeviceType::Cpu { 1.0_f64 } else { 4.0 };
    difference.max_abs <= times * max_abs && difference.psnr_db >= psnr_db - 20.0 * times.log10()
}
