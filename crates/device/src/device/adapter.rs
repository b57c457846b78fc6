//! Selection of the adapter of each rank.

use sysinfo::{CpuRefreshKind, RefreshKind, System};
use wgpu::{AdapterInfo, Backend, DeviceType};

use crate::error::DeviceError;

/// Description of a rank's adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterSummary {
    /// Name of the adapter, from the driver.
    pub name: String,
    /// Graphics interface of the adapter: Vulkan, Metal or DX12.
    pub backend: Backend,
    /// Type of the adapter: discrete GPU, integrated GPU or software.
    pub device_type: DeviceType,
    /// The driver's name and version.
    pub driver: String,
    /// PCI address; empty where the backend has none.
    pub pci: String,
    /// Size of the adapter's largest own memory heap, in bytes; `None` if unknown.
    pub memory_bytes: Option<u64>,
    /// Index of this rank among the ranks of its node.
    pub node_rank: usize,
    /// Number of ranks of this node.
    pub node_ranks: usize,
    /// Number of distinct adapters that the ranks of this node use.
    pub spread_over: usize,
}

impl AdapterSummary {
    pub(super) fn new(info: &AdapterInfo, node_rank: usize, node_ranks: usize, spread_over: usize) -> Self {
        Self {
            name: info.name.clone(),
            backend: info.backend,
            device_type: info.device_type,
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_string(),
            pci: info.device_pci_bus_id.clone(),
            memory_bytes: None,
            node_rank,
            node_ranks,
            spread_over,
        }
    }
}

impl std::fmt::Display for AdapterSummary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({:?}, {:?}, {})", self.name, self.backend, self.device_type, self.driver)
    }
}

/// Creates the adapter of a machine without a driver: the host's processor, with mapped memory and
/// native kernels.
pub(super) fn host_adapter() -> wgpu::Adapter {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::NOOP;
    let features = wgpu::Features::MAPPABLE_PRIMARY_BUFFERS;
    // The limits of common adapters let a program run on all of them.
    let limits = wgpu::Limits {
        max_storage_buffers_per_shader_stage: 64,
        max_compute_workgroup_size_x: 1024,
        max_compute_workgroup_size_y: 1024,
        max_compute_workgroup_size_z: 1024,
        max_compute_invocations_per_workgroup: 1024,
        max_compute_workgroups_per_dimension: 65_535,
        max_compute_workgroup_storage_size: 32 << 10,
        ..wgpu::Limits::unlimited()
    };
    descriptor.backend_options.noop = wgpu::NoopBackendOptions {
        enable: true,
        device_type: Some(DeviceType::Cpu),
        features: Some(features),
        limits: Some(limits),
        ..Default::default()
    };
    let found = pollster::block_on(wgpu::Instance::new(descriptor).enumerate_adapters(wgpu::Backends::NOOP));
    found.into_iter().next().expect("this backend always has one adapter")
}

/// Returns the description of an adapter. An adapter without a driver has the name of the host's
/// processor.
pub(super) fn adapter_info(adapter: &wgpu::Adapter) -> AdapterInfo {
    let info = adapter.get_info();
    match info.backend {
        Backend::Noop => AdapterInfo {
            name: processor_name(),
            driver: "no driver: native kernels".into(),
            driver_info: String::new(),
            ..info
        },
        _ => info,
    }
}

fn processor_name() -> String {
    let only_cpus = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing());
    let system = System::new_with_specifics(only_cpus);
    let brand = |system: System| Some(system.cpus().first()?.brand().trim().to_owned());
    let name = system.ok().and_then(brand);
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "the host's processor".into())
}

/// Returns the sort key of a graphics backend: native interfaces first, for a GPU with several
/// backends.
fn backend_order(backend: Backend) -> usize {
    [Backend::Metal, Backend::Vulkan, Backend::Dx12, Backend::Gl].iter().position(|&b| b == backend).unwrap_or(9)
}

