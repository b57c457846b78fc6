//! [`CellSequence`]: sequence of cells without a static element type.

use std::ops::Range;
use std::rc::Rc;

use super::sequence_part::{SequencePart, words};
use crate::array::{ArrayContext, ArrayCore};
use crate::chunks::ChunkId;
use crate::device::{BufferBox, Lease, PackedBox, StridedBox};
use crate::element::ElementInfo;
use crate::error::{ArrayError, CallSite, Result};
use crate::layout::Layout;
use crate::region::Region;

/// Cells of this rank in a linear order, without a static element type: boxes of chunks, one after
/// another. The buffers of the chunks stay on the device while the sequence exists.
///
/// Created from a [`Sequence`](crate::array::Sequence), or as new memory by
/// [`scratch_cells`](crate::collective::CollectiveWorld::scratch_cells). Cells are bytes in the
/// layout of the element type. All methods are local.
#[derive(Debug, Clone)]
pub struct CellSequence {
    parts: Vec<SequencePart>,
    length: u64,
    element: &'static ElementInfo,
}

impl CellSequence {
    /// Creates a sequence without cells.
    pub fn empty(element: &'static ElementInfo) -> Self {
        Self { parts: Vec::new(), length: 0, element }
    }

    /// Creates the sequence of the cells of one box of a chunk.
    pub(crate) fn of(core: &Rc<ArrayCore>, chunk: ChunkId, region: Region) -> Result<Self> {
        let mut cells = Self::empty(core.element());
        cells.push(core, chunk, region)?;
        Ok(cells)
    }

    /// Appends a box of a chunk.
    pub(crate) fn push(&mut self, core: &Rc<ArrayCore>, chunk: ChunkId, region: Region) -> Result<()> {
        if let (Some(lease), false) = (core.lease(chunk)?, region.is_empty()) {
            self.parts.push(SequencePart { core: core.clone(), chunk, region, lease, first: self.length });
            self.length += region.cells();
        }
        Ok(())
    }

    /// Appends the cells of another sequence of the same type.
    pub fn append(&mut self, other: &Self) {
        let length = self.length;
        self.parts.extend(other.parts.iter().map(|part| SequencePart { first: length + part.first, ..part.clone() }));
        self.length += other.length;
    }

    /// Text of a cell for error messages.
    pub(crate) fn cell(&self, position: u64) -> String {
        match self.within(position..position + 1).next() {
            Some((part, within)) => {
                let at = part.region.start[0] + within.start as i64;
                format!("cell {at} of array \"{}\"", part.core.name())
            }
            None => format!("cell {position} of {}", self.label()),
        }
    }

    /// Buffer and strides of each box of a range of cells, in the order of the sequence.
    pub(crate) fn boxes(&self, cells: Range<u64>) -> impl Iterator<Item = (&Lease, StridedBox)> {
        self.within(cells.clone())
            .map(|(part, within)| (&part.lease, part.core.strided(part.chunk, &part.region_of(within))))
    }

    /// Number of words per cell in the binding of [`SequencePart::in_words`].
    pub fn words_per_cell(&self) -> usize {
        words(self.element)
    }

    /// Boxes of chunks, in the order of the sequence.
    pub fn parts(&self) -> &[SequencePart] {
        &self.parts
    }

