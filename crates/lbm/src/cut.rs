//! How a lattice is cut over the ranks.

use zippy::{Layout, Split, World};

use crate::error::FlowError;
use crate::problem::{Problem, Side};

/// The parts of the lattice along each axis.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Cut {
    /// So that ranks have about as many cells each and the cuts between them are small, in chunks that a kernel sees as
    /// one binding.
    #[default]
    Auto,
    /// So many parts along each axis, as even as can be.
    Parts([usize; 3]),
    /// Parts of these lengths, which add up to [`Problem::words`]: in cells of the lattice, those of the box and one layer
    /// beyond each side that is not periodic; in 16 bits in words, which have two cells along one axis.
    Sizes([Vec<i64>; 3]),
}

impl Cut {
    /// The lengths of the parts along each axis of a problem's lattice, whose cells have so many bytes.
    pub(crate) fn resolve(&self, world: &World, problem: &Problem, bytes: i64) -> Result<[Vec<i64>; 3], FlowError> {
        let lattice = problem.words();
        let unit = |axis: usize| if problem.fold() == Some(axis) { "words (two cells each)" } else { "cells" };
        let parts = match self {
            Self::Sizes(sizes) => {
                for (axis, parts) in sizes.iter().enumerate() {
                    let unit = unit(axis);
                    let wrong = |wrong: String| FlowError::Cut { axis, parts: parts.clone(), wrong };
                    if parts.is_empty() || parts.iter().any(|&part| part < 1) {
                        return Err(wrong(format!("each part must have one at least, of {unit}")));
                    }
                    let sum = parts.iter().try_fold(0_i64, |sum, &part| sum.checked_add(part));
                    if sum != Some(lattice[axis]) {
                        return Err(wrong(format!("the parts must add up to {} {unit}", lattice[axis])));
                    }
                    let [first, last] = least(problem, axis);
                    if parts.len() > 1 && (parts[0] < first || parts[parts.len() - 1] < last) {
                        let needed = format!("the first part must have {first} {unit} at least, the last one {last}");
                        return Err(wrong(format!("{needed}, as an outlet or a mirror needs those before it")));
                    }
                }
                few(world, lattice, product(&sizes.each_ref().map(|parts| parts.len() as i64)))?;
                return Ok(sizes.clone());
            }
            Self::Parts(parts) => parts.map(|count| i64::try_from(count).unwrap_or(i64::MAX)),
            Self::Auto => {
                let most = i128::from(world.limits().binding_bytes) / i128::from(bytes);
                few(world, lattice, product(&lattice) / most.max(1))?;
                let least = [0, 1, 2].map(|axis| least(problem, axis));
                grid(lattice, ghosts(problem), least, world.size() as i64, most)
            }
        };
        for (axis, &count) in parts.iter().enumerate() {
            let (cells, least, unit) = (lattice[axis], least(problem, axis), unit(axis));
            if !fits(cells, count, least) {
                let more = match least {
                    [1, 1] => String::new(),
                    [first, last] => {
                        format!(", at outlets and mirrors more: the first one {first}, the last one {last}")
                    }
                };
                let wrong = format!("{count} parts of {cells} {unit}: each part must have one at least{more}");
                return Err(FlowError::Cut { axis, parts: vec![], wrong });
            }
        }
        few(world, lattice, product(&parts))?;
        Ok(std::array::from_fn(|axis| even(lattice[axis], parts[axis], least(problem, axis))))
    }

    /// Kernels count in a chunk as in one binding, so that it must be one, ghost cells and all.
    pub(crate) fn check(world: &World, problem: &Problem, parts: &[Vec<i64>; 3], bytes: i64) -> Result<(), FlowError> {
        let cells = [0, 1, 2].map(|axis| parts[axis].iter().max().map_or(0, |&length| length));
        let needed = product(&with(cells, ghosts(problem))).saturating_mul(bytes.into());
        match world.limits().binding_bytes {
            most if needed > most.into() => {
                Err(FlowError::Chunk { cells, needed: u64::try_from(needed).unwrap_or(u64::MAX), most })
            }
            _ => Ok(()),
        }
    }
}

/// The most chunks of a lattice that may be many for each rank: each one costs memory and messages on every rank.
const MOST: i128 = 1 << 16;

/// # Errors
/// The lattice has more chunks than can be, whatever the ranks.
fn few(world: &World, lattice: [i64; 3], chunks: i128) -> Result<(), FlowError> {
    match MOST.max(world.size() as i128) {
        most if chunks > most => Err(FlowError::Chunks { lattice, chunks, most }),
        _ => Ok(()),
    }
}

fn product(extents: &[i64; 3]) -> i128 {
    extents.iter().fold(1, |product, &n| product.saturating_mul(n.into()))
}

fn with(cells: [i64; 3], ghosts: [i64; 3]) -> [i64; 3] {
    std::array::from_fn(|axis| cells[axis] + ghosts[axis])
}

