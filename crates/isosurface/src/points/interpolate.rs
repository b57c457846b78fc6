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

/// Interpolates a field at the points of each mesh; `places` holds own points and ghosts. Returns
/// values of own points, then of ghosts.
///
/// # Errors
/// The field's samples cannot be read.
pub(crate) fn values<const K: usize>(
    chunk_points: &[ChunkPoints<K>],
    directions: Directions<K>,
    places: &[[PointPositions; 2]],
    field: &dyn Fitted,
) -> Result<Vec<Vec<f32>>> {
    let mut values: Vec<[Vec<f32>; 2]> = places.iter().map(|_| [Vec::new(), Vec::new()]).collect();
    let mut remaining: Vec<_> = places
        .iter()
        .map(|both| both.each_ref().map(|positions| (positions.along.iter(), positions.inside.iter())))
        .collect();
    let mut block = Block::new();
    for piece in chunk_points {
        // Index of each mesh's next brick.
        let mut next = vec![0; places.len()];
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
