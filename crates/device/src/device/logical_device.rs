//! [`LogicalDevice`]: wgpu device with its memory and caches, and the pool of idle devices.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use wgpu::{DeviceType, Features};

use super::StagedBytes;
use super::backend::KernelBackend;
use super::health::Health;
use super::memory_pool::MemoryPool;
use crate::error::DeviceError;
use zippy_base::process::at_exit_call;

/// Maximum number of idle devices that the process keeps for reuse.
const MAX_IDLE_DEVICES: usize = 32;

/// Minimum size, in bytes, of the largest binding for which transfers work.
const MIN_BINDING_BYTES: u64 = 4096;

/// Size limits of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Maximum range of a buffer, in bytes, that a kernel can access, by the host's threads on a
    /// native device, by the driver on other devices.
    pub binding_bytes: u64,
    /// Maximum range of a buffer, in bytes, that a kernel of the driver can access.
    pub driver_binding_bytes: u64,
    /// Maximum size of a buffer, in bytes.
    pub buffer_bytes: u64,
    /// Alignment of the start of a binding, in bytes.
    pub offset_alignment: u64,
    /// Maximum number of workgroups along one dimension of a dispatch.
    pub workgroups: u32,
    /// All limits of the wgpu device.
    pub wgpu: wgpu::Limits,
}

/// Logical device with its memory and caches. `Send`, so that the rank of another thread can reuse
/// an idle device.
pub(super) struct LogicalDevice {
    key: DeviceKey,
    _open_device: OpenDeviceGuard,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub limits: Limits,
    /// True if the host maps chunk buffers.
    pub host_mapped: bool,
    /// True if the host computes kernels natively.
    pub is_native: bool,
    /// True if operations always use kernels, even if they have a version for the host.
    pub has_kernels_only: bool,
    pub health: Arc<Health>,
    pub memory: Arc<MemoryPool>,
    pub encoder: RefCell<Option<wgpu::CommandEncoder>>,
    /// Number of calls of [`Device::record`](super::Device::record) since the last submission.
    pub pending_records: Cell<u32>,
    /// Submissions that may be unfinished, the oldest first.
    pub in_flight: RefCell<VecDeque<wgpu::SubmissionIndex>>,
    /// Number of submissions.
    pub epoch: Cell<u64>,
    pub map_progress: Arc<MapProgress>,
    /// Chunks that are mapped because messages are sent from their memory.
    pub lent_chunks: RefCell<HashMap<wgpu::Buffer, StagedBytes>>,
    pub caches: RefCell<HashMap<TypeId, Box<dyn Any + Send>>>,
}

/// Guard that counts a device in [`OPEN_DEVICES`] for its lifetime.
struct OpenDeviceGuard;

/// Number of devices that this process has open or is opening.
static OPEN_DEVICES: AtomicUsize = AtomicUsize::new(0);

impl OpenDeviceGuard {
    fn new() -> Self {
        OPEN_DEVICES.fetch_add(1, Ordering::Relaxed);
        Self
    }

    /// Returns the number of open devices of the process besides the guarded device.
    fn count_others(&self) -> usize {
        OPEN_DEVICES.load(Ordering::Relaxed) - 1
    }
}

