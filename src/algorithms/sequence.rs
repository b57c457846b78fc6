//! [`Sequence`]: cells of this rank, read one after the other.

use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;

use crate::array::{ArrayCore, Growable, Home, LocalArray, LocalSection};
use crate::chunks::ChunkId;
use crate::device::{BoxOf, ChunkBuffer, Device, Lease, Piece};
use crate::element::{Element, ElementInfo, ElementKind};
use crate::error::{ArrayError, Result};
use crate::extents::Index;
use crate::kernel::Binding;
use crate::layout::Layout;
use crate::region::Region;

/// Cells of this rank as one sequence: a section of a 1-D array, or several, of several chunks, one after the other.
///
/// Made from what it consists of: a section, a slice or a vector of sections, a whole local or growable array.
#[derive(Debug, Clone)]
pub struct Sequence<T> {
    cells: Result<Cells>,
    element: PhantomData<T>,
}

/// The cells of a [`Sequence`], without their type.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    parts: Vec<Part>,
    length: u64,
    element: &'static ElementInfo,
}

/// A part of it: a box of one chunk.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub core: Rc<ArrayCore>,
    pub chunk: ChunkId,
    pub region: Region,
    /// How many cells come before it.
    pub first: u64,
}

impl Part {
    pub fn cells(&self) -> u64 {
        self.region.cells()
    }

    /// A number of the memory that it lies in.
    pub fn memory(&self) -> u64 {
        self.core.memory(self.chunk)
    }

    /// It as a kernel sees it.
    pub fn binding(&self) -> Binding {
        self.core.binding(self.chunk, self.region)
    }

    /// It as a kernel sees it that moves cells of any type: in words of 32 bits, but those of 8 and 16 bits as they are.
    pub fn in_words(&self) -> Binding {
        let binding = self.binding();
        let words = words(binding.element) as i64;
        let scaled = |region: &Region| {
            let times = |index: Index| Index::from_fn(1, |axis| index[axis] * words);
            Region::between(times(region.start), times(region.end))
        };
        if let ElementKind::Packed(_) = binding.element.kind {
            return binding;
        }
        Binding {
            element: &u32::INFO,
            storage: scaled(&binding.storage),
            section: scaled(&binding.section),
            owned: scaled(&binding.owned),
            shape: Index::from([binding.shape[0] * words]),
            ..binding
        }
    }

    /// The box of some of its cells.
    pub fn only(&self, cells: Range<u64>) -> Region {
        let start = self.region.start[0];
        let at = |cell: u64| Index::from([start + cell as i64]);
        Region::between(at(cells.start), at(cells.end))
    }
}

impl<T: Element> Sequence<T> {
    /// Sections, one after the other.
    fn of<'s>(sections: impl IntoIterator<Item = &'s LocalSection<T, 1>>) -> Self
    where
        T: 's,
    {
        let mut cells = Cells { parts: Vec::new(), length: 0, element: &T::INFO };
        let mut add = |section: &LocalSection<T, 1>| {
            let region = section.one_box("a sequence")?;
            if !region.is_empty() {
                let (core, chunk) = (section.core().clone(), section.chunk());
                region.check_within(&core.chunks().storage(chunk), "the chunk")?;
                cells.parts.push(Part { core, chunk, region, first: cells.length });
                cells.length += region.cells();
            }
            Ok(())
        };
        let added = sections.into_iter().try_for_each(&mut add);
        Self { cells: added.map(|()| cells), element: PhantomData }
    }

    /// Without the type; or the mistake made when a section was named.
    pub(super) fn cells(&self) -> Result<&Cells> {
        self.cells.as_ref().map_err(Clone::clone)
    }
}

impl<T: Element> From<LocalSection<T, 1>> for Sequence<T> {
    fn from(section: LocalSection<T, 1>) -> Self {
        Self::of([&section])
    }
}

impl<T: Element> From<&LocalSection<T, 1>> for Sequence<T> {
    fn from(section: &LocalSection<T, 1>) -> Self {
        Self::of([section])
    }
}

impl<T: Element> From<&[LocalSection<T, 1>]> for Sequence<T> {
    fn from(sections: &[LocalSection<T, 1>]) -> Self {
        Self::of(sections)
    }
}

impl<T: Element> From<&Vec<LocalSection<T, 1>>> for Sequence<T> {
    fn from(sections: &Vec<LocalSection<T, 1>>) -> Self {
        Self::of(sections)
    }
}

impl<T: Element> From<Vec<LocalSection<T, 1>>> for Sequence<T> {
    fn from(sections: Vec<LocalSection<T, 1>>) -> Self {
        Self::of(&sections)
    }
}

impl<T: Element> From<&LocalArray<T, 1>> for Sequence<T> {
    fn from(array: &LocalArray<T, 1>) -> Self {
        Self::of([&array.all()])
    }
}

impl<T: Element> From<&Growable<T>> for Sequence<T> {
    fn from(array: &Growable<T>) -> Self {
        Self::of([&array.all()])
    }
}

