//! Opening of devices, buffers, recording of commands, and errors.

use zippy::device::{Device, DeviceOptions, KernelBackend, PackedBox, StridedBox};
use zippy::error::DeviceError;
use zippy_device::device::InjectedFailure;

use super::devices::moves_by_shaders;

/// Options that no other test of this process uses, so that the test observes its own pooled
/// devices.
fn options(binding_limit_bytes: u64) -> DeviceOptions {
    DeviceOptions { binding_limit_bytes: Some(binding_limit_bytes), ..Default::default() }
}

#[test]
fn idle_device_is_reused_with_its_caches() {
    let options = options(5 << 12);
    let first = Device::open(&options).unwrap();
    first.with_cache(|n: &mut u32| *n += 7);
    let beside = Device::open(&options).unwrap();
    assert_eq!(beside.with_cache(|n: &mut u32| *n), 0, "two ranks at once have two devices");
    drop(first.storage_buffer(1 << 20, "freed with the rank").unwrap());
    assert!(first.counters().bytes_peak >= 1 << 20);
    drop(first);
    let observed = std::thread::spawn(move || {
        let again = Device::open(&options).unwrap();
        (again.with_cache(|n: &mut u32| *n), again.counters())
    });
    let (cached, counters) = observed.join().unwrap();
    assert_eq!(cached, 7);
    assert_eq!((counters.bytes_now, counters.bytes_peak), (0, 0));
}

#[test]
fn unknown_adapter_error_lists_adapters() {
    let requested = DeviceOptions { adapter: Some("no such card".into()), ..Default::default() };
    let error = Device::open(&requested).unwrap_err().to_string();
    assert!(error.contains("no such card") && error.contains("0: "), "{error}");
}

#[test]
fn native_kernels_without_mapping_error_names_variables() {
    for kernels in [KernelBackend::Native, KernelBackend::NativeOnly] {
        let options = DeviceOptions { host_map: Some(false), kernels: Some(kernels), ..Default::default() };
        let error = Device::open(&options).unwrap_err().to_string();
        assert!(error.contains("ZIPPY_HOST_MAP=\"0\"") && error.contains("with ZIPPY_KERNELS=native"), "{error}");
    }
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
fn buffer_beyond_limit_is_error() {
    let device = Device::open(&options(7 << 12)).unwrap();
    let error = device.storage_buffer(1 << 40, "huge").unwrap_err();
    assert!(matches!(error, DeviceError::TooLarge { bytes, .. } if bytes == 1 << 40), "{error}");
    assert!(device.storage_buffer(u64::MAX, "overflowing").is_err());
    device.storage_buffer(64, "small").unwrap();
}

#[test]
fn invalid_calls_are_errors() {
    let device = Device::open(&options(8 << 12)).unwrap();
    let buffer = device.storage_buffer(256, "").unwrap();
    let misuse = || device.queue().write_buffer(buffer.raw(), 1 << 20, &[0; 4]);
    let error = device.checked("writing past the end", misuse).unwrap_err();
    assert!(error.to_string().contains("writing past the end"), "{error}");
    // An error outside of a scope is returned by the next call, once.
    misuse();
    assert!(device.flush().is_err());
    device.flush().unwrap();
    device.wait().unwrap();
}

#[test]
fn injected_failure_is_error_of_next_operation() {
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
fn destroyed_device_is_lost_without_panic() {
    let device = Device::open(&options(10 << 12)).unwrap();
    let buffer = device.storage_buffer(256, "").unwrap();
    device.raw().destroy();
    device.record(|encoder| encoder.clear_buffer(buffer.raw(), 0, None));
    let error = device.wait().and_then(|()| device.storage_buffer(64, "").map(drop)).unwrap_err();
    assert!(!error.to_string().is_empty());
}

/// Lavapipe of Mesa 22.3 silently stops loops after 65,535 iterations of an invocation.
///
/// Every built-in kernel has far fewer iterations. This test documents the limit, and checks that
/// loops are correct up to it on every driver.
#[test]
fn driver_loop_completes_or_stops_at_known_limit() {
    const WANTED: u32 = 70_000;
    let device = Device::open(&options(11 << 12)).unwrap();
    let words = device.storage_buffer(16, "canary").unwrap();
    let view = StridedBox::dense(0, [4].into());
    let piece = [PackedBox { buffer: &words, view, payload_offset: 0 }];
    device.scatter(4, bytemuck::cast_slice(&[WANTED, 0, 0, 0]), &piece).unwrap();
    let group = device
        .checked("the canary", || {
            let module = device.raw().create_shader_module(wgpu::include_wgsl!("../../shaders/loop_canary.wgsl"));
            let pipeline = device.raw().create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: None,
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                cache: None,
            });
            let layout = &pipeline.get_bind_group_layout(0);
            let entries = [wgpu::BindGroupEntry { binding: 0, resource: words.raw().as_entire_binding() }];
            let descriptor = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
            (device.raw().create_bind_group(&descriptor), pipeline)
        })
        .unwrap();
    device.record(|encoder| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&group.1);
        pass.set_bind_group(0, &group.0, &[]);
        pass.dispatch_workgroups(1, 1, 1);
    });
    let payload = device.gather(4, &piece, 16).unwrap();
    let found: Vec<u32> = bytemuck::pod_collect_to_vec(payload.as_ref());
    let run = found[1];
    assert!(run == WANTED || (65_000..=65_536).contains(&run), "{run} iterations");
    let state = (0..run).fold(1_u32, |state, _| state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    assert_eq!(found[2], state);
}

