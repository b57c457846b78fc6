//! [`ghosts`]: plan of a ghost update, forwards (owner → ghost cell) or in reverse (ghost cell →
//! owner).
//!
//! A rank visits only its own chunks and their neighbours, which follow from the cuts. The round of
//! a message is the direction of its ghost cells, known without communication. On a grid with one
//! chunk per rank, each round is a shift with one send and one receive per rank.

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

/// Ghost cells of a ghost update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Neighbours {
    /// Ghost cells outside the chunk on exactly one axis.
    Faces,
    /// All ghost cells: faces, edges and corners.
    #[default]
    All,
}

/// Ghost update of an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct GhostSpec {
    /// Ghost cells of the update.
    pub neighbours: Neighbours,
    /// Components per direction; `None` for all cells.
    pub components: Option<Components>,
    /// True to send ghost cells to their owners, false to fill them from their owners.
    ///
    /// Several ghost cells can be images of one cell. They are applied in the order of the
    /// direction (last axis most significant; per axis 0, −1, 1), then the chunk with the ghost
    /// cell, then the position (axis 0 most significant).
    pub reverse: bool,
}

impl GhostSpec {
    /// Update of all ghost cells from their owners.
    pub fn all() -> Self {
        Self::default()
    }

    /// Update of the ghost cells of faces from their owners.
    pub fn faces() -> Self {
        Self { neighbours: Neighbours::Faces, ..Self::default() }
    }

    /// The update with component lists.
    pub fn components(self, components: Components) -> Self {
        Self { components: Some(components), ..self }
    }

    /// The update in reverse: from ghost cells to their owners.
    pub fn reversed(self) -> Self {
        Self { reverse: true, ..self }
    }
}

/// Sort key of a move: array, destination chunk, direction, source chunk, first ghost cell.
type GhostKey = (usize, ChunkId, usize, ChunkId, Index);

/// Plan of `rank` for a ghost update of several arrays in one exchange. Entry `i` is array `i` of
/// the plan, as source and as destination.
///
/// Ghost cells beyond the shape do not change on an axis that is not periodic. Every rank with
/// chunks of one of the arrays must build the plan with the same arguments. Local; the cost is
/// proportional to the rank's chunks and their neighbours, and independent of the number of ranks.
///
/// # Errors
/// * [`PlanError::Ranks`]: the arrays have different numbers of ranks.
/// * [`PlanError::NoSuchRank`]: `rank` does not exist.
/// * [`PlanError::ComponentAxis`], [`PlanError::ComponentGhosts`], [`PlanError::Component`]:
///   component lists do not match the array.
///
/// All except `NoSuchRank` are equal on all ranks.
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
        let array_plan = ArrayGhosts::new(array, placement.chunks(), spec);
        rounds = rounds.max(array_plan.directions);
        let owner = |chunk| placement.ownership().owner(chunk).rank;
        for chunk in placement.ownership().of_rank(rank) {
            // Ghost cells of this rank's chunks.
            for near in array_plan.chunks.neighbours(chunk) {
                let other = owner(near.chunk);
                array_plan.moves(chunk, near.chunk, near.part, &near.shift, &mut |key, step| {
                    if spec.reverse { builder.send(other, key, step) } else { builder.receive(other, key, step) }
                });
            }
            // Cells of this rank's chunks that are ghost cells of other chunks.
            for near in array_plan.chunks.seen_by(chunk) {
                let other = owner(near.chunk);
                array_plan.moves(near.chunk, chunk, near.part, &near.shift, &mut |key, step| {
                    if spec.reverse { builder.receive(other, key, step) } else { builder.send(other, key, step) }
                });
            }
        }
    }
    let chunk = |step: &Move| ((step.dst_array, step.dst_chunk), step.dst);
    let written: Option<Written<'_>> = if arrays.iter().any(|(_, spec)| spec.reverse) { Some(&chunk) } else { None };
    // Both ends of a message know its smallest direction, which is its round.
    let first_direction = |_, _, moves: &[(GhostKey, Move)]| moves.iter().map(|(key, _)| key.2).min().unwrap_or(0);
    Ok(builder.finish(rounds, written, first_direction))
}