impl<T: Element> From<&Sequence<T>> for Sequence<T> {
    fn from(sequence: &Sequence<T>) -> Self {
        sequence.clone()
    }
}

/// Words of a cell as kernels move it.
fn words(element: &ElementInfo) -> usize {
    element.bytes.div_ceil(4)
}

impl Cells {
    /// Words of a cell as [`Part::in_words`] has them.
    pub fn words_a_cell(&self) -> usize {
        words(self.element)
    }

    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub fn len(&self) -> u64 {
        self.length
    }

    pub fn element(&self) -> &'static ElementInfo {
        self.element
    }

    /// For messages.
    pub fn label(&self) -> String {
        match self.parts.as_slice() {
            [] => "an empty sequence".to_string(),
            [only] => only.core.label(&only.region),
            [first, rest @ ..] => format!("{} and {} more sections", first.core.label(&first.region), rest.len()),
        }
    }

    /// That both have as many cells, `what` being the role of the other.
    pub fn check_length(&self, other: &Self, what: &str) -> Result<()> {
        if self.length == other.length {
            return Ok(());
        }
        let (given, expected) = (other.length, self.length);
        let text = format!("{what} has {given} cells ({}), but {} has {expected}", other.label(), self.label());
        Err(ArrayError::Other(text).into())
    }

    /// Whether both are the same cells.
    pub fn same_as(&self, other: &Self) -> bool {
        let place = |part: &Part| (part.memory(), part.core.strided(part.chunk, &part.region).offset, part.cells());
        self.parts.iter().map(place).eq(other.parts.iter().map(place))
    }

    /// Some cells at a time, in whole groups of `group`, of about `bytes` bytes.
    pub fn slices(&self, bytes: usize, group: usize) -> impl Iterator<Item = Range<u64>> + use<> {
        let (length, some) = (self.length, ((bytes / self.element.bytes / group).max(1) * group) as u64);
        (0..length.div_ceil(some)).map(move |i| i * some..length.min((i + 1) * some))
    }

    /// Whether they have memory in common.
    pub fn shares_memory(&self, other: &Self) -> bool {
        self.parts.iter().any(|part| other.parts.iter().any(|one| one.memory() == part.memory()))
    }

    /// Whether they have cells in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        let begin = |part: &Part| part.core.strided(part.chunk, &part.region).offset;
        let before = |a: &Part, b: &Part| begin(a) + a.cells() <= begin(b);
        let common = |a: &Part, b: &Part| a.memory() == b.memory() && !before(a, b) && !before(b, a);
        self.parts.iter().any(|part| other.parts.iter().any(|one| common(part, one)))
    }

    /// Some of the cells.
    pub fn only(&self, cells: Range<u64>) -> Self {
        let mut parts = Vec::new();
        for (part, within) in self.within(&cells) {
            let first = part.first + within.start - cells.start;
            parts.push(Part { region: part.only(within), first, ..part.clone() });
        }
        Self { parts, length: cells.end - cells.start, element: self.element }
    }

    /// The parts that hold some of these cells, with those of their own that they hold.
    fn within(&self, cells: &Range<u64>) -> impl Iterator<Item = (&Part, Range<u64>)> {
        let cells = cells.clone();
        let begin = self.parts.partition_point(|part| part.first + part.cells() <= cells.start);
        let reached = self.parts[begin..].iter().take_while(move |part| part.first < cells.end);
        reached.map(move |part| {
            let end = cells.end.min(part.first + part.cells());
            (part, cells.start.max(part.first) - part.first..end - part.first)
        })
    }

    /// Some of the cells as bytes into a slice of as many. Waits for queued work.
    pub fn read(&self, cells: Range<u64>, mut into: &mut [u8]) -> Result<()> {
        let size = self.element.bytes;
        for (part, within) in self.within(&cells) {
            let bytes = (within.end - within.start) as usize * size;
            let (head, rest) = into.split_at_mut(bytes);
            if let Some(lease) = part.core.lease(part.chunk)? {
                let (device, view) = (part.core.device(), part.core.strided(part.chunk, &part.only(within)));
                if device.is_host() {
                    let begin = view.offset as usize * size;
                    device.lend([&lease], |[chunk]| head.copy_from_slice(&chunk[begin..begin + bytes]))?;
                } else {
                    let pieces = [Piece { buffer: &lease, view, payload_offset: 0 }];
                    let staged = device.gather(size, &pieces, bytes.next_multiple_of(4) as u64)?;
                    head.copy_from_slice(&staged.as_ref()[..bytes]);
                }
            }
            into = rest;
        }
        Ok(())
    }

    /// The reverse of [`read`](Self::read).
    pub fn write(&self, cells: Range<u64>, mut from: &[u8]) -> Result<()> {
        let size = self.element.bytes;
        for (part, within) in self.within(&cells) {
            let bytes = (within.end - within.start) as usize * size;
            let (head, rest) = from.split_at(bytes);
            if let Some(lease) = part.core.lease(part.chunk)? {
                let view = part.core.strided(part.chunk, &part.only(within));
                let pieces = [Piece { buffer: &lease, view, payload_offset: 0 }];
                match bytes % 4 {
                    0 => part.core.device().scatter(size, head, &pieces)?,
                    _ => {
                        let mut padded = head.to_vec();
                        padded.resize(bytes.next_multiple_of(4), 0);
                        part.core.device().scatter(size, &padded, &pieces)?;
                    }
                }
            }
            from = rest;
        }
        Ok(())
    }
}

