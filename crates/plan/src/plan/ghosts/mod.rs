//! The plan of a ghost update, forwards (owner → ghost) and in reverse (ghost → owner).
//!
//! A rank looks at its own chunks and at the chunks around them, never at the world: both the cells that
//! its chunks see and the chunks that see its cells are found through the cuts. Messages are scheduled by the
//! direction of the ghosts they fill, which is known without asking anyone; on a grid with one chunk per
//! rank each round is then a shift, in which a rank sends once and receives once.

mod components;

pub use components::Components;

use super::build::{Builder, Written};
use super::copy::check_rank;
use super::{Move, RankPlan};
use crate::chunks::{ChunkId, Chunks};
use crate::error::PlanError;
use crate::extents::{Index, MAX_AXES};
use crate::locate::Placement;
use crate::region::Region;

/// Which ghost cells take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Neighbours {
    /// Those beyond a face: outside the chunk on exactly one axis.
    Faces,
    /// All: faces, edges and corners.
    #[default]
    All,
}

/// What a ghost update does with one array.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct GhostSpec {
    /// Which ghost cells.
    pub neighbours: Neighbours,
    /// Which components cross in which direction; `None` is all cells.
    pub components: Option<Components>,
    /// Ghost cells are written back to their owners instead of filled by them. Several ghost cells may
    /// stand for one owner cell; they are applied in the order of direction (the last axis counts most; on each beside,
    /// before, behind), then ghost chunk, then position (axis 0 counts most).
    pub reverse: bool,
}

impl GhostSpec {
    /// All ghost cells, filled by their owners.
    pub fn all() -> Self {
        Self::default()
    }

    /// Faces only, filled by their owners.
    pub fn faces() -> Self {
        Self { neighbours: Neighbours::Faces, ..Self::default() }
    }

    /// The same with component lists.
    pub fn components(self, components: Components) -> Self {
        Self { components: Some(components), ..self }
    }

    /// The same from ghosts to owners.
    pub fn reversed(self) -> Self {
        Self { reverse: true, ..self }
    }
}

/// The order of moves: array, chunk written, direction, chunk read, first ghost cell.
type GhostKey = (usize, ChunkId, usize, ChunkId, Index);

/// What `rank` does in a ghost update of several arrays in one exchange; array `i` of the plan is entry
/// `i`, on both ends of its moves.
///
/// Ghost cells beyond an axis that is not periodic are not touched. Every rank that owns chunks of
/// one of the arrays must build the plan with the same arguments. Costs what the rank's chunks and their
/// neighbours cost, whatever the size of the world.
///
/// # Errors
/// When the arrays are spread over different numbers of ranks, or component lists do not fit the array;
/// the same on every rank.
pub fn ghosts(arrays: &[(&Placement, &GhostSpec)], rank: usize) -> Result<RankPlan, PlanError> {
    let Some((first, _)) = arrays.first() else { return Ok(RankPlan::empty(rank)) };
    for (placement, spec) in arrays {
        if placement.ranks() != first.ranks() {
            return Err(PlanError::Ranks { given: placement.ranks(), expected: first.ranks() });
        }
        if let Some(components) = &spec.components {
            components.check(placement.chunks())?;
        }
    }
    check_rank(rank, first.ranks())?;
    let mut builder = Builder::new(rank);
    let mut rounds = 0;
    for (array, &(placement, spec)) in arrays.iter().enumerate() {
        let one = OneArray::new(array, placement.chunks(), spec);
        rounds = rounds.max(one.directions);
        let owner = |chunk| placement.ownership().owner(chunk).rank;
        for chunk in placement.ownership().of_rank(rank) {
            // Ghosts of this rank's chunks: filled from others, or sent back to them.
            for near in one.chunks.neighbours(chunk) {
                let other = owner(near.chunk);
                one.pieces(chunk, near.chunk, near.part, &near.shift, &mut |key, step| match spec.reverse {
                    true => builder.send(other, key, step),
                    false => builder.receive(other, key, step),
                });
            }
            // Cells of this rank's chunks that others see.
            for near in one.chunks.seen_by(chunk) {
                let other = owner(near.chunk);
                one.pieces(near.chunk, chunk, near.part, &near.shift, &mut |key, step| match spec.reverse {
                    true => builder.receive(other, key, step),
                    false => builder.send(other, key, step),
                });
            }
        }
    }
    let chunk = |this: &Move| ((this.dst_array, this.dst_chunk), this.dst);
    let written: Option<Written> = if arrays.iter().any(|(_, spec)| spec.reverse) { Some(&chunk) } else { None };
    // The first of the directions that share a message names its round; both ends know all of them.
    let first_direction = |_, _, moves: &[(GhostKey, Move)]| moves.iter().map(|(key, _)| key.2).min().unwrap_or(0);
    Ok(builder.finish(rounds, written, first_direction))
}

