//! Sections of this rank, read one after the other as one sequence.

use std::ops::Range;
use std::rc::Rc;

use crate::array::{ArrayCore, LocalSection};
use crate::chunks::ChunkId;
use crate::device::{Lease, Piece, Strided};
use crate::element::{Element, ElementInfo};
use crate::error::Result;
use crate::region::Region;
use crate::transport::Payload;
use crate::world::World;

/// This rank's own elements: those of a section, or of several, one after the other. Ranks may have any number of them;
/// a rank without any gives an empty list or an empty section.
#[derive(Debug, Clone)]
pub struct Sequence<T>(Vec<LocalSection<T, 1>>);

impl<T> From<LocalSection<T, 1>> for Sequence<T> {
    fn from(section: LocalSection<T, 1>) -> Self {
        Self(vec![section])
    }
}

impl<T: Clone> From<&LocalSection<T, 1>> for Sequence<T> {
    fn from(section: &LocalSection<T, 1>) -> Self {
        Self(vec![section.clone()])
    }
}

impl<T> From<Vec<LocalSection<T, 1>>> for Sequence<T> {
    fn from(sections: Vec<LocalSection<T, 1>>) -> Self {
        Self(sections)
    }
}

impl<T: Clone> From<&[LocalSection<T, 1>]> for Sequence<T> {
    fn from(sections: &[LocalSection<T, 1>]) -> Self {
        Self(sections.to_vec())
    }
}

/// A box of one of this rank's chunks, without its type.
type Own = (Rc<ArrayCore>, ChunkId, Region);

impl<T: Element> Sequence<T> {
    /// The sequence without its type.
    ///
    /// # Errors
    /// The mistake made when a section was named; a section of several boxes.
    pub(crate) fn cells(&self) -> Result<OwnCells> {
        let own =
            |section: &LocalSection<T, 1>| Ok((section.core().clone(), section.chunk(), section.one_box("deliver")?));
        OwnCells::new(&T::INFO, self.0.iter().map(own).collect::<Result<_>>()?)
    }
}

/// What is delivered: the name of the array that arrives, and its type. The same on every rank.
pub(crate) struct Column<'a> {
    pub name: &'a str,
    pub element: &'static ElementInfo,
}

/// A sequence of cells of one type on this rank, whose chunks are pinned.
pub(crate) struct OwnCells {
    element: &'static ElementInfo,
    parts: Vec<Placed>,
    length: u64,
}

/// A section with cells, and how many of the sequence come before it.
struct Placed {
    core: Rc<ArrayCore>,
    chunk: ChunkId,
    region: Region,
    lease: Lease,
    start: u64,
}

impl OwnCells {
    fn new(element: &'static ElementInfo, sections: Vec<Own>) -> Result<Self> {
        let (mut parts, mut length) = (Vec::with_capacity(sections.len()), 0);
        for (core, chunk, region) in sections {
            if let (Some(lease), false) = (core.lease(chunk)?, region.is_empty()) {
                let start = length;
                length += region.cells();
                parts.push(Placed { core, chunk, region, lease, start });
            }
        }
        Ok(Self { element, parts, length })
    }

    pub fn element(&self) -> &'static ElementInfo {
        self.element
    }

    /// How many cells there are.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// The sections, for a message.
    pub fn label(&self) -> String {
        match &self.parts[..] {
            [] => "an empty list of sections".to_string(),
            [one] => one.core.label(&one.region),
            [first, ..] => format!("{} sections, the first {}", self.parts.len(), first.core.label(&first.region)),
        }
    }

    /// A cell, for a message.
    pub fn cell(&self, place: u64) -> String {
        let part = &self.parts[self.part(place)];
        let at = part.region.start[0] + (place - part.start) as i64;
        format!("cell {at} of array \"{}\"", part.core.name())
    }

    /// The section that holds a cell.
    fn part(&self, place: u64) -> usize {
        self.parts.partition_point(|part| part.start <= place).saturating_sub(1)
    }

    /// Where the cells of a range lie, in their order.
    pub fn boxes(&self, cells: Range<u64>) -> impl Iterator<Item = (&Lease, Strided)> {
        let touched = self.parts[self.part(cells.start).min(self.parts.len())..].iter();
        touched.take_while(move |part| part.start < cells.end).map(move |part| {
            let first = cells.start.max(part.start) - part.start;
            let end = (cells.end - part.start).min(part.region.cells());
            let origin = part.region.start[0];
            let region = Region { start: [origin + first as i64].into(), end: [origin + end as i64].into() };
            (&part.lease, part.core.strided(part.chunk, &region))
        })
    }

    /// The cells of some ranges, one behind the other.
    pub fn read(&self, world: &World, ranges: impl Iterator<Item = Range<u64>>) -> Result<Payload> {
        let size = self.element.bytes as u64;
        let (mut pieces, mut bytes, mut end, mut padded) = (Vec::new(), 0, 0, false);
        for (buffer, view) in ranges.flat_map(|range| self.boxes(range)) {
            padded |= end > bytes;
            pieces.push(Piece { buffer, view, payload_offset: end });
            bytes += view.cells() * size;
            end = (end + view.cells() * size).next_multiple_of(4);
        }
        let staged = world.pack(self.element.bytes, &pieces, end)?;
        if !padded {
            return Ok(Box::new(staged.part(0..bytes as usize).expect("a part of this payload")));
        }
        // Pieces begin at whole words; small cells do not end there.
        let mut dense = Vec::with_capacity(bytes as usize);
        for Piece { view, payload_offset, .. } in pieces {
            dense.extend_from_slice(&staged.as_ref()[payload_offset as usize..][..(view.cells() * size) as usize]);
        }
        Ok(Box::new(dense))
    }
}
