//! [`Cells`]: a sequence without its static element type.

use std::ops::Range;
use std::rc::Rc;

use super::sequence_part::{SequencePart, words};
use crate::array::{ArrayCore, Home};
use crate::chunks::ChunkId;
use crate::device::{BufferBox, Lease, PackedBox, Strided};
use crate::element::ElementInfo;
use crate::error::{ArrayError, CallSite, Result};
use crate::layout::Layout;
use crate::region::Region;

/// The cells of a [`Sequence`] without their static type.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    parts: Vec<SequencePart>,
    length: u64,
    element: &'static ElementInfo,
}

impl Cells {
    pub fn none(element: &'static ElementInfo) -> Self {
        Self { parts: Vec::new(), length: 0, element }
    }

    /// A sequence of the cells of one box of a chunk.
    pub fn of(core: &Rc<ArrayCore>, chunk: ChunkId, region: Region) -> Result<Self> {
        let mut cells = Self::none(core.element());
        cells.push(core, chunk, region)?;
        Ok(cells)
    }

    /// Appends a box of a chunk.
    pub fn push(&mut self, core: &Rc<ArrayCore>, chunk: ChunkId, region: Region) -> Result<()> {
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
    pub fn cell(&self, position: u64) -> String {
        match self.within(position..position + 1).next() {
            Some((part, within)) => {
                let at = part.region.start[0] + within.start as i64;
                format!("cell {at} of array \"{}\"", part.core.name())
            }
            None => format!("cell {position} of {}", self.label()),
        }
    }

    /// Buffer and strides of the boxes of a range of cells, in order.
    pub fn boxes(&self, cells: Range<u64>) -> impl Iterator<Item = (&Lease, Strided)> {
        self.within(cells.clone())
            .map(|(part, within)| (&part.lease, part.core.strided(part.chunk, &part.region_of(within))))
    }

    /// Words per cell in the binding of [`SequencePart::in_words`].
    pub fn words_per_cell(&self) -> usize {
        words(self.element)
    }

    pub fn parts(&self) -> &[SequencePart] {
        &self.parts
    }

    pub fn len(&self) -> u64 {
        self.length
    }

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

    /// Fails if the lengths differ; `what` is the role of the other sequence in the error message.
    pub fn check_length(&self, other: &Self, what: &str) -> Result<()> {
        if self.length == other.length {
            return Ok(());
        }
        let (given, expected) = (other.length, self.length);
        let text = format!("{what} has {given} cells ({}), but {} has {expected}", other.label(), self.label());
        Err(ArrayError::Other(text).into())
    }

    /// True if both sequences consist of the same cells.
    pub fn same_as(&self, other: &Self) -> bool {
        let location =
            |part: &SequencePart| (part.memory(), part.core.strided(part.chunk, &part.region).offset, part.cells());
        self.parts.iter().map(location).eq(other.parts.iter().map(location))
    }

    /// Ranges of about `bytes` bytes that cover the sequence, each a whole number of groups of
    /// `group` cells.
    pub fn slices(&self, bytes: usize, group: usize) -> impl Iterator<Item = Range<u64>> + use<> {
        let (length, some) = (self.length, ((bytes / self.element.bytes / group).max(1) * group) as u64);
        (0..length.div_ceil(some)).map(move |i| i * some..length.min((i + 1) * some))
    }

    /// True if both use the same memory, even if no cell is in both.
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

    /// The subsequence of a range of cells.
    pub fn only(&self, cells: Range<u64>) -> Self {
        let mut parts = Vec::new();
        for (part, within) in self.within(cells.clone()) {
            let first = part.first + within.start - cells.start;
            parts.push(SequencePart { region: part.region_of(within), first, ..part.clone() });
        }
        Self { parts, length: cells.end - cells.start, element: self.element }
    }

    /// The parts that hold cells of a range, each with the range of its own cells.
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
    pub fn read(&self, cells: Range<u64>, mut into: &mut [u8]) -> Result<()> {
        let size = self.element.bytes;
        for (part, within) in self.within(cells.clone()) {
            let bytes = (within.end - within.start) as usize * size;
            let (head, rest) = into.split_at_mut(bytes);
            let (device, view) = (part.core.device(), part.core.strided(part.chunk, &part.region_of(within)));
            if device.is_host() {
                let begin = view.offset as usize * size;
                device.lend([&part.lease], |[chunk]| head.copy_from_slice(&chunk[begin..begin + bytes]))?;
            } else {
                let pieces = [PackedBox { buffer: &part.lease, view, payload_offset: 0 }];
                let staged = device.gather(size, &pieces, bytes.next_multiple_of(4) as u64)?;
                head.copy_from_slice(&staged.as_ref()[..bytes]);
            }
            into = rest;
        }
        Ok(())
    }

    /// The bytes of the last cell of a sequence that is not empty. Waits for queued work.
    pub fn last(&self) -> Result<Vec<u8>> {
        let mut last = vec![0; self.element.bytes];
        self.read(self.length - 1..self.length, &mut last)?;
        Ok(last)
    }

    /// Replaces a range of cells by the bytes of `from`, the reverse of [`read`](Self::read).
    pub fn write(&self, cells: Range<u64>, mut from: &[u8]) -> Result<()> {
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

/// Corresponding cells of several sequences: one part of each.
pub(crate) struct AlignedParts {
    pub parts: Vec<SequencePart>,
    /// The number of preceding cells.
    pub first: u64,
}

impl AlignedParts {
    pub fn cells(&self) -> u64 {
        self.parts[0].cells()
    }
}

/// Splits sequences of equal length at the part boundaries of all of them.
pub(crate) fn align_parts(all: &[&Cells]) -> Vec<AlignedParts> {
    let starts = all.iter().flat_map(|cells| cells.parts.iter().map(|part| part.first));
    let mut ends: Vec<u64> = starts.chain(all.first().map(|cells| cells.length)).filter(|&at| at > 0).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut out = Vec::with_capacity(ends.len());
    let mut first = 0;
    for end in ends {
        let part = |cells: &&Cells| cells.only(first..end).parts.swap_remove(0);
        out.push(AlignedParts { parts: all.iter().map(part).collect(), first });
        first = end;
    }
    out
}

impl Cells {
    /// Allocates local memory for `cells` cells: one array, or several if one buffer is too small.
    /// The arrays are cut at multiples of 2,048 cells.
    pub fn scratch(home: &Home, name: &str, element: &'static ElementInfo, cells: u64) -> Result<Self> {
        const GROUP: u64 = 2048;
        let most = home.device.limits().buffer_bytes / element.bytes as u64;
        let some = if cells <= most { cells.max(1) } else { (most / GROUP * GROUP).max(1) };
        let mut all = Self::none(element);
        for first in (0..cells).step_by(some as usize) {
            let layout = Layout::new([some.min(cells - first) as i64]);
            let core = ArrayCore::create_local(home.clone(), name, element, &layout, wgpu::BufferUsages::empty())?;
            all.push(&core, 0, core.bounds())?;
        }
        Ok(all)
    }

    /// Records a write by the host to a range of cells.
    pub fn were_written(&self, cells: Range<u64>) {
        for (part, within) in self.within(cells) {
            part.core.was_written(part.chunk, &part.region_of(within), "a sequence", CallSite::here());
        }
    }

    /// Sets all cells to a value given as bytes.
    pub fn fill(&self, value: &[u8]) -> Result<()> {
        self.were_written(0..self.length);
        for part in &self.parts {
            let view = part.core.strided(part.chunk, &part.region);
            part.core.device().fill(value, &[BufferBox { buffer: &part.lease, view }])?;
        }
        Ok(())
    }

    /// Copies the cells to new memory.
    pub fn copied(&self) -> Result<Self> {
        let Some(first) = self.parts.first() else { return Ok(self.clone()) };
        let copy = Self::scratch(first.core.home(), "cells apart", self.element, self.length)?;
        self.copy_to(&copy)?;
        Ok(copy)
    }

    /// Returns the sequence, or a copy if writing to `output` would change it: both share memory,
    /// unless they are the same cells and `may_be_same` is true.
    pub fn apart_from(self, output: Option<&Self>, may_be_same: bool) -> Result<Self> {
        let meets = |output: &&Self| output.shares_memory(&self) && !(may_be_same && output.same_as(&self));
        if output.filter(meets).is_none() || self.parts.is_empty() {
            return Ok(self);
        }
        self.copied()
    }

    /// Copies the cells to another sequence of equal length and type.
    pub fn copy_to(&self, other: &Self) -> Result<()> {
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
