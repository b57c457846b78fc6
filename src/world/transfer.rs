//! Turning a plan into box views of buffers, once, and executing it, many times.
//!
//! A [`Transfer`] is a [`RankPlan`] in the terms of the device: every move has become a strided view of a
//! chunk's buffer and an offset in a message. It names chunks, not buffers, so that one transfer serves all
//! arrays of the same layouts, keeps none of them alive, and can be cached.

use std::collections::HashMap;
use std::rc::Rc;

use crate::array::ArrayCore;
use crate::chunks::ChunkId;
use crate::device::Strided;
use crate::element::ElementInfo;
use crate::extents::Index;
use crate::plan::{Arrival, Message, Move, Moved, RankPlan};

/// How messages are cut, the same on every rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MessageSizes {
    /// The most bytes of one; operations that block and may stage more go message by message, so that staging memory stays
    /// bounded whatever the size of the arrays.
    pub most: u64,
    /// From how many bytes on a box that can be sent from where it lies shares no message.
    pub in_place: u64,
}

/// One end of a move: a box of one of the transfer's chunks.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub chunk: usize,
    pub view: Strided,
}

/// A box and where it is in a message.
#[derive(Debug, Clone)]
pub(super) struct Packed {
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
    pub boxes: Vec<Packed>,
    /// Whether it is one box that lies densely in a chunk of its sender, in an array that is not the destination.
    pub dense: bool,
    /// Of which of the plan's messages it is.
    of: usize,
    /// The round of that message, and the place in it: the same at both ends.
    pub turn: (usize, usize),
}

/// The moves of arrays with one element type whose data meets what is there in one way.
#[derive(Debug)]
pub(super) struct Lane {
    pub element: &'static ElementInfo,
    /// Which of the job's meetings.
    pub class: usize,
    /// Whether only the sender knows how long a message is. It then comes in pieces of [`Lane::full`] bytes and a shorter
    /// one, or none where the room is used up; what the receiver has is one box, as large as it can be.
    pub counted: bool,
    /// The most bytes of a message.
    most: u64,
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
    /// The chunks of this rank that take part, as operand and chunk.
    pub chunks: Vec<(usize, ChunkId)>,
    pub lanes: Vec<Lane>,
    pub moved: Moved,
    /// Whether source and destination may share cells, so that all reading must be done before any writing.
    pub overlap: bool,
}

/// The arrays of a plan: `Move::src_array` and `Move::dst_array` index these.
pub(super) type Operands = Vec<Rc<ArrayCore>>;

impl Transfer {
    /// The transfer of a plan between arrays of these layouts and element types. `classes` has the meeting of each operand
    /// as a destination; it is empty where there is one for all. All ranks must give the same
    /// `sizes`.
    pub fn new(plan: &RankPlan, operands: &[Rc<ArrayCore>], classes: &[usize], sizes: MessageSizes) -> Self {
        Self::with(plan, operands, classes, sizes, false)
    }

