//! Limits of an adapter, measured in the same run, and which of them a benchmark stands beside.

use serde_json::Value;

/// A limit of the adapter, as the benchmark `limits` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Each byte is read and written in the adapter's memory.
    Copy,
    /// Two arrays are read and one is written.
    Triad,
    /// From host memory into the adapter's.
    HostToDevice,
    /// Nothing of the adapter bounds it.
    None,
}

impl Limit {
    /// Its case in the benchmark.
    fn case(self) -> &'static str {
        match self {
            Limit::Copy => "device, copy",
            Limit::Triad => "device, triad",
            Limit::HostToDevice => "host to device, copy",
            Limit::None => "",
        }
    }

    /// The bandwidth in GB/s among the measured limits.
    pub fn rate(self, limits: &[Value]) -> Option<f64> {
        limits.iter().find(|limit| limit["case"] == self.case())?["gb_per_sec"].as_f64()
    }
}
