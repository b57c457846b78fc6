//! Compaction, partition, unique and reduction by key on one rank.

pub(super) mod over_ranks;

use std::ops::Range;

use bytemuck::{bytes_of, pod_read_unaligned};
use zippy::World;
use zippy::array::IntoSequence;
use zippy::collective::{CellSequence, align_parts};
use zippy::device::Operator;
use zippy::element::Element;
use zippy::error::{ArrayError, CallSite, Result};
use zippy::kernel::{Kernel, KernelSource, WgslComposer};
use zippy::wgsl_module;

use super::by_size::by_size;
use super::heads::{Heads, flags_of, read};
use super::on_rank::OnRank;
use super::permute::scatter;
use super::scan::{BLOCK, ByKey, Carry, Combination, ScanOperation, run, scan_on_host};

/// Bytes of cells that the host processes at a time.
const BYTES: usize = 128 << 10;

impl OnRank<'_> {
    /// Copies the cells whose flag is not 0 to the output, in order, and returns their number.
    /// Local; waits for the device. The remaining cells of the output keep their values.
    ///
    /// # Errors
    /// An output that is too short (nothing is written), different lengths of input and flags, an
    /// invalid section, a device failure.
    ///
    /// ```
    /// # use zippy::{Layout, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let cells = world.local_array::<i32, 1>("cells", &Layout::new([5]))?;
    /// let flags = world.local_array::<u32, 1>("flags", &Layout::new([5]))?;
    /// cells.all().write(&[3, -1, 4, -1, 5])?;
    /// world.elementwise("u32(x > 0)").call().read("x", cells.all()).write("flag", flags.all())?;
    /// let positive = world.local_array::<i32, 1>("positive", &Layout::new([5]))?;
    /// assert_eq!(world.on_rank().compact(&cells, &flags, &positive)?, 3);
    /// assert_eq!(positive.at(..3).read()?, [3, 4, 5]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn compact<T: Element>(
        &self,
        input: impl IntoSequence<T>,
        flags: impl IntoSequence<u32>,
        output: impl IntoSequence<T>,
    ) -> Result<u64> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("compact");
        let (input, flags, output) = (input.into(), flags.into(), output.into());
        let (input, flags, output) = (input.cells()?, flags.cells()?, output.cells()?);
        input.check_length(flags, "the sequence of flags")?;
        Selection::new(self.world(), &flags.clone().apart_from(Some(output), false)?)?.compact(input, output)
    }

    /// Copies all cells to the output: first the cells whose flag is not 0, then the others, both
    /// in order. Returns the number of cells whose flag is not 0. Local; waits for the device.
    ///
    /// # Errors
    /// Different lengths, an invalid section, a device failure.
    #[track_caller]
    pub fn partition<T: Element>(
        &self,
        input: impl IntoSequence<T>,
        flags: impl IntoSequence<u32>,
        output: impl IntoSequence<T>,
    ) -> Result<u64> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("partition");
        let (input, flags, output) = (input.into(), flags.into(), output.into());
        let (input, flags, output) = (input.cells()?, flags.cells()?, output.cells()?);
        input.check_length(flags, "the sequence of flags")?;
        input.check_length(output, "the output")?;
        Selection::new(self.world(), &flags.clone().apart_from(Some(output), false)?)?.partition(input, output)
    }

    /// Copies the first cell of each run of equal cells to the output, and returns their number.
    /// Cells are equal if all their bits are. Local; waits for the device.
    ///
    /// # Errors
    /// An output that is too short (nothing is written), an invalid section, a device failure.
    #[track_caller]
    pub fn unique<T: Element>(&self, input: impl IntoSequence<T>, output: impl IntoSequence<T>) -> Result<u64> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("unique");
        let (input, output) = (input.into(), output.into());
        let (input, output) = (input.cells()?, output.cells()?);
        Selection::new(self.world(), &flags_of(self.world(), input)?)?.compact(input, output)
    }
}

