//! Tests of the staging memory of failed operations.

use super::memory_pool::StagingKind;
use super::{BufferBox, Device, DeviceOptions, InjectedFailure, PackedBox, StridedBox};

fn fail_operations_and_check_memory(host_map: bool) {
    let options = DeviceOptions { host_map: Some(host_map), binding_limit_bytes: Some(21 << 12), ..Default::default() };
    let device = Device::open(&options).unwrap();
    let buffer = device.storage_buffer(4000, "cells").unwrap();
    let view = |offset| StridedBox { offset, extents: [900].into(), strides: [1].into() };
    let [from, to] = [0, 1].map(|offset| BufferBox { buffer: &buffer, view: view(offset) });
    device.copy_boxes(4, &[(from, to)]).unwrap();
    device.wait().unwrap();
    device.inject_failure(InjectedFailure::LostInPoll);
    let pieces = [PackedBox { buffer: &buffer, view: view(0), payload_offset: 0 }];
    let failed = device.copy_boxes(4, &[(from, to)]).and_then(|()| device.gather(4, &pieces, 3600).map(drop));
    assert!(failed.is_err());
    let memory = &device.logical().memory;
    for kind in StagingKind::ALL {
        assert_eq!(memory.staging_bytes(kind).lent, 0, "{kind:?}, {host_map:?}");
    }
    memory.free_idle();
    assert_eq!(memory.counters().host_bytes_now, 0, "{host_map:?}");
}

#[test]
fn failed_host_transfer_returns_staging_memory() {
    fail_operations_and_check_memory(true);
}

#[test]
fn failed_kernel_transfer_returns_staging_memory() {
    fail_operations_and_check_memory(false);
}
