//! Histograms of small numbers, over what one rank holds.

mod over_ranks;

use super::on_rank::OnRank;
use super::scan::largest;
use crate::World;
use crate::array::{Cells, IntoSequence};
use crate::element::Element;
use crate::error::{ArrayError, CallSite, Result};
use crate::kernel::KernelSource;

/// Bytes of numbers that the host has at hand at a time.
const BYTES: usize = 128 << 10;

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
        return on_host(numbers, counts);
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

fn on_host(numbers: &Cells, counts: &Cells) -> Result<()> {
    let mut found = vec![0_u32; counts.len() as usize];
    for slice in numbers.slices(BYTES, 1) {
        let mut some = vec![0_u32; (slice.end - slice.start) as usize];
        numbers.read(slice, bytemuck::cast_slice_mut(&mut some))?;
        some.into_iter().for_each(|number| found[number as usize] += 1);
    }
    counts.write(0..counts.len(), bytemuck::cast_slice(&found))
}
