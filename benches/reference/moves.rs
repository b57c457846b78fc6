//! A copy between two block decompositions, as a list of boxes: every pair of a block that is read and a block that is
//! written, cut with each other.

use super::exchange::{Block, Exchange};

/// A box in global coordinates, `[start, end)`.
pub type Bounds = [[usize; 2]; 3];

fn cut(a: &Bounds, b: &Bounds) -> Option<Bounds> {
    let both: Bounds = std::array::from_fn(|axis| [a[axis][0].max(b[axis][0]), a[axis][1].min(b[axis][1])]);
    both.iter().all(|[start, end]| start < end).then_some(both)
}

fn shifted(a: &Bounds, by: [usize; 3], forward: bool) -> Bounds {
    let add = |value: usize, axis: usize| if forward { value + by[axis] } else { value.saturating_sub(by[axis]) };
    std::array::from_fn(|axis| a[axis].map(|value| add(value, axis)))
}

fn within(a: &Bounds, storage: &Bounds) -> Block {
    Block {
        start: std::array::from_fn(|axis| a[axis][0] - storage[axis][0]),
        extent: std::array::from_fn(|axis| a[axis][1] - a[axis][0]),
    }
}

/// Blocks over a grid, axis 0 fastest, as even as they can be: the first along an axis have one cell more.
pub fn blocks(shape: [usize; 3], grid: [usize; 3]) -> Vec<Bounds> {
    let start = |axis: usize, at: usize| shape[axis] / grid[axis] * at + at.min(shape[axis] % grid[axis]);
    let side = |axis: usize, at: usize| [start(axis, at), start(axis, at + 1)];
    (0..grid.iter().product())
        .map(|i| [side(0, i % grid[0]), side(1, i / grid[0] % grid[1]), side(2, i / grid[0] / grid[1])])
        .collect()
}

/// What a rank does when the cells of `region` go `by` further along the axes; `from[r]` and `to[r]` are what rank r holds.
pub fn moves(rank: usize, from: &[Bounds], to: &[Bounds], region: &Bounds, by: [usize; 3]) -> Exchange {
    let extents = |bounds: &Bounds| bounds.map(|[start, end]| end - start);
    let mut exchange = Exchange { source: extents(&from[rank]), destination: extents(&to[rank]), ..Default::default() };
    for (sender, source) in from.iter().enumerate() {
        let Some(source_part) = cut(source, region) else { continue };
        for (receiver, destination) in to.iter().enumerate() {
            let Some(written) = cut(&shifted(&source_part, by, true), destination) else { continue };
            let read = shifted(&written, by, false);
            match (sender == rank, receiver == rank) {
                (true, true) => exchange.local.push((within(&read, source), within(&written, destination))),
                (true, false) => exchange.send_box(receiver, within(&read, source)),
                (false, true) => exchange.receive_box(sender, within(&written, destination)),
                (false, false) => {}
            }
        }
    }
    exchange
}