impl<K: Element, T: Element> Combination<'_, T, ByKey<K>> {
    /// Writes the key of each run of equal keys, and the combination of its cells from left to
    /// right, to the first cells of the outputs, and returns the number of runs. Local; waits for
    /// the device.
    ///
    /// Cells are combined as by [`inclusive_scan`](Self::inclusive_scan).
    ///
    /// # Errors
    /// * Outputs that are too short: nothing is written.
    /// * Different lengths of keys and cells.
    /// * An operator that the cells do not support.
    /// * An invalid section, a device failure.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let array = |name| world.local_array::<u32, 1>(name, &Layout::new([5]));
    /// let (keys, values, runs, sums) = (array("keys")?, array("values")?, array("runs")?, array("sums")?);
    /// keys.all().write(&[7, 7, 2, 2, 2])?;
    /// values.all().write(&[3, 1, 4, 1, 5])?;
    /// assert_eq!(world.on_rank().combine(&values, &Operator::Add).by_key(&keys).reduce_runs(&runs, &sums)?, 2);
    /// assert_eq!((runs.at(..2).read()?, sums.at(..2).read()?), (vec![7, 2], vec![4, 10]));
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn reduce_runs(self, keys_output: impl IntoSequence<K>, output: impl IntoSequence<T>) -> Result<u64> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("reduce_runs");
        let keys = self.segment_cells()?;
        let (world, values, operation) = (self.world(), self.input()?, self.operation(None)?);
        let (keys_output, output) = (keys_output.into(), output.into());
        let (keys_output, output) = (keys_output.cells()?, output.cells()?);
        keys.check_length(values, "the sequence of values")?;
        operation.check(world.gpu())?;
        let in_place = [keys_output, output].iter().any(|to| [keys, values].iter().any(|of| to.shares_memory(of)));
        if world.gpu().is_host() && operation.by_host(world.gpu()) && !in_place {
            return reduce_on_host(world, &operation, [keys, values], [keys_output, output]);
        }
        let heads = flags_of(world, keys)?;
        let sums = world.scratch_cells("reduced by key", operation.element, values.len())?;
        run(world, &operation, values, Heads::Flags(&heads), Some(&sums))?;
        let tails = Selection::new(world, &tails(world, &heads)?)?;
        check_room(tails.count, output)?;
        tails.compact(keys, keys_output)?;
        tails.compact(&sums, output)
    }
}

/// Reduction by key on the host, in portions, into outputs in separate memory.
fn reduce_on_host(
    world: &World,
    operation: &ScanOperation<'_>,
    [keys, values]: [&CellSequence; 2],
    [keys_output, values_output]: [&CellSequence; 2],
) -> Result<u64> {
    let (mut count, mut key) = (0, None);
    for slice in keys.slices(BYTES, 1) {
        count += read(Heads::Keys(keys), slice, &mut key)?.into_iter().filter(|&head| head).count() as u64;
    }
    check_room(count, values_output)?;
    check_room(count, keys_output)?;
    let all = values.len();
    let most = values.slices(BYTES, BLOCK).next().map_or(0, |slice| slice.end);
    let sums = world.scratch_cells("reduced by key", values.element(), most)?;
    let (mut carry, mut keys_mover, mut values_mover) = (Carry::default(), Mover::default(), Mover::default());
    for slice in values.slices(BYTES, BLOCK) {
        let cells = slice.end - slice.start;
        let heads = keys.only(slice.clone());
        carry = scan_on_host(
            world.gpu(),
            operation,
            &values.only(slice.clone()),
            Heads::Keys(&heads),
            Some(&sums.only(0..cells)),
            carry,
        )?;
        // A run ends at the head of the next run.
        let heads = read(Heads::Keys(keys), slice.start..all.min(slice.end + 1), &mut None)?;
        let mut tails: Vec<u32> = heads[1..].iter().copied().map(u32::from).collect();
        tails.resize(cells as usize, 1);
        keys_mover.add(keys, slice, &tails, true, keys_output)?;
        values_mover.add(&sums, 0..cells, &tails, true, values_output)?;
    }
    Ok(count)
}

fn check_room(count: u64, output: &CellSequence) -> Result<()> {
    if count <= output.len() {
        return Ok(());
    }
    let text = format!("{count} cells are selected, but {} has only {}", output.label(), output.len());
    Err(ArrayError::Other(text).into())
}

