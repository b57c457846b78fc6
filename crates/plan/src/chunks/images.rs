use super::{ChunkId, Chunks};
use crate::extents::Index;
use crate::region::Region;

/// Neighbour of a chunk: a chunk with cells that are ghost cells of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Neighbour {
    /// The neighbour; through a periodic axis it can be the chunk itself.
    pub chunk: ChunkId,
    /// Offset of the periodic image: cell `x` of the owner is the ghost cell `x + shift`. Zero on
    /// axes that are not periodic.
    pub shift: Index,
    /// The common cells, in the coordinates of the chunk with the ghost cells.
    pub part: Region,
}

impl Chunks {
    /// Maps a region that can extend beyond the shape to parts inside the shape.
    ///
    /// Calls `found(part, shift)` for each part: cell `x` of the part is the image of cell `x +
    /// shift` of the region. The region is clipped on axes that are not periodic.
    pub fn images(&self, region: &Region, mut found: impl FnMut(Region, Index)) {
        if region.is_empty() || self.shape.contains(&0) {
            return;
        }
        let axes = self.axes();
        let range = |axis: usize| {
            let n = self.shape[axis];
            if self.periodic()[axis] {
                (region.start[axis].div_euclid(n), (region.end[axis] - 1).div_euclid(n) + 1)
            } else {
                (0, 1)
            }
        };
        let periods = Region {
            start: Index::from_fn(axes, |axis| range(axis).0),
            end: Index::from_fn(axes, |axis| range(axis).1),
        };
        for period in periods.points() {
            let shift = Index::from_fn(axes, |axis| period[axis] * self.shape[axis]);
            if let Some(part) = self.whole().translate(&shift).intersect(region) {
                found(part.translate(&(Index::zeros(axes) - shift)), shift);
            }
        }
    }

    /// Chunks that own ghost cells of `chunk`, once per periodic image, in a deterministic order,
    /// without `chunk` itself at shift zero.
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

    /// Chunks whose ghost cells are cells of `chunk`, once per periodic image: the inverse of
    /// [`neighbours`](Self::neighbours), with the same `part` and `shift`. `Neighbour::chunk` is
    /// the chunk with the ghost cells, and `part` is in its coordinates.
    pub fn seen_by(&self, chunk: ChunkId) -> Vec<Neighbour> {
        let region = self.region(chunk);
        let mut out = Vec::new();
        if region.is_empty() {
            return out;
        }
        // A chunk with ghost cells after its end is before `chunk`: the widths change sides.
        self.images(&region.grow(&self.ghost_hi, &self.ghost_lo), |inside, other_shift| {
            // The image of `chunk` is at the negative offset.
            let shift = Index::zeros(self.axes()) - other_shift;
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