/// How many layers of ghost cells a chunk has along each axis.
fn ghosts(problem: &Problem) -> [i64; 3] {
    std::array::from_fn(|axis| if axis < problem.set.axes() { 2 } else { 0 })
}

/// The layout of an array on a lattice that is cut into these parts, with so many components a cell.
pub fn layout(parts: &[Vec<i64>; 3], components: Option<usize>) -> Layout {
    let shape = parts.iter().map(|parts| parts.iter().sum());
    let splits = parts.iter().map(|parts| Split::Sizes(parts.clone()));
    match components {
        None => {
            let shape: Vec<i64> = shape.collect();
            let splits: Vec<Split> = splits.collect();
            Layout::new([shape[0], shape[1], shape[2]]).split([splits[0].clone(), splits[1].clone(), splits[2].clone()])
        }
        Some(count) => {
            let shape: Vec<i64> = shape.collect();
            let splits: Vec<Split> = splits.collect();
            Layout::new([shape[0], shape[1], shape[2], count as i64]).split([
                splits[0].clone(),
                splits[1].clone(),
                splits[2].clone(),
                Split::Whole,
            ])
        }
    }
}

/// Cells that a part at an outlet has: the layer beyond, the outlet, and the cell before it.
const OUTLET: i64 = 3;
/// Cells that a part at a free-slip side has: the image, and the cell that it shows.
const MIRROR: i64 = 2;

/// How many cells the first and the last part along an axis must have.
fn least(problem: &Problem, axis: usize) -> [i64; 2] {
    [0, 1].map(|side| {
        let pad = if side == 1 { problem.pad(axis) } else { 0 };
        match problem.sides[axis][side] {
            Side::Outlet(_) => OUTLET + pad,
            Side::FreeSlip => MIRROR + pad,
            _ => 1,
        }
    })
}

/// Whether so many parts of `cells` can have one each, and the first and the last one as many as they must.
fn fits(cells: i64, parts: i64, [first, last]: [i64; 2]) -> bool {
    (1..=cells).contains(&parts) && (parts == 1 || first + last + parts - 2 <= cells)
}

/// `cells` in so many parts, which fit, whose lengths differ by one at most, but for those at the ends that must be longer.
fn even(cells: i64, parts: i64, [first, last]: [i64; 2]) -> Vec<i64> {
    let split = |cells: i64, parts: i64| (0..parts).map(move |part| cells * (part + 1) / parts - cells * part / parts);
    let (mut head, mut tail) = (None, None);
    loop {
        let ends = [head, tail];
        let left = cells - ends.iter().flatten().sum::<i64>();
        let rest = split(left, parts - ends.iter().flatten().count() as i64);
        let lengths: Vec<i64> = head.into_iter().chain(rest).chain(tail).collect();
        // What one end takes may leave too little to the other one.
        match parts > 1 {
            true if lengths[0] < first => head = Some(first),
            true if lengths[lengths.len() - 1] < last => tail = Some(last),
            _ => return lengths,
        }
    }
}

/// The number of parts along each axis: as many chunks as ranks, or as a multiple of them where chunks would have more than
/// `most` cells. Where no such number of parts fits, some ranks have nothing.
fn grid(lattice: [i64; 3], ghosts: [i64; 3], least: [[i64; 2]; 3], ranks: i64, most: i128) -> [i64; 3] {
    // Ghost cells are part of what a kernel binds.
    let small = |chunk: [i64; 3]| product(&with(chunk, ghosts)) <= most || product(&chunk) <= 1;
    let enough = product(&lattice).min(MOST.max(ranks.into())) as i64;
    // Fewer cannot hold them.
    let first = (product(&lattice) / most.max(1)).min(enough.into()) as i64 / ranks;
    let more = (first.max(1)..).map(|per_rank| per_rank * ranks).take_while(|&chunks| chunks <= enough);
    more.into_iter()
        .find_map(|chunks| best(lattice, least, chunks, small))
        .or_else(|| (1..ranks.min(enough + 1)).rev().find_map(|chunks| best(lattice, least, chunks, |_| true)))
        .unwrap_or([1; 3])
}

/// Of all ways to have so many chunks the one whose largest chunk, its surface with it, is smallest. Cuts across axis 0
/// count double, as their cells are not together in memory.
fn best(lattice: [i64; 3], least: [[i64; 2]; 3], chunks: i64, small: impl Fn([i64; 3]) -> bool) -> Option<[i64; 3]> {
    let mut best: Option<(i128, [i64; 3])> = None;
    for a in divisors(chunks) {
        for b in divisors(chunks / a) {
            let parts = [a, b, chunks / a / b];
            if (0..3).any(|axis| !fits(lattice[axis], parts[axis], least[axis])) {
                continue;
            }
            let chunk: [i64; 3] = std::array::from_fn(|axis| (lattice[axis] + parts[axis] - 1) / parts[axis]);
            if !small(chunk) {
                continue;
            }
            let [x, y, z] = chunk.map(i128::from);
            let cut = |axis: usize, area: i128| if parts[axis] > 1 { area } else { 0 };
            let cost = 10 * x * y * z + 2 * cut(0, y * z) + cut(1, x * z) + cut(2, x * y);
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, parts));
            }
        }
    }
    best.map(|(_, parts)| parts)
}