    /// Number of cells.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// True if the sequence has no cells.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Element type.
    pub fn element(&self) -> &'static ElementInfo {
        self.element
    }

    /// Text of the sequence for error messages.
    pub fn label(&self) -> String {
        match self.parts.as_slice() {
            [] => "an empty list of sections".to_string(),
            [only] => only.core.label(&only.region),
            [first, ..] => format!("{} sections, the first {}", self.parts.len(), first.core.label(&first.region)),
        }
    }

    /// Checks that both sequences have equal lengths; `what` is the role of the other sequence in
    /// the error message.
    ///
    /// # Errors
    /// The lengths differ.
    #[track_caller]
    pub fn check_length(&self, other: &Self, what: &str) -> Result<()> {
        let _call = CallSite::enter();
        if self.length == other.length {
            return Ok(());
        }
        let (given, expected) = (other.length, self.length);
        let text = format!("{what} has {given} cells ({}), but {} has {expected}", other.label(), self.label());
        Err(ArrayError::Other(text).into())
    }

    /// True if both sequences consist of the same cells in the same order.
    pub fn same_as(&self, other: &Self) -> bool {
        let location =
            |part: &SequencePart| (part.memory(), part.core.strided(part.chunk, &part.region).offset, part.cells());
        self.parts.iter().map(location).eq(other.parts.iter().map(location))
    }

    /// Ranges of about `bytes` bytes that cover the sequence. Each is a whole number of groups of
    /// `group` cells.
    pub fn slices(&self, bytes: usize, group: usize) -> impl Iterator<Item = Range<u64>> + use<> {
        let (length, some) = (self.length, ((bytes / self.element.bytes / group).max(1) * group) as u64);
        (0..length.div_ceil(some)).map(move |i| i * some..length.min((i + 1) * some))
    }

    /// True if both sequences use the same buffer, even without a common cell.
    pub fn shares_memory(&self, other: &Self) -> bool {
        self.parts.iter().any(|part| other.parts.iter().any(|candidate| candidate.memory() == part.memory()))
    }

    /// True if a cell is in both sequences.
    pub fn overlaps(&self, other: &Self) -> bool {
        let begin = |part: &SequencePart| part.core.strided(part.chunk, &part.region).offset;
        let before = |a: &SequencePart, b: &SequencePart| begin(a) + a.cells() <= begin(b);
        let common = |a: &SequencePart, b: &SequencePart| a.memory() == b.memory() && !before(a, b) && !before(b, a);
        self.parts.iter().any(|part| other.parts.iter().any(|candidate| common(part, candidate)))
    }

    /// True if a cell is in the sequence more than once.
    pub fn has_cells_twice(&self) -> bool {
        let range = |part: &SequencePart| {
            let begin = part.core.strided(part.chunk, &part.region).offset;
            (part.memory(), begin, begin + part.cells())
        };
        let mut ranges: Vec<(u64, u64, u64)> = self.parts.iter().map(range).collect();
        ranges.sort_unstable();
        ranges.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].2 > pair[1].1)
    }

    /// Subsequence of a range of cells; no cell is copied.
    pub fn only(&self, cells: Range<u64>) -> Self {
        let mut parts = Vec::new();
        for (part, within) in self.within(cells.clone()) {
            let first = part.first + within.start - cells.start;
            parts.push(SequencePart { region: part.region_of(within), first, ..part.clone() });
        }
        Self { parts, length: cells.end - cells.start, element: self.element }
    }

    /// Parts with cells of a range, each with the range of its own cells.
    pub(super) fn within(&self, cells: Range<u64>) -> impl Iterator<Item = (&SequencePart, Range<u64>)> {
        let begin = self.parts.partition_point(|part| part.first + part.cells() <= cells.start);
        let reached = self.parts[begin..].iter().take_while(move |part| part.first < cells.end);
        reached.map(move |part| {
            let end = cells.end.min(part.first + part.cells());
            (part, cells.start.max(part.first) - part.first..end - part.first)
        })
    }

    /// Copies a range of cells to `into`, which has the size of the range in bytes. Waits for
    /// queued work.
    ///
    /// # Errors
    /// A device failure.
    #[track_caller]
    pub fn read(&self, cells: Range<u64>, mut into: &mut [u8]) -> Result<()> {
        let _call = CallSite::enter();
        let size = self.element.bytes;
        for (part, within) in self.within(cells.clone()) {
            let bytes = (within.end - within.start) as usize * size;
            let (head, rest) = into.split_at_mut(bytes);
            let view = part.core.strided(part.chunk, &part.region_of(within));
            let pieces = [PackedBox { buffer: &part.lease, view, payload_offset: 0 }];
            part.core.device().gather_into(size, &pieces, head)?;
            into = rest;
        }
        Ok(())
    }

    /// Bytes of the last cell of a nonempty sequence. Waits for queued work.
    ///
    /// # Errors
    /// A device failure.
    #[track_caller]
    pub fn last(&self) -> Result<Vec<u8>> {
        let _call = CallSite::enter();
        let mut last = vec![0; self.element.bytes];
        self.read(self.length - 1..self.length, &mut last)?;
        Ok(last)
    }

    /// Replaces a range of cells by the bytes in `from`, which has the size of the range.
    ///
    /// # Errors
    /// A device failure.
    #[track_caller]
    pub fn write(&self, cells: Range<u64>, mut from: &[u8]) -> Result<()> {
        let _call = CallSite::enter();
        let size = self.element.bytes;
        self.were_written(cells.clone());
        for (part, within) in self.within(cells.clone()) {
            let bytes = (within.end - within.start) as usize * size;
            let (head, rest) = from.split_at(bytes);
            let view = part.core.strided(part.chunk, &part.region_of(within));
            let pieces = [PackedBox { buffer: &part.lease, view, payload_offset: 0 }];
            match bytes % 4 {
                0 => part.core.device().scatter(size, head, &pieces)?,
                _ => {
                    let mut padded = head.to_vec();
                    padded.resize(bytes.next_multiple_of(4), 0);
                    part.core.device().scatter(size, &padded, &pieces)?;
                }
            }
            from = rest;
        }
        Ok(())
    }
}

