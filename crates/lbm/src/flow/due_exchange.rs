//! [`DueExchange`]: exchanges between chunks.
//!
//! A cell uses its own slots, and slots of its neighbours in the directions of the first velocities
//! of all pairs. Ghost cells hold the remote slots for the next step, and their new values return
//! to the owner. One exchange moves one slot of each pair forwards and one back.
//!
//! A third chunk may write the same slot to its own ghost cell at an edge. Both values return to
//! the owner: edges move after faces and corners after edges, so the right value is the last. This
//! order exists for grids of parts, not for covers by boxes.

use crate::velocity_set::VelocitySet;

/// Exchange that must precede the next use of the populations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DueExchange {
    None,
    FillGhosts,
    /// Returns the results of a step in ghost cells to their owners, and fills ghost cells.
    ReturnAndFill,
}

/// Slots of a neighbour in `direction` that cells use in a step of this parity.
pub(super) fn slots_across(set: VelocitySet, parity: usize, direction: &[i8]) -> Vec<usize> {
    let points_there = |q: &usize| {
        let velocity = set.velocity(*q);
        (0..3).all(|axis| direction[axis] == 0 || i64::from(direction[axis]) == velocity[axis])
    };
    set.first_of_pairs().filter(points_there).map(|q| q + parity).collect()
}