/// The selected cells of a sequence.
pub(super) struct Selection<'a> {
    world: &'a World,
    flags: CellSequence,
    /// Number of selected cells before each cell, if kernels move the cells.
    before: Option<CellSequence>,
    count: u64,
}

impl<'a> Selection<'a> {
    pub(crate) fn new(world: &'a World, flags: &CellSequence) -> Result<Self> {
        if flags.len() > u64::from(u32::MAX) {
            let text =
                format!("{} has {} cells; at most {} can be selected from", flags.label(), flags.len(), u32::MAX);
            return Err(ArrayError::Other(text).into());
        }
        let flags = flags.clone();
        if world.gpu().is_host() {
            let (mut count, mut some) = (0, Vec::new());
            for slice in flags.slices(BYTES, 1) {
                words(&flags, slice, &mut some)?;
                count += some.iter().filter(|&&flag| flag != 0).count() as u64;
            }
            return Ok(Self { world, flags, before: None, count });
        }
        let before = world.scratch_cells("places of selected cells", &u32::INFO, flags.len())?;
        mark(world, &flags, &before)?;
        let zero = 0_u32;
        let operation =
            ScanOperation { first: Some(bytes_of(&zero)), ..ScanOperation::inclusive(&Operator::Add, &u32::INFO) };
        let all = run(world, &operation, &before, Heads::None, Some(&before))?;
        let count = all.item.map_or(0, |item| pod_read_unaligned::<u32>(&item.value));
        Ok(Self { world, flags, before: Some(before), count: count.into() })
    }

    /// Copies the selected cells to the first cells of the output.
    #[track_caller]
    pub(crate) fn compact(&self, input: &CellSequence, output: &CellSequence) -> Result<u64> {
        let _call = CallSite::enter();
        check_room(self.count, output)?;
        let output = output.only(0..self.count);
        match &self.before {
            Some(before) => scatter(self.world, input, &self.destinations("place_selected", before)?, &output)?,
            None if input.overlaps(&output) => self.copy_on_host(&input.copied()?, &output, true)?,
            None => self.copy_on_host(input, &output, true)?,
        }
        Ok(self.count)
    }

    /// Copies the selected cells, and after them the others.
    fn partition(&self, input: &CellSequence, output: &CellSequence) -> Result<u64> {
        match &self.before {
            Some(before) => scatter(self.world, input, &self.destinations("place_all", before)?, output)?,
            None => {
                if input.overlaps(output) {
                    return self.partition(&input.copied()?, output);
                }
                self.copy_on_host(input, &output.only(0..self.count), true)?;
                self.copy_on_host(input, &output.only(self.count..output.len()), false)?;
            }
        }
        Ok(self.count)
    }

    /// Destinations of cells, from the number of selected cells before each cell.
    fn destinations(&self, entry: &str, before: &CellSequence) -> Result<CellSequence> {
        let destinations = self.world.scratch_cells("places of cells", &u32::INFO, before.len())?;
        before.copy_to(&destinations)?;
        let destination_kernel = kernel(self.world, entry)?;
        for piece in align_parts(&[&self.flags, &destinations]) {
            let call = destination_kernel.call().read("flags", piece.parts[0].binding());
            let call = call.update("places", piece.parts[1].binding());
            let counted = [piece.first as u32, self.count as u32, before.len() as u32, 0];
            let call = if entry == "place_all" { call.param("counted", counted) } else { call };
            call.over([piece.cells() as i64]).run()?;
        }
        Ok(destinations)
    }

    /// Copies the cells that are selected, or those that are not.
    fn copy_on_host(&self, input: &CellSequence, output: &CellSequence, selected: bool) -> Result<()> {
        let (mut mover, mut flags) = (Mover::default(), Vec::new());
        for slice in input.slices(BYTES, 1) {
            words(&self.flags, slice.clone(), &mut flags)?;
            mover.add(input, slice, &flags, selected, output)?;
        }
        Ok(())
    }
}

