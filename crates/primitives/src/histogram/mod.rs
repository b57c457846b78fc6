//! Histograms of small integers on one rank.

mod over_ranks;

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use zippy::World;
use zippy::array::IntoSequence;
use zippy::collective::{CellSequence, CollectiveWorld, Lending, LentRange};
use zippy::device::Device;
use zippy::element::Element;
use zippy::error::{ArrayError, CallSite, Result};
use zippy::kernel::{KernelSource, WgslComposer};
use zippy::wgsl_module;

use super::backend::HasBackend;
use super::on_rank::OnRank;
use super::scan::{largest, widened_sum};

/// Number of counters per bin (lanes): consecutive equal numbers use different counters, so that
/// they do not wait for each other.
const COUNTERS_PER_BIN: usize = 4;
/// Maximum number of bins with lanes: their counters fit in the first-level cache.
const MAX_BINS_WITH_LANES: usize = 1 << 10;
/// Minimum number of cells per thread for which another thread pays off.
const MIN_NUMBERS_PER_THREAD: u64 = 1 << 16;
/// Number of tasks per thread, so that a preempted thread does not delay the others.
const TASKS_PER_THREAD: u64 = 4;
/// Size, in bytes, of a copy to the host, if the host cannot access device memory.
const WINDOW_BYTES: usize = 1 << 20;

impl OnRank<'_> {
    /// Sets bin *i* of `counts` to the number of cells that are equal to *i*. Local; waits for the
    /// device, because the numbers are checked before any write. For bins of floating-point numbers
    /// over all ranks, see [`World::histogram`](zippy::World::histogram).
    ///
    /// # Errors
    /// * A number without a bin.
    /// * Too little memory: 4 bytes per bin, on a software adapter per bin and thread.
    /// * A bin with more than 4,294,967,295 numbers: `counts` is already written.
    /// * An invalid section, a device failure.
    #[track_caller]
    pub fn histogram(&self, numbers: impl IntoSequence<u32>, counts: impl IntoSequence<u32>) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("histogram");
        let (world, numbers, counts) = (self.world(), numbers.into(), counts.into());
        let (numbers, counts) = (numbers.cells()?, counts.cells()?);
        if let Some(most) = largest(world, numbers)?.filter(|&most| u64::from(most) >= counts.len()) {
            let text = format!("{} contains {most}, but {} has {} bins", numbers.label(), counts.label(), counts.len());
            return Err(ArrayError::Other(text).into());
        }
        count_into(world, numbers, counts)
    }
}

/// Counts cells whose numbers all have bins.
fn count_into(world: &World, numbers: &CellSequence, counts: &CellSequence) -> Result<()> {
    world.backend().count_numbers(world, numbers, counts)?;
    // No counter can exceed the number of cells.
    if numbers.len() <= u64::from(u32::MAX) {
        Ok(())
    } else {
        check_counted(widened_sum(world, counts)?, numbers.len(), &numbers.label())
    }
}

pub(super) fn count_by_kernel(world: &World, numbers: &CellSequence, counts: &CellSequence) -> Result<()> {
    let text = WgslComposer::new().module(wgsl_module!("../../shaders/histogram/histogram.wgsl")).compose()?;
    let kernel = world.cached_kernel(&KernelSource::composed("histogram", text))?;
    // Atomics reach one binding.
    let most = counts.len().min(world.gpu().limits().binding_bytes / 4);
    let scratch = world.scratch_cells("bins", &u32::INFO, most)?;
    for first in (0..counts.len()).step_by(most.max(1) as usize) {
        let bins = scratch.only(0..most.min(counts.len() - first));
        bins.fill(&[0; 4])?;
        for part in numbers.parts() {
            let call = kernel.call().read("numbers", part.binding()).update("counts", bins.parts()[0].binding());
            let call = call.param("part", [first as u32, bins.len() as u32]);
            call.over([part.cells() as i64]).run()?;
        }
        bins.copy_to(&counts.only(first..first + bins.len()))?;
    }
    Ok(())
}

