//! [`Transfer`]: plan as strided boxes in chunk buffers, built once and executed many times.
//!
//! A [`Transfer`] contains the moves of a [`RankPlan`] for the device: for each box a strided view
//! of a chunk buffer, and an offset in a message. It refers to chunks by index, not to buffers. A
//! cached transfer therefore serves all arrays with the same layouts, and keeps no array alive.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::message_part::{ChunkBox, MessageBox, MessagePart, Outbound, Wave, split_message, waves};
use crate::array::ArrayCore;
use crate::chunks::ChunkId;
use crate::device::StridedBox;
use crate::element::ElementInfo;
use crate::extents::Index;
use crate::plan::{Message, Move, Moved, RankPlan};

/// Limits for splitting messages. The same on every rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MessageSizes {
    /// Maximum bytes of a message. A blocking operation that would stage more bytes sends and
    /// receives message by message, if its boxes have no order.
    pub max_bytes: u64,
    /// Minimum bytes of a contiguous box that is sent in place, as a separate message.
    pub min_in_place: u64,
}

/// Moves that share an element type and a merge rule.
#[derive(Debug)]
pub(super) struct TypedTransfer {
    pub element: &'static ElementInfo,
    /// Index of the merge rule in the job.
    pub rule_index: usize,
    /// True if only the sender knows the message lengths.
    ///
    /// Such a message consists of parts of [`TypedTransfer::full_part_bytes`] and a shorter last
    /// part; a message of the maximum length may have no shorter part. `receives` has one box per
    /// message, of the maximum length.
    pub has_variable_length: bool,
    /// Maximum bytes of a message.
    max_bytes: u64,
    pub sends: Vec<MessagePart>,
    pub receives: Vec<MessagePart>,
    pub local: Vec<(ChunkBox, ChunkBox)>,
    /// Groups of moves that are applied one after another, if destinations share cells. Empty
    /// otherwise.
    pub waves: Vec<Wave>,
}

/// Plan as strided boxes in chunk buffers.
#[derive(Debug)]
pub(super) struct Transfer {
    /// Chunks of this rank that the plan reads or writes, as operand index and chunk.
    pub chunks: Vec<(usize, ChunkId)>,
    /// Chunks with owned cells that the plan writes.
    pub written: Vec<(usize, ChunkId)>,
    pub typed_transfers: Vec<TypedTransfer>,
    pub moved: Moved,
    /// True if source and destination may share cells: all reads then precede all writes.
    pub may_overlap: bool,
}

/// Arrays of a plan, indexed by `Move::src_array` and `Move::dst_array`.
pub(super) type Operands = Vec<Rc<ArrayCore>>;

impl Transfer {
    /// Creates the transfer of a plan between arrays with these layouts and element types.
    ///
    /// `rule_indices` has the index of the merge rule per destination operand; it is empty if all
    /// share a rule. All ranks pass the same `sizes`.
    pub(super) fn new(
        plan: &RankPlan,
        operands: &[Rc<ArrayCore>],
        rule_indices: &[usize],
        sizes: MessageSizes,
    ) -> Self {
        Self::with_sizes(plan, operands, rule_indices, sizes, false)
    }

