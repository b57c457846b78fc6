//! [`DeviceOptions`], and the opening of a device: the wgpu instance of the process, and the
//! adapter of a rank.

use std::num::NonZero;
use std::rc::Rc;
use std::sync::OnceLock;
use std::thread::available_parallelism;
use std::time::Duration;

use super::backend::KernelBackend;
use super::logical_device::{DeviceKey, LogicalDevice, has_unified_memory};
use super::memory_limits::{NodeMemory, device_heap_bytes, host_memory_bytes};
use super::{AdapterSummary, Device, HostThreads, adapter, set_runtime_directory};
use crate::error::DeviceError;

/// Options of [`Device::open`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// Index of this rank among the ranks of its node. Ranks are distributed round robin over the
    /// adapters.
    pub node_rank: usize,
    /// Number of ranks of the node.
    pub node_ranks: usize,
    /// Number of processes of the node's ranks: 1, or the number of ranks.
    pub node_processes: usize,
    /// Part of an adapter's name, or the adapter's index (`ZIPPY_ADAPTER`). `None` selects all
    /// adapters of the best device type.
    pub adapter: Option<String>,
    /// True if the host maps chunk buffers (`ZIPPY_HOST_MAP`). The default depends on the device
    /// type.
    pub host_map: Option<bool>,
    /// Maximum size of a binding, in bytes, below the limit of the adapter
    /// (`ZIPPY_BINDING_LIMIT`): for tests of large arrays.
    pub binding_limit_bytes: Option<u64>,
    /// Maximum size of a buffer, in bytes, below the limit of the adapter (`ZIPPY_BUFFER_LIMIT`):
    /// for tests of arrays in several buffers.
    pub buffer_limit_bytes: Option<u64>,
    /// Minimum size, in bytes, of a box that is sent directly from mapped memory
    /// (`ZIPPY_IN_PLACE`). Default: [`IN_PLACE_BYTES`].
    pub in_place_bytes: Option<u64>,
    /// Maximum size, in bytes, of a message of an exchange between global arrays (`ZIPPY_MESSAGE`).
    /// Default: [`MESSAGE_BYTES`].
    pub message_bytes: Option<u64>,
    /// Maximum total size of this rank's buffers, in bytes, below the available memory
    /// (`ZIPPY_MEMORY_LIMIT`).
    pub memory_limit_bytes: Option<u64>,
    /// Number of host threads that the ranks of this process share (`ZIPPY_THREADS`). Default: the
    /// number of cores that the process may use.
    pub threads: Option<NonZero<usize>>,
    /// Backend of kernels (`ZIPPY_KERNELS`). Default: the host for software adapters with mapped
    /// chunks, otherwise the driver.
    pub kernels: Option<KernelBackend>,
    /// Maximum run time of a native kernel. Default: 270 s.
    pub kernel_limit: Option<Duration>,
}

/// Default of [`DeviceOptions::in_place_bytes`]: for boxes of this size, waiting for the read of
/// the other rank costs less than a copy.
pub const IN_PLACE_BYTES: u64 = 64 << 10;

/// Default of [`DeviceOptions::message_bytes`], in bytes.
pub const MESSAGE_BYTES: u64 = 64 << 20;

/// Default of [`DeviceOptions::kernel_limit`], the maximum run time of a native kernel.
const KERNEL_LIMIT: Duration = Duration::from_secs(270);