#[test]
fn ranks_on_one_adapter_keep_their_own_cells() {
    let rank = |rank: u32| {
        let options =
            DeviceOptions { node_rank: rank as usize, node_ranks: 4, ..options((12 + (rank as u64 % 2)) << 12) };
        let options = DeviceOptions { host_map: if rank < 2 { None } else { moves_by_shaders() }, ..options };
        let device = Device::open(&options).unwrap();
        assert_eq!(device.adapter().node_rank, rank as usize);
        let buffer = device.storage_buffer(4 * 3000, "cells").unwrap();
        let view = StridedBox { offset: 7, extents: [50, 20].into(), strides: [2, 103].into() };
        let piece = [PackedBox { buffer: &buffer, view, payload_offset: 0 }];
        for round in 0..20 {
            let cells: Vec<u32> = (0..1000).map(|i| i * 31 + rank * 1_000_003 + round).collect();
            device.scatter(4, bytemuck::cast_slice(&cells), &piece).unwrap();
            assert_eq!(device.gather(4, &piece, 4000).unwrap().as_ref(), bytemuck::cast_slice::<u32, u8>(&cells));
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|number| drop(scope.spawn(move || rank(number)))));
}

#[test]
fn transfer_follows_recorded_and_directly_submitted_work() {
    for host_map in [None, moves_by_shaders()] {
        let device = Device::open(&DeviceOptions { host_map, ..options(14 << 12) }).unwrap();
        let (a, b) = (device.storage_buffer(1 << 20, "a").unwrap(), device.storage_buffer(1 << 20, "b").unwrap());
        let view = StridedBox::dense(0, [1 << 20].into());
        let all = |buffer| [PackedBox { buffer, view, payload_offset: 0 }];
        device.scatter(1, &[5; 1 << 20], &all(&a)).unwrap();
        device.record(|encoder| encoder.copy_buffer_to_buffer(a.raw(), 0, b.raw(), 0, Some(1 << 19)));
        let payload = device.gather(1, &all(&b), 1 << 20).unwrap();
        assert!(payload.as_ref().iter().enumerate().all(|(i, &byte)| byte == if i < 1 << 19 { 5 } else { 0 }));
        let mut encoder = device.raw().create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(a.raw(), 0, b.raw(), 0, None);
        device.queue().submit([encoder.finish()]);
        assert!(device.gather(1, &all(&b), 1 << 20).unwrap().as_ref().iter().all(|&byte| byte == 5));
    }
}

