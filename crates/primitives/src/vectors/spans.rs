//! Spans of a vector on the ranks, and vectors with given spans.

use std::ops::Range;

use zippy::array::{GlobalArray, LocalSection, Sequence};
use zippy::collective::CellSequence;
use zippy::element::Element;
use zippy::error::Result;
use zippy::layout::{Layout, Split};
use zippy::ownership::Ownership;
use zippy::{ArrayOptions, World};

use super::vector::Vector;

/// Range of a vector's cells in one chunk; indices are relative to the vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub cells: Range<u64>,
    pub owner: usize,
}

/// Returns the spans of a vector in ascending order of cells; none is empty. Every rank visits all
/// chunks.
pub(crate) fn spans<T: Element>(vector: &Vector<T>) -> Result<Vec<Span>> {
    let (region, array) = (vector.region()?, vector.section().array());
    let core = array.core();
    let mut all = Vec::new();
    core.chunks().touching(&region, |chunk, part| {
        let first = (part.start[0] - region.start[0]) as u64;
        all.push(Span { cells: first..first + part.cells(), owner: core.ownership().owner(chunk).rank });
    });
    all.sort_by_key(|span| span.cells.start);
    Ok(all)
}

/// Returns the spans with ends moved to multiples of `block` cells, without empty ones.
pub(crate) fn spans_of_whole_blocks(spans: &[Span], block: u64) -> Vec<Span> {
    let last = spans.last().map_or(0, |span| span.cells.end);
    let whole = |at: u64| if at == last { last } else { at / block * block };
    let rounded = spans.iter().map(|span| Span { cells: whole(span.cells.start)..whole(span.cells.end), ..*span });
    rounded.filter(|span| !span.cells.is_empty()).collect()
}

/// Vector with requested cuts: the original vector, or a copy.
pub(crate) struct Fitted<T> {
    pub vector: Vector<T>,
    copy_of: Option<Vector<T>>,
    /// Array that holds the copy.
    _array: Option<GlobalArray<T, 1>>,
}

pub(crate) fn array<T: Element>(world: &World, name: &str, cells: u64, spans: &[Span]) -> Result<GlobalArray<T, 1>> {
    if spans.is_empty() {
        return world.array(name, &Layout::new([cells as i64]).split([Split::Auto]));
    }
    let lengths = spans.iter().map(|span| (span.cells.end - span.cells.start) as i64).collect();
    let layout = Layout::new([cells as i64]).split([Split::Sizes(lengths)]);
    let owners = Ownership::table(spans.iter().map(|span| span.owner).collect(), world.size())?;
    world.array(name, ArrayOptions::new(&layout).owned_by(owners))
}

/// Returns the vector if its spans are `wanted`, otherwise a new array with these spans; copies the
/// cells if `filled`. Collective, unless the vector itself is returned.
pub(crate) fn fitted<T: Element>(
    world: &World,
    name: &str,
    vector: &Vector<T>,
    wanted: &[Span],
    filled: bool,
) -> Result<Fitted<T>> {
    if spans(vector)? == wanted {
        return Ok(Fitted { vector: vector.clone(), copy_of: None, _array: None });
    }
    // A reserved name, which programs do not use for arrays.
    let array = array(world, &format!("zippy: {name}"), vector.cells()?, wanted)?;
    if filled {
        world.copy(vector.section(), array.at(..))?;
    }
    Ok(Fitted { vector: (&array).into(), copy_of: Some(vector.clone()), _array: Some(array) })
}

impl<T: Element> Fitted<T> {
    /// Copies the cells back to the original vector, if they are in a copy. The copy is collective.
    pub(crate) fn copy_back(self, world: &World) -> Result<()> {
        if let Some(of) = self.copy_of {
            world.copy(self.vector.section(), of.section())?;
        }
        Ok(())
    }

    /// Returns this rank's spans by index, with their cells.
    pub(crate) fn local_cells_by_span(&self) -> Result<Vec<(usize, CellSequence)>> {
        let (begin, all) = (self.vector.region()?.start[0], spans(&self.vector)?);
        let with_index = |part: &LocalSection<T, 1>| {
            let first = (part.region()?.start[0] - begin) as u64;
            let index = all.partition_point(|span| span.cells.start < first);
            Ok((index, Sequence::from(part).cells()?.clone()))
        };
        local_parts(&self.vector)?.iter().map(with_index).collect()
    }
}

/// Returns this rank's cells of a vector in ascending order of indices.
pub(crate) fn local_cells<T: Element>(vector: &Vector<T>) -> Result<CellSequence> {
    Sequence::from(local_parts(vector)?).cells().cloned()
}

/// Returns this rank's parts of a vector in ascending order of indices; none is empty.
fn local_parts<T: Element>(vector: &Vector<T>) -> Result<Vec<LocalSection<T, 1>>> {
    let mut parts = vector.section().local_parts()?;
    parts.retain(|part| part.region().is_ok_and(|region| !region.is_empty()));
    parts.sort_by_key(|part| part.region().map_or(0, |region| region.start[0]));
    Ok(parts)
}

pub(crate) fn evenly_distributed_spans(cells: u64, ranks: usize) -> Vec<Span> {
    let at = |rank: usize| (u128::from(cells) * rank as u128 / ranks as u128) as u64;
    let spans = (0..ranks).map(|owner| Span { cells: at(owner)..at(owner + 1), owner });
    spans.filter(|span| !span.cells.is_empty()).collect()
}

/// Returns the given spans if their owners ascend, otherwise evenly distributed spans with
/// ascending owners.
pub(crate) fn ordered(world: &World, spans: &[Span]) -> Vec<Span> {
    if spans.is_sorted_by_key(|span| span.owner) {
        spans.to_vec()
    } else {
        evenly_distributed_spans(spans.last().map_or(0, |span| span.cells.end), world.size())
    }
}
