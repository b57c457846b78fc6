//! Periodic images, and who lies around a chunk.

use super::{ChunkId, Chunks};
use crate::extents::Index;
use crate::region::Region;

/// A chunk that holds cells which another one sees in its ghosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Neighbour {
    /// The chunk that owns the cells; may be the chunk itself, through a periodic axis.
    pub chunk: ChunkId,
    /// Its image is moved by this much: a cell `x` of it is seen at `x + shift`. Zero on axes that are
    /// not periodic.
    pub shift: Index,
    /// The common cells, in the coordinates of the chunk that sees them.
    pub part: Region,
}

impl Chunks {
    /// Splits a region, which may reach beyond the shape, into parts that lie inside: `found(part,
    /// shift)` where cell `x` of the part is seen at `x + shift`. Axes that are not periodic are
    /// clipped.
    pub fn images(&self, region: &Region, mut found: impl FnMut(Region, Index)) {
        if region.is_empty() || self.shape.contains(&0) {
            return;
        }
        let axes = self.axes();
        let range = |axis: usize| {
            let n = self.shape[axis];
            match self.periodic()[axis] {
                true => (region.start[axis].div_euclid(n), (region.end[axis] - 1).div_euclid(n) + 1),
                false => (0, 1),
            }
        };
        let turns = Region {
            start: Index::from_fn(axes, |axis| range(axis).0),
            end: Index::from_fn(axes, |axis| range(axis).1),
        };
        for turn in turns.points() {
            let shift = Index::from_fn(axes, |axis| turn[axis] * self.shape[axis]);
            if let Some(part) = self.whole().translate(&shift).intersect(region) {
                found(part.translate(&(Index::zeros(axes) - shift)), shift);
            }
        }
    }

    /// The chunks whose cells `chunk` sees in its ghosts, once for each image; in no particular order
    /// (but always the same). The chunk itself, unmoved, is not among them.
    pub fn neighbours(&self, chunk: ChunkId) -> Vec<Neighbour> {
        let mut out = Vec::new();
        self.images(&self.storage(chunk), |inside, shift| {
            self.touching(&inside, |other, part| {
                if other != chunk || shift.iter().any(|&by| by != 0) {
                    out.push(Neighbour { chunk: other, shift, part: part.translate(&shift) });
                }
            });
        });
        out
    }

    /// The chunks that see cells of `chunk` in their ghosts, once for each image: the other side of
    /// [`neighbours`](Self::neighbours), with the same `part` and `shift`. `Neighbour::chunk` is the
    /// one that sees, `part` is in its coordinates.
    pub fn seen_by(&self, chunk: ChunkId) -> Vec<Neighbour> {
        let region = self.region(chunk);
        let mut out = Vec::new();
        if region.is_empty() {
            return out;
        }
        // A chunk that sees us behind itself lies before us, hence the exchanged widths.
        self.images(&region.grow(&self.ghost_hi, &self.ghost_lo), |inside, moved| {
            // The other chunk stands at `+ moved` as seen from us, so we stand at `- moved` as seen from it.
            let shift = Index::zeros(self.axes()) - moved;
            self.touching(&inside, |other, _| {
                if other == chunk && shift.iter().all(|&by| by == 0) {
                    return;
                }
                if let Some(part) = self.storage(other).intersect(&region.translate(&shift)) {
                    out.push(Neighbour { chunk: other, shift, part });
                }
            });
        });
        out
    }
}
