//! Limits of an adapter, measured in the same run, and which of them a benchmark stands beside.

use serde_json::Value;

/// A limit of the adapter, as the benchmark `limits` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Each byte is read and written in the adapter's memory.
    Copy,
    /// Two arrays are read and one is written.
    Triad,
    /// Copy from a vector of the host into the adapter's memory.
    HostToDevice,
    /// Nothing of the adapter bounds it.
    None,
}

impl Limit {
    /// Names of its cases in the benchmark.
    fn cases(self) -> &'static [&'static str] {
        match self {
            Limit::Copy => &["device, copy by the driver", "device, copy by a kernel"],
            Limit::Triad => &["device, triad"],
            Limit::HostToDevice => &["host to device, from a vector"],
            Limit::None => &[],
        }
    }

    /// The measured bandwidth in GB/s: the highest one among its cases.
    pub fn rate(self, limits: &[Value]) -> Option<f64> {
        let is_mine = |limit: &&Value| limit["case"].as_str().is_some_and(|case| self.cases().contains(&case));
        limits.iter().filter(is_mine).filter_map(|limit| limit["gb_per_sec"].as_f64()).reduce(f64::max)
    }
}
