//! Turning a plan into box views of buffers, once, and executing it, many times.
//!
//! A [`Transfer`] is a [`RankPlan`] in the terms of the device: every move has become a strided view of a
//! chunk's buffer and an offset in a message. It names chunks, not buffers, so that one transfer serves all
//! arrays of the same layouts, keeps none of them alive, and can be cached.

use std::ops::Range;
use std::rc::Rc;

use crate::array::ArrayCore;
use crate::chunks::ChunkId;
use crate::device::{BoxOf, Operator, Piece, Strided};
use crate::element::ElementInfo;
use crate::error::Result;
use crate::extents::Index;
use crate::plan::{Message, Move, Moved, RankPlan};
use crate::region::Region;

/// Messages above this are cut, and blocking transfers between disjoint regions go step by step, so that
/// staging memory stays bounded whatever the size of the arrays.
pub(super) const STEP_BYTES: u64 = 64 << 20;

/// One end of a move: a box of a chunk of an operand.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub array: usize,
    pub chunk: ChunkId,
    pub view: Strided,
}

/// A box and its place in a message.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub end: End,
    pub offset: u64,
}

/// A message of bounded size, from or to a peer.
#[derive(Debug)]
pub(super) struct Parcel {
    pub peer: usize,
    pub bytes: u64,
    pub parts: Vec<Part>,
}

/// The moves of arrays with one element size.
#[derive(Debug)]
pub(super) struct Lane {
    pub element: &'static ElementInfo,
    pub sends: Vec<Parcel>,
    pub receives: Vec<Parcel>,
    pub local: Vec<(End, End)>,
}

/// A plan in the terms of the device.
#[derive(Debug)]
pub(super) struct Transfer {
    pub lanes: Vec<Lane>,
    pub moved: Moved,
}

/// The arrays of a plan: `Move::src_array` and `Move::dst_array` index these.
#[derive(Debug, Clone)]
pub(super) struct Operands {
    pub sources: Vec<Rc<ArrayCore>>,
    pub destinations: Vec<Rc<ArrayCore>>,
}

impl Transfer {
    /// The transfer of a plan between arrays of these layouts and element types.
    pub fn new(plan: &RankPlan, operands: &Operands) -> Self {
        let mut elements: Vec<&'static ElementInfo> = operands.sources.iter().map(|a| a.element()).collect();
        elements.sort_by_key(|e| (e.bytes, e.name));
        elements.dedup_by_key(|e| (e.bytes, e.name));
        let lanes = elements.into_iter().map(|element| Lane::new(element, plan, operands)).collect::<Vec<_>>();
        let network = |lane: &Lane| lane.sends.iter().map(|p| p.bytes).sum::<u64>();
        let moved = Moved {
            bytes_local: lanes.iter().map(Lane::local_bytes).sum(),
            bytes_network: lanes.iter().map(network).sum(),
            messages: lanes.iter().map(|lane| lane.sends.len() as u64).sum(),
            rounds: plan.rounds as u64,
        };
        Self { lanes, moved }
    }
}

impl Lane {
    fn new(element: &'static ElementInfo, plan: &RankPlan, operands: &Operands) -> Self {
        let permutation = plan.permutation.as_deref();
        let mine = |m: &&Move| same(operands.sources[m.src_array].element(), element);
        let source = |m: &Move| end(&operands.sources, m.src_array, m.src_chunk, &m.src, permutation);
        let destination = |m: &Move| end(&operands.destinations, m.dst_array, m.dst_chunk, &m.dst, None);
        let parcels = |messages: &[Message], view: &dyn Fn(&Move) -> End| {
            messages
                .iter()
                .flat_map(|message| {
                    let parts = message.moves.iter().filter(mine).map(view);
                    parcels(message.peer, parts, element.bytes as u64)
                })
                .collect()
        };
        Self {
            element,
            sends: parcels(&plan.sends, &source),
            receives: parcels(&plan.receives, &destination),
            local: plan.local.iter().filter(mine).map(|m| (source(m), destination(m))).collect(),
        }
    }

    fn local_bytes(&self) -> u64 {
        self.local.iter().map(|(source, _)| cells(&source.view) * self.element.bytes as u64).sum()
    }
}

fn same(a: &ElementInfo, b: &ElementInfo) -> bool {
    (a.bytes, a.name) == (b.bytes, b.name)
}

