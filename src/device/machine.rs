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
    /// All ranks' of this process.
    pub(super) process: u64,
}

impl Room {
    /// Of a rank out of `node_ranks`: `limit`, or, of memory that is `shared` with the host, as much as the machine has.
    pub(super) fn new(shared: bool, node_ranks: usize, limit: Option<u64>) -> Self {
        let machine = if shared { machine_bytes() } else { u64::MAX };
        let rank = limit.unwrap_or(u64::MAX).min(machine);
        let share = if machine == u64::MAX { machine } else { machine / node_ranks.max(1) as u64 };
        Self { rank, share: limit.unwrap_or(share).min(machine), process: machine }
    }
}

/// The memory that this process can have: the machine's, or less where its control group allows less. It stays what it
/// was at first.
fn machine_bytes() -> u64 {
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
        known.min().unwrap_or(u64::MAX)
    })
}
