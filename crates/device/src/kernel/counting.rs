//! Dispatches whose workgroup counts are computed on the device.

use std::rc::Rc;

use super::binding::Binding;
use super::geometry::COUNT_VECTORS;
use super::handle::{Counter, Kernel};
use super::source::KernelSource;
use crate::device::{Device, Lease};
use crate::error::Result;

/// Kernel that computes the arguments of a dispatch from a count on the device. Arranges the
/// workgroups in nearly full rows if there are more than `limit` of them. The kernel has one
/// invocation. It reads the count at its position in the count's section, which may have any number
/// of axes.
const COUNTING_KERNEL: &str = "
struct Workgroups { size: u32, limit: u32 }
@group(0) @binding(0) var<storage, read> count: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<uniform> max_count: u32;
@group(0) @binding(3) var<uniform> workgroups: Workgroups;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = min(count_load(domain_position(id)), max_count);
    let groups = (n + workgroups.size - 1u) / workgroups.size;
    let rows = (max(groups, 1u) - 1u) / workgroups.limit + 1u;
    let row = (groups + rows - 1u) / rows;
    result_store(0, row);
    result_store(1, 1u);
    result_store(2, rows);
    result_store(4, n);
    result_store(5, row * workgroups.size);
    result_store(6, row);
}";

impl Kernel {
    /// Queues the computation of the dispatch arguments for `min(count, max_count)` invocations in
    /// workgroups of `size`. The result is valid until the next such call of this kernel, because
    /// commands run in order.
    pub(super) fn count(&self, count: &Binding, max_count: u32, size: u32) -> Result<Lease> {
        let device = &self.shared.target.device;
        let counter = match self.shared.counter.get() {
            Some(counter) => counter,
            None => {
                let made = Counter::new(device)?;
                self.shared.counter.get_or_init(|| made)
            }
        };
        let result = &counter.result;
        let count = Binding { domain: None, ..count.clone() };
        let words = Binding::for_words_of_buffer(result.clone(), 4 * COUNT_VECTORS as usize, "the result of a count");
        let call = counter.kernel.call().read("count", count.clone()).write("result", words);
        let call = call.param("max_count", max_count).param("size", size).param("limit", device.limits().workgroups);
        call.over(count).run()?;
        Ok(result.clone())
    }
}

impl Counter {
    fn new(device: &Rc<Device>) -> Result<Self> {
        let uses = wgpu::BufferUsages::INDIRECT | wgpu::BufferUsages::UNIFORM;
        let made = device.storage_buffer_with(16 * COUNT_VECTORS, uses, "zippy: a counted domain")?;
        let kernel = Kernel::new(device, &KernelSource::text("zippy: a counted domain", COUNTING_KERNEL))?;
        Ok(Self { kernel, result: Lease::new(&made) })
    }
}