    fn with_sizes(
        plan: &RankPlan,
        operands: &[Rc<ArrayCore>],
        rule_indices: &[usize],
        sizes: MessageSizes,
        has_variable_length: bool,
    ) -> Self {
        let rule_index = |array: usize| rule_indices.get(array).copied().unwrap_or(0);
        let mut kinds: Vec<(&'static ElementInfo, usize)> = Vec::new();
        for (array, operand) in operands.iter().enumerate() {
            let kind = (operand.element(), rule_index(array));
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let mut boxes = ChunkBoxes { operands, permutation: plan.permutation.as_deref(), chunks: HashMap::new() };
        let typed_transfers: Vec<TypedTransfer> = kinds
            .into_iter()
            .map(|(element, rule)| {
                let is_included =
                    |m: &Move| operands[m.dst_array].element() == element && rule_index(m.dst_array) == rule;
                TypedTransfer::new((element, rule, has_variable_length), plan, &is_included, &mut boxes, sizes)
            })
            .collect();
        let bytes: Vec<usize> = operands.iter().map(|array| array.element().bytes).collect();
        let messages = typed_transfers.iter().map(|typed| typed.sends.len() as u64).sum();
        let moved = Moved { messages, ..plan.moved(&bytes) };
        Self {
            chunks: boxes.into_chunks(),
            written: written_chunks(plan, operands),
            typed_transfers,
            moved,
            may_overlap: plan.overlap,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let wave_bytes =
            |wave: &Wave| wave.local.len() * size_of::<usize>() + wave.received.len() * size_of::<(usize, usize)>();
        let typed_bytes = |typed: &TypedTransfer| {
            let parts = typed.sends.iter().chain(&typed.receives);
            let part_bytes = parts.map(|part| size_of::<MessagePart>() + part.boxes.len() * size_of::<MessageBox>());
            let waves = typed.waves.iter().map(|wave| size_of::<Wave>() + wave_bytes(wave));
            size_of::<TypedTransfer>()
                + typed.local.len() * size_of::<(ChunkBox, ChunkBox)>()
                + part_bytes.chain(waves).sum::<usize>()
        };
        let chunks = (self.chunks.len() + self.written.len()) * size_of::<(usize, ChunkId)>();
        size_of::<Self>() + chunks + self.typed_transfers.iter().map(typed_bytes).sum::<usize>()
    }

    /// Creates the transfer of a plan with one box per message, whose lengths only the senders
    /// know.
    ///
    /// `max_cells` has the maximum number of cells of each message that this rank sends.
    pub(super) fn with_variable_lengths(
        plan: &RankPlan,
        operands: &[Rc<ArrayCore>],
        max_cells: &[u64],
        sizes: MessageSizes,
    ) -> Self {
        let mut all = Self::with_sizes(plan, operands, &[], sizes, true);
        for typed in &mut all.typed_transfers {
            let (size, full) = (typed.element.bytes as u64, typed.full_part_bytes());
            for (index, room) in max_cells.iter().enumerate() {
                let belongs = |part: &MessagePart| part.message_index == index;
                let bytes: u64 = typed.sends.iter().filter(|part| belongs(part)).map(|part| part.bytes).sum();
                let last = typed.sends.iter().rposition(|part| belongs(part) && part.bytes == full);
                if let Some(last) = last.filter(|_| bytes.is_multiple_of(full) && bytes < room * size) {
                    // A receiver expects a shorter part unless the message has its maximum length.
                    let end = MessagePart { bytes: 0, boxes: Vec::new(), is_sent_in_place: false, ..typed.sends[last] };
                    typed.sends.insert(last + 1, end);
                }
            }
        }
        all.moved.messages = all.typed_transfers.iter().map(|typed| typed.sends.len() as u64).sum();
        all
    }
}

/// Chunks of this rank with owned cells that the plan writes.
fn written_chunks(plan: &RankPlan, operands: &[Rc<ArrayCore>]) -> Vec<(usize, ChunkId)> {
    let arriving = plan.local.iter().chain(plan.receives.iter().flat_map(|message| &message.moves));
    let owned = arriving.filter(|m| operands[m.dst_array].chunks().region(m.dst_chunk).intersects(&m.dst));
    owned.map(|m| (m.dst_array, m.dst_chunk)).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Boxes of a plan's moves, and their chunks in order of first use.
struct ChunkBoxes<'a> {
    operands: &'a [Rc<ArrayCore>],
    permutation: Option<&'a [usize]>,
    chunks: HashMap<(usize, ChunkId), usize>,
}

impl ChunkBoxes<'_> {
    /// Source box of a move, with its axes in the order of the destination.
    fn source(&mut self, m: &Move) -> ChunkBox {
        let view = self.source_view(m);
        ChunkBox { chunk: self.number(m.src_array, m.src_chunk), view }
    }

    fn source_view(&self, m: &Move) -> StridedBox {
        let view = self.operands[m.src_array].strided(m.src_chunk, &m.src);
        match self.permutation {
            None => view,
            Some(order) => StridedBox {
                offset: view.offset,
                extents: Index::from_fn(order.len(), |axis| view.extents[order[axis]]),
                strides: Index::from_fn(order.len(), |axis| view.strides[order[axis]]),
            },
        }
    }

    fn destination(&mut self, m: &Move) -> ChunkBox {
        let view = self.operands[m.dst_array].strided(m.dst_chunk, &m.dst);
        ChunkBox { chunk: self.number(m.dst_array, m.dst_chunk), view }
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

impl TypedTransfer {
    fn new(
        (element, rule_index, has_variable_length): (&'static ElementInfo, usize, bool),
        plan: &RankPlan,
        is_included: &dyn Fn(&Move) -> bool,
        boxes: &mut ChunkBoxes<'_>,
        sizes: MessageSizes,
    ) -> Self {
        let is_dense = |m: &Move, boxes: &ChunkBoxes<'_>| {
            let bytes = m.src.cells() * element.bytes as u64;
            let large = bytes >= sizes.min_in_place && bytes.is_multiple_of(4);
            large && m.src_array != m.dst_array && boxes.source_view(m).is_dense()
        };
        let mut split = |messages: &[Message], make_box: fn(&mut ChunkBoxes<'_>, &Move) -> ChunkBox, limit: u64| {
            let parts = |(message_index, message): (usize, &Message)| {
                let moves = message.moves.iter().enumerate().filter(|(_, m)| is_included(m));
                let moves = moves.map(|(move_index, m)| {
                    let is_sent_in_place = is_dense(m, boxes);
                    Outbound { chunk_box: make_box(boxes, m), is_sent_in_place, move_index }
                });
                split_message(message_index, message, moves, element.bytes as u64, limit)
            };
            messages.iter().enumerate().flat_map(parts).collect::<Vec<_>>()
        };
        let max_receive = if has_variable_length { u64::MAX } else { sizes.max_bytes };
        let receives = split(&plan.receives, |boxes, m| boxes.destination(m), max_receive);
        let sends = split(&plan.sends, |boxes, m| boxes.source(m), sizes.max_bytes);
        let waves = waves(plan, is_included, &receives);
        let local =
            plan.local.iter().filter(|m| is_included(m)).map(|m| (boxes.source(m), boxes.destination(m))).collect();
        Self { element, rule_index, has_variable_length, max_bytes: sizes.max_bytes, sends, receives, local, waves }
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &ChunkBox> {
        let local = self.local.iter().map(|(from, _)| from);
        local.chain(self.sends.iter().flat_map(|part| part.boxes.iter().map(|packed| &packed.chunk_box)))
    }

    pub(super) fn destinations(&self) -> impl Iterator<Item = &ChunkBox> {
        let local = self.local.iter().map(|(_, to)| to);
        local.chain(self.receives.iter().flat_map(|part| part.boxes.iter().map(|packed| &packed.chunk_box)))
    }

    /// Maximum bytes of a message part, in whole cells.
    pub(super) fn full_part_bytes(&self) -> u64 {
        let size = self.element.bytes as u64;
        (self.max_bytes / size).max(1) * size
    }
}
