//! [`LastExchange`]: what the last exchange has moved, for those who look into a program.

use std::rc::Rc;

use super::job::Job;
use crate::array::ArrayId;
use crate::chunks::ChunkId;
use crate::extents::Index;
use crate::history::Site;
use crate::plan::{Move, RankPlan};

/// The last exchange of this rank: its plans, and the operands of each.
#[derive(Default)]
pub(super) struct LastExchange {
    site: Option<Site>,
    parts: Vec<Part>,
}

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
    pub array: ArrayId,
    pub chunk: ChunkId,
    pub rank: usize,
    /// Its first cell, in global coordinates of its array; ghost cells lie outside of their chunk's.
    pub first: Index,
}

impl LastExchange {
    /// Remembers what is moved: the plans are held, and nothing else is copied but the numbers of arrays.
    pub fn set(&mut self, site: Site, jobs: &[Job]) {
        self.site = Some(site);
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

    /// What the rank has moved and sent, `most` boxes of it.
    pub fn moved(&self, rank: usize, most: usize) -> MovedBoxes {
        let operation = self.site.as_ref().map_or_else(String::new, Site::to_string);
        let mut moved = MovedBoxes { operation, ..MovedBoxes::default() };
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

fn moved_box(of: &Move, operands: &[(ArrayId, u64)], [from, to]: [usize; 2], bytes: u64) -> MovedBox {
    let end = |array: usize, chunk, rank, first| BoxEnd { array: operands[array].0, chunk, rank, first };
    MovedBox {
        from: end(of.src_array, of.src_chunk, from, of.src.start),
        to: end(of.dst_array, of.dst_chunk, to, of.dst.start),
        extents: of.dst.extents(),
        bytes,
    }
}
