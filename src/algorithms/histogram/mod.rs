//! Histograms of small integers on one rank.

mod over_ranks;

use std::sync::{Mutex, PoisonError};

use super::on_rank::OnRank;
use super::reduce::{Counters, HostBox, add_counts, tasks};
use super::scan::{largest, widened_sum};
use crate::World;
use crate::array::{Cells, IntoSequence, SequencePart};
use crate::device::{ChunkBuffer, Device};
use crate::element::Element;
use crate::error::{ArrayError, CallSite, Result};
use crate::kernel::KernelSource;

impl OnRank<'_> {
    /// Sets bin *i* of `counts` to the number of cells that are equal to *i*. Local; waits for the
    /// device, because the numbers are checked before any write. For bins of floating-point numbers
    /// over all ranks, see [`World::histogram`](crate::World::histogram).
    ///
    /// # Errors
    /// * A number without a bin.
    /// * Too little memory: 4 bytes per bin, on a software adapter per bin and thread.
    /// * A bin with more than 4,294,967,295 numbers: `counts` is already written.
    /// * An invalid section, a device failure.
    #[track_caller]
    pub fn histogram(&self, numbers: impl IntoSequence<u32>, counts: impl IntoSequence<u32>) -> Result<()> {
        let _call = CallSite::enter();
        let _acting = self.world().acting("histogram");
        let (world, numbers, counts) = (self.world(), numbers.into(), counts.into());
        let (numbers, counts) = (numbers.cells()?, counts.cells()?);
        if let Some(most) = largest(world, numbers)?.filter(|&most| u64::from(most) >= counts.len()) {
            let text = format!("{} contains {most}, but {} has {} bins", numbers.label(), counts.label(), counts.len());
            return Err(ArrayError::Other(text).into());
        }
        count_into(world, numbers, counts)
    }
}

/// Counts numbers that all have bins.
fn count_into(world: &World, numbers: &Cells, counts: &Cells) -> Result<()> {
    if world.gpu().is_host() {
        on_host(world.gpu(), numbers, counts)?
    } else {
        by_kernel(world, numbers, counts)?
    }
    // No counter can exceed the number of cells.
    if numbers.len() <= u64::from(u32::MAX) {
        Ok(())
    } else {
        check_counted(widened_sum(world, counts)?, numbers.len(), &numbers.label())
    }
}

fn by_kernel(world: &World, numbers: &Cells, counts: &Cells) -> Result<()> {
    let source = KernelSource::composed("histogram", include_str!("../../../shaders/histogram/histogram.wgsl"));
    let kernel = world.composed(&source)?;
    // Atomics reach one binding.
    let most = counts.len().min(world.gpu().limits().binding_bytes / 4);
    let scratch = Cells::scratch(&world.home(), "bins", &u32::INFO, most)?;
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

fn on_host(device: &Device, numbers: &Cells, counts: &Cells) -> Result<()> {
    let bins = counts.len() as usize;
    let mut chunks: Vec<&ChunkBuffer> = numbers.parts().iter().map(|part| &*part.lease).collect();
    chunks.sort_unstable_by_key(|chunk| chunk.id());
    chunks.dedup_by_key(|chunk| chunk.id());
    let threads = device.host_threads();
    // Counters are cleared and added for each task.
    let least = 4 * counts.len();
    let counters = if numbers.len() < 2 * least { 1 } else { 1 + threads.count() as u64 };
    device.check_room(counters * size_of::<u32>() as u64 * counts.len(), "counters of a histogram")?;
    // Counters of the finished tasks; the first task contributes its own.
    let all: Mutex<Option<Vec<u32>>> = Mutex::new(None);
    let count = |boxes: Vec<HostBox<'_, 1>>| {
        let mut found = Counters::<u32>::new(bins);
        for one in boxes {
            one.visit(&mut |block| {
                let numbers: &[u32] = bytemuck::cast_slice(block.cells[0]);
                found.count(numbers.iter().map(|&number| number as usize));
            });
        }
        let found = found.into_counts();
        match &mut *all.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(all) => add_counts(all, &found),
            none => *none = Some(found),
        }
    };
    device.lend_to_read(&chunks, &mut |memory| {
        let host_box = |part: &SequencePart| HostBox {
            memory: [memory[chunks.partition_point(|chunk| chunk.id() < part.lease.id())]],
            views: [part.core.strided(part.chunk, &part.region)],
            cell: (size_of::<u32>(), 1),
            index: 0,
            first: 0,
        };
        let boxes = numbers.parts().iter().map(host_box).collect();
        threads.map(tasks(boxes, threads.count(), least), count);
    })?;
    let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    counts.write(0..counts.len(), bytemuck::cast_slice(&all.unwrap_or_else(|| vec![0; bins])))
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
