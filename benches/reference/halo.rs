//! Halo exchange of a 3-D block decomposition with one ghost layer, as lists of boxes.
//!
//! For each direction, the owned cells at that side are sent to the neighbour's ghost cells on the
//! opposite side.

use super::exchange::{CellBox, Exchange};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Faces,
    /// Faces, edges and corners.
    All,
}

/// Process grid: the number of ranks along each axis, axis 0 fastest.
pub(crate) fn grid(ranks: usize) -> [usize; 3] {
    match ranks {
        4 => [2, 2, 1],
        8 => [2, 2, 2],
        other => [other, 1, 1],
    }
}

fn directions(reach: Reach) -> impl Iterator<Item = [i64; 3]> {
    let all = (0..27).map(|i| [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1]);
    all.filter(move |d| match d.iter().map(|x| x * x).sum::<i64>() {
        0 => false,
        1 => true,
        _ => reach == Reach::All,
    })
}

/// Neighbour of a rank in a direction; `None` outside a grid that is not periodic.
fn neighbour(rank: usize, grid: [usize; 3], direction: [i64; 3], periodic: bool) -> Option<usize> {
    let at = [rank % grid[0], rank / grid[0] % grid[1], rank / grid[0] / grid[1]];
    let mut found = [0; 3];
    for axis in 0..3 {
        let n = grid[axis] as i64;
        let to = at[axis] as i64 + direction[axis];
        if !periodic && !(0..n).contains(&to) {
            return None;
        }
        found[axis] = to.rem_euclid(n) as usize;
    }
    Some(found[0] + grid[0] * (found[1] + grid[1] * found[2]))
}

/// Owned cells at one side of a cube with edge `n`, or with `ghost` the ghost cells outside that
/// side.
fn side(n: usize, direction: [i64; 3], ghost: bool) -> CellBox {
    let start = direction.map(|d| match (d, ghost) {
        (1, false) => n,
        (1, true) => n + 1,
        (-1, true) => 0,
        _ => 1,
    });
    CellBox { start, extent: direction.map(|d| if d == 0 { n } else { 1 }) }
}

/// For a rank that owns a cube with edge `n`.
pub(crate) fn halo(rank: usize, grid: [usize; 3], n: usize, periodic: bool, reach: Reach) -> Exchange {
    let mut exchange = Exchange { source: [n + 2; 3], destination: [n + 2; 3], ..Exchange::default() };
    for direction in directions(reach) {
        // Data moves in `direction`: this rank receives from the opposite neighbour.
        let opposite = direction.map(|d| -d);
        match neighbour(rank, grid, direction, periodic) {
            Some(to) if to == rank => exchange.local.push((side(n, direction, false), side(n, opposite, true))),
            Some(to) => exchange.send_box(to, side(n, direction, false)),
            None => {}
        }
        match neighbour(rank, grid, opposite, periodic) {
            Some(from) if from != rank => exchange.receive_box(from, side(n, opposite, true)),
            _ => {}
        }
    }
    exchange
}
