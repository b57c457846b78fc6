//! Opening a device: the instance of the process, the adapter for a rank, features and limits, and the pool of idle
//! devices.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock};

use wgpu::{DeviceType, Features};

use super::health::Health;
use super::kernels::Kernels;
use super::machine::machine_bytes;
use super::mapped::Mapped;
use super::mapping::MapProgress;
use super::memory::Memory;
use super::reach::Reach;
use super::{AdapterSummary, Device, Room, Staged, adapter};
use crate::error::DeviceError;

/// Idle devices kept by the process.
const IDLE_DEVICES: usize = 16;

/// How a device is chosen and used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// This rank's number among the ranks of its node; ranks go round robin over the adapters.
    pub node_rank: usize,
    /// How many ranks share the node.
    pub node_ranks: usize,
    /// How many processes have these ranks: 1, or as many as ranks.
    pub node_processes: usize,
    /// Part of an adapter's name, or its number; all adapters of the best kind when absent (`ZIPPY_ADAPTER`).
    pub adapter: Option<String>,
    /// Whether the host maps chunk buffers; the adapter's kind decides when absent (`ZIPPY_HOST_MAP`).
    pub host_map: Option<bool>,
    /// A lower binding limit than the adapter's, in bytes, for tests of large arrays (`ZIPPY_BINDING_LIMIT`).
    pub binding_limit_bytes: Option<u64>,
    /// A lower buffer limit than the adapter's, in bytes, for tests of what needs several buffers (`ZIPPY_BUFFER_LIMIT`).
    pub buffer_limit_bytes: Option<u64>,
    /// From how many bytes on a box is sent from where it lies, where the host maps it (`ZIPPY_IN_PLACE`);
    /// [`IN_PLACE_BYTES`] when absent.
    pub in_place_bytes: Option<u64>,
    /// The most bytes of a message of an exchange between global arrays (`ZIPPY_MESSAGE`); [`MESSAGE_BYTES`] when absent.
    pub message_bytes: Option<u64>,
    /// How many bytes the buffers of this rank may take, where that is less than there are (`ZIPPY_MEMORY_LIMIT`).
    pub memory_limit_bytes: Option<u64>,
}

/// From so many bytes on it pays to wait until the other rank has read a box instead of copying it first.
pub const IN_PLACE_BYTES: u64 = 64 << 10;

/// The most bytes of a message of an exchange, where nothing else is said.
pub const MESSAGE_BYTES: u64 = 64 << 20;

impl DeviceOptions {
    /// The options of a rank whose process has all ranks of its node, with `ZIPPY_ADAPTER`, `ZIPPY_HOST_MAP`,
    /// `ZIPPY_BINDING_LIMIT`, `ZIPPY_BUFFER_LIMIT`, `ZIPPY_IN_PLACE`, `ZIPPY_MESSAGE` and `ZIPPY_MEMORY_LIMIT` from the
    /// environment.
    ///
    /// # Errors
    /// A variable that is set to something that is not understood.
    pub fn from_env(node_rank: usize, node_ranks: usize) -> Result<Self, DeviceError> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let bad = |name: &str, value: &str, expected: &str| DeviceError::Setting {
            name: name.to_string(),
            value: value.to_string(),
            expected: expected.to_string(),
        };
        let host_map = match variable("ZIPPY_HOST_MAP") {
            None => None,
            Some(value) => match value.trim().to_lowercase().as_str() {
                "0" | "off" | "no" | "false" => Some(false),
                "1" | "on" | "yes" | "true" => Some(true),
                _ => return Err(bad("ZIPPY_HOST_MAP", &value, "0 or 1")),
            },
        };
        let bytes = |name: &str| match variable(name) {
            None => Ok(None),
            Some(value) => value.trim().parse().map(Some).map_err(|_| bad(name, &value, "a number of bytes")),
        };
        Ok(Self {
            node_rank,
            node_ranks,
            node_processes: 1,
            adapter: variable("ZIPPY_ADAPTER"),
            host_map,
            binding_limit_bytes: bytes("ZIPPY_BINDING_LIMIT")?,
            buffer_limit_bytes: bytes("ZIPPY_BUFFER_LIMIT")?,
            in_place_bytes: bytes("ZIPPY_IN_PLACE")?,
            message_bytes: bytes("ZIPPY_MESSAGE")?,
            memory_limit_bytes: match bytes("ZIPPY_MEMORY_LIMIT")? {
                Some(0) => return Err(bad("ZIPPY_MEMORY_LIMIT", "0", "a number of bytes above 0")),
                limit => limit,
            },
        })
    }
}

/// What fits on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// The largest range of a buffer that a shader can see at once.
    pub binding_bytes: u64,
    /// The largest buffer.
    pub buffer_bytes: u64,
    /// Bindings start at multiples of this.
    pub offset_alignment: u64,
    /// The most workgroups along one dimension of a dispatch.
    pub workgroups: u32,
    /// All limits, as wgpu has them.
    pub wgpu: wgpu::Limits,
}

/// The smallest binding limit that transfers work with.
pub(super) const MIN_BINDING_BYTES: u64 = 4096;

/// A logical device and all that outlives the rank using it. `Send`, so that an idle one can serve another thread.
pub(super) struct Core {
    key: Key,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub limits: Limits,
    pub reach: &'static dyn Reach,
    pub health: Arc<Health>,
    pub memory: Arc<Memory>,
    pub encoder: RefCell<Option<wgpu::CommandEncoder>>,
    pub in_flight: Cell<bool>,
    /// Number of submissions so far: what is recorded now runs with the next.
    pub epoch: Cell<u64>,
    pub map_progress: Arc<MapProgress>,
    /// Chunks that are mapped because messages are sent from them.
    pub in_place: RefCell<HashMap<wgpu::Buffer, Staged>>,
    pub caches: RefCell<HashMap<TypeId, Box<dyn Any + Send>>>,
}

