//! How much memory there is, where device memory is the machine's own.

use std::sync::OnceLock;

use sysinfo::{MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, System};

/// What the buffers of a rank may take, in bytes; `u64::MAX` where only the driver knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// One rank's.
    pub rank: u64,
    /// A rank's part of what the ranks of a node have together.
    pub share: u64,
    /// All ranks' of this process: its part of the machine.
    pub(super) process: u64,
}

impl Room {
    /// Of a rank out of `ranks` in `processes` on a node: `limit`, or its process's part of what the `machine` has.
    pub(super) fn new(machine: u64, ranks: usize, processes: usize, limit: Option<u64>) -> Self {
        let part = |count: usize| if machine == u64::MAX { machine } else { machine / count.max(1) as u64 };
        let [rank, share] = [processes, ranks].map(|count| limit.unwrap_or(part(count)).min(machine));
        Self { rank, share, process: part(processes).max(rank) }
    }
}

/// The memory that buffers can have: nine tenths of the machine's, or of what its control group allows if that is less;
/// the system and the programs need some, too. It stays what it was at first.
pub(super) fn machine_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let Ok(mut system) = System::new() else { return u64::MAX };
        system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
        let of_group = sysinfo::get_current_pid().ok().and_then(|own| {
            system.refresh_processes_specifics(ProcessesToUpdate::Some(&[own]), false, ProcessRefreshKind::nothing());
            Some(system.process(own)?.cgroup_limits()?.total_memory)
        });
        // 0 is how a system says that it does not know.
        let known = [Some(system.total_memory()), of_group].into_iter().flatten().filter(|&bytes| bytes > 0);
        known.min().map_or(u64::MAX, |bytes| bytes / 10 * 9)
    })
}

/// Bytes of the adapter's largest memory heap of its own; `None` where the backend does not say.
#[cfg(not(target_vendor = "apple"))]
pub(super) fn adapter_bytes(adapter: &wgpu::Adapter) -> Option<u64> {
    /// `VK_MEMORY_HEAP_DEVICE_LOCAL_BIT`
    const DEVICE_LOCAL: u32 = 1;
    // SAFETY: the handles are asked for properties only, while wgpu holds the adapter.
    let adapter = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let instance = adapter.shared_instance().raw_instance();
    // SAFETY: the physical device is one of this instance.
    let memory = unsafe { instance.get_physical_device_memory_properties(adapter.raw_physical_device()) };
    let heaps = memory.memory_heaps_as_slice().iter();
    heaps.filter(|heap| heap.flags.as_raw() & DEVICE_LOCAL != 0).map(|heap| heap.size).max()
}

/// Bytes of the adapter's largest memory heap of its own; `None` where the backend does not say.
#[cfg(target_vendor = "apple")]
pub(super) fn adapter_bytes(_: &wgpu::Adapter) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_share_a_machine_and_threads_a_process() {
        let threads = Room::new(1200, 4, 1, None);
        assert_eq!(threads, Room { rank: 1200, share: 300, process: 1200 });
        let processes = Room::new(1200, 4, 4, None);
        assert_eq!(processes, Room { rank: 300, share: 300, process: 300 });
        assert_eq!(Room::new(1200, 4, 1, Some(500)), Room { rank: 500, share: 500, process: 1200 });
        assert_eq!(Room::new(1200, 4, 4, Some(500)), Room { rank: 500, share: 500, process: 500 });
        let unknown = Room { rank: u64::MAX, share: u64::MAX, process: u64::MAX };
        assert_eq!(Room::new(u64::MAX, 4, 4, None), unknown);
    }

    #[test]
    fn the_system_keeps_some_memory() {
        let mut system = System::new().unwrap();
        system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
        let all = system.total_memory();
        assert!(all == 0 || machine_bytes() <= all / 10 * 9);
    }
}