pub(super) fn count_on_host(device: &Device, numbers: &CellSequence, counts: &CellSequence) -> Result<()> {
    let bins = counts.len() as usize;
    let threads = device.host_threads();
    // Counters are cleared and added for each task.
    let least = 4 * counts.len();
    let counters = if numbers.len() < 2 * least { 1 } else { 1 + threads.count() as u64 };
    device.check_memory_limits(counters * size_of::<u32>() as u64 * counts.len(), "counters of a histogram")?;
    // Counters of the finished tasks; the first task contributes its own.
    let all: Mutex<Option<Vec<u32>>> = Mutex::new(None);
    let count = |lent: LentRange<'_>| {
        let mut found = Counters::new(bins);
        lent.read.iter().flatten().for_each(|bytes| found.count(bytemuck::cast_slice(bytes)));
        let found = found.into_counts();
        match &mut *all.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(all) => add_counts(all, &found),
            none => *none = Some(found),
        }
    };
    let lending = Lending::new(device, vec![numbers], None, false);
    for window in lending.windows(WINDOW_BYTES, 1) {
        let tasks = divide_into_tasks(window, threads.count(), least);
        lending.with(&tasks, |lent| threads.map(lent, count))?;
    }
    let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    counts.write(0..counts.len(), bytemuck::cast_slice(&all.unwrap_or_else(|| vec![0; bins])))
}

/// Divides numbers into ranges for the threads, each of at least `least` numbers; a single range
/// for few numbers or a single thread.
fn divide_into_tasks(numbers: Range<u64>, threads: usize, least: u64) -> Vec<Range<u64>> {
    let all = numbers.end - numbers.start;
    let least = least.max(MIN_NUMBERS_PER_THREAD / TASKS_PER_THREAD);
    if threads == 1 || all < MIN_NUMBERS_PER_THREAD || all < 2 * least {
        return vec![numbers];
    }
    let most = all.div_ceil(TASKS_PER_THREAD * threads as u64).max(least);
    let starts = numbers.clone().step_by(most as usize);
    starts.map(|start| start..numbers.end.min(start + most)).collect()
}

/// Counters of the bins of a histogram, which wrap on overflow.
struct Counters {
    counts: Vec<u32>,
    bins: usize,
}

impl Counters {
    fn new(bins: usize) -> Self {
        let lanes = if bins <= MAX_BINS_WITH_LANES { COUNTERS_PER_BIN } else { 1 };
        Self { counts: vec![0; bins * lanes], bins }
    }

    /// Counts numbers that all have bins.
    fn count(&mut self, numbers: &[u32]) {
        let mask = self.counts.len() / self.bins.max(1) - 1;
        for (i, &number) in numbers.iter().enumerate() {
            let counter = &mut self.counts[(i & mask) * self.bins + number as usize];
            *counter = counter.wrapping_add(1);
        }
    }

    fn into_counts(mut self) -> Vec<u32> {
        let (all, lanes) = self.counts.split_at_mut(self.bins);
        lanes.chunks(self.bins.max(1)).for_each(|lane| add_counts(all, lane));
        self.counts.truncate(self.bins);
        self.counts
    }
}

fn add_counts(all: &mut [u32], more: &[u32]) {
    all.iter_mut().zip(more).for_each(|(all, more)| *all = all.wrapping_add(*more));
}

/// Returns an error if a counter has overflowed: the counts must add up to `numbers`.
fn check_counted(counted: u64, numbers: u64, label: &str) -> Result<()> {
    if counted == numbers {
        return Ok(());
    }
    let text = format!("a bin has more than {} of the numbers of {label}", u32::MAX);
    Err(ArrayError::Other(text).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflowed_counters_are_detected() {
        // The state after 2³² + 5 numbers in one bin.
        let mut counts = [3_u32, u32::MAX - 2];
        add_counts(&mut counts, &[0, 5]);
        assert_eq!(counts, [3, 2]);
        let counted = counts.into_iter().map(u64::from).sum();
        assert!(check_counted(counted, (1 << 32) + 5, "numbers").is_err());
        assert!(check_counted((1 << 32) + 5, (1 << 32) + 5, "numbers").is_ok());
    }
}