/// What divides a number, in order.
fn divisors(n: i64) -> Vec<i64> {
    let mut all: Vec<i64> = (1..).take_while(|d| d * d <= n).filter(|d| n % d == 0).collect();
    let large: Vec<i64> = all.iter().rev().map(|d| n / d).filter(|d| d * d > n).collect();
    all.extend(large);
    all
}

#[cfg(test)]
mod tests {
    use super::{divisors, even, fits, grid};

    #[test]
    fn parts_are_even_and_all_there() {
        for (cells, parts) in [(1, 1), (7, 3), (130, 4), (5, 5)] {
            let lengths = even(cells, parts, [1, 1]);
            assert_eq!((lengths.len() as i64, lengths.iter().sum::<i64>()), (parts, cells));
            assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1);
        }
        assert_eq!(even(10, 5, [1, 3]), [1, 2, 2, 2, 3]);
        assert_eq!(even(10, 5, [3, 1]), [3, 1, 2, 2, 2]);
        assert_eq!(even(10, 5, [3, 3]), [3, 1, 1, 2, 3]);
        assert_eq!(even(9, 4, [3, 3]), [3, 1, 2, 3]);
    }

    /// Both ends are long enough wherever there are any parts that are.
    #[test]
    fn ends_are_long_enough() {
        for cells in 1..15 {
            for (parts, first, last) in (0..17).flat_map(|n| (1..5).flat_map(move |a| (1..5).map(move |b| (n, a, b)))) {
                // As many as there can be at the ends, and one for each of the others.
                let possible = match parts {
                    0 => false,
                    1 => true,
                    _ => (first..=cells).any(|a| {
                        (last..=cells - a).any(|b| {
                            (parts - 2..=cells - a - b).contains(&(cells - a - b)) && (parts > 2 || a + b == cells)
                        })
                    }),
                };
                assert_eq!(fits(cells, parts, [first, last]), possible, "{cells} in {parts}, {first} and {last}");
                if !possible {
                    continue;
                }
                let lengths = even(cells, parts, [first, last]);
                assert_eq!((lengths.len() as i64, lengths.iter().sum::<i64>()), (parts, cells));
                assert!(lengths.iter().all(|&length| length >= 1), "{lengths:?}");
                assert!(parts == 1 || lengths[0] >= first && *lengths.last().unwrap() >= last, "{lengths:?}");
            }
        }
    }

    #[test]
    fn divisors_are_all() {
        for n in 1..200 {
            assert_eq!(divisors(n), (1..=n).filter(|d| n % d == 0).collect::<Vec<_>>());
        }
    }

    #[test]
    fn grids_fit_ranks_and_bindings() {
        let all = i128::from(i64::MAX / 64);
        let plain = |lattice, ranks, most| grid(lattice, [2; 3], [[1; 2]; 3], ranks, most);
        assert_eq!(plain([64, 64, 64], 1, all), [1, 1, 1]);
        assert_eq!(plain([64, 64, 64], 2, all), [1, 1, 2]);
        assert_eq!(plain([64, 64, 64], 8, all), [1, 2, 4]);
        assert_eq!(plain([300, 20, 20], 5, all), [5, 1, 1]);
        assert_eq!(plain([128, 128, 1], 4, all), [1, 4, 1]);
        // 130³ cells do not fit into a million each but in four parts.
        let parts = plain([130, 130, 130], 1, 1_000_000);
        assert!((3..=4).contains(&parts.iter().product::<i64>()), "{parts:?}");
        assert_eq!(plain([2, 3, 1], 64, all), [2, 3, 1]);
        // More cells than numbers of 64 bits.
        let parts = plain([1 << 24; 3], 7, 1 << 60);
        assert!(parts.iter().product::<i64>() % 7 == 0, "{parts:?}");
    }

    #[test]
    fn a_plane_has_no_ghost_cells_along_z() {
        // 64 x 64 with those around them are 4356.
        assert_eq!(grid([64, 64, 1], [2, 2, 0], [[1; 2]; 3], 1, 4356), [1, 1, 1]);
        assert_eq!(grid([64, 64, 1], [2, 2, 0], [[1; 2]; 3], 1, 4355).iter().product::<i64>(), 2);
    }

    #[test]
    fn outlets_have_their_cells() {
        let least = [[1, 3], [1, 1], [1, 1]];
        let all = i128::from(i64::MAX / 64);
        // 14 parts along x would leave the outlet one cell.
        let parts = grid([14, 3, 3], [2; 3], least, 14, all);
        assert_eq!(parts.iter().product::<i64>(), 14);
        assert!(parts[0] <= 12, "{parts:?}");
        // Two ranks of 14 have nothing.
        assert_eq!(grid([14, 1, 1], [2; 3], least, 14, all), [12, 1, 1]);
    }
}