    fn with(
        plan: &RankPlan,
        operands: &[Rc<ArrayCore>],
        classes: &[usize],
        sizes: MessageSizes,
        counted: bool,
    ) -> Self {
        let class = |array: usize| classes.get(array).copied().unwrap_or(0);
        let mut kinds: Vec<(&'static ElementInfo, usize)> = Vec::new();
        for (array, operand) in operands.iter().enumerate() {
            let kind = (operand.element(), class(array));
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let mut ends = Ends { operands, permutation: plan.permutation.as_deref(), chunks: HashMap::new() };
        let lanes: Vec<Lane> = kinds
            .into_iter()
            .map(|(element, of)| {
                let mine = |m: &Move| operands[m.dst_array].element() == element && class(m.dst_array) == of;
                Lane::new((element, of, counted), plan, &mine, &mut ends, sizes)
            })
            .collect();
        let bytes: Vec<usize> = operands.iter().map(|array| array.element().bytes).collect();
        let messages = lanes.iter().map(|lane| lane.sends.len() as u64).sum();
        let moved = Moved { messages, ..plan.moved(&bytes) };
        Self { chunks: ends.into_chunks(), lanes, moved, overlap: plan.overlap }
    }

    /// The transfer of a plan whose messages have one box each and are as long as their sender says. `rooms` has the most
    /// cells of each message that this rank sends.
    pub fn counted(plan: &RankPlan, operands: &[Rc<ArrayCore>], rooms: &[u64], sizes: MessageSizes) -> Self {
        let mut all = Self::with(plan, operands, &[], sizes, true);
        for lane in &mut all.lanes {
            let (size, full) = (lane.element.bytes as u64, lane.full());
            for (of, room) in rooms.iter().enumerate() {
                let sent = |parcel: &Parcel| parcel.of == of;
                let bytes: u64 = lane.sends.iter().filter(|parcel| sent(parcel)).map(|parcel| parcel.bytes).sum();
                let last = lane.sends.iter().rposition(|parcel| sent(parcel) && parcel.bytes == full);
                if let Some(last) = last.filter(|_| bytes.is_multiple_of(full) && bytes < room * size) {
                    let end = Parcel { bytes: 0, boxes: Vec::new(), dense: false, ..lane.sends[last] };
                    lane.sends.insert(last + 1, end);
                }
            }
        }
        all.moved.messages = all.lanes.iter().map(|lane| lane.sends.len() as u64).sum();
        all
    }
}

/// The ends of a plan's moves, and the chunks that they lie in, each once.
struct Ends<'a> {
    operands: &'a [Rc<ArrayCore>],
    permutation: Option<&'a [usize]>,
    chunks: HashMap<(usize, ChunkId), usize>,
}

impl Ends<'_> {
    /// What is read, its axes in the order of the destination.
    fn source(&mut self, m: &Move) -> End {
        let view = self.source_view(m);
        End { chunk: self.number(m.src_array, m.src_chunk), view }
    }

    fn source_view(&self, m: &Move) -> Strided {
        let view = self.operands[m.src_array].strided(m.src_chunk, &m.src);
        match self.permutation {
            None => view,
            Some(order) => Strided {
                offset: view.offset,
                extents: Index::from_fn(order.len(), |axis| view.extents[order[axis]]),
                strides: Index::from_fn(order.len(), |axis| view.strides[order[axis]]),
            },
        }
    }

    /// What is written.
    fn destination(&mut self, m: &Move) -> End {
        let view = self.operands[m.dst_array].strided(m.dst_chunk, &m.dst);
        End { chunk: self.number(m.dst_array, m.dst_chunk), view }
    }

    fn number(&mut self, array: usize, chunk: ChunkId) -> usize {
        let next = self.chunks.len();
        *self.chunks.entry((array, chunk)).or_insert(next)
    }

    fn into_chunks(self) -> Vec<(usize, ChunkId)> {
        let mut chunks: Vec<_> = self.chunks.into_iter().collect();
        chunks.sort_unstable_by_key(|&(_, number)| number);
        chunks.into_iter().map(|(chunk, _)| chunk).collect()
    }
}

