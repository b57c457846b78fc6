//! Measured limits of the adapter, and the limit that bounds a benchmark.

use serde_json::Value;

/// Limit of the adapter, from the benchmark `limits` of the same run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Bandwidth of a copy in the adapter's memory.
    Copy,
    /// Bandwidth of a kernel that reads two arrays and writes one.
    Triad,
    /// Bandwidth of a copy from a vector of the host into the adapter's memory.
    HostToDevice,
    /// No limit of the adapter bounds the benchmark.
    None,
}

impl Limit {
    /// Names of the limit's cases in the benchmark `limits`.
    fn cases(self) -> &'static [&'static str] {
        match self {
            Limit::Copy => &["device, copy by the driver", "device, copy by a kernel"],
            Limit::Triad => &["device, triad"],
            Limit::HostToDevice => &["host to device, from a vector"],
            Limit::None => &[],
        }
    }

    /// Measured bandwidth in GB/s: the maximum of the limit's cases.
    pub(crate) fn rate(self, limits: &[Value]) -> Option<f64> {
        let is_case_of_limit = |limit: &&Value| limit["case"].as_str().is_some_and(|case| self.cases().contains(&case));
        limits.iter().filter(is_case_of_limit).filter_map(|limit| limit["gb_per_sec"].as_f64()).reduce(f64::max)
    }
}