impl Drop for OpenDeviceGuard {
    fn drop(&mut self) {
        OPEN_DEVICES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Progress of the map requests of the current operation. The device keeps the value, so that an
/// operation allocates nothing.
#[derive(Default)]
pub(super) struct MapProgress {
    /// Number of completed map requests.
    pub done: AtomicUsize,
    /// Number of failed map requests.
    pub failed: AtomicUsize,
    mapped: Mutex<Vec<wgpu::Buffer>>,
}

impl MapProgress {
    fn mapped(&self) -> MutexGuard<'_, Vec<wgpu::Buffer>> {
        self.mapped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if an operation in progress has mapped the buffer.
    pub(super) fn has_mapped(&self, buffer: &wgpu::Buffer) -> bool {
        self.mapped().contains(buffer)
    }

    pub(super) fn add_mapped(&self, buffer: &wgpu::Buffer) {
        self.mapped().push(buffer.clone());
    }

    pub(super) fn remove_mapped(&self, buffers: &[wgpu::Buffer]) {
        self.mapped().retain(|buffer| !buffers.contains(buffer));
    }
}

/// Options of a device. An idle device is reused for a request with the same key.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct DeviceKey {
    /// Index of the adapter among the adapters of the process.
    pub adapter: usize,
    pub host_map: Option<bool>,
    pub binding_limit_bytes: Option<u64>,
    pub buffer_limit_bytes: Option<u64>,
    pub kernels: Option<KernelBackend>,
}

#[expect(clippy::vec_box, reason = "a logical device is large and moves between the pool and `Device`")]
static IDLE_DEVICES: Mutex<Vec<Box<LogicalDevice>>> = Mutex::new(Vec::new());

pub(super) fn has_unified_memory(device_type: DeviceType) -> bool {
    matches!(device_type, DeviceType::Cpu | DeviceType::IntegratedGpu)
}

/// Returns true if the host computes the kernels of an adapter natively.
///
/// # Errors
/// The adapter does not support the `requested` backend.
fn computes_natively(
    info: &wgpu::AdapterInfo,
    host_mapped: bool,
    requested: Option<KernelBackend>,
) -> Result<bool, DeviceError> {
    let is_host = host_mapped && info.device_type == DeviceType::Cpu;
    match requested {
        Some(KernelBackend::Native | KernelBackend::NativeOnly) if !is_host => Err(DeviceError::MissingFeature {
            adapter: info.name.clone(),
            what: "computing kernels natively (ZIPPY_KERNELS=native)".into(),
            feature: "mapped memory of the host, as software adapters have".into(),
        }),
        _ if info.backend == wgpu::Backend::Noop && (requested == Some(KernelBackend::Driver) || !is_host) => {
            let is_by_driver = requested == Some(KernelBackend::Driver);
            Err(DeviceError::NoAdapter {
                setting: if is_by_driver { "ZIPPY_KERNELS=driver" } else { "ZIPPY_HOST_MAP=0" },
            })
        }
        Some(requested) => Ok(requested != KernelBackend::Driver),
        None => Ok(is_host),
    }
}

/// Drops all idle devices of the process; true if there were any.
fn drop_idle_devices() -> bool {
    let idle = std::mem::take(&mut *IDLE_DEVICES.lock().unwrap_or_else(|e| e.into_inner()));
    !idle.is_empty()
}

/// Registers the drop of idle devices at the end of the process: drivers may crash when it ends
/// with devices open.
fn drop_idle_devices_at_exit() {
    extern "C" fn at_exit() {
        // A terminated thread can hold the lock forever.
        if let Ok(mut idle) = IDLE_DEVICES.try_lock() {
            let idle = std::mem::take(&mut *idle);
            _ = catch_unwind(AssertUnwindSafe(|| drop(idle)));
        }
    }
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| at_exit_call(at_exit));
}

impl LogicalDevice {
    /// Takes an idle device with this key from the pool: the one with the most compiled pipelines.
    pub(super) fn take_idle(key: &DeviceKey) -> Option<Box<Self>> {
        let mut idle = IDLE_DEVICES.lock().unwrap_or_else(|e| e.into_inner());
        idle.retain(|device| device.health.has_no_failure());
        let candidates = (0..idle.len()).filter(|&i| idle[i].key == *key);
        candidates.max_by_key(|&i| idle[i].memory.counters().pipelines_made).map(|index| idle.swap_remove(index))
    }

    /// True if the device options request native kernels.
    pub(super) fn is_native_requested(&self) -> bool {
        self.is_native && self.key.kernels.is_some()
    }

