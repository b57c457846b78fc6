//! Opening devices, buffers, recording and errors.

use zippy::device::{Device, DeviceOptions, InjectedFailure};
use zippy::error::DeviceError;

/// Options that no other test of this process uses at the same time, so that pooling can be seen.
fn options(binding_limit_bytes: u64) -> DeviceOptions {
    DeviceOptions { binding_limit_bytes: Some(binding_limit_bytes), ..Default::default() }
}

#[test]
fn an_idle_device_serves_the_next_rank_with_its_caches() {
    let options = options(5 << 12);
    let first = Device::open(&options).unwrap();
    first.with_cache(|n: &mut u32| *n += 7);
    let beside = Device::open(&options).unwrap();
    assert_eq!(beside.with_cache(|n: &mut u32| *n), 0, "two ranks at once have two devices");
    drop(first);
    let seen = std::thread::spawn(move || {
        let again = Device::open(&options).unwrap();
        again.with_cache(|n: &mut u32| *n)
    });
    assert_eq!(seen.join().unwrap(), 7);
}

#[test]
fn an_unknown_adapter_is_an_error_that_lists_what_is_there() {
    let asked = DeviceOptions { adapter: Some("no such card".into()), ..Default::default() };
    let error = Device::open(&asked).unwrap_err().to_string();
    assert!(error.contains("no such card") && error.contains("0: "), "{error}");
}

#[test]
fn recycled_buffers_are_zeroed_and_counted() {
    let device = Device::open(&options(6 << 12)).unwrap();
    let buffer = device.storage_buffer(1000, "first").unwrap();
    assert!(buffer.bytes() >= 1000);
    device.queue().write_buffer(buffer.raw(), 0, &[0xab; 1000]);
    drop(buffer);
    let before = device.counters();
    let buffer = device.storage_buffer(1000, "second").unwrap();
    let after = device.counters();
    assert_eq!(after.buffers_made, before.buffers_made);
    assert_eq!(after.buffers_reused, before.buffers_reused + 1);
    assert_eq!(after.bytes_now, before.bytes_now);
    let descriptor = wgpu::BufferDescriptor {
        label: None,
        size: buffer.bytes(),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    };
    let back = device.raw().create_buffer(&descriptor);
    device.record(|encoder| encoder.copy_buffer_to_buffer(buffer.raw(), 0, &back, 0, None));
    device.wait().unwrap();
    back.map_async(wgpu::MapMode::Read, .., |result| result.unwrap());
    device.raw().poll(wgpu::PollType::wait_indefinitely()).unwrap();
    assert!(back.get_mapped_range(..).unwrap().iter().all(|&byte| byte == 0));
}

#[test]
fn a_buffer_beyond_the_limit_is_an_error() {
    let device = Device::open(&options(7 << 12)).unwrap();
    let error = device.storage_buffer(1 << 40, "huge").unwrap_err();
    assert!(matches!(error, DeviceError::TooLarge { bytes, .. } if bytes == 1 << 40), "{error}");
    assert!(device.storage_buffer(u64::MAX, "overflowing").is_err());
    device.storage_buffer(64, "small").unwrap();
}

#[test]
fn wrong_calls_are_errors_and_not_panics() {
    let device = Device::open(&options(8 << 12)).unwrap();
    let buffer = device.storage_buffer(256, "").unwrap();
    let misuse = || device.queue().write_buffer(buffer.raw(), 1 << 20, &[0; 4]);
    let error = device.checked("writing past the end", misuse).unwrap_err();
    assert!(error.to_string().contains("writing past the end"), "{error}");
    // Outside of a scope: told by the next call, once.
    misuse();
    assert!(device.flush().is_err());
    device.flush().unwrap();
    device.wait().unwrap();
}

#[test]
fn injected_failures_are_found_by_the_next_operation() {
    let device = Device::open(&options(9 << 12)).unwrap();
    device.inject_failure(InjectedFailure::OutOfMemory);
    assert!(matches!(device.wait(), Err(DeviceError::OutOfMemory { .. })));
    device.wait().unwrap();
    device.inject_failure(InjectedFailure::DeviceLost);
    assert!(matches!(device.storage_buffer(64, ""), Err(DeviceError::Lost { .. })));
    assert!(matches!(device.flush(), Err(DeviceError::Lost { .. })));
    drop(device);
    Device::open(&options(9 << 12)).unwrap().wait().unwrap();
}

#[test]
fn a_destroyed_device_is_lost_and_not_a_panic() {
    let device = Device::open(&options(10 << 12)).unwrap();
    let buffer = device.storage_buffer(256, "").unwrap();
    device.raw().destroy();
    device.record(|encoder| encoder.clear_buffer(buffer.raw(), 0, None));
    let error = device.wait().and_then(|()| device.storage_buffer(64, "").map(drop)).unwrap_err();
    assert!(!error.to_string().is_empty());
}