/// The box in its chunk's storage, its axes in the order of the destination.
fn end(arrays: &[Rc<ArrayCore>], array: usize, chunk: ChunkId, region: &Region, permutation: Option<&[usize]>) -> End {
    let view = arrays[array].strided(chunk, region);
    let view = match permutation {
        None => view,
        Some(order) => Strided {
            offset: view.offset,
            extents: Index::from_fn(order.len(), |axis| view.extents[order[axis]]),
            strides: Index::from_fn(order.len(), |axis| view.strides[order[axis]]),
        },
    };
    End { array, chunk, view }
}

fn cells(view: &Strided) -> u64 {
    view.extents.product().unwrap_or(0)
}

/// Packs boxes into messages of at most [`STEP_BYTES`], cutting boxes that are larger along their slowest
/// axes. Both ends cut alike, since extents are the same at both.
fn parcels(peer: usize, ends: impl Iterator<Item = End>, element_bytes: u64) -> Vec<Parcel> {
    let mut parcels: Vec<Parcel> = Vec::new();
    for end in ends.flat_map(|end| cut(end, element_bytes)) {
        let bytes = (cells(&end.view) * element_bytes).next_multiple_of(4);
        match parcels.last_mut() {
            Some(last) if last.bytes + bytes <= STEP_BYTES => {
                last.parts.push(Part { end, offset: last.bytes });
                last.bytes += bytes;
            }
            _ => parcels.push(Parcel { peer, bytes, parts: vec![Part { end, offset: 0 }] }),
        }
    }
    parcels
}

fn cut(end: End, element_bytes: u64) -> Vec<End> {
    if cells(&end.view) * element_bytes <= STEP_BYTES {
        return vec![end];
    }
    let Some(axis) = (0..end.view.extents.axes()).rev().find(|&axis| end.view.extents[axis] > 1) else {
        return vec![end];
    };
    let half = end.view.extents[axis] / 2;
    let (mut low, mut high) = (end.clone(), end);
    low.view.extents[axis] = half;
    high.view.extents[axis] -= half;
    high.view.offset += (half * high.view.strides[axis]) as u64;
    let mut out = cut(low, element_bytes);
    out.extend(cut(high, element_bytes));
    out
}

impl Operands {
    /// Whether no cell is both read and written when these regions are, so that steps may alternate.
    pub fn disjoint(&self, source: &Region, destination: &Region) -> bool {
        self.sources.iter().all(|source_array| {
            self.destinations.iter().all(|array| {
                let same = Rc::ptr_eq(source_array, array);
                if same { !source.intersects(destination) } else { !source_array.shares_buffers(array) }
            })
        })
    }

    /// What the local moves need on the device.
    pub fn local_pieces<'a>(&'a self, local: &[(End, End)]) -> Vec<(BoxOf<'a>, BoxOf<'a>)> {
        local.iter().map(|(from, to)| (box_of(&self.sources, from), box_of(&self.destinations, to))).collect()
    }
}

fn box_of<'a>(arrays: &'a [Rc<ArrayCore>], end: &End) -> BoxOf<'a> {
    let buffer = arrays[end.array].buffer(end.chunk).expect("a plan names only chunks with cells, of this rank");
    BoxOf { buffer, view: end.view }
}

fn piece<'a>(arrays: &'a [Rc<ArrayCore>], end: &End, payload_offset: u64) -> Piece<'a> {
    let BoxOf { buffer, view } = box_of(arrays, end);
    Piece { buffer, view, payload_offset }
}

/// The boxes of consecutive messages in one payload, and each message's range of it.
pub(super) fn pieces<'a>(arrays: &'a [Rc<ArrayCore>], parcels: &[Parcel]) -> (Vec<Piece<'a>>, Vec<Range<usize>>) {
    let (mut pieces, mut ranges, mut start) = (Vec::new(), Vec::new(), 0);
    for parcel in parcels {
        pieces.extend(parcel.parts.iter().map(|part| piece(arrays, &part.end, start + part.offset)));
        ranges.push(start as usize..(start + parcel.bytes) as usize);
        start += parcel.bytes;
    }
    (pieces, ranges)
}

/// How arriving data meets what is there.
#[derive(Debug, Clone)]
pub(super) enum Arrival {
    /// It replaces it.
    Replace,
    /// It is combined with it.
    Combine(Operator),
}

impl Arrival {
    /// Checks that the operator exists for the element type.
    pub fn check(&self, element: &'static ElementInfo) -> Result<()> {
        match self {
            Self::Replace => Ok(()),
            Self::Combine(operator) => Ok(operator.check(element)?),
        }
    }
}
