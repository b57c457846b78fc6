//! [`measure_loop_pass_limit`]: limit of an adapter on the passes of all loops of a group of
//! invocations.
//!
//! Mesa's lavapipe (22.3, 24.0) computes invocations in groups. It ends every loop of a group,
//! without an error, once the group has made 65,535 passes in all its loops together. A loop of a
//! group makes as many passes as the invocation with the most passes needs.

use std::rc::Rc;

use super::binding::Binding;
use super::handle::Kernel;
use super::source::KernelSource;
use crate::device::{BufferBox, Device, Lease, PackedBox, StridedBox};
use crate::error::Result;
use crate::extents::Index;

/// Number of passes of the test kernel; an adapter that completes them has no limit.
const TEST_PASSES: u32 = 1 << 17;

/// Test kernel: its loop makes `words[0]` passes and stores their number in `words[1]`.
const TEST_KERNEL: &str = "
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let max_passes = words_load(0);
    var passes = 0u;
    var value = max_passes;
    loop {
        if passes >= max_passes { break; }
        passes += 1u;
        value = value * 1664525u + 1013904223u;
    }
    words_store(1, passes);
    words_store(2, value);
}";

/// Number of words of the array of the test kernel.
const WORDS: i64 = 3;

/// Returns the driver's limit on the passes of all loops of a group of invocations; `None` if there
/// is no limit. Measured once per device.
///
/// # Errors
/// The device fails.
pub(super) fn measure_loop_pass_limit(device: &Rc<Device>) -> Result<Option<u32>> {
    #[derive(Default)]
    struct Measured(Option<Option<u32>>);
    if let Some(limit) = device.with_cache(|measured: &mut Measured| measured.0) {
        return Ok(limit);
    }
    let shape = Index::from([WORDS]);
    let lease = Lease::new(&device.storage_buffer(4 * WORDS as u64, "zippy: a test of loops")?);
    let view = || StridedBox { offset: 0, extents: shape, strides: Index::from([1]) };
    device.fill(&TEST_PASSES.to_ne_bytes(), &[BufferBox { buffer: &lease, view: view() }])?;
    let words = Binding::for_words_of_buffer(lease.clone(), WORDS as usize, "the words of a test");
    Kernel::new(device, &KernelSource::text("zippy: a test of loops", TEST_KERNEL).prefer_driver(true))?
        .call()
        .update("words", words)
        .over([1])
        .run()?;
    let staged =
        device.gather(4, &[PackedBox { buffer: &lease, view: view(), payload_offset: 0 }], 4 * WORDS as u64)?;
    let passes = bytemuck::pod_collect_to_vec::<u8, u32>(staged.as_ref())[1];
    let limit = (passes < TEST_PASSES).then_some(passes);
    device.with_cache(|measured: &mut Measured| measured.0 = Some(limit));
    Ok(limit)
}
