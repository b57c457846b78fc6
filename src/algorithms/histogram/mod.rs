//! Histograms of small numbers, over what one rank holds.

mod over_ranks;

use super::on_rank::OnRank;
use super::reduce::{Counters, HostBox, tasks};
use super::scan::largest;
use crate::World;
use crate::array::{Cells, IntoSequence, Strip};
use crate::device::{ChunkBuffer, Device};
use crate::element::Element;
use crate::error::{ArrayError, CallSite, Result};
use crate::kernel::KernelSource;

impl OnRank<'_> {
    /// Bin *i* of `counts` becomes how many of the numbers are *i*. Local; waits for the device, as the numbers are checked
    /// before anything is written. Bins of floating-point numbers, over all ranks, are
    /// [`World::histogram`](crate::World::histogram).
    ///
    /// # Errors
    /// A number that has no bin; a bad section, a failing device.
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
        return on_host(world.gpu(), numbers, counts);
    }
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
    let count = |boxes: Vec<HostBox<'_, 1>>| {
        let mut found = Counters::new(bins);
        for one in boxes {
            one.visit(&mut |block| {
                let numbers: &[u32] = bytemuck::cast_slice(block.cells[0]);
                found.count(numbers.iter().map(|&number| number as usize));
            });
        }
        found.into_counts()
    };
    let mut all = vec![0_u64; bins];
    device.lend_to_read(&chunks, &mut |memory| {
        let host_box = |part: &Strip| HostBox {
            memory: [memory[chunks.partition_point(|chunk| chunk.id() < part.lease.id())]],
            views: [part.core.strided(part.chunk, &part.region)],
            cell: (size_of::<u32>(), 1),
            index: 0,
            first: 0,
        };
        let boxes = numbers.parts().iter().map(host_box).collect();
        // Counters are cleared and added for each task.
        for found in threads.map(tasks(boxes, threads.count(), 4 * bins as u64), count) {
            all.iter_mut().zip(found).for_each(|(all, more)| *all += more);
        }
    })?;
    let found: Vec<u32> = all.into_iter().map(|count| u32::try_from(count).unwrap_or(u32::MAX)).collect();
    counts.write(0..counts.len(), bytemuck::cast_slice(&found))
}
