//! Moves of which only the rank that owns the source knows how long they are.

use std::rc::Rc;

use super::exchange::{Bound, Entry};
use super::job::Job;
use super::meeting::Meeting;
use super::planned::Planned;
use super::transfer::{Operands, Transfer};
use super::{Collective, Named, World};
use crate::chunks::ChunkId;
use crate::error::{ArrayError, Result};
use crate::plan::{Message, Move, RankPlan};
use crate::region::Region;

/// The first cells of sections onto the first ones of others.
pub(super) struct Counted {
    pairs: Vec<(OneChunk, OneChunk, u64)>,
}

/// A section that lies in one chunk.
struct OneChunk {
    bound: Bound,
    chunk: ChunkId,
    rank: usize,
}

impl OneChunk {
    fn new(bound: &Bound) -> Result<Self> {
        let Bound { array, region } = bound;
        match array.placement().holders(region)[..] {
            [holder] if holder.part == *region => {
                Ok(Self { bound: bound.clone(), chunk: holder.chunk, rank: holder.owner.rank })
            }
            _ => {
                let text = format!("{} must have cells, and all in one chunk", array.label(region));
                Err(ArrayError::Other(text).into())
            }
        }
    }

    /// Its first cells.
    fn first(&self, cells: u64) -> Region {
        let Region { start, mut end } = self.bound.region;
        end[0] = start[0] + cells as i64;
        Region { start, end }
    }

    fn cells(&self) -> u64 {
        self.bound.region.cells()
    }
}

impl Counted {
    pub fn new(entries: &[Entry]) -> Result<Self> {
        let mut pairs = Vec::with_capacity(entries.len());
        for entry in entries {
            if let Entry::Prefix(pair, length) = entry {
                pairs.push((OneChunk::new(&pair.source)?, OneChunk::new(&pair.destination)?, *length));
            }
        }
        Ok(Self { pairs })
    }

    /// How messages and comparisons name it.
    pub fn call(&self) -> Collective {
        let named = |held: &OneChunk| (Named::of(&held.bound.array), held.bound.region);
        let all: Vec<_> = self.pairs.iter().map(|(from, to, _)| [named(from), named(to)]).collect();
        let ends = all.iter().take(1).flatten();
        let call = ends.fold(Collective::new("prefix"), |call, (array, region)| call.of(array.clone(), Some(*region)));
        let content = super::hash(&all);
        call.and(format!(", {} in all #{:04x}", all.len(), content as u16)).with(content)
    }

    /// The arrays of its plan: source and destination of the first pair, then of the next one.
    pub fn operands(&self) -> Operands {
        self.pairs.iter().flat_map(|(from, to, _)| [from, to].map(|held| held.bound.array.clone())).collect()
    }

    /// The plan for the most that each can be, and for how long those of this rank are.
    fn plan(&self, rank: usize, exact: bool) -> RankPlan {
        let mut plan = RankPlan { rounds: 1, ..RankPlan::empty(rank) };
        for (index, (from, to, length)) in self.pairs.iter().enumerate() {
            let room = from.cells().min(to.cells());
            let cells = if exact && from.rank == rank { *length } else { room };
            let moves = vec![Move {
                src_array: 2 * index,
                src_chunk: from.chunk,
                src: from.first(cells),
                dst_array: 2 * index + 1,
                dst_chunk: to.chunk,
                dst: to.first(cells),
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

    /// What it does at the most.
    pub fn planned(&self, world: &World) -> Planned {
        let plan = self.plan(world.rank(), false);
        let transfer = Transfer::counted(&plan, &self.operands(), &self.rooms(world.rank()), world.message_sizes());
        Planned { plan: Rc::new(plan), transfer: Rc::new(transfer) }
    }

    /// What it does.
    ///
    /// # Errors
    /// A length of this rank's that one of the ends cannot hold.
    pub fn job(&self, world: &World) -> Result<Job> {
        for (from, to, length) in self.pairs.iter().filter(|(from, ..)| from.rank == world.rank()) {
            if *length > from.cells().min(to.cells()) {
                let text = format!("{length} cells do not fit {}", to.bound.array.label(&to.bound.region));
                return Err(ArrayError::Other(text).into());
            }
        }
        let (plan, operands) = (self.plan(world.rank(), true), self.operands());
        let transfer = Transfer::counted(&plan, &operands, &self.rooms(world.rank()), world.message_sizes());
        let planned = Planned { plan: Rc::new(plan), transfer: Rc::new(transfer) };
        Job::new(planned, operands, vec![Meeting::Replace], false)
    }

    /// The most cells of each message that this rank sends.
    fn rooms(&self, rank: usize) -> Vec<u64> {
        let sent = self.pairs.iter().filter(|(from, to, _)| from.rank == rank && to.rank != rank);
        sent.map(|(from, to, _)| from.cells().min(to.cells())).collect()
    }
}