    /// Opens a device with all limits of the adapter and the optional features that Zippy uses.
    pub(super) fn new(adapter: &wgpu::Adapter, key: DeviceKey) -> Result<Self, DeviceError> {
        let info = super::adapter::adapter_info(adapter);
        let is_unified = has_unified_memory(info.device_type);
        let is_mappable = adapter.features().contains(Features::MAPPABLE_PRIMARY_BUFFERS);
        let host_mapped = key.host_map.unwrap_or(is_unified) && is_mappable;
        if key.host_map == Some(true) && !(is_unified && is_mappable) {
            return Err(DeviceError::MissingFeature {
                adapter: info.name,
                what: "host mapping of chunks (ZIPPY_HOST_MAP=1)".into(),
                feature: "memory that it shares with the host".into(),
            });
        }
        if key.host_map == Some(false) && matches!(key.kernels, Some(KernelBackend::Native | KernelBackend::NativeOnly))
        {
            return Err(DeviceError::Setting {
                name: "ZIPPY_HOST_MAP".into(),
                value: "0".into(),
                expected: "1 or unset with ZIPPY_KERNELS=native, as native kernels compute in mapped memory".into(),
            });
        }
        let is_native = computes_natively(&info, host_mapped, key.kernels)?;
        let has_kernels_only = key.kernels == Some(KernelBackend::NativeOnly);
        let mut optional_features = Features::SHADER_F16
            | Features::SHADER_F64
            | Features::SHADER_INT64
            | Features::SUBGROUP
            | Features::TIMESTAMP_QUERY;
        if host_mapped {
            optional_features |= Features::MAPPABLE_PRIMARY_BUFFERS;
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("zippy"),
            required_features: adapter.features() & optional_features,
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        };
        let open_device = OpenDeviceGuard::new();
        let request = || pollster::block_on(adapter.request_device(&descriptor));
        // Drivers limit the number of open devices; idle devices do not match this request.
        let opened = request().or_else(|error| if drop_idle_devices() { request() } else { Err(error) });
        let (device, queue) = opened.map_err(|error| {
            let message = match open_device.count_others() {
                0 => error.to_string(),
                others => format!(
                    "{error}; this process has {others} other device(s) open, and drivers limit their number: run fewer \
                     ranks as threads"
                ),
            };
            DeviceError::Open { adapter: info.name.clone(), message }
        })?;
        // Exit handlers run in reverse order: this one runs before those of the driver.
        drop_idle_devices_at_exit();
        let health = Arc::new(Health::default());
        let shared = health.clone();
        device.on_uncaptured_error(Arc::new(move |error| shared.add_uncaptured(error)));
        let shared = health.clone();
        device.set_device_lost_callback(move |reason, message| shared.set_lost(format!("{reason:?}: {message}")));
        let wgpu = device.limits();
        let offset_alignment = u64::from(wgpu.min_storage_buffer_offset_alignment).max(256);
        let limit = |bytes: Option<u64>| bytes.unwrap_or(u64::MAX).max(MIN_BINDING_BYTES);
        let (binding_limit, buffer_limit) = (limit(key.binding_limit_bytes), limit(key.buffer_limit_bytes));
        // Native kernels have no limit of bindings, only of buffers.
        let kernel_binding = if is_native { wgpu.max_buffer_size } else { wgpu.max_storage_buffer_binding_size };
        let aligned = |bytes: u64| binding_limit.min(bytes) / offset_alignment * offset_alignment;
        let limits = Limits {
            binding_bytes: aligned(kernel_binding),
            driver_binding_bytes: aligned(wgpu.max_storage_buffer_binding_size),
            // Sizes of buffers are multiples of 16 bytes.
            buffer_bytes: wgpu.max_buffer_size.min(i32::MAX as u64 + 1).min(buffer_limit) & !15,
            offset_alignment,
            workgroups: wgpu.max_compute_workgroups_per_dimension,
            wgpu,
        };
        Ok(Self {
            key,
            _open_device: open_device,
            device,
            queue,
            limits,
            host_mapped,
            is_native,
            has_kernels_only,
            health,
            memory: Arc::default(),
            encoder: RefCell::default(),
            pending_records: Cell::new(0),
            in_flight: RefCell::default(),
            epoch: Cell::new(0),
            map_progress: Arc::default(),
            lent_chunks: RefCell::default(),
            caches: RefCell::default(),
        })
    }

    /// Returns the device to the pool of idle devices; drops it if it has failed or the pool is
    /// full.
    pub(super) fn retire(self: Box<Self>) {
        drop(self.encoder.borrow_mut().take());
        self.pending_records.set(0);
        self.memory.free_idle_except_staging();
        self.memory.counters.reset_peak();
        let mut idle = IDLE_DEVICES.lock().unwrap_or_else(|e| e.into_inner());
        if self.health.has_no_failure() && idle.len() < MAX_IDLE_DEVICES {
            idle.push(self);
        }
    }
}
