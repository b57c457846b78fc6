//! Turning a plan into box views of buffers, once, and executing it, many times.
//!
//! A [`Transfer`] is a [`RankPlan`] in the terms of the device: every move has become a strided view of a
//! chunk's buffer and an offset in a message. It names chunks, not buffers, so that one transfer serves all
//! arrays of the same layouts, keeps none of them alive, and can be cached.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use crate::array::ArrayCore;
use crate::chunks::ChunkId;
use crate::device::{BoxOf, Operator, Piece, Strided};
use crate::element::ElementInfo;
use crate::extents::Index;
use crate::plan::{Arrival, Message, Move, Moved, RankPlan};
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
    /// Of which move of the plan's message it is.
    of: usize,
}

/// A message of bounded size, from or to a peer.
#[derive(Debug)]
pub(super) struct Parcel {
    pub peer: usize,
    pub bytes: u64,
    pub parts: Vec<Part>,
    /// Whether it is one box that lies densely in a chunk of its sender, in an array that is not the destination.
    pub dense: bool,
    /// Of which of the plan's messages it is.
    of: usize,
}

/// The moves of arrays with one element size.
#[derive(Debug)]
pub(super) struct Lane {
    pub element: &'static ElementInfo,
    pub sends: Vec<Parcel>,
    pub receives: Vec<Parcel>,
    pub local: Vec<(End, End)>,
    /// Where destinations of several moves share cells: what is applied after what. Else empty.
    pub waves: Vec<Wave>,
}

/// Moves of a lane with disjoint destinations.
#[derive(Debug, Default)]
pub(super) struct Wave {
    /// Indices of local moves.
    pub local: Vec<usize>,
    /// Message and box in it, sorted.
    pub received: Vec<(usize, usize)>,
}

/// A plan in the terms of the device.
#[derive(Debug)]
pub(super) struct Transfer {
    pub lanes: Vec<Lane>,
    pub moved: Moved,
    /// Whether source and destination may share cells, so that all reading must be done before any writing.
    pub overlap: bool,
}

/// The arrays of a plan: `Move::src_array` and `Move::dst_array` index these.
pub(super) type Operands = Vec<Rc<ArrayCore>>;

impl Transfer {
    /// The transfer of a plan between arrays of these layouts and element types. Boxes of `in_place_bytes` and more that
    /// can be sent from where they lie share no messages: all ranks must give the same number.
    pub fn new(plan: &RankPlan, operands: &[Rc<ArrayCore>], in_place_bytes: u64) -> Self {
        let mut elements: Vec<&'static ElementInfo> = operands.iter().map(|array| array.element()).collect();
        elements.sort_by_key(|e| (e.bytes, e.name));
        elements.dedup_by_key(|e| (e.bytes, e.name));
        let lanes =
            elements.into_iter().map(|element| Lane::new(element, plan, operands, in_place_bytes)).collect::<Vec<_>>();
        let bytes: Vec<usize> = operands.iter().map(|array| array.element().bytes).collect();
        let messages = lanes.iter().map(|lane| lane.sends.len() as u64).sum();
        Self { lanes, moved: Moved { messages, ..plan.moved(&bytes) }, overlap: plan.overlap }
    }
}

impl Lane {
    fn new(element: &'static ElementInfo, plan: &RankPlan, operands: &[Rc<ArrayCore>], in_place_bytes: u64) -> Self {
        let permutation = plan.permutation.as_deref();
        let mine = |m: &Move| same(operands[m.src_array].element(), element);
        let source = |m: &Move| end(operands, m.src_array, m.src_chunk, &m.src, permutation);
        let destination = |m: &Move| end(operands, m.dst_array, m.dst_chunk, &m.dst, None);
        let dense = |m: &Move| {
            let bytes = m.src.cells() * element.bytes as u64;
            let large = bytes >= in_place_bytes && bytes.is_multiple_of(4);
            large && m.src_array != m.dst_array && source(m).view.is_dense()
        };
        let parcels = |messages: &[Message], view: &dyn Fn(&Move) -> End| {
            let of = |(of, message): (usize, &Message)| {
                let moves = message.moves.iter().enumerate().filter(|(_, m)| mine(m));
                let moves = moves.map(|(index, m)| Outbound { of: index, end: view(m), dense: dense(m) });
                parcels((of, message.peer), moves, element.bytes as u64, STEP_BYTES)
            };
            messages.iter().enumerate().flat_map(of).collect::<Vec<_>>()
        };
        let receives = parcels(&plan.receives, &destination);
        Self {
            element,
            sends: parcels(&plan.sends, &source),
            waves: waves(plan, &mine, &receives),
            receives,
            local: plan.local.iter().filter(|m| mine(m)).map(|m| (source(m), destination(m))).collect(),
        }
    }
}

