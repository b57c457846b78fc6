//! Scans by kernels in three steps: the sum of each block, the prefix of each block, the results.

use bytemuck::bytes_of;
use zippy::World;
use zippy::collective::{AlignedParts, CellSequence, CollectiveWorld, SequencePart, align_parts};
use zippy::element::{Element, ElementInfo, ElementKind};
use zippy::error::Result;
use zippy::kernel::{Call, Kernel, KernelSource};
use zippy::wgsl_module;

use super::association::{CELLS_PER_BLOCK, CELLS_PER_RUN, Item, RUNS_PER_BLOCK, TREE_LEVELS};
use super::operation::{Carry, ScanOperation};
use crate::heads::{Heads, mark};

/// Scan by kernels in progress: its kernel, and the sums of its blocks on the device.
pub(super) struct Blocks {
    /// Aligned parts of the input, of the flags if there are segments, and of a separate output.
    pieces: Vec<AlignedParts>,
    segmented: bool,
    in_place: bool,
    /// Index of the output in the parts, if the output is not the input.
    output: Option<usize>,
    kernel: Kernel,
    exclusive: bool,
    /// Sum of each block, later its prefix.
    sums: CellSequence,
    marks: CellSequence,
    /// Value before all blocks, later the value including them.
    carry: CellSequence,
    carry_mark: CellSequence,
    /// Initial value of an exclusive scan.
    begin: CellSequence,
    /// Temporary output, and the output to which it is copied.
    output_copy: Option<(CellSequence, CellSequence)>,
}

/// Maximum number of blocks per workgroup and pass: some drivers end loops after 65,535 passes.
const MAX_BLOCKS_PER_PASS: u64 = 1 << 15;

/// Mark of a value without a segment head.
const VALUE_MARK: u32 = 1;
/// Mark of a value with a segment head.
const HEAD_MARK: u32 = 3;

impl Blocks {
    /// Computes the sums of the blocks. `flags` are `u32`, not 0 at the first cell of a segment.
    /// The output is the input or in separate memory.
    pub(super) fn new(
        world: &World,
        operation: &ScanOperation<'_>,
        input: &CellSequence,
        flags: Option<&CellSequence>,
        output: Option<&CellSequence>,
    ) -> Result<Self> {
        let (mut input, mut flags, mut output) = (input.clone(), flags.cloned(), output.cloned());
        let mut output_copy = None;
        let all = || std::iter::once(&input).chain(&flags).chain(&output).collect::<Vec<_>>();
        let whole_blocks = align_parts(&all()).iter().all(|piece| piece.first.is_multiple_of(CELLS_PER_BLOCK as u64));
        if !operation.exact() && !whole_blocks {
            // Blocks are relative to the whole sequence, so that the result does not depend on its
            // parts.
            let joined = |cells: &CellSequence| -> Result<CellSequence> {
                let scratch = world.scratch_cells("cells of a scan", cells.element(), cells.len())?;
                cells.copy_to(&scratch)?;
                Ok(scratch)
            };
            input = joined(&input)?;
            flags = flags.as_ref().map(joined).transpose()?;
            if let Some(to) = output.take() {
                let result = if operation.transform.is_none() { input.clone() } else { joined(&to)? };
                output_copy = Some((result.clone(), to));
                output = Some(result);
            }
        }
        let in_place = operation.transform.is_none() && output.as_ref().is_some_and(|output| output.same_as(&input));
        let separate_output = output.as_ref().filter(|_| !in_place);
        let cells: Vec<_> = [Some(&input), flags.as_ref(), separate_output].into_iter().flatten().collect();
        let pieces = align_parts(&cells);
        let blocks = pieces.iter().map(|piece| piece.cells().div_ceil(CELLS_PER_BLOCK as u64)).sum();
        let scratch = |name: &str, element, cells| world.scratch_cells(name, element, cells);
        let (element, mark) = (operation.element, &u32::INFO);
        let segmented = flags.is_some();
        let output = separate_output.map(|_| 1 + usize::from(segmented));
        let made = Self {
            kernel: create_scan_kernel(world, operation, segmented, in_place)?,
            pieces,
            segmented,
            in_place,
            output,
            exclusive: operation.first.is_some(),
            sums: scratch("sums of blocks", element, blocks)?,
            marks: scratch("marks of blocks", mark, blocks)?,
            carry: scratch("carry of a scan", element, 1)?,
            carry_mark: scratch("mark of a carry", mark, 1)?,
            begin: scratch("begin of a scan", element, 1)?,
            output_copy,
        };
        if let Some(first) = operation.first {
            made.begin.write(0..1, first)?;
        }
        made.over_blocks("zippy_fold_blocks", |call, piece, sums, marks| {
            made.cells(call, piece, false).write("zippy_sums", sums.binding()).write("zippy_marks", marks.binding())
        })?;
        Ok(made)
    }

    /// Computes the prefix of each block after the value of all earlier cells; returns the value
    /// including all blocks.
    pub(super) fn carry(&self, carry: Carry) -> Result<Carry> {
        if self.pieces.is_empty() {
            return Ok(carry);
        }
        let mark = carry.item.as_ref().map_or(0, |item| if item.head { HEAD_MARK } else { VALUE_MARK });
        if let Some(item) = &carry.item {
            self.carry.write(0..1, &item.value)?;
        }
        self.carry_mark.write(0..1, bytes_of(&mark))?;
        self.start()?;
        let (mut value, mut mark) = (vec![0; self.carry.element().bytes], [0; 4]);
        self.carry.read(0..1, &mut value)?;
        self.carry_mark.read(0..1, &mut mark)?;
        let head = u32::from_ne_bytes(mark) == HEAD_MARK;
        Ok(Carry { item: Some(Item { value, head }), key: carry.key })
    }