/// Corresponding cells of several sequences: one part of each sequence.
pub struct AlignedParts {
    /// Parts in the order of the sequences.
    pub parts: Vec<SequencePart>,
    /// Number of preceding cells in each sequence.
    pub first: u64,
}

impl AlignedParts {
    /// Number of cells of each part.
    pub fn cells(&self) -> u64 {
        self.parts[0].cells()
    }
}

/// Splits sequences of equal length at the part boundaries of all of them, so that a kernel can run
/// over one part of each.
pub fn align_parts(all: &[&CellSequence]) -> Vec<AlignedParts> {
    let starts = all.iter().flat_map(|cells| cells.parts.iter().map(|part| part.first));
    let mut ends: Vec<u64> = starts.chain(all.first().map(|cells| cells.length)).filter(|&at| at > 0).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut out = Vec::with_capacity(ends.len());
    let mut first = 0;
    for end in ends {
        let part = |cells: &&CellSequence| cells.only(first..end).parts.swap_remove(0);
        out.push(AlignedParts { parts: all.iter().map(part).collect(), first });
        first = end;
    }
    out
}

impl CellSequence {
    /// Allocates local memory for `cells` cells: one array, or several if one buffer is too small.
    /// The arrays are cut at multiples of 2,048 cells.
    pub(crate) fn scratch(
        context: &ArrayContext,
        name: &str,
        element: &'static ElementInfo,
        cells: u64,
    ) -> Result<Self> {
        const CELLS_PER_GROUP: u64 = 2048;
        let most = context.device.limits().buffer_bytes / element.bytes as u64;
        let some = if cells <= most { cells.max(1) } else { (most / CELLS_PER_GROUP * CELLS_PER_GROUP).max(1) };
        let mut all = Self::empty(element);
        for first in (0..cells).step_by(some as usize) {
            let layout = Layout::new([some.min(cells - first) as i64]);
            let core = ArrayCore::create_local(context.clone(), name, element, &layout, wgpu::BufferUsages::empty())?;
            all.push(&core, 0, core.bounds())?;
        }
        Ok(all)
    }

    /// Records a write to a range of cells in the access history. Needed after
    /// [`lend`](Self::lend), [`lend_slices`](super::lend_slices) and kernels over
    /// [`SequencePart::in_words`]; [`Lending`](super::Lending) and [`write`](Self::write) record
    /// their writes.
    pub fn were_written(&self, cells: Range<u64>) {
        for (part, within) in self.within(cells) {
            part.core.record_write(part.chunk, &part.region_of(within), "a sequence", CallSite::here());
        }
    }

    /// Sets all cells to a value given as bytes.
    ///
    /// # Errors
    /// A device failure.
    #[track_caller]
    pub fn fill(&self, value: &[u8]) -> Result<()> {
        let _call = CallSite::enter();
        self.were_written(0..self.length);
        for part in &self.parts {
            let view = part.core.strided(part.chunk, &part.region);
            part.core.device().fill(value, &[BufferBox { buffer: &part.lease, view }])?;
        }
        Ok(())
    }

    /// Copies the cells to new memory.
    ///
    /// # Errors
    /// Too little memory, a device failure.
    #[track_caller]
    pub fn copied(&self) -> Result<Self> {
        let _call = CallSite::enter();
        let Some(first) = self.parts.first() else { return Ok(self.clone()) };
        let copy = Self::scratch(first.core.context(), "cells apart", self.element, self.length)?;
        self.copy_to(&copy)?;
        Ok(copy)
    }

    /// Returns the sequence, or a copy if a write to `output` would change it: both share memory,
    /// unless they are the same cells and `may_be_same` is true.
    ///
    /// # Errors
    /// As [`copied`](Self::copied).
    #[track_caller]
    pub fn apart_from(self, output: Option<&Self>, may_be_same: bool) -> Result<Self> {
        let _call = CallSite::enter();
        let meets = |output: &&Self| output.shares_memory(&self) && !(may_be_same && output.same_as(&self));
        if output.filter(meets).is_none() || self.parts.is_empty() {
            return Ok(self);
        }
        self.copied()
    }

    /// Copies the cells to another sequence of equal length and type.
    ///
    /// # Errors
    /// A device failure.
    #[track_caller]
    pub fn copy_to(&self, other: &Self) -> Result<()> {
        let _call = CallSite::enter();
        other.were_written(0..other.length);
        for AlignedParts { parts, .. } in align_parts(&[self, other]) {
            let (from, to) = (&parts[0], &parts[1]);
            let read = BufferBox { buffer: &from.lease, view: from.core.strided(from.chunk, &from.region) };
            let written = BufferBox { buffer: &to.lease, view: to.core.strided(to.chunk, &to.region) };
            from.core.device().copy_boxes(self.element.bytes, &[(read, written)])?;
        }
        Ok(())
    }
}
