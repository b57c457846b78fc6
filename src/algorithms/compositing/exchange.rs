//! A round's blends cut into pieces that lie in one chunk at both ends, and the slots in which their streams travel. Pure, and
//! the same on every rank.

use super::plan::{Blend, Canvas, Round, Way};
use super::stream::{capacity, count};
use crate::chunks::ChunkId;
use crate::extents::Index;
use crate::locate::{Holder, Placement};
use crate::region::Region;
use std::collections::BTreeMap;

/// One end of a piece: a box of a chunk of the array that holds a canvas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub canvas: Canvas,
    pub chunk: ChunkId,
    pub region: Region,
    pub rank: usize,
}

/// A part of a blend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub from: End,
    pub to: End,
    pub way: Way,
    /// Its first line in its slot.
    pub line: u64,
}

/// The stream from one rank to another: everything of the round, one piece after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Slot {
    /// Indices of its pieces.
    pub pieces: Vec<usize>,
    pub lines: u64,
    /// Words at most.
    pub capacity: u64,
    /// Where it begins in the outbox of its sender and in the inbox of its receiver, in words.
    pub outbox: u64,
    pub inbox: u64,
}

/// A round, ready to be coded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Exchange {
    /// In the order in which they are blended.
    pub pieces: Vec<Piece>,
    /// By sender and receiver.
    pub slots: BTreeMap<(usize, usize), Slot>,
}

impl Exchange {
    /// The exchange of a round between canvases: `on` gives a canvas's placement and where a part of the picture is on it.
    pub fn new<'a, P>(round: &Round, on: &dyn Fn(Canvas, &Region) -> (&'a Placement, Region)) -> Self {
        let mut out = Self::default();
        // Alone, in front, behind: the order of the ways.
        let mut blends: Vec<&Blend> = round.blends.iter().collect();
        blends.sort_by_key(|blend| blend.way);
        for blend in blends {
            let (from, read) = on(blend.from, &blend.region);
            let (to, written) = on(blend.to, &blend.region);
            for source in from.holders(&read) {
                let offset = written.start - read.start;
                for target in to.holders(&source.part.translate(&offset)) {
                    let read = target.part.translate(&(Index::zeros(2) - offset));
                    out.add::<P>(blend, &source, read, &target);
                }
            }
        }
        out.place();
        out
    }

    fn add<P>(&mut self, blend: &Blend, source: &Holder, read: Region, target: &Holder) {
        let end =
            |canvas, holder: &Holder, region| End { canvas, chunk: holder.chunk, region, rank: holder.owner.rank };
        let (from, to) = (end(blend.from, source, read), end(blend.to, target, target.part));
        let slot = self.slots.entry((from.rank, to.rank)).or_insert_with(|| Slot { capacity: 1, ..Slot::default() });
        slot.pieces.push(self.pieces.len());
        self.pieces.push(Piece { from, to, way: blend.way, line: slot.lines });
        slot.lines += count(&read);
        slot.capacity += capacity::<P>(&read);
    }

    fn place(&mut self) {
        let (mut sent, mut received) = (BTreeMap::new(), BTreeMap::new());
        for ((from, to), slot) in &mut self.slots {
            let sent = sent.entry(*from).or_insert(0);
            slot.outbox = *sent;
            *sent += slot.capacity;
            // What stays on a rank is blended from where it was coded.
            if from != to {
                let received = received.entry(*to).or_insert(0);
                slot.inbox = *received;
                *received += slot.capacity;
            }
        }
    }

    /// Words that each rank's outbox and inbox must have.
    pub fn sizes(&self, ranks: usize) -> [Vec<u64>; 2] {
        let mut sizes = [vec![0; ranks], vec![0; ranks]];
        for ((from, to), slot) in &self.slots {
            sizes[0][*from] += slot.capacity;
            if from != to {
                sizes[1][*to] += slot.capacity;
            }
        }
        sizes
    }
}
