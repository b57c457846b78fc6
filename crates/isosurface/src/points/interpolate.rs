//! Values of a field at points.

use zippy::Result;

use super::numbering::{Directions, along, for_each};
use super::piece::Piece;
use crate::field::attribute::Fitted;
use crate::field::block::Block;
use crate::field::trilinear;

/// Where points lie, in the order of their numbers.
#[derive(Default)]
pub struct Places {
    /// Of those that begin at a sample and lie elsewhere: how far from there to the sample to which they are.
    pub along: Vec<f64>,
    /// Of the others: a cell, counted from its brick's first sample, and where in it.
    pub inside: Vec<([usize; 3], [f64; 3])>,
}

/// The values of a field at the points of each mesh, whose own ones lie at the first places and whose ghosts at the second:
/// at own points, and then at ghosts.
///
/// # Errors
/// The field's samples cannot be read.
pub fn values<const K: usize>(
    pieces: &[Piece<K>],
    directions: Directions<K>,
    places: &[[Places; 2]],
    field: &dyn Fitted,
) -> Result<Vec<Vec<f32>>> {
    let mut values: Vec<[Vec<f32>; 2]> = places.iter().map(|_| [Vec::new(), Vec::new()]).collect();
    let mut left: Vec<_> =
        places.iter().map(|both| both.each_ref().map(|one| (one.along.iter(), one.inside.iter()))).collect();
    let mut block = Block::new();
    for piece in pieces {
        // Each mesh's next brick.
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
                    let (values, (alongs, inside)) = (&mut values[mesh][side], &mut left[mesh][side]);
                    for_each(&brick.words, |at, kind| {
                        let first = value(at);
                        let there = match directions[kind] {
                            0 => first,
                            direction => {
                                let part = alongs.next().expect("a place for each point");
                                first + part * (value(along(at, direction)) - first)
                            }
                        };
                        values.push(there as f32);
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