impl DeviceOptions {
    /// Reads the options from the environment variables named at the fields, for a process with all
    /// ranks of its node.
    ///
    /// # Errors
    /// A variable has an invalid value.
    pub fn from_env(node_rank: usize, node_ranks: usize) -> Result<Self, DeviceError> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let invalid = |name: &str, value: &str, expected: &str| DeviceError::Setting {
            name: name.to_string(),
            value: value.to_string(),
            expected: expected.to_string(),
        };
        let host_map = match variable("ZIPPY_HOST_MAP") {
            None => None,
            Some(value) => match value.trim().to_lowercase().as_str() {
                "0" | "off" | "no" | "false" => Some(false),
                "1" | "on" | "yes" | "true" => Some(true),
                _ => return Err(invalid("ZIPPY_HOST_MAP", &value, "0 or 1")),
            },
        };
        let bytes = |name: &str| match variable(name) {
            None => Ok(None),
            Some(value) => value.trim().parse().map(Some).map_err(|_| invalid(name, &value, "a number of bytes")),
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
                Some(0) => return Err(invalid("ZIPPY_MEMORY_LIMIT", "0", "a number of bytes above 0")),
                limit => limit,
            },
            threads: match variable("ZIPPY_THREADS") {
                None => None,
                Some(value) => match value.trim().parse() {
                    Ok(threads) => Some(threads),
                    Err(_) => return Err(invalid("ZIPPY_THREADS", &value, "a number of threads above 0")),
                },
            },
            kernels: match variable("ZIPPY_KERNELS") {
                None => None,
                Some(value) => match value.trim().to_lowercase().as_str() {
                    "native" => Some(KernelBackend::Native),
                    "native-only" => Some(KernelBackend::NativeOnly),
                    "driver" => Some(KernelBackend::Driver),
                    _ => return Err(invalid("ZIPPY_KERNELS", &value, "native, native-only or driver")),
                },
            },
            kernel_limit: None,
        })
    }
}

/// Returns the adapters of this machine, from the wgpu instance of the process.
fn adapters() -> &'static [wgpu::Adapter] {
    static ADAPTERS: OnceLock<Vec<wgpu::Adapter>> = OnceLock::new();
    ADAPTERS.get_or_init(|| {
        set_runtime_directory();
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        // Validation layers cost more than all other work together, so the default is none.
        descriptor.flags = wgpu::InstanceFlags::empty().with_env();
        // Drivers of other backends are not loaded.
        descriptor.backends = wgpu::Backends::PRIMARY;
        let instance = wgpu::Instance::new(descriptor);
        let found = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
        if found.is_empty() { vec![adapter::host_adapter()] } else { found }
    })
}

impl Device {
    /// Opens the device of a rank: an idle device of this process with the same options, otherwise
    /// a new device with all limits of the adapter and the optional features that Zippy uses.
    ///
    /// The ranks of a node are distributed round robin over the adapters of the best device type
    /// (discrete before integrated before software).
    ///
    /// # Errors
    /// * The machine has no adapter.
    /// * No adapter matches the options.
    /// * The driver does not open the adapter.
    pub fn open(options: &DeviceOptions) -> Result<Rc<Self>, DeviceError> {
        let infos: Vec<_> = adapters().iter().map(adapter::adapter_info).collect();
        let candidates = adapter::candidate_adapters(&infos, options.adapter.as_deref())?;
        let index = candidates[options.node_rank % candidates.len()];
        let summary = AdapterSummary {
            memory_bytes: device_heap_bytes(&adapters()[index]),
            ..AdapterSummary::new(&infos[index], options.node_rank, options.node_ranks, candidates.len())
        };
        let DeviceOptions { host_map, binding_limit_bytes, buffer_limit_bytes, kernels, .. } = *options;
        let key = DeviceKey { adapter: index, host_map, binding_limit_bytes, buffer_limit_bytes, kernels };
        let logical = match LogicalDevice::take_idle(&key) {
            Some(logical) => logical,
            None => Box::new(LogicalDevice::new(&adapters()[index], key)?),
        };
        let in_place_bytes = options.in_place_bytes.unwrap_or(IN_PLACE_BYTES);
        let message_bytes = options.message_bytes.unwrap_or(MESSAGE_BYTES);
        let memory = NodeMemory {
            bytes: if has_unified_memory(summary.device_type) { host_memory_bytes() } else { u64::MAX },
            ranks: options.node_ranks,
            processes: options.node_processes,
            rank_limit: options.memory_limit_bytes,
        };
        let memory_limits = memory.limits();
        let ranks = options.node_ranks / options.node_processes.max(1);
        let threads = options.threads.or_else(|| available_parallelism().ok()).map_or(1, NonZero::get);
        let host_threads = HostThreads::new(threads, ranks);
        let kernel_limit = options.kernel_limit.unwrap_or(KERNEL_LIMIT);
        let (logical, adapter, _not_send) = (Some(logical), summary, std::marker::PhantomData);
        Ok(Rc::new(Self {
            logical,
            adapter,
            in_place_bytes,
            message_bytes,
            memory_limits,
            ranks,
            host_threads,
            kernel_limit,
            _not_send,
        }))
    }
}
