//! Turning a plan into box views of buffers, once, to be executed many times.
//!
//! A [`Transfer`] is a [`RankPlan`] in the terms of the device: every move has become a strided view of a
//! chunk's buffer and an offset in a message. It names chunks, not buffers, so that one transfer serves all
//! arrays of the same layouts, keeps none of them alive, and can be cached.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::parcels::{End, Outbound, PackedBox, Parcel, Wave, parcels, waves};
use crate::array::ArrayCore;
use crate::chunks::ChunkId;
use crate::device::Strided;
use crate::element::ElementInfo;
use crate::extents::Index;
use crate::plan::{Message, Move, Moved, RankPlan};

/// How messages are cut, the same on every rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MessageSizes {
    /// The most bytes of one. What blocks and would stage more goes message by message, where its boxes have no order.
    pub most: u64,
    /// From how many bytes on a box that can be sent from where it lies shares no message.
    pub in_place: u64,
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

/// A plan in the terms of the device.
#[derive(Debug)]
pub(super) struct Transfer {
    /// The chunks of this rank that take part, as operand and chunk.
    pub chunks: Vec<(usize, ChunkId)>,
    /// Those whose own cells are written.
    pub written: Vec<(usize, ChunkId)>,
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
        Self { chunks: ends.into_chunks(), written: written(plan, operands), lanes, moved, overlap: plan.overlap }
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> usize {
        let of_wave =
            |wave: &Wave| wave.local.len() * size_of::<usize>() + wave.received.len() * size_of::<(usize, usize)>();
        let of_lane = |lane: &Lane| {
            let parcels = lane.sends.iter().chain(&lane.receives);
            let of_parcels = parcels.map(|parcel| size_of::<Parcel>() + parcel.boxes.len() * size_of::<PackedBox>());
            let waves = lane.waves.iter().map(|wave| size_of::<Wave>() + of_wave(wave));
            size_of::<Lane>() + lane.local.len() * size_of::<(End, End)>() + of_parcels.chain(waves).sum::<usize>()
        };
        let chunks = (self.chunks.len() + self.written.len()) * size_of::<(usize, ChunkId)>();
        size_of::<Self>() + chunks + self.lanes.iter().map(of_lane).sum::<usize>()
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

/// The chunks of this rank whose own cells a plan writes.
fn written(plan: &RankPlan, operands: &[Rc<ArrayCore>]) -> Vec<(usize, ChunkId)> {
    let arriving = plan.local.iter().chain(plan.receives.iter().flat_map(|message| &message.moves));
    let own = arriving.filter(|of| operands[of.dst_array].chunks().region(of.dst_chunk).intersects(&of.dst));
    own.map(|of| (of.dst_array, of.dst_chunk)).collect::<BTreeSet<_>>().into_iter().collect()
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
