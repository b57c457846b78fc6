//! Which boxes stand in front of which.

use super::camera::{Camera, Projection};
use super::view::View;
use crate::error::RenderError;

/// From where, or in which direction, boxes are seen.
struct Sight {
    eye: [f64; 3],
    forward: [f64; 3],
    parallel: bool,
}

/// Why boxes have no depth order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unordered {
    /// These two overlap.
    Overlap(usize, usize),
    /// Among these, boxes stand in front of one another in a ring.
    Ring(Vec<usize>),
}

impl From<Unordered> for RenderError {
    fn from(unordered: Unordered) -> Self {
        Self::Volume(match unordered {
            Unordered::Overlap(i, j) => format!("chunks {i} and {j} overlap and have no depth order"),
            Unordered::Ring(mut ring) => {
                ring.truncate(8);
                format!("chunks {ring:?} interlock, so that they have no depth order")
            }
        })
    }
}

/// The order of disjoint boxes of voxels from front to back, seen by a camera: a permutation of their numbers. Where a
/// ray crosses two boxes, the one it meets first comes first; boxes that no ray connects may come in any order, which
/// is by their number. Empty boxes are in no ray's way.
///
/// Boxes are `(start, end)`, half-open, in voxels; the camera is in voxels times `spacing`. Works for grid and k-d
/// cuts and for every other cover in which boxes do not interlock. Local; cost: the square of the number of boxes.
///
/// # Errors
/// The camera has no direction, boxes overlap, or boxes stand in front of one another in a ring, so that no order
/// exists.
pub fn depth_order(
    boxes: &[([i64; 3], [i64; 3])],
    camera: &Camera,
    spacing: [f64; 3],
) -> Result<Vec<usize>, RenderError> {
    let sight = Sight {
        eye: std::array::from_fn(|axis| camera.position[axis] / spacing[axis]),
        forward: camera.frame()?.forward,
        parallel: matches!(camera.projection, Projection::Parallel { .. }),
    };
    Ok(order(boxes, &sight)?)
}

/// [`depth_order`] of boxes of cells along the rays of a view, as they are in single precision.
pub(super) fn front_to_back(boxes: &[([i64; 3], [i64; 3])], view: &View) -> Result<Vec<usize>, Unordered> {
    let (eye, forward) = (view.eye.map(f64::from), view.forward.map(f64::from));
    order(boxes, &Sight { eye, forward, parallel: view.parallel })
}

impl Sight {
    /// Along one axis, a box ends at `low_end` where another begins, at `high_start`, or before: does a ray that crosses
    /// both meet the lower one first? `None` where no ray does.
    fn low_first(&self, axis: usize, low_end: i64, high_start: i64) -> Option<bool> {
        if self.parallel {
            return (self.forward[axis] != 0.0).then_some(self.forward[axis] > 0.0);
        }
        // A sample in the plane between two boxes that touch belongs to the higher one.
        let eye = self.eye[axis];
        match (eye >= low_end as f64, eye >= high_start as f64) {
            (false, _) => Some(true),
            (_, true) => Some(false),
            // From between the two, a ray reaches one of them only.
            _ => None,
        }
    }
}

fn order(boxes: &[([i64; 3], [i64; 3])], sight: &Sight) -> Result<Vec<usize>, Unordered> {
    let n = boxes.len();
    let mut behind: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut waiting_for = vec![0_usize; n];
    let empty = |b: &([i64; 3], [i64; 3])| (0..3).any(|axis| b.0[axis] >= b.1[axis]);
    for i in 0..n {
        for j in i + 1..n {
            if empty(&boxes[i]) || empty(&boxes[j]) {
                continue;
            }
            let (mut i_first, mut j_first, mut apart) = (false, false, false);
            for axis in 0..3 {
                let (low_is_i, low_end, high_start) = if boxes[i].1[axis] <= boxes[j].0[axis] {
                    (true, boxes[i].1[axis], boxes[j].0[axis])
                } else if boxes[j].1[axis] <= boxes[i].0[axis] {
                    (false, boxes[j].1[axis], boxes[i].0[axis])
                } else {
                    continue;
                };
                apart = true;
                match sight.low_first(axis, low_end, high_start) {
                    // Separated, and no ray crosses from one side to the other: it needs no order at all.
                    None => (i_first, j_first) = (true, true),
                    Some(low) if low == low_is_i => i_first = true,
                    Some(_) => j_first = true,
                }
            }
            if !apart {
                return Err(Unordered::Overlap(i, j));
            }
            // Two planes that disagree: no ray crosses both boxes.
            match (i_first, j_first) {
                (true, false) => {
                    behind[i].push(j);
                    waiting_for[j] += 1;
                }
                (false, true) => {
                    behind[j].push(i);
                    waiting_for[i] += 1;
                }
                _ => {}
            }
        }
    }
    let mut ready: std::collections::BTreeSet<usize> = (0..n).filter(|&i| waiting_for[i] == 0).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(i) = ready.pop_first() {
        order.push(i);
        for &j in &behind[i] {
            waiting_for[j] -= 1;
            if waiting_for[j] == 0 {
                ready.insert(j);
            }
        }
    }
    if order.len() < n {
        return Err(Unordered::Ring((0..n).filter(|&i| waiting_for[i] > 0).collect()));
    }
    Ok(order)
}
