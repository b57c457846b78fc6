//! Stream amplification: expands counts to pairs of an item and a copy index.
//!
//! After Fan, Qiu, Kaufman, *Zippy* (Eurographics 2008), section 5.2, where each element of a
//! stream produces several elements.

mod over_ranks;

use bytemuck::bytes_of;
use zippy::World;
use zippy::array::{Growable, IntoSequence, Sequence};
use zippy::collective::{CellSequence, CollectiveWorld};
use zippy::device::Operator;
use zippy::element::Element;
use zippy::error::{ArrayError, CallSite, Result};
use zippy::kernel::{KernelSource, WgslComposer};
use zippy::wgsl_module;

use super::backend::HasBackend;
use super::heads::Heads;
use super::on_rank::OnRank;
use super::scan::{ScanOperation, run, widened_sum};

/// Size, in bytes, of the portion of pairs that the host generates at a time.
const PORTION_BYTES: usize = 128 << 10;

impl OnRank<'_> {
    /// Writes `count` pairs `[item, copy]` for each item, in ascending order of items: counts 2, 0,
    /// 3 give `[0, 0]`, `[0, 1]`, `[2, 0]`, `[2, 1]`, `[2, 2]`. The pairs replace the contents of
    /// `pairs`; returns their number. Local; waits for the device.
    ///
    /// `pairs` grows by doubling if its capacity is too small, so that repeated calls soon need no
    /// more growth. The number of pairs is computed before any pair is written.
    ///
    /// # Errors
    /// More than 4,294,967,295 pairs, too little memory (`pairs` is unchanged), an invalid section,
    /// a device failure.
    ///
    /// ```
    /// # use zippy::{Layout, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let counts = world.local_array::<u32, 1>("triangles of cells", &Layout::new([4]))?;
    /// counts.all().write(&[2, 0, 3, 0])?;
    /// let mut triangles = world.growable::<[u32; 2]>("triangles")?;
    /// assert_eq!(world.on_rank().amplify(&counts, &mut triangles)?, 5);
    /// assert_eq!(triangles.all().read()?, [[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn amplify(&self, counts: impl IntoSequence<u32>, pairs: &mut Growable<[u32; 2]>) -> Result<u64> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("amplify");
        let (world, counts) = (self.world(), counts.into());
        let counts = counts.cells()?;
        let all = count_pairs(world, counts)?;
        pairs.set_len(all)?;
        amplify(world, counts, 0, Sequence::from(&*pairs).cells()?)?;
        Ok(all)
    }
}

fn count_pairs(world: &World, counts: &CellSequence) -> Result<u64> {
    let most = world.backend().max_amplified_counts(world);
    if counts.len() > most {
        let text = format!("{} has {} counts; at most {most} are amplified at a time", counts.label(), counts.len());
        return Err(ArrayError::Other(text).into());
    }
    let all = widened_sum(world, counts)?;
    if all <= u64::from(u32::MAX) && counts.len() <= u64::from(u32::MAX) {
        return Ok(all);
    }
    let text = format!("{} needs {all} pairs; at most {} can be made at a time", counts.label(), u32::MAX);
    Err(ArrayError::Other(text).into())
}

/// Writes the pairs of item and copy index; `first` is the index of the first item.
fn amplify(world: &World, counts: &CellSequence, first: u32, pairs: &CellSequence) -> Result<()> {
    if pairs.is_empty() {
        return Ok(());
    }
    world.backend().amplify(world, counts, first, pairs)
}

pub(super) fn amplify_by_kernel(world: &World, counts: &CellSequence, first: u32, pairs: &CellSequence) -> Result<()> {
    let ends = world.scratch_cells("ends of copies", &u32::INFO, counts.len())?;
    run(world, &ScanOperation::inclusive(&Operator::Add, &u32::INFO), counts, Heads::None, Some(&ends))?;
    let text = WgslComposer::new().module(wgsl_module!("../../shaders/amplify/amplify.wgsl")).compose()?;
    let kernel = world.cached_kernel(&KernelSource::composed("amplify", text))?;
    pairs.were_written(0..pairs.len());
    let call = kernel.call().read("ends", ends.parts()[0].binding()).param("first", first);
    call.write("pairs", pairs.parts()[0].in_words()).over([pairs.len() as i64]).run()
}

pub(super) fn amplify_on_host(counts: &CellSequence, first: u32, pairs: &CellSequence) -> Result<()> {
    let (mut found, mut written): (Vec<u8>, u64) = (Vec::new(), 0);
    let mut flush = |found: &mut Vec<u8>| {
        let end = written + found.len() as u64 / 8;
        pairs.write(written..end, found)?;
        written = end;
        found.clear();
        Ok::<(), zippy::Error>(())
    };
    for slice in counts.slices(PORTION_BYTES, 1) {
        let mut some = vec![0_u32; (slice.end - slice.start) as usize];
        counts.read(slice.clone(), bytemuck::cast_slice_mut(&mut some))?;
        for (item, count) in (first + slice.start as u32..).zip(some) {
            for copy in 0..count {
                found.extend_from_slice(bytes_of(&[item, copy]));
                if found.len() >= PORTION_BYTES {
                    flush(&mut found)?;
                }
            }
        }
    }
    flush(&mut found)
}
