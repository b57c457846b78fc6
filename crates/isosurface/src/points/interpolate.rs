//! Interpolation of fields at points.

use zippy::Result;

use super::chunk_points::ChunkPoints;
use super::numbering::{Directions, along, for_each};
use crate::field::attribute::Fitted;
use crate::field::block::Block;
use crate::field::trilinear;

/// Positions of points within edges and cells, in the order of their numbers.
#[derive(Default)]
pub(crate) struct PointPositions {
    /// Points on edges: fraction of the way from the first to the second sample.
    pub along: Vec<f64>,
    /// Points inside cells: cell relative to its brick's first sample, and position in the cell.
    pub inside: Vec<([usize; 3], [f64; 3])>,
}

/// Interpolates a field at the own points and ghosts of each mesh; returns values of own points,
/// then of ghosts.
pub(crate) fn values<const K: usize>(
    chunk_points: &[ChunkPoints<K>],
    directions: Directions<K>,
    positions: &[[PointPositions; 2]],
    field: &dyn Fitted,
) -> Result<Vec<Vec<f32>>> {
    let mut values: Vec<[Vec<f32>; 2]> = positions.iter().map(|_| [Vec::new(), Vec::new()]).collect();
    let mut remaining: Vec<_> = positions
        .iter()
        .map(|both| both.each_ref().map(|positions| (positions.along.iter(), positions.inside.iter())))
        .collect();
    let mut block = Block::new();
    for piece in chunk_points {
        let mut next = vec![0; positions.len()];
        field.samples(piece.chunk, &mut |part, samples| {
            for visit in &piece.visits {
                let own = part.samples(visit.at);
                samples.load(part.in_memory(&own).start, part.in_memory(&part.with_next(&own)), &mut block);
                let value = |at: [i64; 3]| f64::from(block.at(at));
                let side = usize::from(!part.is_own(visit.at));
                for mesh in visit.layers.clone() {
                    let brick = &piece.layers[mesh].numbering.bricks[next[mesh]];
                    next[mesh] += 1;
                    let (values, (alongs, inside)) = (&mut values[mesh][side], &mut remaining[mesh][side]);
                    for_each(&brick.words, |at, kind| {
                        let first = value(at);
                        let interpolated = match directions[kind] {
                            0 => first,
                            direction => {
                                let part = alongs.next().expect("a place for each point");
                                first + part * (value(along(at, direction)) - first)
                            }
                        };
                        values.push(interpolated as f32);
                    });
                    values.extend(inside.take(brick.further as usize).map(|&(cell, place)| {
                        let corner =
                            |corner: usize| value([0, 1, 2].map(|axis| (cell[axis] + (corner >> axis & 1)) as i64));
                        trilinear::between(&std::array::from_fn(|number| [corner(number), 0.0, 0.0]), place)[0] as f32
                    }));
                }
            }
        })?;
    }
    let joined = |[mut own, ghosts]: [Vec<f32>; 2]| {
        own.extend(ghosts);
        own
    };
    Ok(values.into_iter().map(joined).collect())
}
