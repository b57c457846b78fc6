//! [`PrefixCopies`]: copies whose lengths only the owner of the source knows.

use std::rc::Rc;

use super::exchange::{BoundSection, Entry};
use super::job::Job;
use super::merge_rule::MergeRule;
use super::plan::PlannedTransfer;
use super::transfer::{Operands, Transfer};
use super::{ArrayIdentity, Collective, World};
use crate::chunks::ChunkId;
use crate::error::{ArrayError, Result};
use crate::plan::{Message, Move, RankPlan};
use crate::region::Region;

/// Copies of the first cells of sections to the first cells of other sections.
pub(super) struct PrefixCopies {
    copies: Vec<PrefixCopy>,
}

/// Copy of the first `length` cells of a section.
struct PrefixCopy {
    source: ChunkSection,
    destination: ChunkSection,
    /// Number of cells; valid only on the rank that owns the source.
    length: u64,
}

impl PrefixCopy {
    /// Maximum length in cells.
    fn max_cells(&self) -> u64 {
        self.source.cells().min(self.destination.cells())
    }
}

struct ChunkSection {
    section: BoundSection,
    chunk: ChunkId,
    rank: usize,
}

impl ChunkSection {
    fn new(section: &BoundSection) -> Result<Self> {
        let BoundSection { array, region } = section;
        match array.placement().holders(region)[..] {
            [holder] if holder.part == *region => {
                Ok(Self { section: section.clone(), chunk: holder.chunk, rank: holder.owner.rank })
            }
            _ => {
                let text = format!("{} must have cells, all of them in one chunk", array.label(region));
                Err(ArrayError::Other(text).into())
            }
        }
    }

    fn prefix(&self, cells: u64) -> Region {
        let Region { start, mut end } = self.section.region;
        end[0] = start[0] + cells as i64;
        Region { start, end }
    }

    fn cells(&self) -> u64 {
        self.section.region.cells()
    }
}

impl PrefixCopies {
    pub(super) fn new(entries: &[Entry]) -> Result<Self> {
        let mut copies = Vec::with_capacity(entries.len());
        for entry in entries {
            if let Entry::Prefix(pair, length) = entry {
                copies.push(PrefixCopy {
                    source: ChunkSection::new(&pair.source)?,
                    destination: ChunkSection::new(&pair.destination)?,
                    length: *length,
                });
            }
        }
        Ok(Self { copies })
    }

    /// Name and signature of the collective.
    pub(super) fn call(&self) -> Collective {
        let named = |held: &ChunkSection| (ArrayIdentity::from_core(&held.section.array), held.section.region);
        let all: Vec<_> = self.copies.iter().map(|copy| [named(&copy.source), named(&copy.destination)]).collect();
        let first = all.iter().take(1).flatten();
        let call =
            first.fold(Collective::new("prefix"), |call, (array, region)| call.array(array.clone(), Some(*region)));
        let content = super::hash(&all);
        call.text_after(format!(", {} in all #{:04x}", all.len(), content as u16)).also_compare(content)
    }

    /// Arrays of the plan: source and destination of each copy in turn.
    pub(super) fn operands(&self) -> Operands {
        self.copies
            .iter()
            .flat_map(|copy| [&copy.source, &copy.destination].map(|held| held.section.array.clone()))
            .collect()
    }

    /// Plan for the maximum lengths, or (`exact`) for the lengths of the sources on this rank.
    fn plan(&self, rank: usize, exact: bool) -> RankPlan {
        let mut plan = RankPlan { rounds: 1, ..RankPlan::empty(rank) };
        for (index, copy) in self.copies.iter().enumerate() {
            let (from, to) = (&copy.source, &copy.destination);
            let cells = if exact && from.rank == rank { copy.length } else { copy.max_cells() };
            let moves = vec![Move {
                src_array: 2 * index,
                src_chunk: from.chunk,
                src: from.prefix(cells),
                dst_array: 2 * index + 1,
                dst_chunk: to.chunk,
                dst: to.prefix(cells),
            }];
            match (from.rank == rank, to.rank == rank) {
                (true, true) => plan.local.extend(moves),
                (true, false) => plan.sends.push(Message { peer: to.rank, round: 0, moves }),
                (false, true) => plan.receives.push(Message { peer: from.rank, round: 0, moves }),
                (false, false) => {}
            }
        }
        plan.rounds = usize::from(plan.sends.len() + plan.receives.len() > 0);
        plan
    }

    /// Plan and transfer for the maximum lengths.
    pub(super) fn plan_maximum(&self, world: &World) -> PlannedTransfer {
        let plan = self.plan(world.rank(), false);
        let transfer = Transfer::with_variable_lengths(
            &plan,
            &self.operands(),
            &self.max_cells_per_message(world.rank()),
            world.message_sizes(),
        );
        PlannedTransfer { plan: Rc::new(plan), transfer: Rc::new(transfer) }
    }

    /// Job for the actual lengths.
    ///
    /// # Errors
    /// A length on this rank that exceeds the source or destination section.
    pub(super) fn job(&self, world: &World) -> Result<Job> {
        for copy in self.copies.iter().filter(|copy| copy.source.rank == world.rank()) {
            if copy.length > copy.max_cells() {
                let BoundSection { array, region } = &copy.destination.section;
                let text = format!("{} cells do not fit {}", copy.length, array.label(region));
                return Err(ArrayError::Other(text).into());
            }
        }
        let (plan, operands) = (self.plan(world.rank(), true), self.operands());
        let transfer = Transfer::with_variable_lengths(
            &plan,
            &operands,
            &self.max_cells_per_message(world.rank()),
            world.message_sizes(),
        );
        let planned = PlannedTransfer { plan: Rc::new(plan), transfer: Rc::new(transfer) };
        Job::new(planned, operands, vec![MergeRule::Replace], false)
    }

    fn max_cells_per_message(&self, rank: usize) -> Vec<u64> {
        let sent = self.copies.iter().filter(|copy| copy.source.rank == rank && copy.destination.rank != rank);
        sent.map(PrefixCopy::max_cells).collect()
    }
}