impl Lane {
    fn new(
        (element, class, counted): (&'static ElementInfo, usize, bool),
        plan: &RankPlan,
        mine: &dyn Fn(&Move) -> bool,
        ends: &mut Ends,
        sizes: MessageSizes,
    ) -> Self {
        let dense = |m: &Move, ends: &Ends| {
            let bytes = m.src.cells() * element.bytes as u64;
            let large = bytes >= sizes.in_place && bytes.is_multiple_of(4);
            large && m.src_array != m.dst_array && ends.source_view(m).is_dense()
        };
        let mut parcels = |messages: &[Message], end: fn(&mut Ends, &Move) -> End, limit: u64| {
            let of = |(of, message): (usize, &Message)| {
                let moves = message.moves.iter().enumerate().filter(|(_, m)| mine(m));
                let moves = moves.map(|(index, m)| Outbound { of: index, dense: dense(m, ends), end: end(ends, m) });
                parcels((of, message), moves, element.bytes as u64, limit)
            };
            messages.iter().enumerate().flat_map(of).collect::<Vec<_>>()
        };
        let whole = if counted { u64::MAX } else { sizes.most };
        let receives = parcels(&plan.receives, |ends, m| ends.destination(m), whole);
        let sends = parcels(&plan.sends, |ends, m| ends.source(m), sizes.most);
        let waves = waves(plan, mine, &receives);
        let local = plan.local.iter().filter(|m| mine(m)).map(|m| (ends.source(m), ends.destination(m))).collect();
        Self { element, class, counted, most: sizes.most, sends, receives, local, waves }
    }

    /// What is read.
    pub fn sources(&self) -> impl Iterator<Item = &End> {
        let local = self.local.iter().map(|(from, _)| from);
        local.chain(self.sends.iter().flat_map(|parcel| parcel.boxes.iter().map(|packed| &packed.end)))
    }

    /// What is written.
    pub fn destinations(&self) -> impl Iterator<Item = &End> {
        let local = self.local.iter().map(|(_, to)| to);
        local.chain(self.receives.iter().flat_map(|parcel| parcel.boxes.iter().map(|packed| &packed.end)))
    }

    /// The most bytes of a message: whole cells.
    pub fn full(&self) -> u64 {
        let size = self.element.bytes as u64;
        (self.most / size).max(1) * size
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
    for (parcel, Parcel { of: message, boxes, .. }) in receives.iter().enumerate() {
        for (part, Packed { of, .. }) in boxes.iter().enumerate() {
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
/// ends cut alike, since extents are the same at both. `of` is the number of the plan's message.
fn parcels(
    (of, message): (usize, &Message),
    moves: impl Iterator<Item = Outbound>,
    element_bytes: u64,
    limit: u64,
) -> Vec<Parcel> {
    let (mut parcels, peer): (Vec<Parcel>, _) = (Vec::new(), message.peer);
    for Outbound { end: End { chunk, view }, dense, of: index } in moves {
        for (view, _) in view.cut(limit / element_bytes) {
            let end = End { chunk, view };
            let bytes = (view.cells() * element_bytes).next_multiple_of(4);
            match parcels.last_mut() {
                Some(last) if !dense && !last.dense && last.bytes.saturating_add(bytes) <= limit => {
                    last.boxes.push(Packed { end, offset: last.bytes, of: index });
                    last.bytes += bytes;
                }
                _ => {
                    let turn = (message.round, parcels.len());
                    let boxes = vec![Packed { end, offset: 0, of: index }];
                    parcels.push(Parcel { peer, bytes, boxes, dense, of, turn });
                }
            }
        }
    }
    parcels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Arrival;

    fn boxed(offset: u64, extents: [i64; 3], strides: [i64; 3]) -> End {
        End { chunk: 0, view: Strided { offset, extents: extents.into(), strides: strides.into() } }
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

    fn to(peer: usize) -> Message {
        Message { peer, round: 0, moves: Vec::new() }
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
            let parcels = parcels((5, &to(2)), bound(&list, |of| alone.contains(&of)), element_bytes, limit);
            let mut seen: Vec<Vec<u64>> = vec![Vec::new(); list.len()];
            for Parcel { peer, bytes, boxes, dense, of, .. } in &parcels {
                let apart = boxes.iter().filter(|part| alone.contains(&part.of)).count();
                assert_eq!(apart, usize::from(*dense), "what travels by itself does");
                assert!(!dense || boxes.len() == 1);
                assert!((*peer, *of) == (2, 5) && *bytes <= limit, "{bytes} bytes, {limit} allowed");
                let mut end = 0;
                for Packed { end: part, offset, of } in boxes {
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
        let all = parcels((0, &to(1)), bound(&list, |_| false), 4, 64);
        let place = |from: usize| {
            all.iter()
                .enumerate()
                .flat_map(move |(parcel, Parcel { boxes, .. })| {
                    let of_move = boxes.iter().enumerate().filter(move |(_, part)| part.of == from);
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
            all.iter().map(|parcel| parcel.boxes.len()).sum::<usize>()
        );
    }
}
