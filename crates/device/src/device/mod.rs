//! One GPU as seen by one rank: the adapter chosen for it, its memory, its queue, and moving boxes
//! of cells between chunk buffers and contiguous bytes.
//!
//! Nothing here talks to another rank and nothing here knows element types, except [`Operator`]s.
//!
//! * [`Device::open`] picks the adapter by node-local rank and re-uses an idle device of this
//!   process.
//! * [`Device::record`], [`Device::flush`], [`Device::wait`]: one pending command encoder per rank.
//! * [`Device::gather`], [`Device::scatter`], [`Device::copy_boxes`], [`Device::combine`]: boxes.

mod adapter;
mod allocation;
mod backend;
mod boxes;
mod buffers;
mod cache_capacity;
mod checked;
mod checks;
pub mod colour;
mod core_claim;
mod counters;
mod encode;
mod health;
mod host_threads;
mod idle;
mod in_place;
mod kernels;
mod lease;
#[cfg(test)]
mod loan_tests;
mod logical;
mod machine;
mod mapped;
mod mapping;
mod memory;
mod native;
mod native_code_cache;
mod numbered;
mod open;
mod operator;
mod order;
mod ranges;
mod reach;
mod runtime_directory;
mod staged;
mod transfers;
mod watchdog;

pub use adapter::AdapterSummary;
pub use backend::{KernelBackend, has_wide_vectors};
pub use boxes::{PackedBox, Strided};
pub use buffers::buffer_bytes;
pub use buffers::{ChunkBuffer, WeakChunkBuffer};
#[doc(hidden)]
pub use cache_capacity::bound_kept;
pub use cache_capacity::{cache_capacity, estimate_compiled_bytes};
pub use core_claim::CoreClaim;
pub use counters::Counters;
pub use health::InjectedFailure;
pub use host_threads::HostThreads;
pub use kernels::FoldKernel;
pub(crate) use kernels::shader::to_aligned_words;
pub use lease::Lease;
pub use logical::Limits;
pub use machine::Room;
pub(crate) use native::{NativeBinding, NativeDispatch};
pub(crate) use native_code_cache::NativeCodeKey;
pub use numbered::BufferBox;
pub use open::{DeviceOptions, IN_PLACE_BYTES, MESSAGE_BYTES};
pub use operator::Operator;
pub use runtime_directory::set_runtime_directory;
pub use staged::Staged;

use std::rc::Rc;
use std::time::Duration;

use logical::LogicalDevice;

/// Largest number of ranks among which the capacity of caches is divided.
const MOST_SHARES: usize = 8;

/// Optional features that native kernels always have.
const NATIVE_FEATURES: wgpu::Features =
    wgpu::Features::SHADER_F16.union(wgpu::Features::SHADER_F64).union(wgpu::Features::SHADER_INT64);

/// The device of one rank. `!Send`: every rank opens its own and hands it around as `Rc<Device>`.
///
/// Several ranks on one GPU have one logical device each, so that no rank ever waits for another's
/// work. When the last handle is dropped the logical device, its pipelines and its staging memory
/// go to an idle pool of the process and serve the next [`Device::open`] with the same options; a
/// lost one is dropped.
pub struct Device {
    /// `None` only while being dropped.
    logical: Option<Box<LogicalDevice>>,
    adapter: AdapterSummary,
    in_place_bytes: u64,
    message_bytes: u64,
    room: Room,
    /// Ranks of this process.
    ranks: usize,
    host_threads: HostThreads,
    /// Time limit of a native kernel.
    kernel_limit: Duration,
    /// Makes the device stay on its rank's thread.
    _rank: std::marker::PhantomData<Rc<()>>,
}

impl Device {
    /// The logical device, for wgpu calls that Zippy does not wrap.
    pub fn raw(&self) -> &wgpu::Device {
        &self.logical().device
    }

    /// The queue. Work recorded with [`Device::record`] is submitted by [`Device::flush`]; call
    /// that first where the order matters.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.logical().queue
    }

    /// Description of the adapter, and the rank that it was selected for.
    pub fn adapter(&self) -> &AdapterSummary {
        &self.adapter
    }

    /// Limits of the device.
    pub fn limits(&self) -> &Limits {
        &self.logical().limits
    }

    /// How much memory there is for buffers.
    pub fn room(&self) -> Room {
        self.room
    }

    /// The threads of this rank's work on the host.
    pub fn host_threads(&self) -> HostThreads {
        self.host_threads
    }

    /// The optional features that kernels of this device can use.
    pub fn features(&self) -> wgpu::Features {
        self.kernel_features(self.is_native())
    }

    /// Optional features of a native kernel, or of a kernel of the driver.
    pub fn kernel_features(&self, is_native: bool) -> wgpu::Features {
        let native = if is_native { NATIVE_FEATURES } else { wgpu::Features::empty() };
        self.logical().device.features() | native
    }

    /// Whether chunk buffers are mapped by the host for transfers (true on software and integrated
    /// adapters unless switched off), so that a transfer is a plain memory copy.
    pub fn host_mapped(&self) -> bool {
        self.logical().host_mapped
    }

    /// Least size, in bytes, of a box that is sent [in place](Self::in_place); `None` if no box is.
    pub fn in_place_bytes(&self) -> Option<u64> {
        self.host_mapped().then_some(self.in_place_bytes)
    }

    /// Counters of allocations and operations since the device was opened in this process.
    pub fn counters(&self) -> Counters {
        self.logical().memory.counters()
    }

    /// Counts a pipeline that was made beside those of kernels, of one's own among them, in
    /// [`Counters::pipelines_made`].
    pub fn count_pipeline(&self) {
        counters::Tally::add(&self.logical().memory.tally.pipelines_made);
    }

    /// Begins a new measurement of [`Counters::bytes_peak`] and [`Counters::host_bytes_peak`].
    pub fn reset_peak(&self) {
        self.logical().memory.tally.reset_peak();
    }

    /// A value that lives as long as the logical device, one per type: pipeline caches and the like
    /// of other modules. It survives this handle when the device is pooled. Made by `T::default()`
    /// at the first call.
    ///
    /// A nested call for the same type from within `f` sees a fresh default, which is then dropped.
    pub fn with_cache<T: Default + Send + 'static, R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let key = std::any::TypeId::of::<T>();
        let taken = self.logical().caches.borrow_mut().remove(&key);
        let mut value = taken.and_then(|boxed| boxed.downcast::<T>().ok()).unwrap_or_default();
        let result = f(&mut value);
        self.logical().caches.borrow_mut().insert(key, value);
        result
    }

    /// Returns this rank's share of the bytes that a process may keep. Ranks that are threads
    /// divide them; each has an eighth at least. A cache below the working set of a program grows,
    /// to four times its share at most.
    pub fn share_of(&self, bytes: usize) -> usize {
        bytes / self.ranks.clamp(1, MOST_SHARES)
    }

    /// Greatest size, in bytes, of a message that this rank requests.
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
        if self.logical().health.is_well() {
            // The next rank must not wait for this rank's work. After an error here, the device is
            // not used again.
            let _ = self.wait();
        }
        if let Some(logical) = self.logical.take() {
            logical.retire();
        }
    }
}
