//! CPU time and memory of all processes of a job, for ranks as threads and ranks as processes.

use std::sync::OnceLock;

use zippy::Result;

use super::{Contender, Run};

/// CPU seconds, including waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CpuSecs {
    pub job: f64,
    pub process: f64,
}

/// Peak memory of an operation in bytes, without the memory in use before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Buffers on all devices.
    pub device: u64,
    /// Resident memory of all processes, including the buffers of a software adapter. `None` where
    /// the operating system does not report it.
    pub resident: Option<u64>,
}

impl Run<'_> {
    /// CPU seconds of one run of a contender on all ranks.
    ///
    /// `None` if the operating system does not report CPU time. Collective.
    pub(crate) fn cpu_secs(&self, contender: &mut Contender<'_>) -> Result<Option<CpuSecs>> {
        if let Some(setup) = &mut contender.setup {
            setup()?;
        }
        self.wait_for_device()?;
        self.world.barrier()?;
        let begun = process_cpu_secs();
        self.world.barrier()?;
        (contender.run)()?;
        self.wait_for_device()?;
        self.world.barrier()?;
        let Some((begun, ended)) = begun.zip(process_cpu_secs()) else { return Ok(None) };
        let process = ended - begun;
        Ok(Some(CpuSecs { job: self.sum_over_processes(process)?, process }))
    }

    /// Peak memory of `operation` on all ranks. Collective.
    pub(crate) fn peak_memory(&self, operation: impl FnOnce() -> Result<()>) -> Result<Memory> {
        self.peak_memory_above(self.resident_now()?, operation)
    }

    /// Resident bytes of this rank's process; `None` on all ranks of a process except one.
    /// Collective.
    pub(crate) fn resident_now(&self) -> Result<Option<u64>> {
        self.wait_for_device()?;
        self.world.barrier()?;
        Ok(if self.reports_process() { resident() } else { None })
    }

    /// Peak memory of `operation` above `resident`, a result of
    /// [`resident_now`](Self::resident_now) at an earlier time.
    ///
    /// Memory that the process has freed since that time but not returned to the operating system
    /// counts when `operation` uses it again. Collective.
    pub(crate) fn peak_memory_above(
        &self,
        resident: Option<u64>,
        operation: impl FnOnce() -> Result<()>,
    ) -> Result<Memory> {
        self.resident_now()?;
        let device = self.world.gpu();
        device.reset_peak();
        let buffers = device.counters().bytes_now;
        self.world.barrier()?;
        operation()?;
        self.wait_for_device()?;
        self.world.barrier()?;
        let mut buffers = [device.counters().bytes_peak - buffers];
        self.world.group().all_reduce(&mut buffers, |sum, more| *sum += more)?;
        let peak = resident.zip(peak_resident()).map(|(before, peak)| peak.saturating_sub(before));
        let known = self.sum_over_processes(f64::from(u8::from(peak.is_some())))? > 0.0;
        let peak = self.sum_over_processes(peak.unwrap_or(0) as f64)?;
        Ok(Memory { device: buffers[0], resident: known.then_some(peak as u64) })
    }

    /// Sum over the processes of the job. Collective.
    fn sum_over_processes(&self, value: f64) -> Result<f64> {
        let mut sum = [if self.reports_process() { value } else { 0.0 }];
        self.world.group().all_reduce(&mut sum, |sum, more| *sum += more)?;
        Ok(sum[0])
    }

    /// True for the one rank of each process that reports the usage of the process.
    fn reports_process(&self) -> bool {
        static RANK: OnceLock<usize> = OnceLock::new();
        *RANK.get_or_init(|| self.world.rank()) == self.world.rank()
    }
}

#[cfg(unix)]
fn process_cpu_secs() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(unix))]
fn process_cpu_secs() -> Option<f64> {
    None
}

/// Resident bytes of this process; also resets the peak that Linux records.
fn resident() -> Option<u64> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    status("VmRSS:")
}

fn peak_resident() -> Option<u64> {
    status("VmHWM:")
}

fn status(field: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}
