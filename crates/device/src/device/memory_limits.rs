//! [`MemoryLimits`]: limits of the buffers of a rank, and the memory of host and adapter.

use std::sync::OnceLock;

use sysinfo::{MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, System};

/// Maximum total sizes of buffers, in bytes. `u64::MAX` if only the driver knows the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimits {
    /// Maximum total size of this rank's buffers.
    pub rank_bytes: u64,
    /// Equal share of this rank in the memory, for the case that all ranks of the node use theirs.
    pub rank_share_bytes: u64,
    /// Maximum total size of the buffers of all ranks of this process.
    pub(super) process_bytes: u64,
}

/// Memory of a node for buffers, and the numbers of ranks and processes that share it.
pub(super) struct NodeMemory {
    /// Memory for buffers, in bytes; `u64::MAX` if only the driver knows it.
    pub bytes: u64,
    /// Number of ranks of the node.
    pub ranks: usize,
    /// Number of processes of the node's ranks.
    pub processes: usize,
    /// Maximum total size of a rank's buffers from the options, in bytes.
    pub rank_limit: Option<u64>,
}

impl NodeMemory {
    /// Divides the memory of a node among its processes and ranks.
    pub(super) fn limits(&self) -> MemoryLimits {
        let divide = |count: usize| if self.bytes == u64::MAX { u64::MAX } else { self.bytes / count.max(1) as u64 };
        let limit = |count: usize| self.rank_limit.unwrap_or(divide(count)).min(self.bytes);
        let rank_bytes = limit(self.processes);
        let process_bytes = divide(self.processes).max(rank_bytes);
        MemoryLimits { rank_bytes, rank_share_bytes: limit(self.ranks), process_bytes }
    }
}

/// Returns the memory of the host for buffers, in bytes: 90 % of the smaller of the physical memory
/// and the limit of the control group. Measured once per process. `u64::MAX` if unknown.
pub(super) fn host_memory_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let Ok(mut system) = System::new() else { return u64::MAX };
        system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
        let group_bytes = sysinfo::get_current_pid().ok().and_then(|process| {
            system.refresh_processes_specifics(
                ProcessesToUpdate::Some(&[process]),
                false,
                ProcessRefreshKind::nothing(),
            );
            Some(system.process(process)?.cgroup_limits()?.total_memory)
        });
        // 0 means unknown.
        let known = [Some(system.total_memory()), group_bytes].into_iter().flatten().filter(|&bytes| bytes > 0);
        known.min().map_or(u64::MAX, |bytes| bytes / 10 * 9)
    })
}

/// Returns the size, in bytes, of the adapter's largest device-local memory heap; `None` if the
/// backend does not report it.
#[cfg(not(target_vendor = "apple"))]
pub(super) fn device_heap_bytes(adapter: &wgpu::Adapter) -> Option<u64> {
    /// `VK_MEMORY_HEAP_DEVICE_LOCAL_BIT`
    const DEVICE_LOCAL: u32 = 1;
    // SAFETY: the handles are used to query properties only, while wgpu holds the adapter.
    let adapter = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let instance = adapter.shared_instance().raw_instance();
    // SAFETY: the physical device is one of this instance.
    let memory = unsafe { instance.get_physical_device_memory_properties(adapter.raw_physical_device()) };
    let heaps = memory.memory_heaps_as_slice().iter();
    heaps.filter(|heap| heap.flags.as_raw() & DEVICE_LOCAL != 0).map(|heap| heap.size).max()
}

/// Returns the size, in bytes, of the adapter's largest device-local memory heap; `None` if the
/// backend does not report it.
#[cfg(target_vendor = "apple")]
pub(super) fn device_heap_bytes(_: &wgpu::Adapter) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_divided_among_processes_and_ranks() {
        let limits = |bytes, processes, rank_limit| {
            let limits = NodeMemory { bytes, ranks: 4, processes, rank_limit }.limits();
            [limits.rank_bytes, limits.rank_share_bytes, limits.process_bytes]
        };
        assert_eq!(limits(1200, 1, None), [1200, 300, 1200]);
        assert_eq!(limits(1200, 4, None), [300, 300, 300]);
        assert_eq!(limits(1200, 1, Some(500)), [500, 500, 1200]);
        assert_eq!(limits(1200, 4, Some(500)), [500, 500, 500]);
        assert_eq!(limits(u64::MAX, 4, None), [u64::MAX; 3]);
    }

    #[test]
    fn host_memory_leaves_one_tenth_to_the_system() {
        let mut system = System::new().unwrap();
        system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
        let all = system.total_memory();
        assert!(all == 0 || host_memory_bytes() <= all / 10 * 9);
    }
}
