//! [`Job`]: a transfer with its pinned chunks.

use std::ops::Range;
use std::rc::Rc;

use super::merge_rule::MergeRule;
use super::message_part::{ChunkBox, MessagePart};
use super::plan::PlannedTransfer;
use super::transfer::{Operands, Transfer, TypedTransfer};
use crate::chunks::ChunkId;
use crate::device::{BufferBox, Lease, PackedBox};
use crate::error::{CallSite, Result};
use crate::history::{Moment, OperationName};
use crate::plan::{Move, RankPlan};
use crate::region::Region;

/// Transfer with its operands, pinned chunks and merge rules.
pub(super) struct Job {
    pub transfer: Rc<Transfer>,
    /// True if a move may write cells that another move of the job reads.
    pub may_overlap: bool,
    leases: Vec<Lease>,
    merge_rules: Vec<MergeRule>,
    operands: Operands,
    plan: Rc<RankPlan>,
}

impl Job {
    /// Pins the chunks of the transfer.
    ///
    /// `merge_rules` has the rules that [`TypedTransfer::rule_index`] refers to. `aliased` is true
    /// if operands that are separate arrays in the plan share cells.
    ///
    /// # Errors
    /// A chunk is unavailable.
    pub(super) fn new(
        PlannedTransfer { plan, transfer }: PlannedTransfer,
        operands: Operands,
        merge_rules: Vec<MergeRule>,
        aliased: bool,
    ) -> Result<Self> {
        let lease = |&(array, chunk): &(usize, ChunkId)| operands[array].lease(chunk);
        let leases = transfer.chunks.iter().map(|chunk| Ok(lease(chunk)?.expect("a plan names chunks with cells")));
        let leases = leases.collect::<Result<_>>()?;
        Ok(Self { may_overlap: transfer.may_overlap || aliased, transfer, leases, merge_rules, operands, plan })
    }

    pub(super) fn operands(&self) -> &Operands {
        &self.operands
    }

    pub(super) fn plan(&self) -> &Rc<RankPlan> {
        &self.plan
    }

    /// Records writes of chunks, and updates of ghost cells with the time of the reads of their
    /// owners.
    #[track_caller]
    pub(super) fn record_writes(&self, read_at: &Moment) {
        let at = CallSite::here();
        for &(operand, chunk) in &self.transfer.written {
            let Some(history) = self.operands[operand].history(chunk) else { continue };
            let operation = OperationName::Local("an exchange");
            match history.ghosts() {
                None => history.operation(&[], &[self.owned_region(operand, chunk)], operation, at),
                Some(_) => history.operation(&[], &self.written_boxes(operand, chunk), operation, at),
            }
        }
        for (operand, chunk, region) in self.ghost_fills() {
            self.operands[operand].history(chunk).iter().for_each(|history| history.filled(&region, read_at));
        }
    }

    fn owned_region(&self, operand: usize, chunk: ChunkId) -> Region {
        self.operands[operand].chunks().region(chunk)
    }

    fn incoming_moves(&self) -> impl Iterator<Item = &Move> {
        self.plan.local.iter().chain(self.plan.receives.iter().flat_map(|message| &message.moves))
    }

    /// Boxes of owned cells that the job writes in a chunk.
    fn written_boxes(&self, operand: usize, chunk: ChunkId) -> Vec<Region> {
        let owned = self.owned_region(operand, chunk);
        let moves = self.incoming_moves().filter(|m| (m.dst_array, m.dst_chunk) == (operand, chunk));
        moves.filter_map(|m| m.dst.intersect(&owned)).collect()
    }

    /// Boxes of ghost cells that the job writes, for arrays with tracked ghost cells.
    fn ghost_fills(&self) -> Vec<(usize, ChunkId, Region)> {
        let is_tracked = |operand: usize, chunk: ChunkId| {
            self.operands[operand].history(chunk).is_some_and(|history| history.ghosts().is_some())
        };
        if !self.operands.iter().any(|array| array.context().ledger.is_checked()) {
            return Vec::new();
        }
        let fills = self.incoming_moves().filter(|m| {
            is_tracked(m.dst_array, m.dst_chunk) && !self.owned_region(m.dst_array, m.dst_chunk).intersects(&m.dst)
        });
        fills.map(|m| (m.dst_array, m.dst_chunk, m.dst)).collect()
    }

    pub(super) fn merge_rule(&self, typed: &TypedTransfer) -> &MergeRule {
        &self.merge_rules[typed.rule_index]
    }

    pub(super) fn buffer_box(&self, chunk_box: &ChunkBox) -> BufferBox<'_> {
        BufferBox { buffer: &self.leases[chunk_box.chunk], view: chunk_box.view }
    }

    /// Chunk box with its buffer and its offset in a payload.
    pub(super) fn packed_box(&self, chunk_box: &ChunkBox, payload_offset: u64) -> PackedBox<'_> {
        let BufferBox { buffer, view } = self.buffer_box(chunk_box);
        PackedBox { buffer, view, payload_offset }
    }

    /// Boxes of message parts in a shared payload, and the byte range of each part.
    pub(super) fn packed_boxes(&self, parts: &[&MessagePart]) -> (Vec<PackedBox<'_>>, Vec<Range<usize>>) {
        let (mut pieces, mut ranges, mut start) = (Vec::new(), Vec::new(), 0);
        for part in parts {
            pieces.extend(part.boxes.iter().map(|packed| self.packed_box(&packed.chunk_box, start + packed.offset)));
            ranges.push(start as usize..(start + part.bytes) as usize);
            start += part.bytes;
        }
        (pieces, ranges)
    }
}
