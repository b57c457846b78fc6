//! [`Device`]: the GPU of one rank, with its memory, its queue, and transfers of boxes of cells
//! between chunk buffers and contiguous bytes.
//!
//! The module does not communicate with other ranks. Only [`Operator`]s depend on element types.
//!
//! * [`Device::open`] selects the adapter by node-local rank and reuses an idle device of the
//!   process.
//! * [`Device::record`], [`Device::flush`] and [`Device::wait`] use one pending command encoder.
//! * [`Device::gather`], [`Device::scatter`], [`Device::copy_boxes`] and [`Device::combine`]
//!   transfer boxes.

mod adapter;
mod allocation;
mod backend;
mod box_checks;
mod box_overlap;
mod box_pair;
mod boxes;
mod cache_capacity;
mod chunk_buffer;
pub mod colour;
mod copy_order;
mod copy_set;
mod core_claim;
mod counters;
mod error_scope;
mod health;
mod host_threads;
mod host_transfers;
mod idle_blocks;
mod in_place;
mod kernel_transfers;
mod lease;
mod logical_device;
mod mapped_bytes;
mod mapping;
mod memory_limits;
mod memory_pool;
mod native_code_cache;
mod native_dispatch;
mod open;
mod operator;
mod runtime_directory;
mod staged_bytes;
#[cfg(test)]
mod staging_tests;
mod submission;
mod transfer_backend;
mod transfers;
mod watchdog;

pub use adapter::AdapterSummary;
pub(crate) use allocation::BufferRequest;
pub use backend::{KernelBackend, has_wide_vectors};
pub use boxes::{BufferBox, PackedBox, StridedBox};
#[doc(hidden)]
pub use cache_capacity::set_cache_capacity;
pub use cache_capacity::{cache_capacity, estimate_compiled_bytes};
pub use chunk_buffer::{ChunkBuffer, WeakChunkBuffer, buffer_bytes};
pub use core_claim::CoreClaim;
pub use counters::Counters;
pub use health::InjectedFailure;
pub use host_threads::HostThreads;
pub use kernel_transfers::ReductionKernel;
pub(crate) use kernel_transfers::shader::to_aligned_words;
pub use lease::Lease;
pub use logical_device::Limits;
pub use memory_limits::MemoryLimits;
pub(crate) use native_code_cache::NativeCodeKey;
pub(crate) use native_dispatch::{NativeBinding, NativeDispatch};
pub use open::{DeviceOptions, IN_PLACE_BYTES, MESSAGE_BYTES};
pub use operator::Operator;
pub use runtime_directory::set_runtime_directory;
pub use staged_bytes::StagedBytes;

use std::rc::Rc;
use std::time::Duration;

use logical_device::LogicalDevice;

/// Maximum number of ranks among which the capacity of a cache is divided.
const MAX_CACHE_SHARES: usize = 8;

/// Optional features of wgpu that native kernels always have.
const NATIVE_FEATURES: wgpu::Features =
    wgpu::Features::SHADER_F16.union(wgpu::Features::SHADER_F64).union(wgpu::Features::SHADER_INT64);

/// Device of one rank. `!Send`: every rank opens its own device and shares it as `Rc<Device>`.
///
/// Several ranks on one GPU have one logical device each, so that no rank waits for the work of
/// another rank. When the last handle is dropped, the logical device with its pipelines and staging
/// memory goes to an idle pool of the process, for the next [`Device::open`] with the same options.
/// A lost device is dropped.
pub struct Device {
    /// `None` only during the drop.
    logical: Option<Box<LogicalDevice>>,
    adapter: AdapterSummary,
    in_place_bytes: u64,
    message_bytes: u64,
    memory_limits: MemoryLimits,
    /// Number of ranks of this process.
    ranks: usize,
    host_threads: HostThreads,
    /// Time limit of a native kernel.
    kernel_limit: Duration,
    /// Makes the device `!Send`.
    _not_send: std::marker::PhantomData<Rc<()>>,
}

