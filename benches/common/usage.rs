//! What a whole job uses: the CPU time and the memory of all its processes, whether its ranks are threads or processes.

use std::sync::OnceLock;

use zippy::Result;

use super::{Contender, Run};

/// CPU seconds, waiting included.
#[derive(Debug, Clone, Copy)]
pub struct CpuSecs {
    /// Of all processes of the job.
    pub job: f64,
    /// Of this rank's process.
    pub process: f64,
}

/// Memory that was taken at most while something was done, beside what was there before.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Of the devices, in buffers.
    pub device: u64,
    /// Of the processes, as the system counts pages; with a software adapter its buffers are among them.
    pub resident: Option<u64>,
}

impl Run<'_> {
    /// CPU seconds from when all ranks are ready until all have finished; `None` where the system does not say. Collective.
    pub fn cpu_secs(&self, contender: &mut Contender) -> Result<Option<CpuSecs>> {
        if let Some(before) = &mut contender.before {
            before()?;
        }
        self.settled()?;
        self.world.barrier()?;
        let begun = process_cpu_secs();
        self.world.barrier()?;
        (contender.run)()?;
        self.settled()?;
        self.world.barrier()?;
        let Some((begun, ended)) = begun.zip(process_cpu_secs()) else { return Ok(None) };
        let process = ended - begun;
        Ok(Some(CpuSecs { job: self.over_processes(process)?, process }))
    }

    /// The most memory of all ranks while something is done. Collective.
    pub fn memory_of(&self, what: impl FnOnce() -> Result<()>) -> Result<Memory> {
        self.memory_beside(self.resident_now()?, what)
    }

    /// What this rank's process has resident, if the rank is the one that tells. Collective.
    pub fn resident_now(&self) -> Result<Option<u64>> {
        self.settled()?;
        self.world.barrier()?;
        Ok(if self.counts_its_process() { resident() } else { None })
    }

    /// [`memory_of`](Self::memory_of) beside what was resident at some time before: memory that was freed since then, and that
    /// the process has kept, counts when it is used again.
    pub fn memory_beside(&self, resident: Option<u64>, what: impl FnOnce() -> Result<()>) -> Result<Memory> {
        self.resident_now()?;
        let device = self.world.gpu();
        device.reset_peak();
        let buffers = device.counters().bytes_now;
        self.world.barrier()?;
        what()?;
        self.settled()?;
        self.world.barrier()?;
        let mut buffers = [device.counters().bytes_peak - buffers];
        self.world.group().all_reduce(&mut buffers, |sum, more| *sum += more)?;
        let peak = resident.zip(peak_resident()).map(|(before, peak)| peak.saturating_sub(before));
        let known = self.over_processes(f64::from(u8::from(peak.is_some())))? > 0.0;
        let peak = self.over_processes(peak.unwrap_or(0) as f64)?;
        Ok(Memory { device: buffers[0], resident: known.then_some(peak as u64) })
    }

    /// The sum over processes.
    fn over_processes(&self, own: f64) -> Result<f64> {
        let mut sum = [if self.counts_its_process() { own } else { 0.0 }];
        self.world.group().all_reduce(&mut sum, |sum, more| *sum += more)?;
        Ok(sum[0])
    }

    /// Whether this is the rank that tells what its process uses: one of each.
    fn counts_its_process(&self) -> bool {
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

/// Resident bytes now; where the system tells (Linux), its count of the most begins anew.
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