struct ArrayGhosts<'a> {
    array: usize,
    chunks: &'a Chunks,
    spec: &'a GhostSpec,
    directions: usize,
    /// For an update of faces: number of the direction before and after the chunk on each axis.
    face: [[usize; 2]; MAX_AXES],
    /// For an update of all ghost cells: term of each axis and side in the number of a direction.
    weight: [[usize; 2]; MAX_AXES],
}

impl<'a> ArrayGhosts<'a> {
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

    /// Number of a direction (−1, 0 or 1 per axis, not all 0) among the directions with ghost
    /// cells.
    fn number(&self, direction: &[i8]) -> usize {
        let sides = direction.iter().enumerate().filter(|(_, step)| **step != 0);
        let mut sides = sides.map(|(axis, &step)| (axis, usize::from(step > 0)));
        match self.spec.neighbours {
            Neighbours::Faces => sides.next().map_or(0, |(axis, side)| self.face[axis][side]),
            Neighbours::All => sides.map(|(axis, side)| self.weight[axis][side]).sum::<usize>() - 1,
        }
    }

    /// Emits each move between the ghost cells of chunk `ghost_chunk` and the cells of chunk
    /// `holder`. `part` is the intersection of the storage of `ghost_chunk` and the image of
    /// `holder` at offset `shift`.
    fn moves(
        &self,
        ghost_chunk: ChunkId,
        holder: ChunkId,
        part: Region,
        shift: &Index,
        emit: &mut dyn FnMut(GhostKey, Move),
    ) {
        let interior = self.chunks.region(ghost_chunk);
        let axes = part.axes();
        let back = Index::zeros(axes) - *shift;
        let mut emit_move = |direction: &[i8], ghost: Region| {
            let number = self.number(direction);
            let owned = ghost.translate(&back);
            let (src_chunk, src, dst_chunk, dst) = if self.spec.reverse {
                (ghost_chunk, ghost, holder, owned)
            } else {
                (holder, owned, ghost_chunk, ghost)
            };
            let key = (self.array, dst_chunk, number, src_chunk, ghost.start);
            emit(key, Move { src_array: self.array, src_chunk, src, dst_array: self.array, dst_chunk, dst });
        };
        if self.spec.neighbours == Neighbours::All && self.spec.components.is_none() && !self.spec.reverse {
            // No cell depends on its direction, so that one move suffices.
            let mut direction = [0_i8; MAX_AXES];
            for (axis, step) in direction[..axes].iter_mut().enumerate() {
                *step =
                    i8::from(part.start[axis] >= interior.end[axis]) - i8::from(part.end[axis] <= interior.start[axis]);
            }
            return emit_move(&direction[..axes], part);
        }
        // Segments of an axis: before the chunk (0), in its range (1) and after the chunk (2).
        let first = |axis| {
            i64::from(part.start[axis] >= interior.start[axis]) + i64::from(part.start[axis] >= interior.end[axis])
        };
        let last =
            |axis| i64::from(part.end[axis] > interior.start[axis]) + i64::from(part.end[axis] > interior.end[axis]);
        let segments = Region { start: Index::from_fn(axes, first), end: Index::from_fn(axes, |axis| last(axis) + 1) };
        for choice in segments.points() {
            let mut direction = [0_i8; MAX_AXES];
            let mut ghost = part;
            for axis in 0..axes {
                direction[axis] = choice[axis] as i8 - 1;
                let (start, end) = match direction[axis] {
                    -1 => (part.start[axis], part.end[axis].min(interior.start[axis])),
                    0 => (part.start[axis].max(interior.start[axis]), part.end[axis].min(interior.end[axis])),
                    _ => (part.start[axis].max(interior.end[axis]), part.end[axis]),
                };
                (ghost.start[axis], ghost.end[axis]) = (start, end);
            }
            let direction = &direction[..axes];
            let outside = direction.iter().filter(|step| **step != 0).count();
            if outside == 0 || (self.spec.neighbours == Neighbours::Faces && outside > 1) {
                continue;
            }
            match &self.spec.components {
                None => emit_move(direction, ghost),
                Some(components) => {
                    let axis = components.axis();
                    for run in components.runs(direction) {
                        let mut ghost = ghost;
                        ghost.start[axis] = ghost.start[axis].max(run.start);
                        ghost.end[axis] = ghost.end[axis].min(run.end);
                        if ghost.start[axis] < ghost.end[axis] {
                            emit_move(direction, ghost);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