impl Device {
    /// Returns the wgpu device, for calls that Zippy does not wrap.
    pub fn raw(&self) -> &wgpu::Device {
        &self.logical().device
    }

    /// Returns the wgpu queue. [`Device::flush`] submits the commands of [`Device::record`]; call
    /// it first if the order matters.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.logical().queue
    }

    /// Returns the description of the device's adapter.
    pub fn adapter(&self) -> &AdapterSummary {
        &self.adapter
    }

    /// Returns the size limits of the device.
    pub fn limits(&self) -> &Limits {
        &self.logical().limits
    }

    /// Returns the limits of the total size of this rank's buffers.
    pub fn memory_limits(&self) -> MemoryLimits {
        self.memory_limits
    }

    /// Returns the number of host threads that this rank uses.
    pub fn host_threads(&self) -> HostThreads {
        self.host_threads
    }

    /// Returns the optional wgpu features that kernels of this device can use.
    pub fn features(&self) -> wgpu::Features {
        self.kernel_features(self.is_native())
    }

    /// Returns the optional wgpu features of a native kernel, or of a kernel of the driver.
    pub fn kernel_features(&self, is_native: bool) -> wgpu::Features {
        let native = if is_native { NATIVE_FEATURES } else { wgpu::Features::empty() };
        self.logical().device.features() | native
    }

    /// True if the host maps chunk buffers, so that a transfer is a memory copy. The default is
    /// true on software and integrated adapters.
    pub fn host_mapped(&self) -> bool {
        self.logical().host_mapped
    }

    /// Returns the minimum size, in bytes, of a box that is sent
    /// [without a copy](Self::in_place_payload); `None` if chunk buffers are not mapped.
    pub fn in_place_bytes(&self) -> Option<u64> {
        self.host_mapped().then_some(self.in_place_bytes)
    }

    /// Returns the counters of allocations and operations of the logical device.
    pub fn counters(&self) -> Counters {
        self.logical().memory.counters()
    }

    /// Adds a pipeline that the caller created with wgpu to [`Counters::pipelines_made`].
    pub fn count_pipeline(&self) {
        counters::AtomicCounters::increment(&self.logical().memory.counters.pipelines_made);
    }

    /// Resets [`Counters::bytes_peak`] and [`Counters::host_bytes_peak`] to the current values.
    pub fn reset_peak(&self) {
        self.logical().memory.counters.reset_peak();
    }

    /// Calls `f` with the cached value of type `T` of the logical device, such as a cache of
    /// pipelines. The first call creates the value by `T::default()`. The value outlives this
    /// handle if the logical device returns to the idle pool.
    ///
    /// A nested call for the same type inside `f` receives a temporary default value.
    pub fn with_cache<T: Default + Send + 'static, R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let key = std::any::TypeId::of::<T>();
        let taken = self.logical().caches.borrow_mut().remove(&key);
        let mut value = taken.and_then(|boxed| boxed.downcast::<T>().ok()).unwrap_or_default();
        let result = f(&mut value);
        self.logical().caches.borrow_mut().insert(key, value);
        result
    }

    /// Returns this rank's share of `bytes`, the capacity of a cache of the process: at least one
    /// eighth.
    ///
    /// A cache that is smaller than the working set of the program grows to at most four times its
    /// share.
    pub fn rank_share(&self, bytes: usize) -> usize {
        bytes / self.ranks.clamp(1, MAX_CACHE_SHARES)
    }

    /// Returns the maximum size, in bytes, of a message that this rank requests.
    pub fn message_bytes(&self) -> u64 {
        self.message_bytes
    }

    fn logical(&self) -> &LogicalDevice {
        self.logical.as_ref().expect("present until dropped")
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("adapter", &self.adapter).finish_non_exhaustive()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.logical().health.has_no_failure() {
            // The next rank must not wait for the work of this rank. A device with an error is not
            // reused.
            let _ = self.wait();
        }
        if let Some(logical) = self.logical.take() {
            logical.retire();
        }
    }
}
