//! Copy between two block decompositions, as a list of boxes: the intersections of all source
//! chunks with all destination chunks.

use super::exchange::{CellBox, Exchange};

/// A box in global coordinates: `[start, end)` along each axis.
pub(crate) type Bounds = [[usize; 2]; 3];

fn intersection(a: &Bounds, b: &Bounds) -> Option<Bounds> {
    let both: Bounds = std::array::from_fn(|axis| [a[axis][0].max(b[axis][0]), a[axis][1].min(b[axis][1])]);
    both.iter().all(|[start, end]| start < end).then_some(both)
}

fn shifted(a: &Bounds, offset: [usize; 3], forward: bool) -> Bounds {
    let add =
        |value: usize, axis: usize| if forward { value + offset[axis] } else { value.saturating_sub(offset[axis]) };
    std::array::from_fn(|axis| a[axis].map(|value| add(value, axis)))
}

fn relative_to(a: &Bounds, storage: &Bounds) -> CellBox {
    CellBox {
        start: std::array::from_fn(|axis| a[axis][0] - storage[axis][0]),
        extent: std::array::from_fn(|axis| a[axis][1] - a[axis][0]),
    }
}

/// Even division of a shape into a grid of chunks, axis 0 fastest: the first chunks along an axis
/// have one cell more.
pub(crate) fn blocks(shape: [usize; 3], grid: [usize; 3]) -> Vec<Bounds> {
    let start = |axis: usize, at: usize| shape[axis] / grid[axis] * at + at.min(shape[axis] % grid[axis]);
    let side = |axis: usize, at: usize| [start(axis, at), start(axis, at + 1)];
    (0..grid.iter().product())
        .map(|i| [side(0, i % grid[0]), side(1, i / grid[0] % grid[1]), side(2, i / grid[0] / grid[1])])
        .collect()
}

/// Exchange of a rank for a copy of `region` that is shifted by `offset`. `from[r]` and `to[r]` are
/// the source and the destination chunk of rank r.
pub(crate) fn moves(rank: usize, from: &[Bounds], to: &[Bounds], region: &Bounds, offset: [usize; 3]) -> Exchange {
    let extents = |bounds: &Bounds| bounds.map(|[start, end]| end - start);
    let mut exchange = Exchange { source: extents(&from[rank]), destination: extents(&to[rank]), ..Default::default() };
    for (sender, source) in from.iter().enumerate() {
        let Some(source_part) = intersection(source, region) else { continue };
        for (receiver, destination) in to.iter().enumerate() {
            let Some(written) = intersection(&shifted(&source_part, offset, true), destination) else { continue };
            let read = shifted(&written, offset, false);
            match (sender == rank, receiver == rank) {
                (true, true) => exchange.local.push((relative_to(&read, source), relative_to(&written, destination))),
                (true, false) => exchange.send_box(receiver, relative_to(&read, source)),
                (false, true) => exchange.receive_box(sender, relative_to(&written, destination)),
                (false, false) => {}
            }
        }
    }
    exchange
}
