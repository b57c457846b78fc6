//! Gather and scatter by index on one rank.

mod cell_indices;
mod over_ranks;
mod remote_indices;

use std::ops::Range;

use zippy::World;
use zippy::array::IntoSequence;
use zippy::collective::{CellSequence, CollectiveWorld, LentCells, SequencePart, align_parts};
use zippy::element::Element;
use zippy::error::{ArrayError, CallSite, Result};
use zippy::kernel::{Kernel, KernelSource, WgslComposer, WgslModule};
use zippy::wgsl_module;

pub(super) use self::cell_indices::CellIndices;
use super::backend::HasBackend;
use super::by_size::by_size;
use super::on_rank::OnRank;
use super::scan::largest;

/// Size, in bytes, of the portion of cells that the host processes at a time.
const PORTION_BYTES: usize = 128 << 10;

impl OnRank<'_> {
    /// Gather: sets cell *i* of the output to cell `indices[i]` of the input. Local; waits for the
    /// device, because the indices are checked before any write. The output must not overlap the
    /// other sequences.
    ///
    /// # Errors
    /// An index beyond the input, different lengths of indices and output, an invalid section, a
    /// device failure.
    #[track_caller]
    pub fn gather<T: Element>(
        &self,
        input: impl IntoSequence<T>,
        indices: impl IntoSequence<u32>,
        output: impl IntoSequence<T>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("gather");
        let (input, indices, output) = (input.into(), indices.into(), output.into());
        let (input, indices, output) = (input.cells()?, indices.cells()?, output.cells()?);
        indices.check_length(output, "the output")?;
        check(self.world(), indices, input)?;
        gather(self.world(), input, &indices.clone().apart_from(Some(output), false)?, output)
    }

    /// Scatter: sets cell `indices[i]` of the output to cell *i* of the input; other cells of the
    /// output keep their values. If an index occurs several times, any one of its cells is written.
    /// Local, as [`gather`](Self::gather).
    ///
    /// # Errors
    /// An index beyond the output, different lengths of indices and input, an invalid section, a
    /// device failure.
    #[track_caller]
    pub fn scatter<T: Element>(
        &self,
        input: impl IntoSequence<T>,
        indices: impl IntoSequence<u32>,
        output: impl IntoSequence<T>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("scatter");
        let (input, indices, output) = (input.into(), indices.into(), output.into());
        let (input, indices, output) = (input.cells()?, indices.cells()?, output.cells()?);
        indices.check_length(input, "the input")?;
        check(self.world(), indices, output)?;
        scatter(self.world(), input, &indices.clone().apart_from(Some(output), false)?, output)
    }
}

/// Fails if an index is beyond the end of the sequence `of`.
fn check(world: &World, indices: &CellSequence, of: &CellSequence) -> Result<()> {
    match largest(world, indices)? {
        Some(index) if u64::from(index) >= of.len() => {
            let text = format!("index {index} is beyond the {} cells of {}", of.len(), of.label());
            Err(ArrayError::Other(text).into())
        }
        _ => Ok(()),
    }
}

/// Gathers as [`OnRank::gather`] does, for valid indices.
pub(super) fn gather(world: &World, input: &CellSequence, indices: &CellSequence, output: &CellSequence) -> Result<()> {
    gather_cells(world, input, indices.into(), output)
}

/// Gathers this rank's cells, for valid indices. Output cells for indices of other ranks' cells get
/// unspecified values.
fn gather_cells(world: &World, input: &CellSequence, indices: CellIndices<'_>, output: &CellSequence) -> Result<()> {
    if input.shares_memory(output) {
        let copy = world.scratch_cells("gathered", output.element(), output.len())?;
        gather_cells(world, input, indices, &copy)?;
        return copy.copy_to(output);
    }
    world.backend().gather(world, input, indices, output)
}

pub(super) fn gather_by_kernel(
    world: &World,
    input: &CellSequence,
    indices: CellIndices<'_>,
    output: &CellSequence,
) -> Result<()> {
    let indices = &positions(world, indices)?;
    let kernel = create_move_kernel(world, wgsl_module!("../../shaders/permute/gather.wgsl"), output)?;
    output.were_written(0..output.len());
    // Indices have 32 bits.
    for part in input.parts().iter().filter(|part| part.first <= u64::from(u32::MAX)) {
        for piece in align_parts(&[indices, output]) {
            let call = kernel.call().read("input", part.in_words()).read("indices", piece.parts[0].binding());
            let call = call.update("output", piece.parts[1].in_words()).param("part", range_of_part(part));
            call.over([piece.cells() as i64]).run()?;
        }
    }
    Ok(())
}

/// Scatters as [`OnRank::scatter`] does, for valid indices.
pub(super) fn scatter(
    world: &World,
    input: &CellSequence,
    indices: &CellSequence,
    output: &CellSequence,
) -> Result<()> {
    scatter_cells(world, input, indices.into(), output)
}