/// The waves of a plan as they concern one lane: places among the lane's local moves, and in its messages, where a move
/// may have been cut into several boxes.
fn waves(plan: &RankPlan, mine: &dyn Fn(&Move) -> bool, receives: &[Parcel]) -> Vec<Wave> {
    if plan.waves.is_empty() {
        return Vec::new();
    }
    let mut place = 0..;
    let local: Vec<_> = plan.local.iter().map(|m| mine(m).then(|| place.next()).flatten()).collect();
    let mut received: HashMap<(usize, usize), Vec<(usize, usize)>> = HashMap::new();
    for (parcel, Parcel { of: message, parts, .. }) in receives.iter().enumerate() {
        for (part, Part { of, .. }) in parts.iter().enumerate() {
            received.entry((*message, *of)).or_default().push((parcel, part));
        }
    }
    let in_lane = |wave: &Vec<Arrival>| {
        let mut out = Wave::default();
        for arrival in wave {
            match *arrival {
                Arrival::Local(index) => out.local.extend(local[index]),
                Arrival::Received { message, index } => {
                    out.received.extend(received.get(&(message, index)).into_iter().flatten());
                }
            }
        }
        out.received.sort_unstable();
        out
    };
    plan.waves.iter().map(in_lane).collect()
}

fn same(a: &ElementInfo, b: &ElementInfo) -> bool {
    (a.bytes, a.name) == (b.bytes, b.name)
}

/// The box in its chunk's storage, its axes in the order of the destination.
fn end(
    operands: &[Rc<ArrayCore>],
    array: usize,
    chunk: ChunkId,
    region: &Region,
    permutation: Option<&[usize]>,
) -> End {
    let view = operands[array].strided(chunk, region);
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

/// A box on its way into messages.
#[derive(Debug, Clone)]
struct Outbound {
    end: End,
    /// Whether it travels by itself, from where it is.
    dense: bool,
    /// Of which move of the plan's message it is.
    of: usize,
}

/// Packs boxes into messages of at most `limit` bytes, cutting boxes that are larger along their slowest axes. Both
/// ends cut alike, since extents are the same at both. `of` and `peer` are the plan's message and the other rank.
fn parcels(
    (of, peer): (usize, usize),
    moves: impl Iterator<Item = Outbound>,
    element_bytes: u64,
    limit: u64,
) -> Vec<Parcel> {
    let mut parcels: Vec<Parcel> = Vec::new();
    let cut =
        |whole: Outbound| cut(whole.end, element_bytes, limit).into_iter().map(move |end| (end, whole.dense, whole.of));
    for (end, dense, index) in moves.flat_map(cut) {
        let bytes = (end.view.cells() * element_bytes).next_multiple_of(4);
        match parcels.last_mut() {
            Some(last) if !dense && !last.dense && last.bytes.saturating_add(bytes) <= limit => {
                last.parts.push(Part { end, offset: last.bytes, of: index });
                last.bytes += bytes;
            }
            _ => parcels.push(Parcel { peer, bytes, parts: vec![Part { end, offset: 0, of: index }], dense, of }),
        }
    }
    parcels
}

fn cut(end: End, element_bytes: u64, limit: u64) -> Vec<End> {
    if end.view.cells() * element_bytes <= limit {
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
    let mut out = cut(low, element_bytes, limit);
    out.extend(cut(high, element_bytes, limit));
    out
}

/// An end of a move on the device.
pub(super) fn box_of<'a>(operands: &'a [Rc<ArrayCore>], end: &End) -> BoxOf<'a> {
    let buffer = operands[end.array].buffer(end.chunk).expect("a plan names only chunks with cells, of this rank");
    BoxOf { buffer, view: end.view }
}

/// An end of a move on the device, and its place in a payload.
pub(super) fn piece<'a>(operands: &'a [Rc<ArrayCore>], end: &End, payload_offset: u64) -> Piece<'a> {
    let BoxOf { buffer, view } = box_of(operands, end);
    Piece { buffer, view, payload_offset }
}

/// The boxes of messages in one payload, and each message's range of it.
pub(super) fn pieces<'a>(operands: &'a [Rc<ArrayCore>], parcels: &[&Parcel]) -> (Vec<Piece<'a>>, Vec<Range<usize>>) {
    let (mut pieces, mut ranges, mut start) = (Vec::new(), Vec::new(), 0);
    for parcel in parcels {
        pieces.extend(parcel.parts.iter().map(|part| piece(operands, &part.end, start + part.offset)));
        ranges.push(start as usize..(start + parcel.bytes) as usize);
        start += parcel.bytes;
    }
    (pieces, ranges)
}

/// How arriving data meets what is there.
#[derive(Debug, Clone, Hash)]
pub(super) enum Meeting {
    /// It replaces it.
    Replace,
    /// It is combined with it.
    Combine(Operator),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Arrival;