/// One array of an exchange.
struct OneArray<'a> {
    array: usize,
    chunks: &'a Chunks,
    spec: &'a GhostSpec,
    /// Number of directions that have ghosts and take part.
    directions: usize,
    /// For faces, the number of the direction before and behind on each axis.
    face: [[usize; 2]; MAX_AXES],
    /// For all directions, the weight of an axis and of its two sides.
    weight: [[usize; 2]; MAX_AXES],
}

impl<'a> OneArray<'a> {
    fn new(array: usize, chunks: &'a Chunks, spec: &'a GhostSpec) -> Self {
        let (mut face, mut weight) = ([[0; 2]; MAX_AXES], [[0; 2]; MAX_AXES]);
        let (mut faces, mut all) = (0, 1);
        for axis in 0..chunks.axes() {
            let mut sides = 1;
            for (side, width) in [chunks.ghost_lo()[axis], chunks.ghost_hi()[axis]].into_iter().enumerate() {
                if width > 0 {
                    (face[axis][side], weight[axis][side]) = (faces, sides * all);
                    faces += 1;
                    sides += 1;
                }
            }
            all *= sides;
        }
        let directions = if spec.neighbours == Neighbours::Faces { faces } else { all - 1 };
        Self { array, chunks, spec, directions, face, weight }
    }

    /// The number of a direction (−1, 0 or 1 per axis, not all 0) among those that have ghosts.
    fn number(&self, direction: &[i8]) -> usize {
        let sides = direction.iter().enumerate().filter(|(_, step)| **step != 0);
        let mut sides = sides.map(|(axis, &step)| (axis, usize::from(step > 0)));
        match self.spec.neighbours {
            Neighbours::Faces => sides.next().map_or(0, |(axis, side)| self.face[axis][side]),
            Neighbours::All => sides.map(|(axis, side)| self.weight[axis][side]).sum::<usize>() - 1,
        }
    }

    /// The moves between the ghosts of `seer` and the cells of `holder`, whose image moved by `shift`
    /// has `part` in common with the storage of `seer`.
    fn pieces(
        &self,
        seer: ChunkId,
        holder: ChunkId,
        part: Region,
        shift: &Index,
        emit: &mut dyn FnMut(GhostKey, Move),
    ) {
        let own = self.chunks.region(seer);
        let axes = part.axes();
        let back = Index::zeros(axes) - *shift;
        let mut one = |direction: &[i8], ghost: Region| {
            let number = self.number(direction);
            let owned = ghost.translate(&back);
            let (src_chunk, src, dst_chunk, dst) =
                if self.spec.reverse { (seer, ghost, holder, owned) } else { (holder, owned, seer, ghost) };
            let key = (self.array, dst_chunk, number, src_chunk, ghost.start);
            emit(key, Move { src_array: self.array, src_chunk, src, dst_array: self.array, dst_chunk, dst });
        };
        if self.spec.neighbours == Neighbours::All && self.spec.components.is_none() && !self.spec.reverse {
            // Nothing depends on the direction of single cells, so the box stays whole.
            let mut direction = [0_i8; MAX_AXES];
            for (axis, step) in direction[..axes].iter_mut().enumerate() {
                *step = i8::from(part.start[axis] >= own.end[axis]) - i8::from(part.end[axis] <= own.start[axis]);
            }
            return one(&direction[..axes], part);
        }
        // On each axis the part has cells before, beside or behind the chunk (0, 1, 2), or several of these.
        let first =
            |axis| i64::from(part.start[axis] >= own.start[axis]) + i64::from(part.start[axis] >= own.end[axis]);
        let last = |axis| i64::from(part.end[axis] > own.start[axis]) + i64::from(part.end[axis] > own.end[axis]);
        let segments = Region { start: Index::from_fn(axes, first), end: Index::from_fn(axes, |axis| last(axis) + 1) };
        for choice in segments.points() {
            let mut direction = [0_i8; MAX_AXES];
            let mut ghost = part;
            for axis in 0..axes {
                direction[axis] = choice[axis] as i8 - 1;
                let (start, end) = match direction[axis] {
                    -1 => (part.start[axis], part.end[axis].min(own.start[axis])),
                    0 => (part.start[axis].max(own.start[axis]), part.end[axis].min(own.end[axis])),
                    _ => (part.start[axis].max(own.end[axis]), part.end[axis]),
                };
                (ghost.start[axis], ghost.end[axis]) = (start, end);
            }
            let direction = &direction[..axes];
            let outside = direction.iter().filter(|step| **step != 0).count();
            if outside == 0 || (self.spec.neighbours == Neighbours::Faces && outside > 1) {
                continue;
            }
            match &self.spec.components {
                None => one(direction, ghost),
                Some(components) => {
                    let axis = components.axis();
                    for run in components.runs(direction) {
                        let mut ghost = ghost;
                        ghost.start[axis] = ghost.start[axis].max(run.start);
                        ghost.end[axis] = ghost.end[axis].min(run.end);
                        if ghost.start[axis] < ghost.end[axis] {
                            one(direction, ghost);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
