//! [`LogicalDevice`]: what outlives the rank that uses it; and the pool of idle ones.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use wgpu::{DeviceType, Features};

use super::Staged;
use super::backend::KernelBackend;
use super::health::Health;
use super::memory::MemoryPool;
use crate::error::DeviceError;
use zippy_base::process::at_exit_call;

/// Idle devices kept by the process.
const IDLE_DEVICES: usize = 32;

/// The smallest binding limit that transfers work with.
const MIN_BINDING_BYTES: u64 = 4096;

/// Limits of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Largest range of a buffer, in bytes, that a kernel can access at once: a native kernel on a
    /// native device.
    pub binding_bytes: u64,
    /// Largest range of a buffer, in bytes, that a kernel of the driver can access at once.
    pub driver_binding_bytes: u64,
    /// The largest buffer.
    pub buffer_bytes: u64,
    /// Bindings start at multiples of this.
    pub offset_alignment: u64,
    /// The most workgroups along one dimension of a dispatch.
    pub workgroups: u32,
    /// All limits, as wgpu has them.
    pub wgpu: wgpu::Limits,
}

/// A logical device and all that outlives the rank using it. `Send`, so that an idle one can serve
/// another thread.
pub(super) struct LogicalDevice {
    key: Key,
    _open_device: OpenDeviceGuard,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub limits: Limits,
    /// Whether the host maps chunk buffers.
    pub host_mapped: bool,
    /// True if the host computes kernels natively.
    pub is_native: bool,
    /// True if operations use kernels only, and no version for the host.
    pub has_kernels_only: bool,
    pub health: Arc<Health>,
    pub memory: Arc<MemoryPool>,
    pub encoder: RefCell<Option<wgpu::CommandEncoder>>,
    /// How often the encoder was recorded into.
    pub recorded: Cell<u32>,
    /// Submissions that may be unfinished, the oldest first.
    pub in_flight: RefCell<VecDeque<wgpu::SubmissionIndex>>,
    /// Number of submissions so far. Commands that are being recorded run with the next submission.
    pub epoch: Cell<u64>,
    pub map_progress: Arc<MapProgress>,
    /// Chunks that are mapped because messages are sent from them.
    pub in_place: RefCell<HashMap<wgpu::Buffer, Staged>>,
    pub caches: RefCell<HashMap<TypeId, Box<dyn Any + Send>>>,
}

/// Guard that counts a device in [`OPEN_DEVICES`] as long as it lives.
struct OpenDeviceGuard;

/// Number of devices that this process has open or is opening.
static OPEN_DEVICES: AtomicUsize = AtomicUsize::new(0);

impl OpenDeviceGuard {
    fn new() -> Self {
        OPEN_DEVICES.fetch_add(1, Ordering::Relaxed);
        Self
    }

    /// Number of devices besides the device of this guard.
    fn count_others(&self) -> usize {
        OPEN_DEVICES.load(Ordering::Relaxed) - 1
    }
}

impl Drop for OpenDeviceGuard {
    fn drop(&mut self) {
        OPEN_DEVICES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Number of completed map requests, and the mapped memory of the current operation; kept here, so
/// that an operation allocates nothing.
#[derive(Default)]
pub(super) struct MapProgress {
    pub done: AtomicUsize,
    pub failed: AtomicUsize,
    mapped: Mutex<Vec<wgpu::Buffer>>,
}

impl MapProgress {
    fn mapped(&self) -> MutexGuard<'_, Vec<wgpu::Buffer>> {
        self.mapped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an operation has mapped a buffer and not given it back.
    pub fn holds(&self, buffer: &wgpu::Buffer) -> bool {
        self.mapped().contains(buffer)
    }

    pub fn hold(&self, buffer: &wgpu::Buffer) {
        self.mapped().push(buffer.clone());
    }

    pub fn forget(&self, buffers: &[wgpu::Buffer]) {
        self.mapped().retain(|buffer| !buffers.contains(buffer));
    }
}

/// Idle devices serve only an equal request.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Key {
    /// Its number in the process.
    pub adapter: usize,
    pub host_map: Option<bool>,
    pub binding_limit_bytes: Option<u64>,
    pub buffer_limit_bytes: Option<u64>,
    pub kernels: Option<KernelBackend>,
}

#[expect(clippy::vec_box, reason = "it is large and moves between here and devices")]
static IDLE: Mutex<Vec<Box<LogicalDevice>>> = Mutex::new(Vec::new());

/// Whether the memory of such a device is the host's.
pub(super) fn unified(device_type: DeviceType) -> bool {
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

/// Drops all idle devices and returns whether there were any.
fn drop_idle_devices() -> bool {
    let idle = std::mem::take(&mut *IDLE.lock().unwrap_or_else(|e| e.into_inner()));
    !idle.is_empty()
}

/// Registers the drop of idle devices at the end of the process: drivers may crash when it ends
/// with devices open.
fn drop_idle_devices_at_exit() {
    extern "C" fn at_exit() {
        // Another thread that holds the lock may never give it back.
        if let Ok(mut idle) = IDLE.try_lock() {
            let idle = std::mem::take(&mut *idle);
            _ = catch_unwind(AssertUnwindSafe(|| drop(idle)));
        }
    }
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| at_exit_call(at_exit));
}

impl LogicalDevice {
    /// An idle one that serves this request: of several the one with the most pipelines, which then
    /// has to make the fewest.
    pub fn idle(key: &Key) -> Option<Box<Self>> {
        let mut idle = IDLE.lock().unwrap_or_else(|e| e.into_inner());
        idle.retain(|one| one.health.is_well());
        let fitting = (0..idle.len()).filter(|&i| idle[i].key == *key);
        fitting.max_by_key(|&i| idle[i].memory.counters().pipelines_made).map(|found| idle.swap_remove(found))
    }