    fn boxed(offset: u64, extents: [i64; 3], strides: [i64; 3]) -> End {
        End { array: 0, chunk: 0, view: Strided { offset, extents: extents.into(), strides: strides.into() } }
    }

    /// The cells of a box in the order in which they are packed.
    fn cells(view: &Strided) -> Vec<u64> {
        let Strided { offset, extents: n, strides: s } = view;
        let rows = (0..n[2]).flat_map(|z| (0..n[1]).map(move |y| y * s[1] + z * s[2]));
        rows.flat_map(|row| (0..n[0]).map(move |x| x * s[0] + row)).map(|at| offset + at as u64).collect()
    }

    /// Boxes of which some fit a message, some fill it and some are many times as large.
    fn moves() -> Vec<End> {
        vec![
            boxed(3, [2, 3, 1], [1, 10, 100]),
            boxed(1000, [5, 9, 7], [1, 6, 60]),
            boxed(5000, [1, 1, 1], [1, 1, 1]),
            boxed(7000, [8, 2, 1], [1, 8, 16]),
            boxed(9000, [33, 1, 1], [2, 1, 1]),
        ]
    }

    /// The boxes, of which some travel by themselves.
    fn bound(list: &[End], dense: impl Fn(usize) -> bool) -> impl Iterator<Item = Outbound> {
        list.iter().cloned().enumerate().map(move |(of, end)| Outbound { end, dense: dense(of), of })
    }

    #[test]
    fn messages_keep_to_their_limit_and_lose_nothing() {
        let limits = [(4, 64), (4, 20), (1, 12), (12, 12), (2, 4), (4, 1 << 20)];
        let alone: [&[usize]; 5] = [&[], &[0], &[1, 2], &[4], &[0, 1, 2, 3, 4]];
        for ((element_bytes, limit), alone) in limits.into_iter().flat_map(|one| alone.map(|alone| (one, alone))) {
            let list = moves();
            let parcels = parcels((5, 2), bound(&list, |of| alone.contains(&of)), element_bytes, limit);
            let mut seen: Vec<Vec<u64>> = vec![Vec::new(); list.len()];
            for Parcel { peer, bytes, parts, dense, of } in &parcels {
                let apart = parts.iter().filter(|part| alone.contains(&part.of)).count();
                assert_eq!(apart, usize::from(*dense), "what travels by itself does");
                assert!(!dense || parts.len() == 1);
                assert!((*peer, *of) == (2, 5) && *bytes <= limit, "{bytes} bytes, {limit} allowed");
                let mut end = 0;
                for Part { end: part, offset, of } in parts {
                    assert_eq!(*offset, end, "boxes lie one behind the other, from whole words on");
                    end += (part.view.cells() * element_bytes).next_multiple_of(4);
                    seen[*of].extend(cells(&part.view));
                }
                assert_eq!(*bytes, end);
            }
            assert_eq!(seen, list.iter().map(|end| cells(&end.view)).collect::<Vec<_>>(), "in order, every cell once");
            // No more messages than half-full ones would make, and one where all fits.
            let bytes: u64 = list.iter().map(|end| end.view.cells() * element_bytes).sum();
            let most = 4 * bytes / limit + 1 + 2 * alone.len() as u64;
            assert!(parcels.len() as u64 <= most, "{} messages", parcels.len());
        }
    }

    /// What arrives in several messages because it is large still waits for its turn where it meets other boxes.
    #[test]
    fn every_part_of_a_large_box_is_in_its_wave() {
        let list = moves();
        let all = parcels((0, 1), bound(&list, |_| false), 4, 64);
        let place = |from: usize| {
            all.iter()
                .enumerate()
                .flat_map(move |(parcel, Parcel { parts, .. })| {
                    let of_move = parts.iter().enumerate().filter(move |(_, part)| part.of == from);
                    of_move.map(move |(part, _)| (parcel, part))
                })
                .collect::<Vec<_>>()
        };
        assert!(place(1).len() > 15, "box 1 is many times too large");
        let arrivals = |list: &[usize]| list.iter().map(|&index| Arrival::Received { message: 0, index }).collect();
        let plan =
            RankPlan { waves: vec![arrivals(&[1, 3]), arrivals(&[0, 4]), arrivals(&[2])], ..RankPlan::default() };
        let waves = waves(&plan, &|_| true, &all);
        for (wave, of) in waves.iter().zip([&[1, 3][..], &[0, 4], &[2]]) {
            let mut expected: Vec<_> = of.iter().flat_map(|&from| place(from)).collect();
            expected.sort_unstable();
            assert_eq!((&wave.received, wave.local.len()), (&expected, 0));
        }
        assert_eq!(
            waves.iter().map(|wave| wave.received.len()).sum::<usize>(),
            all.iter().map(|parcel| parcel.parts.len()).sum::<usize>()
        );
    }
}
