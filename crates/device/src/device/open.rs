//! Opening of a device: the options, the instance of the process, and the adapter of a rank.

use std::num::NonZero;
use std::rc::Rc;
use std::sync::OnceLock;
use std::thread::available_parallelism;
use std::time::Duration;

use super::backend::KernelBackend;
use super::logical::{Key, LogicalDevice, unified};
use super::machine::{adapter_bytes, machine_bytes};
use super::{AdapterSummary, Device, HostThreads, Room, adapter, set_runtime_directory};
use crate::error::DeviceError;

/// How a device is chosen and used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// This rank's number among the ranks of its node; ranks go round robin over the adapters.
    pub node_rank: usize,
    /// How many ranks share the node.
    pub node_ranks: usize,
    /// How many processes have these ranks: 1, or as many as ranks.
    pub node_processes: usize,
    /// Part of an adapter's name, or its number; all adapters of the best kind when absent
    /// (`ZIPPY_ADAPTER`).
    pub adapter: Option<String>,
    /// True if the host maps chunk buffers (`ZIPPY_HOST_MAP`); the adapter's kind decides when
    /// absent.
    pub host_map: Option<bool>,
    /// A lower binding limit than the adapter's, in bytes, for tests of large arrays
    /// (`ZIPPY_BINDING_LIMIT`).
    pub binding_limit_bytes: Option<u64>,
    /// A lower buffer limit than the adapter's, in bytes, for tests of several buffers
    /// (`ZIPPY_BUFFER_LIMIT`).
    pub buffer_limit_bytes: Option<u64>,
    /// Least size, in bytes, of a box that is sent directly from mapped memory (`ZIPPY_IN_PLACE`);
    /// [`IN_PLACE_BYTES`] when absent.
    pub in_place_bytes: Option<u64>,
    /// Greatest size, in bytes, of a message of an exchange between global arrays
    /// (`ZIPPY_MESSAGE`); [`MESSAGE_BYTES`] when absent.
    pub message_bytes: Option<u64>,
    /// Limit of the buffers of this rank, in bytes, below the available memory
    /// (`ZIPPY_MEMORY_LIMIT`).
    pub memory_limit_bytes: Option<u64>,
    /// Number of threads that the ranks of this process share for their work on the host
    /// (`ZIPPY_THREADS`); all cores that the process may use when absent.
    pub threads: Option<NonZero<usize>>,
    /// Backend of kernels (`ZIPPY_KERNELS`). When absent: the host for software adapters with
    /// mapped chunks, else the driver.
    pub kernels: Option<KernelBackend>,
    /// Time limit of a native kernel, nine tenths of the run's timeout; 270 s when absent.
    pub kernel_limit: Option<Duration>,
}

/// Least size, in bytes, of a box for which a wait for the other rank's read costs less than a
/// copy.
pub const IN_PLACE_BYTES: u64 = 64 << 10;

/// The most bytes of a message of an exchange, where nothing else is said.
pub const MESSAGE_BYTES: u64 = 64 << 20;

/// Default time limit of a native kernel.
const KERNEL_LIMIT: Duration = Duration::from_secs(270);

impl DeviceOptions {
    /// Options from the environment, for a rank in a process with all ranks of its node:
    /// `ZIPPY_ADAPTER`, `ZIPPY_HOST_MAP`, `ZIPPY_BINDING_LIMIT`, `ZIPPY_BUFFER_LIMIT`,
    /// `ZIPPY_IN_PLACE`, `ZIPPY_MESSAGE`, `ZIPPY_MEMORY_LIMIT`, `ZIPPY_THREADS` and
    /// `ZIPPY_KERNELS`.
    ///
    /// # Errors
    /// A variable has an invalid value.
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
            threads: match variable("ZIPPY_THREADS") {
                None => None,
                Some(value) => match value.trim().parse() {
                    Ok(threads) => Some(threads),
                    Err(_) => return Err(bad("ZIPPY_THREADS", &value, "a number of threads above 0")),
                },
            },
            kernels: match variable("ZIPPY_KERNELS") {
                None => None,
                Some(value) => match value.trim().to_lowercase().as_str() {
                    "native" => Some(KernelBackend::Native),
                    "native-only" => Some(KernelBackend::NativeOnly),
                    "driver" => Some(KernelBackend::Driver),
                    _ => return Err(bad("ZIPPY_KERNELS", &value, "native, native-only or driver")),
                },
            },
            kernel_limit: None,
        })
    }
}

/// The adapters of this machine; one instance per process.
fn adapters() -> &'static [wgpu::Adapter] {
    static ADAPTERS: OnceLock<Vec<wgpu::Adapter>> = OnceLock::new();
    ADAPTERS.get_or_init(|| {
        set_runtime_directory();
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        // Validation layers cost more than all other work together, so the default is none.
        descriptor.flags = wgpu::InstanceFlags::empty().with_env();
        // Others are not even loaded.
        descriptor.backends = wgpu::Backends::PRIMARY;
        let instance = wgpu::Instance::new(descriptor);
        let found = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
        if found.is_empty() { vec![adapter::host_adapter()] } else { found }
    })
}

impl Device {
    /// Opens the device of a rank: an idle one of this process where there is one, else a new one
    /// with all of the adapter's limits and those optional features that Zippy can use.
    ///
    /// Ranks of a node are spread round robin over the adapters of the best kind present (discrete
    /// before integrated before software).
    ///
    /// # Errors
    /// No adapter, none that matches the options, or one that cannot be opened.
    pub fn open(options: &DeviceOptions) -> Result<Rc<Self>, DeviceError> {
        let infos: Vec<_> = adapters().iter().map(adapter::adapter_info).collect();
        let candidates = adapter::candidates(&infos, options.adapter.as_deref())?;
        let chosen = candidates[options.node_rank % candidates.len()];
        let summary = AdapterSummary {
            memory_bytes: adapter_bytes(&adapters()[chosen]),
            ..AdapterSummary::new(&infos[chosen], options.node_rank, options.node_ranks, candidates.len())
        };
        let DeviceOptions { host_map, binding_limit_bytes, buffer_limit_bytes, kernels, .. } = *options;
        let key = Key { adapter: chosen, host_map, binding_limit_bytes, buffer_limit_bytes, kernels };
        let logical = match LogicalDevice::idle(&key) {
            Some(logical) => logical,
            None => Box::new(LogicalDevice::new(&adapters()[chosen], key)?),
        };
        let in_place_bytes = options.in_place_bytes.unwrap_or(IN_PLACE_BYTES);
        let message_bytes = options.message_bytes.unwrap_or(MESSAGE_BYTES);
        let machine = if unified(summary.device_type) { machine_bytes() } else { u64::MAX };
        let room = Room::new(machine, options.node_ranks, options.node_processes, options.memory_limit_bytes);
        let ranks = options.node_ranks / options.node_processes.max(1);
        let threads = options.threads.or_else(|| available_parallelism().ok()).map_or(1, NonZero::get);
        let host_threads = HostThreads::new(threads, ranks);
        let kernel_limit = options.kernel_limit.unwrap_or(KERNEL_LIMIT);
        let (logical, adapter, _rank) = (Some(logical), summary, std::marker::PhantomData);
        Ok(Rc::new(Self {
            logical,
            adapter,
            in_place_bytes,
            message_bytes,
            room,
            ranks,
            host_threads,
            kernel_limit,
            _rank,
        }))
    }
}