/// Scatters to this rank's cells, for valid indices. Indices of other ranks' cells are ignored.
fn scatter_cells(world: &World, input: &CellSequence, indices: CellIndices<'_>, output: &CellSequence) -> Result<()> {
    if input.shares_memory(output) {
        return scatter_cells(world, &input.copied()?, indices, output);
    }
    world.backend().scatter(world, input, indices, output)
}

pub(super) fn scatter_by_kernel(
    world: &World,
    input: &CellSequence,
    indices: CellIndices<'_>,
    output: &CellSequence,
) -> Result<()> {
    let indices = &positions(world, indices)?;
    let kernel = create_move_kernel(world, wgsl_module!("../../shaders/permute/scatter.wgsl"), output)?;
    output.were_written(0..output.len());
    for part in output.parts().iter().filter(|part| part.first <= u64::from(u32::MAX)) {
        for piece in align_parts(&[input, indices]) {
            let call = kernel.call().read("input", piece.parts[0].in_words()).read("indices", piece.parts[1].binding());
            let call = call.update("output", part.in_words()).param("part", range_of_part(part));
            call.over([piece.cells() as i64]).run()?;
        }
    }
    Ok(())
}

fn range_of_part(part: &SequencePart) -> [u32; 2] {
    [part.first as u32, part.cells() as u32]
}

/// Creates a kernel that moves cells as words.
fn create_move_kernel(world: &World, module: WgslModule, cells: &CellSequence) -> Result<Kernel> {
    let stored = if cells.element().bytes < 4 { "atomic<u32>" } else { "u32" };
    let composer = WgslComposer::new().constant("WORDS", cells.words_per_cell() as i32).alias("Stored", stored);
    world.cached_kernel(&KernelSource::composed("a permutation", composer.module(module).compose()?))
}

/// Returns the positions of the indexed cells among this rank's cells.
fn positions(world: &World, indices: CellIndices<'_>) -> Result<CellSequence> {
    if indices.local_positions.is_none() {
        return Ok(indices.cells.clone());
    }
    let found = world.scratch_cells("numbers", &u32::INFO, indices.cells.len())?;
    for slice in indices.cells.slices(PORTION_BYTES, 1) {
        found.write(slice.clone(), bytemuck::cast_slice(&read(indices, slice)?))?;
    }
    Ok(found)
}

/// Reads a range of indices, or of the positions of their cells among this rank's cells.
fn read(indices: CellIndices<'_>, slice: Range<u64>) -> Result<Vec<u32>> {
    let mut some = vec![0; (slice.end - slice.start) as usize];
    indices.cells.read(slice, bytemuck::cast_slice_mut(&mut some))?;
    if let Some(local_positions) = indices.local_positions {
        some.iter_mut().for_each(|index| *index = local_positions.position_or_max(*index));
    }
    Ok(some)
}

pub(super) fn gather_on_host(
    world: &World,
    input: &CellSequence,
    indices: CellIndices<'_>,
    output: &CellSequence,
) -> Result<()> {
    let size = output.element().bytes;
    for slice in output.slices(PORTION_BYTES, 1) {
        let at = read(indices, slice.clone())?;
        let mut found = vec![0; at.len() * size];
        input.lend(world.gpu(), |lent| match indices.local_positions {
            None => by_size!(take, size, lent, &at, &mut found),
            Some(_) => by_size!(take_local_cells, size, (lent, input.len()), &at, &mut found),
        })?;
        output.write(slice, &found)?;
    }
    Ok(())
}

pub(super) fn scatter_on_host(
    world: &World,
    input: &CellSequence,
    indices: CellIndices<'_>,
    output: &CellSequence,
) -> Result<()> {
    let size = input.element().bytes;
    output.were_written(0..output.len());
    for slice in input.slices(PORTION_BYTES, 1) {
        let at = read(indices, slice.clone())?;
        let mut values = vec![0; at.len() * size];
        input.read(slice, &mut values)?;
        output.lend(world.gpu(), |lent| by_size!(put_local_cells, size, (lent, output.len()), &at, &values))?;
    }
    Ok(())
}

#[inline(always)]
fn take(size: usize, input: &mut LentCells<'_>, indices: &[u32], found: &mut [u8]) {
    for (index, into) in indices.iter().zip(found.chunks_exact_mut(size)) {
        into.copy_from_slice(input.cell((*index).into()));
    }
}

/// Copies cells as [`take`] does, if this rank owns them.
#[inline(always)]
fn take_local_cells(size: usize, (input, cells): (&mut LentCells<'_>, u64), indices: &[u32], found: &mut [u8]) {
    for (index, into) in indices.iter().zip(found.chunks_exact_mut(size)) {
        if u64::from(*index) < cells {
            into.copy_from_slice(input.cell((*index).into()));
        }
    }
}

/// Writes values to those indexed cells that this rank owns.
#[inline(always)]
fn put_local_cells(size: usize, (output, cells): (&mut LentCells<'_>, u64), indices: &[u32], values: &[u8]) {
    for (index, value) in indices.iter().zip(values.chunks_exact(size)) {
        if u64::from(*index) < cells {
            output.cell((*index).into()).copy_from_slice(value);
        }
    }
}