    /// Computes the prefix of each block, without reading back the total.
    pub(super) fn start(&self) -> Result<()> {
        let kernel = self.kernel.entry("zippy_carry_blocks")?;
        for first in (0..self.sums.len()).step_by(MAX_BLOCKS_PER_PASS as usize) {
            let some = first..self.sums.len().min(first + MAX_BLOCKS_PER_PASS);
            let (sums, marks) = (self.sums.only(some.clone()), self.marks.only(some));
            let call = kernel.call().update("zippy_sums", sums.parts()[0].binding());
            let call = call.update("zippy_marks", marks.parts()[0].binding());
            let call = call.update("zippy_carry", self.carry.parts()[0].binding());
            call.update("zippy_carry_mark", self.carry_mark.parts()[0].binding())
                .over([RUNS_PER_BLOCK as i64])
                .run()?;
        }
        Ok(())
    }

    pub(super) fn write(&self) -> Result<()> {
        self.over_blocks("zippy_write_blocks", |call, piece, sums, marks| {
            let call = self.cells(call, piece, true).update("zippy_sums", sums.binding());
            let call = call.update("zippy_marks", marks.binding());
            let begin = self.begin.parts()[0].binding();
            if self.exclusive { call.read("zippy_begin", begin) } else { call }
        })?;
        self.output_copy.as_ref().map_or(Ok(()), |(from, to)| from.copy_to(to))
    }

    /// Runs a kernel over the blocks of every aligned part.
    fn over_blocks<'k>(
        &self,
        entry: &str,
        bind: impl for<'c> Fn(Call<'c>, &AlignedParts, &SequencePart, &SequencePart) -> Call<'c>,
    ) -> Result<()> {
        let kernel = self.kernel.entry(entry)?;
        let mut first = 0;
        for piece in &self.pieces {
            let blocks = piece.cells().div_ceil(CELLS_PER_BLOCK as u64);
            let (sums, marks) = (self.sums.only(first..first + blocks), self.marks.only(first..first + blocks));
            let call = bind(kernel.call(), piece, &sums.parts()[0], &marks.parts()[0]);
            call.over([(blocks * RUNS_PER_BLOCK as u64) as i64]).run()?;
            first += blocks;
        }
        Ok(())
    }

    /// Binds the cells, their flags and the output to a call, if present.
    fn cells<'c>(&self, call: Call<'c>, piece: &AlignedParts, writes: bool) -> Call<'c> {
        let cells = piece.parts[0].binding();
        let call = if self.in_place { call.update("zippy_output", cells) } else { call.read("zippy_input", cells) };
        let call = match self.output.filter(|_| writes) {
            Some(index) => call.write("zippy_output", piece.parts[index].binding()),
            None => call,
        };
        if self.segmented { call.read("zippy_flags", piece.parts[1].binding()) } else { call }
    }
}

fn create_scan_kernel(world: &World, operation: &ScanOperation<'_>, segmented: bool, in_place: bool) -> Result<Kernel> {
    let element = operation.element;
    let cells = if in_place { "zippy_output" } else { "zippy_input" };
    let (input_element, expression) = operation.transform.unwrap_or((element, "x"));
    let mut records = element.declarations();
    if input_element != element {
        records += &input_element.declarations();
    }
    let head = if segmented { "zippy_flags_load(p) != 0u" } else { "false" };
    let mut arrays = String::new();
    if !in_place {
        arrays +=
            &format!("@group(0) @binding(0) var<storage, read> zippy_input: array<{}>;\n", stored_type(input_element));
    }
    if segmented {
        arrays += "@group(0) @binding(1) var<storage, read> zippy_flags: array<u32>;\n";
    }
    let functions = format!(
        "fn zippy_value(p: i32) -> T {{ let x = {cells}_load(p); return (
{expression}
); }}
fn zippy_cells() -> i32 {{ return {cells}_extent(); }}
fn zippy_head(p: i32) -> bool {{ return {head}; }}
"
    );
    let put = if operation.first.is_some() {
        wgsl_module!("../../shaders/scan/exclusive.wgsl")
    } else {
        wgsl_module!("../../shaders/scan/inclusive.wgsl")
    };
    let composer = operation
        .operator
        .definition(element)
        .generated(records + &arrays + &functions)
        .alias("T", element.name)
        .constant("zippy_RUN", CELLS_PER_RUN as i32)
        .constant("zippy_RUNS", RUNS_PER_BLOCK as i32)
        .constant("zippy_LEVELS", TREE_LEVELS as u32 - 1)
        .constant("zippy_IN_ORDER", !operation.exact())
        .constant("zippy_MARK", VALUE_MARK)
        .constant("zippy_HEAD", HEAD_MARK)
        .module(wgsl_module!("../../shaders/scan/arrays.wgsl"))
        .module(wgsl_module!("../../shaders/scan/scan.wgsl"))
        .module(put);
    world.cached_kernel(&KernelSource::composed(format!("scan with {}", operation.operator), composer.compose()?))
}

/// Returns the WGSL storage type of the cells.
fn stored_type(element: &ElementInfo) -> &'static str {
    if let ElementKind::Packed(_) = element.kind { "u32" } else { element.name }
}

/// Returns flags of segment heads for a kernel; computes them on the device if keys define the
/// segments.
pub(super) fn flags(world: &World, heads: Heads<'_>, key: &mut Option<Vec<u8>>) -> Result<Option<CellSequence>> {
    match heads {
        Heads::None => Ok(None),
        Heads::Flags(flags) => Ok(Some(flags.clone())),
        Heads::Keys(keys) => {
            let flags = world.scratch_cells("heads of segments", &u32::INFO, keys.len())?;
            mark(world, keys, &flags, key)?;
            Ok(Some(flags))
        }
    }
}