/// Copies selected cells on the host, in portions.
#[derive(Default)]
struct Mover {
    cells: Vec<u8>,
    found: Vec<u8>,
    /// The number of cells written to the output.
    written: u64,
}

impl Mover {
    /// Adds the cells of a range that are selected, or those that are not.
    fn add(
        &mut self,
        input: &CellSequence,
        some: Range<u64>,
        flags: &[u32],
        selected: bool,
        output: &CellSequence,
    ) -> Result<()> {
        let size = input.element().bytes;
        self.cells.resize((some.end - some.start) as usize * size, 0);
        self.found.resize(self.cells.len() + size, 0);
        input.read(some, &mut self.cells)?;
        let bytes = by_size!(move_selected, size, &self.cells, flags, selected, &mut self.found);
        let end = self.written + (bytes / size) as u64;
        output.write(self.written..end, &self.found[..bytes])?;
        self.written = end;
        Ok(())
    }
}

/// Moves the cells that are selected, or those that are not, to the front of a slice with room for
/// one more than all cells. Returns the number of their bytes.
#[inline(always)]
fn move_selected(size: usize, cells: &[u8], flags: &[u32], selected: bool, found: &mut [u8]) -> usize {
    let mut end = 0;
    for (cell, flag) in cells.chunks_exact(size).zip(flags) {
        // Without a branch, which the processor would mispredict.
        found[end..end + size].copy_from_slice(cell);
        end += size * usize::from((*flag != 0) == selected);
    }
    end
}

fn words(of: &CellSequence, slice: Range<u64>, words: &mut Vec<u32>) -> Result<()> {
    words.resize((slice.end - slice.start) as usize, 0);
    of.read(slice, bytemuck::cast_slice_mut(words))
}

/// Sets marks to 1 where flags are not 0, and to 0 elsewhere.
pub(super) fn mark(world: &World, flags: &CellSequence, marks: &CellSequence) -> Result<()> {
    if world.gpu().is_host() {
        let mut found = Vec::new();
        for slice in flags.slices(BYTES, 1) {
            words(flags, slice.clone(), &mut found)?;
            found.iter_mut().for_each(|flag| *flag = u32::from(*flag != 0));
            marks.write(slice, bytemuck::cast_slice(&found))?;
        }
        return Ok(());
    }
    let mark = kernel(world, "mark")?;
    for piece in align_parts(&[flags, marks]) {
        let call = mark.call().read("flags", piece.parts[0].binding());
        call.write("marks", piece.parts[1].binding()).over([piece.cells() as i64]).run()?;
    }
    Ok(())
}

/// Flags of the last cells of segments, from flags of their first cells.
pub(super) fn tails(world: &World, heads: &CellSequence) -> Result<CellSequence> {
    let tails = world.scratch_cells("ends of segments", &u32::INFO, heads.len())?;
    if world.gpu().is_host() {
        let mut next = Vec::new();
        for slice in heads.slices(BYTES, 1) {
            words(heads, slice.start + 1..heads.len().min(slice.end + 1), &mut next)?;
            if slice.end == heads.len() {
                next.push(1);
            }
            tails.write(slice, bytemuck::cast_slice(&next))?;
        }
        return Ok(tails);
    }
    let tail = kernel(world, "tail")?;
    for piece in align_parts(&[heads, &tails]) {
        let call = tail.call().read("flags", piece.parts[0].binding()).write("marks", piece.parts[1].binding());
        let counted = [piece.first as u32, 0, heads.len() as u32, 0];
        call.param("counted", counted).over([piece.cells() as i64]).run()?;
        // The cell after the last one is in another part.
        let end = piece.first + piece.cells();
        if end < heads.len() {
            let mut next = 0_u32;
            heads.read(end..end + 1, bytemuck::bytes_of_mut(&mut next))?;
            tails.write(end - 1..end, bytes_of(&u32::from(next != 0)))?;
        }
    }
    Ok(tails)
}

fn kernel(world: &World, entry: &str) -> Result<Kernel> {
    let text = WgslComposer::new().module(wgsl_module!("../../shaders/select/flags.wgsl")).compose()?;
    world.cached_kernel(&KernelSource::composed("selection", text))?.entry(entry)
}