/// Cells of several sequences that lie together: one part of each.
pub(super) struct Together {
    pub parts: Vec<Part>,
    /// How many cells come before.
    pub first: u64,
}

impl Together {
    pub fn cells(&self) -> u64 {
        self.parts[0].cells()
    }
}

/// Sequences of equal length, cut where any of them is cut.
pub(super) fn together(all: &[&Cells]) -> Vec<Together> {
    let starts = all.iter().flat_map(|one| one.parts.iter().map(|part| part.first));
    let mut ends: Vec<u64> = starts.chain(all.first().map(|one| one.length)).filter(|&at| at > 0).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut out = Vec::with_capacity(ends.len());
    let mut first = 0;
    for end in ends {
        let part = |one: &&Cells| one.only(first..end).parts.swap_remove(0);
        out.push(Together { parts: all.iter().map(part).collect(), first });
        first = end;
    }
    out
}

impl Cells {
    /// An array of this rank for as many cells of a type.
    pub fn scratch(home: &Home, name: &str, element: &'static ElementInfo, cells: u64) -> Result<Self> {
        let extent = i64::try_from(cells).map_err(|_| ArrayError::Other(format!("{cells} cells are too many")))?;
        let layout = Layout::new([extent]);
        let core = ArrayCore::create_local(home.clone(), name, element, &layout, wgpu::BufferUsages::empty())?;
        let part = Part { region: core.bounds(), core, chunk: 0, first: 0 };
        Ok(Self { parts: if cells > 0 { vec![part] } else { Vec::new() }, length: cells, element })
    }

    /// Sets all cells to one of these bytes.
    pub fn fill(&self, value: &[u8]) -> Result<()> {
        for part in &self.parts {
            if let Some(lease) = part.core.lease(part.chunk)? {
                let view = part.core.strided(part.chunk, &part.region);
                part.core.device().fill(value, &[BoxOf { buffer: &lease, view }])?;
            }
        }
        Ok(())
    }

    /// Copies its cells onto those of another sequence of equal length and type.
    pub fn copy_to(&self, other: &Self) -> Result<()> {
        for Together { parts, .. } in together(&[self, other]) {
            let (from, to) = (&parts[0], &parts[1]);
            if let (Some(read), Some(written)) = (from.core.lease(from.chunk)?, to.core.lease(to.chunk)?) {
                let read = BoxOf { buffer: &read, view: from.core.strided(from.chunk, &from.region) };
                let written = BoxOf { buffer: &written, view: to.core.strided(to.chunk, &to.region) };
                from.core.device().copy_boxes(self.element.bytes, &[(read, written)])?;
            }
        }
        Ok(())
    }
}

/// All cells of a sequence, lent to the host.
pub(super) struct Lent<'a> {
    buffers: Vec<&'a mut [u8]>,
    /// Where each part begins: its first cell, its buffer, its first byte there.
    parts: &'a [(u64, usize, usize)],
    size: usize,
}

impl Lent<'_> {
    /// The bytes of a cell, which must be one of the sequence.
    pub fn cell(&mut self, cell: u64) -> &mut [u8] {
        let part = match self.parts {
            [only] => only,
            parts => &parts[parts.partition_point(|(first, ..)| *first <= cell) - 1],
        };
        let (first, buffer, start) = *part;
        let begin = start + (cell - first) as usize * self.size;
        &mut self.buffers[buffer][begin..begin + self.size]
    }
}

impl Cells {
    /// Lends all cells to the host, on a device that is the host. Nothing else may touch them meanwhile.
    pub fn lent<R>(&self, device: &Device, f: impl FnOnce(&mut Lent) -> R) -> Result<R> {
        let mut leases: Vec<Lease> = Vec::new();
        let mut parts = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let Some(lease) = part.core.lease(part.chunk)? else { continue };
            let known = leases.iter().position(|one| one.same_as(&lease));
            let offset = part.core.strided(part.chunk, &part.region).offset as usize;
            parts.push((part.first, known.unwrap_or(leases.len()), offset * self.element.bytes));
            if known.is_none() {
                leases.push(lease);
            }
        }
        let chunks: Vec<&ChunkBuffer> = leases.iter().map(|lease| &**lease).collect();
        let size = self.element.bytes;
        Ok(device.lend_all(&chunks, |buffers| f(&mut Lent { buffers, parts: &parts, size }))?)
    }
}