/// Runs the test in a new process with a Vulkan loader that finds no driver.
#[cfg(target_os = "linux")]
#[test]
fn missing_adapter_error_names_packages() {
    if std::env::var_os("VK_DRIVER_FILES").is_some_and(|files| files == "/nonexistent") {
        let by_driver = DeviceOptions { kernels: Some(KernelBackend::Driver), ..Default::default() };
        println!("error: {}", Device::open(&by_driver).unwrap_err());
        let without_map = DeviceOptions { host_map: Some(false), ..Default::default() };
        assert_eq!(Device::open(&without_map).unwrap_err(), DeviceError::NoAdapter { setting: "ZIPPY_HOST_MAP=0" });
        let device = Device::open(&DeviceOptions::default()).unwrap();
        assert!(device.is_native() && device.host_mapped());
        assert_eq!(device.adapter().driver, "no driver: native kernels");
        return;
    }
    let again = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "device::opening::missing_adapter_error_names_packages", "--nocapture"])
        .env("VK_DRIVER_FILES", "/nonexistent")
        .env("VK_ICD_FILENAMES", "/nonexistent")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success(), "{text}");
    assert!(text.contains("error: no GPU adapter") && text.contains("mesa-vulkan-drivers"), "{text}");
}

/// Runs the test in a new process with settings in the environment.
#[test]
fn invalid_settings_are_errors() {
    if std::env::var_os("SETTINGS_OF_THIS_TEST").is_some() {
        match DeviceOptions::from_env(0, 1) {
            Ok(options) => println!("{options:?}"),
            Err(error) => println!("{error}"),
        }
        return;
    }
    let set = |name: &str, value: &str| {
        let run = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "device::opening::invalid_settings_are_errors", "--nocapture"])
            .env("SETTINGS_OF_THIS_TEST", "1")
            .env(name, value)
            .output()
            .unwrap();
        assert!(run.status.success());
        String::from_utf8_lossy(&run.stdout).into_owned()
    };
    assert!(set("ZIPPY_HOST_MAP", "perhaps").contains("ZIPPY_HOST_MAP=\"perhaps\" is not understood"));
    assert!(set("ZIPPY_BINDING_LIMIT", "-1").contains("a number of bytes"));
    assert!(set("ZIPPY_IN_PLACE", "1 MB").contains("ZIPPY_IN_PLACE=\"1 MB\" is not understood"));
    assert!(set("ZIPPY_MEMORY_LIMIT", "0").contains("a number of bytes above 0"));
    for threads in ["0", "many", "-1"] {
        assert!(set("ZIPPY_THREADS", threads).contains("a number of threads above 0"));
    }
    assert!(set("ZIPPY_HOST_MAP", "0").contains("Some(false)"));
    assert!(set("ZIPPY_ADAPTER", "llvm").contains("Some(\"llvm\")"));
}

/// A host that submits faster than the device computes waits for an earlier submission. Errors
/// during this wait are returned by the next check.
#[test]
fn error_before_a_wait_for_an_earlier_submission_is_returned_by_the_next_check() {
    let device = Device::open(&DeviceOptions::default()).unwrap();
    let buffer = device.storage_buffer(256, "cleared").unwrap();
    let record = || device.record(|encoder| encoder.clear_buffer(buffer.raw(), 0, None));
    // More submissions than the limit of unfinished submissions. No check follows the last ones.
    for _ in 0..80 {
        record();
        device.flush().unwrap();
    }
    device.inject_failure(InjectedFailure::OutOfMemory);
    (0..200).for_each(|_| record());
    let error = device.flush().unwrap_err();
    assert!(matches!(error, DeviceError::OutOfMemory { .. }), "{error}");
    device.wait().unwrap();
}
