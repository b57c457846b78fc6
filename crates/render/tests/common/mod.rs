//! Helpers of several test programs.
#![allow(dead_code, reason = "each test program uses its own part")]

pub(crate) mod analytic;
pub(crate) mod scenes;
pub(crate) mod units;

use zippy::device::{Device, DeviceOptions};
use zippy_io::image::Difference;

/// True if the difference from the CPU image is small enough: `max_abs` limits the difference of a
/// component, `psnr_db` is the minimum signal-to-noise ratio. GPUs have a limit four times as
/// large, because they round divisions, roots and powers differently.
pub(crate) fn is_close(difference: &Difference, max_abs: f64, psnr_db: f64) -> bool {
    let options = DeviceOptions::from_env(0, 1).expect("the options of the rank that has drawn the picture");
    let device = Device::open(&options).expect("the device that has drawn the picture");
    let factor = if device.adapter().device_type == zippy::wgpu::DeviceType::Cpu { 1.0_f64 } else { 4.0 };
    difference.max_abs <= factor * max_abs && difference.psnr_db >= psnr_db - 20.0 * factor.log10()
}