/// Returns the sort key of a device type: GPUs before software.
fn device_type_order(device_type: DeviceType) -> usize {
    match device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

/// Returns the indices in `infos` of the distinct physical devices, best first.
///
/// A device of several backends is identified by its PCI address if known, otherwise by vendor,
/// device and name. Equal cards of one backend are distinct.
fn distinct_adapters(infos: &[AdapterInfo]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..infos.len()).collect();
    order.sort_by_key(|&i| (device_type_order(infos[i].device_type), backend_order(infos[i].backend), i));
    let mut kept: Vec<usize> = Vec::new();
    for i in order {
        let new = &infos[i];
        let is_known = kept.iter().any(|&k| {
            let old = &infos[k];
            if !new.device_pci_bus_id.is_empty() && !old.device_pci_bus_id.is_empty() {
                return new.device_pci_bus_id == old.device_pci_bus_id;
            }
            let same_model = (new.vendor, new.device) == (old.vendor, old.device) || new.name == old.name;
            same_model && new.backend != old.backend
        });
        if !is_known {
            kept.push(i);
        }
    }
    kept
}

/// Returns the indices in `infos` of the adapters that the ranks of a node share: all adapters of
/// the best device type, or the adapters that match `filter` (part of a name without case, or an
/// index in the order of [`distinct_adapters`]).
///
/// Device types are not mixed: the bits of results are equal on one adapter model only, and a slow
/// device would delay the others.
pub(super) fn candidate_adapters(infos: &[AdapterInfo], filter: Option<&str>) -> Result<Vec<usize>, DeviceError> {
    let all = distinct_adapters(infos);
    let Some(&best) = all.first() else { return Err(DeviceError::NoAdapter { setting: "this build" }) };
    let Some(filter) = filter.map(str::trim).filter(|f| !f.is_empty()) else {
        let best_type = infos[best].device_type;
        return Ok(all.into_iter().filter(|&i| infos[i].device_type == best_type).collect());
    };
    let chosen: Vec<usize> = match filter.parse::<usize>() {
        Ok(index) => all.get(index).copied().into_iter().collect(),
        Err(_) => {
            let filter = filter.to_lowercase();
            all.iter().copied().filter(|&i| infos[i].name.to_lowercase().contains(&filter)).collect()
        }
    };
    if chosen.is_empty() {
        let names: Vec<String> =
            all.iter().enumerate().map(|(n, &i)| format!("{n}: {} ({:?})", infos[i].name, infos[i].backend)).collect();
        return Err(DeviceError::UnknownAdapter { asked: filter.to_string(), available: names.join(", ") });
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, device: u32, kind: DeviceType, backend: Backend, pci: &str) -> AdapterInfo {
        let mut info = AdapterInfo::new(kind, backend);
        (info.name, info.vendor, info.device) = (name.into(), 0x10de, device);
        info.device_pci_bus_id = pci.into();
        info
    }

    #[test]
    fn card_of_two_backends_counts_once_and_equal_cards_twice() {
        let infos = [
            info("llvmpipe", 0, DeviceType::Cpu, Backend::Vulkan, ""),
            info("RTX", 7, DeviceType::DiscreteGpu, Backend::Dx12, ""),
            info("RTX", 7, DeviceType::DiscreteGpu, Backend::Vulkan, "0000:01:00.0"),
            info("RTX", 7, DeviceType::DiscreteGpu, Backend::Vulkan, "0000:02:00.0"),
            info("UHD", 9, DeviceType::IntegratedGpu, Backend::Vulkan, "0000:00:02.0"),
        ];
        assert_eq!(distinct_adapters(&infos), [2, 3, 4, 0]);
        assert_eq!(candidate_adapters(&infos, None).unwrap(), [2, 3]);
        assert_eq!(candidate_adapters(&infos, Some("LLVM")).unwrap(), [0]);
        assert_eq!(candidate_adapters(&infos, Some("2")).unwrap(), [4]);
    }

    #[test]
    fn equal_cards_without_pci_addresses_are_distinct() {
        let card = |backend| info("M", 1, DeviceType::DiscreteGpu, backend, "");
        let infos = [card(Backend::Vulkan), card(Backend::Vulkan), card(Backend::Dx12), card(Backend::Dx12)];
        assert_eq!(distinct_adapters(&infos), [0, 1]);
    }

    #[test]
    fn errors_name_available_adapters_and_missing_package() {
        let missing = candidate_adapters(&[], None).unwrap_err().to_string();
        assert!(missing.contains("mesa-vulkan-drivers"), "{missing}");
        let infos = [info("llvmpipe", 0, DeviceType::Cpu, Backend::Vulkan, "")];
        let unknown = candidate_adapters(&infos, Some("radeon")).unwrap_err().to_string();
        assert!(unknown.contains("radeon") && unknown.contains("0: llvmpipe"), "{unknown}");
        assert!(candidate_adapters(&infos, Some("1")).is_err());
    }
}