    /// True if the options request native kernels.
    pub fn is_native_requested(&self) -> bool {
        self.is_native && self.key.kernels.is_some()
    }

    /// All of the adapter's limits, and those optional features that Zippy can use.
    pub fn new(adapter: &wgpu::Adapter, key: Key) -> Result<Self, DeviceError> {
        let info = super::adapter::adapter_info(adapter);
        let unified = unified(info.device_type);
        let mappable = adapter.features().contains(Features::MAPPABLE_PRIMARY_BUFFERS);
        let host_mapped = key.host_map.unwrap_or(unified) && mappable;
        if key.host_map == Some(true) && !(unified && mappable) {
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
        let mut wanted = Features::SHADER_F16
            | Features::SHADER_F64
            | Features::SHADER_INT64
            | Features::SUBGROUP
            | Features::TIMESTAMP_QUERY;
        if host_mapped {
            wanted |= Features::MAPPABLE_PRIMARY_BUFFERS;
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("zippy"),
            required_features: adapter.features() & wanted,
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        };
        let open_device = OpenDeviceGuard::new();
        let request = || pollster::block_on(adapter.request_device(&descriptor));
        // Drivers limit the number of open devices, and idle ones do not fit this request.
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
        // After the driver has registered its own handlers, which then run later.
        drop_idle_devices_at_exit();
        let health = Arc::new(Health::default());
        let told = health.clone();
        device.on_uncaptured_error(Arc::new(move |error| told.uncaptured(error)));
        let told = health.clone();
        device.set_device_lost_callback(move |reason, message| told.lose(format!("{reason:?}: {message}")));
        let wgpu = device.limits();
        let offset_alignment = u64::from(wgpu.min_storage_buffer_offset_alignment).max(256);
        let limit = |bytes: Option<u64>| bytes.unwrap_or(u64::MAX).max(MIN_BINDING_BYTES);
        let (binding, buffer) = (limit(key.binding_limit_bytes), limit(key.buffer_limit_bytes));
        // Native kernels have no limit of bindings, only of buffers.
        let seen_at_once = if is_native { wgpu.max_buffer_size } else { wgpu.max_storage_buffer_binding_size };
        let aligned = |bytes: u64| binding.min(bytes) / offset_alignment * offset_alignment;
        let limits = Limits {
            binding_bytes: aligned(seen_at_once),
            driver_binding_bytes: aligned(wgpu.max_storage_buffer_binding_size),
            // Buffers are made in steps of 16 bytes.
            buffer_bytes: wgpu.max_buffer_size.min(i32::MAX as u64 + 1).min(buffer) & !15,
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
            recorded: Cell::new(0),
            in_flight: RefCell::default(),
            epoch: Cell::new(0),
            map_progress: Arc::default(),
            in_place: RefCell::default(),
            caches: RefCell::default(),
        })
    }

    /// Keeps it for the next rank, unless it is broken or there are many.
    pub fn retire(self: Box<Self>) {
        drop(self.encoder.borrow_mut().take());
        self.recorded.set(0);
        self.memory.trim_to_staging();
        self.memory.tally.reset_peak();
        let mut idle = IDLE.lock().unwrap_or_else(|e| e.into_inner());
        if self.health.is_well() && idle.len() < IDLE_DEVICES {
            idle.push(self);
        }
    }
}
