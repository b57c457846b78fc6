//! [`LastExchange`]: what the last exchange has moved, for those who look into a program.

use std::rc::Rc;

use super::job::Job;
use crate::array::ArrayId;
use crate::chunks::ChunkId;
use crate::extents::Index;
use crate::history::Site;
use crate::plan::{Move, RankPlan};

/// The last exchange or fence of this rank: its plans, and the operands of each, or what it has asked of owners.
#[derive(Default)]
pub(super) struct LastExchange {
    site: Option<Site>,
    parts: Vec<Part>,
    asked: MovedBoxes,
}

/// So many boxes of a fence are remembered.
const MOST_ASKED: usize = 1 << 14;

struct Part {
    plan: Rc<RankPlan>,
    /// The number of each array, and the bytes of its cells. No handles, which would keep the arrays alive.
    operands: Vec<(ArrayId, u64)>,
}

/// What this rank has moved and sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MovedBoxes {
    /// The operation in words, with the place in the program; empty where there was none.
    pub operation: String,
    /// Boxes that stayed, then those that were sent, as many as were asked for.
    pub boxes: Vec<MovedBox>,
    /// How many there were.
    pub count: u64,
    /// Bytes that stayed on this rank.
    pub bytes_local: u64,
    /// Bytes that it sent.
    pub bytes_network: u64,
}

/// A box of cells that was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MovedBox {
    pub from: BoxEnd,
    pub to: BoxEnd,
    /// Cells along each axis of the destination.
    pub extents: Index,
    pub bytes: u64,
}

/// Where a box was read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BoxEnd {
    /// None where it is memory of the program's own.
    pub array: Option<ArrayId>,
    pub chunk: ChunkId,
    pub rank: usize,
    /// Its first cell, in global coordinates of its array, or of the one at the other end; ghost cells lie outside of their
    /// chunk's.
    pub first: Index,
}

impl LastExchange {
    /// Remembers what is moved: the plans are held, and nothing else is copied but the numbers of arrays.
    pub fn set(&mut self, site: Site, jobs: &[Job]) {
        self.site = Some(site);
        self.asked = MovedBoxes::default();
        self.parts.truncate(jobs.len());
        for (number, job) in jobs.iter().enumerate() {
            let operands = job.operands().iter().map(|array| (array.id(), array.element().bytes as u64));
            match self.parts.get_mut(number) {
                Some(part) => {
                    part.plan = job.plan().clone();
                    part.operands.clear();
                    part.operands.extend(operands);
                }
                None => self.parts.push(Part { plan: job.plan().clone(), operands: operands.collect() }),
            }
        }
    }

    /// Remembers what a fence has asked of owners.
    pub fn set_asked(&mut self, site: Site, asked: MovedBoxes) {
        self.site = Some(site);
        self.parts.clear();
        self.asked = asked;
    }

    /// What the rank has moved, sent and asked for, `most` boxes of it.
    pub fn moved(&self, rank: usize, most: usize) -> MovedBoxes {
        let operation = self.site.as_ref().map_or_else(String::new, Site::to_string);
        let MovedBoxes { boxes, count, bytes_local, bytes_network, .. } = &self.asked;
        let boxes = boxes[..boxes.len().min(most)].to_vec();
        let (count, bytes_local, bytes_network) = (*count, *bytes_local, *bytes_network);
        let mut moved = MovedBoxes { operation, boxes, count, bytes_local, bytes_network };
        for Part { plan, operands } in &self.parts {
            let sent = plan.sends.iter().flat_map(|message| message.moves.iter().map(|of| (message.peer, of)));
            for (to, of) in plan.local.iter().map(|of| (rank, of)).chain(sent) {
                let bytes = of.cells() * operands[of.src_array].1;
                moved.count += 1;
                *if to == rank { &mut moved.bytes_local } else { &mut moved.bytes_network } += bytes;
                if moved.boxes.len() < most {
                    moved.boxes.push(moved_box(of, operands, [rank, to], bytes));
                }
            }
        }
        moved
    }
}

impl MovedBoxes {
    /// Adds a box of a chunk, which memory of `rank` is written to, or read from.
    pub fn add(&mut self, rank: usize, owned: BoxEnd, extents: Index, bytes: u64, is_read: bool) {
        self.count += 1;
        *if owned.rank == rank { &mut self.bytes_local } else { &mut self.bytes_network } += bytes;
        if self.boxes.len() < MOST_ASKED {
            let own = BoxEnd { array: None, chunk: 0, rank, first: owned.first };
            let (from, to) = if is_read { (owned, own) } else { (own, owned) };
            self.boxes.push(MovedBox { from, to, extents, bytes });
        }
    }
}

fn moved_box(of: &Move, operands: &[(ArrayId, u64)], [from, to]: [usize; 2], bytes: u64) -> MovedBox {
    let end = |array: usize, chunk, rank, first| BoxEnd { array: Some(operands[array].0), chunk, rank, first };
    MovedBox {
        from: end(of.src_array, of.src_chunk, from, of.src.start),
        to: end(of.dst_array, of.dst_chunk, to, of.dst.start),
        extents: of.dst.extents(),
        bytes,
    }
}
