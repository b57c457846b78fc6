//! [`CoreClaim`]: cores of a process, and its share of cores that other processes also use.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZero;
use std::thread::available_parallelism;

use bytemuck::{Pod, Zeroable};
use sysinfo::System;

/// Number of 64-bit words in a set of CPU cores. Cores of higher indices are not in the set.
const CORE_SET_WORDS: usize = 16;

/// CPU cores that a process may use. Processes exchange their claims to divide the cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct CoreClaim {
    /// Hash of the node's boot id or host name.
    node: u64,
    /// Hash of the name of the control group.
    control_group: u64,
    /// Maximum number of cores: the size of the set, or the quota of the control group.
    limit: u64,
    /// CPU cores that the process may run on, one bit per core.
    cores: [u64; CORE_SET_WORDS],
}

impl CoreClaim {
    /// Returns the claim of this process. Without CPU affinity, the set has the first cores.
    pub fn for_this_process() -> Self {
        let read = |path| std::fs::read_to_string(path).ok();
        let limit = available_parallelism().map_or(1, NonZero::get);
        let affinity = read("/proc/self/status").and_then(|status| parse_affinity(&status));
        let namespace = std::fs::read_link("/proc/self/ns/cgroup").ok();
        Self {
            node: hash_of_name(read("/proc/sys/kernel/random/boot_id").or_else(|| System::host_name().ok())),
            control_group: hash_of_name((namespace, read("/proc/self/cgroup"))),
            limit: limit as u64,
            cores: affinity.unwrap_or_else(|| core_set([0..=limit - 1])),
        }
    }

    /// Returns the number of CPU cores for this process, at least one. Each core, and the quota of
    /// each control group, is divided equally among the processes of `claims` that may use it.
    /// `claims` contains this claim.
    pub fn share(&self, claims: &[Self]) -> NonZero<usize> {
        let on_node = || claims.iter().filter(|other| other.node == self.node);
        let has = |claim: &Self, core: usize| claim.cores[core / 64] >> (core % 64) & 1 == 1;
        let own_cores = (0..64 * CORE_SET_WORDS).filter(|&core| has(self, core));
        // 1e-6 compensates rounding errors of the sum.
        let by_affinity =
            1e-6 + own_cores.map(|core| 1.0 / on_node().filter(|other| has(other, core)).count() as f64).sum::<f64>();
        let has_quota = self.limit < self.cores.iter().map(|word| u64::from(word.count_ones())).sum();
        let members = on_node().filter(|other| has_quota && other.control_group == self.control_group).count();
        let cores = (by_affinity as usize).min(self.limit as usize / members.max(1));
        NonZero::new(cores).unwrap_or(NonZero::<usize>::MIN)
    }
}

fn hash_of_name(name: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

fn parse_affinity(status: &str) -> Option<[u64; CORE_SET_WORDS]> {
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    let ranges: Option<Vec<_>> = list.split(',').map(range).collect();
    Some(core_set(ranges?)).filter(|cores| cores.iter().any(|&word| word != 0))
}

fn core_set(ranges: impl IntoIterator<Item = std::ops::RangeInclusive<usize>>) -> [u64; CORE_SET_WORDS] {
    let mut cores = [0; CORE_SET_WORDS];
    let all = ranges.into_iter().flat_map(|range| *range.start()..=(*range.end()).min(64 * CORE_SET_WORDS - 1));
    all.for_each(|core| cores[core / 64] |= 1 << (core % 64));
    cores
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_claim(node: u64, control_group: u64, limit: u64, ranges: &[std::ops::RangeInclusive<usize>]) -> CoreClaim {
        CoreClaim { node, control_group, limit, cores: core_set(ranges.iter().cloned()) }
    }

    fn core_shares(claims: &[CoreClaim]) -> Vec<usize> {
        claims.iter().map(|claim| claim.share(claims).get()).collect()
    }

    #[test]
    fn common_cores_are_divided_among_processes() {
        assert_eq!(core_shares(&[test_claim(1, 0, 8, &[0..=7])]), [8]);
        assert_eq!(core_shares(&[test_claim(1, 0, 8, &[0..=7]); 3]), [2; 3]);
        assert_eq!(core_shares(&[test_claim(1, 0, 6, &[0..=5]); 3]), [2; 3]);
        assert_eq!(core_shares(&[test_claim(1, 0, 2, &[0..=1]); 4]), [1; 4]);
        // Bound to a core each, to a package each, and to packages of different sizes.
        assert_eq!(core_shares(&[test_claim(1, 0, 1, &[3..=3]), test_claim(1, 0, 1, &[900..=900])]), [1; 2]);
        assert_eq!(
            core_shares(&[test_claim(1, 0, 4, &[0..=1, 8..=9]), test_claim(1, 0, 4, &[2..=3, 10..=11])]),
            [4; 2]
        );
        assert_eq!(core_shares(&[test_claim(1, 0, 6, &[0..=5]), test_claim(1, 0, 2, &[4..=5])]), [5, 1]);
        // On two nodes.
        assert_eq!(core_shares(&[test_claim(1, 0, 4, &[0..=3]), test_claim(2, 0, 4, &[0..=3])]), [4; 2]);
    }

    #[test]
    fn quota_of_control_group_is_divided_among_processes() {
        let all = &[0..=63];
        assert_eq!(core_shares(&[test_claim(1, 5, 2, all)]), [2]);
        assert_eq!(core_shares(&[test_claim(1, 5, 4, all); 2]), [2; 2]);
        assert_eq!(core_shares(&[test_claim(1, 5, 4, all), test_claim(1, 6, 4, all)]), [4; 2]);
        assert_eq!(core_shares(&[test_claim(1, 5, 64, all), test_claim(1, 5, 64, all)]), [32; 2]);
    }

    #[test]
    fn affinity_of_linux_status_is_parsed() {
        let status =
            |list| format!("Name:\tprogram\nCpus_allowed:\tff\nCpus_allowed_list:\t{list}\nMems_allowed:\t1\n");
        assert_eq!(parse_affinity(&status("0-2,70")), Some(core_set([0..=2, 70..=70])));
        assert_eq!(parse_affinity(&status("5")), Some(core_set([5..=5])));
        assert_eq!(parse_affinity(&status("1000-2000")), Some(core_set([1000..=1023])));
        for unknown in ["", "x", "2000"] {
            assert_eq!(parse_affinity(&status(unknown)), None, "{unknown:?}");
        }
        assert_eq!(parse_affinity("Name:\tprogram\n"), None);
    }

    #[test]
    fn single_process_has_all_cores() {
        let claim = CoreClaim::for_this_process();
        assert_eq!(claim.share(&[claim]), available_parallelism().unwrap());
    }
}