/// Idle devices serve only an equal request.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    adapter: usize,
    host_map: Option<bool>,
    binding_limit_bytes: Option<u64>,
    buffer_limit_bytes: Option<u64>,
}

#[expect(clippy::vec_box, reason = "a core is large and moves between here and devices")]
static IDLE: Mutex<Vec<Box<Core>>> = Mutex::new(Vec::new());

/// The adapters of this machine; one instance per process.
fn adapters() -> &'static [wgpu::Adapter] {
    static ADAPTERS: OnceLock<Vec<wgpu::Adapter>> = OnceLock::new();
    ADAPTERS.get_or_init(|| {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        // No validation layers unless asked for: they cost more than everything else together.
        descriptor.flags = wgpu::InstanceFlags::empty().with_env();
        // Others are not even loaded.
        descriptor.backends = wgpu::Backends::PRIMARY;
        let instance = wgpu::Instance::new(descriptor);
        pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY))
    })
}

impl Device {
    /// Opens the device of a rank: an idle one of this process where there is one, else a new one with all of the
    /// adapter's limits and those optional features that Zippy can use.
    ///
    /// Ranks of a node are spread round robin over the adapters of the best kind present (discrete before integrated
    /// before software).
    ///
    /// # Errors
    /// No adapter, none that matches the options, or one that cannot be opened.
    pub fn open(options: &DeviceOptions) -> Result<Rc<Self>, DeviceError> {
        let infos: Vec<_> = adapters().iter().map(wgpu::Adapter::get_info).collect();
        let candidates = adapter::candidates(&infos, options.adapter.as_deref())?;
        let chosen = candidates[options.node_rank % candidates.len()];
        let summary = AdapterSummary::new(&infos[chosen], options.node_rank, options.node_ranks, candidates.len());
        let DeviceOptions { host_map, binding_limit_bytes, buffer_limit_bytes, .. } = *options;
        let key = Key { adapter: chosen, host_map, binding_limit_bytes, buffer_limit_bytes };
        let idle = {
            let mut idle = IDLE.lock().unwrap_or_else(|e| e.into_inner());
            idle.retain(|core| core.health.is_well());
            idle.iter().position(|core| core.key == key).map(|found| idle.swap_remove(found))
        };
        let core = match idle {
            Some(core) => core,
            None => Box::new(Core::new(&adapters()[chosen], key)?),
        };
        let in_place_bytes = options.in_place_bytes.unwrap_or(IN_PLACE_BYTES);
        let message_bytes = options.message_bytes.unwrap_or(MESSAGE_BYTES);
        let machine = if unified(summary.device_type) { machine_bytes() } else { u64::MAX };
        let room = Room::new(machine, options.node_ranks, options.node_processes, options.memory_limit_bytes);
        let (core, adapter, _rank) = (Some(core), summary, std::marker::PhantomData);
        Ok(Rc::new(Self { core, adapter, in_place_bytes, message_bytes, room, _rank }))
    }
}

/// Whether the memory of such a device is the host's.
fn unified(device_type: DeviceType) -> bool {
    matches!(device_type, DeviceType::Cpu | DeviceType::IntegratedGpu)
}

impl Core {
    fn new(adapter: &wgpu::Adapter, key: Key) -> Result<Self, DeviceError> {
        let info = adapter.get_info();
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
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|error| DeviceError::Open { adapter: info.name.clone(), message: error.to_string() })?;
        let health = Arc::new(Health::default());
        let told = health.clone();
        device.on_uncaptured_error(Arc::new(move |error| told.uncaptured(error)));
        let told = health.clone();
        device.set_device_lost_callback(move |reason, message| told.lose(format!("{reason:?}: {message}")));
        let wgpu = device.limits();
        let offset_alignment = u64::from(wgpu.min_storage_buffer_offset_alignment).max(256);
        let limit = |bytes: Option<u64>| bytes.unwrap_or(u64::MAX).max(MIN_BINDING_BYTES);
        let (binding, buffer) = (limit(key.binding_limit_bytes), limit(key.buffer_limit_bytes));
        let limits = Limits {
            binding_bytes: binding.min(wgpu.max_storage_buffer_binding_size) / offset_alignment * offset_alignment,
            // Buffers are made in steps of 16 bytes.
            buffer_bytes: wgpu.max_buffer_size.min(i32::MAX as u64 + 1).min(buffer) & !15,
            offset_alignment,
            workgroups: wgpu.max_compute_workgroups_per_dimension,
            wgpu,
        };
        Ok(Self {
            key,
            device,
            queue,
            limits,
            reach: if host_mapped { &Mapped } else { &Kernels },
            health,
            memory: Arc::default(),
            encoder: RefCell::default(),
            in_flight: Cell::new(false),
            epoch: Cell::new(0),
            map_progress: Arc::default(),
            in_place: RefCell::default(),
            caches: RefCell::default(),
        })
    }
}

/// Keeps the device of a rank that is done with it, unless it is broken or there are many.
pub(super) fn retire(core: Box<Core>) {
    drop(core.encoder.borrow_mut().take());
    core.memory.trim_to_staging();
    core.memory.tally.reset_peak();
    let mut idle = IDLE.lock().unwrap_or_else(|e| e.into_inner());
    if core.health.is_well() && idle.len() < IDLE_DEVICES {
        idle.push(core);
    }
}
