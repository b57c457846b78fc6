//! [`LastExchange`]: boxes that the last exchange or fence of this rank moved, for viewers.

use std::rc::Rc;

use super::job::Job;
use crate::array::ArrayId;
use crate::chunks::ChunkId;
use crate::extents::Index;
use crate::history::Site;
use crate::plan::{Move, RankPlan};

/// Last exchange or fence of this rank: plans and operands of an exchange, or requests of a fence.
#[derive(Default)]
pub(super) struct LastExchange {
    site: Option<Site>,
    jobs: Vec<RecordedJob>,
    requested: MovedBoxes,
}

/// Maximum number of stored boxes per fence.
const MAX_REQUESTED: usize = 1 << 14;

/// Plan of a job and the ids of its operands.
struct RecordedJob {
    plan: Rc<RankPlan>,
    /// Id and element size in bytes of each array. Handles would keep the arrays alive.
    operands: Vec<(ArrayId, u64)>,
}

/// Boxes that this rank moved within its memory or sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MovedBoxes {
    /// Operation with its call site. Empty if there was no operation.
    pub operation: String,
    /// Boxes moved within the rank, followed by sent boxes, up to the requested number.
    pub boxes: Vec<MovedBox>,
    pub count: u64,
    pub bytes_local: u64,
    pub bytes_network: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MovedBox {
    pub from: BoxEnd,
    pub to: BoxEnd,
    /// Extents in cells, along the axes of the destination.
    pub extents: Index,
    pub bytes: u64,
}

/// Source or destination of a moved box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BoxEnd {
    /// Array of the box; `None` for memory outside arrays.
    pub array: Option<ArrayId>,
    pub chunk: ChunkId,
    pub rank: usize,
    /// First cell, in global coordinates of the array, or of the other array if `array` is `None`.
    /// Ghost cells are outside the region of their chunk.
    pub first: Index,
}

impl LastExchange {
    /// Stores the plans of jobs by reference, and the ids of their arrays.
    pub(super) fn set(&mut self, site: Site, jobs: &[Job]) {
        self.site = Some(site);
        self.requested = MovedBoxes::default();
        self.jobs.truncate(jobs.len());
        for (index, job) in jobs.iter().enumerate() {
            let operands = job.operands().iter().map(|array| (array.id(), array.element().bytes as u64));
            match self.jobs.get_mut(index) {
                Some(recorded) => {
                    recorded.plan = job.plan().clone();
                    recorded.operands.clear();
                    recorded.operands.extend(operands);
                }
                None => self.jobs.push(RecordedJob { plan: job.plan().clone(), operands: operands.collect() }),
            }
        }
    }

    /// Stores the boxes that a fence requested from owners.
    pub(super) fn set_requested(&mut self, site: Site, requested: MovedBoxes) {
        self.site = Some(site);
        self.jobs.clear();
        self.requested = requested;
    }

    /// Boxes that the rank moved, sent and requested, at most `max_boxes` of them.
    pub(super) fn moved(&self, rank: usize, max_boxes: usize) -> MovedBoxes {
        let operation = self.site.as_ref().map_or_else(String::new, Site::to_string);
        let MovedBoxes { boxes, count, bytes_local, bytes_network, .. } = &self.requested;
        let boxes = boxes[..boxes.len().min(max_boxes)].to_vec();
        let (count, bytes_local, bytes_network) = (*count, *bytes_local, *bytes_network);
        let mut moved = MovedBoxes { operation, boxes, count, bytes_local, bytes_network };
        for RecordedJob { plan, operands } in &self.jobs {
            let sent = plan.sends.iter().flat_map(|message| message.moves.iter().map(|sent| (message.peer, sent)));
            for (to, moving) in plan.local.iter().map(|local| (rank, local)).chain(sent) {
                let bytes = moving.cells() * operands[moving.src_array].1;
                moved.count += 1;
                *if to == rank { &mut moved.bytes_local } else { &mut moved.bytes_network } += bytes;
                if moved.boxes.len() < max_boxes {
                    moved.boxes.push(moved_box(moving, operands, [rank, to], bytes));
                }
            }
        }
        moved
    }
}

impl MovedBoxes {
    /// Adds a box of a chunk that was copied to memory of `rank` (`is_read`) or from it.
    pub(crate) fn add(&mut self, rank: usize, owned: BoxEnd, extents: Index, bytes: u64, is_read: bool) {
        self.count += 1;
        *if owned.rank == rank { &mut self.bytes_local } else { &mut self.bytes_network } += bytes;
        if self.boxes.len() < MAX_REQUESTED {
            let host = BoxEnd { array: None, chunk: 0, rank, first: owned.first };
            let (from, to) = if is_read { (owned, host) } else { (host, owned) };
            self.boxes.push(MovedBox { from, to, extents, bytes });
        }
    }
}

fn moved_box(moving: &Move, operands: &[(ArrayId, u64)], [from, to]: [usize; 2], bytes: u64) -> MovedBox {
    let end = |array: usize, chunk, rank, first| BoxEnd { array: Some(operands[array].0), chunk, rank, first };
    MovedBox {
        from: end(moving.src_array, moving.src_chunk, from, moving.src.start),
        to: end(moving.dst_array, moving.dst_chunk, to, moving.dst.start),
        extents: moving.dst.extents(),
        bytes,
    }
}
