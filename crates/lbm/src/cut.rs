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
    /// Parts of these lengths, in cells of the lattice: those of the box, and one layer beyond each side that is not
    /// periodic. In 16 bits, in words: along the axis where a word has two cells, of half the lattice.
    Sizes([Vec<i64>; 3]),
}

impl Cut {
    /// The lengths of the parts along each axis of a problem's lattice, whose cells have so many bytes.
    pub(crate) fn resolve(&self, world: &World, problem: &Problem, bytes: i64) -> Result<[Vec<i64>; 3], FlowError> {
        let lattice = problem.words();
        let parts = match self {
            Self::Sizes(sizes) => {
                for (axis, parts) in sizes.iter().enumerate() {
                    let wrong = |wrong: String| FlowError::Cut { axis, parts: parts.clone(), wrong };
                    if parts.is_empty() || parts.iter().any(|&part| part < 1) {
                        return Err(wrong("each part must have a cell".into()));
                    }
                    let sum = parts.iter().try_fold(0_i64, |sum, &part| sum.checked_add(part));
                    if sum != Some(lattice[axis]) {
                        return Err(wrong(format!("the parts must add up to {}", lattice[axis])));
                    }
                    let [first, last] = least(problem, axis);
                    if parts[0] < first || parts[parts.len() - 1] < last {
                        return Err(wrong(format!("a part at an outlet must have {OUTLET} cells at least")));
                    }
                }
                return Ok(sizes.clone());
            }
            Self::Parts(parts) => *parts,
            Self::Auto => {
                let most = i64::try_from(world.binding_bytes()).unwrap_or(i64::MAX) / bytes;
                grid(lattice, world.size(), most)
            }
        };
        let mut lengths: [Vec<i64>; 3] = Default::default();
        for (axis, &count) in parts.iter().enumerate() {
            let (cells, count) = (lattice[axis], count as i64);
            lengths[axis] = even(cells, count.clamp(1, cells), least(problem, axis)).ok_or_else(|| {
                let wrong = format!("{count} parts of {cells} cells: each part must have one, at outlets {OUTLET}");
                FlowError::Cut { axis, parts: vec![], wrong }
            })?;
            if lengths[axis].len() as i64 != count {
                let wrong = format!("{count} parts of {cells} cells: each part must have one");
                return Err(FlowError::Cut { axis, parts: vec![], wrong });
            }
        }
        Ok(lengths)
    }

    /// Kernels count in a chunk as in one binding, so that it must be one, ghost cells and all.
    pub(crate) fn check(world: &World, parts: &[Vec<i64>; 3], bytes: i64) -> Result<(), FlowError> {
        let longest = [0, 1, 2].map(|axis| parts[axis].iter().max().map_or(0, |length| length + 2));
        let needed = longest.iter().fold(bytes as u64, |product, &length| product.saturating_mul(length as u64));
        match world.binding_bytes() {
            most if needed > most => Err(FlowError::Chunk { cells: longest.map(|length| length - 2), needed, most }),
            _ => Ok(()),
        }
    }
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

/// How many cells the first and the last part along an axis must have.
fn least(problem: &Problem, axis: usize) -> [i64; 2] {
    let outlet = [0, 1].map(|side| matches!(problem.sides[axis][side], Side::Outlet(_)));
    [0, 1].map(|side| if outlet[side] { OUTLET + side as i64 * problem.pad(axis) } else { 1 })
}

/// `cells` in so many parts whose lengths differ by one at most, but for those at the ends that must be longer.
fn even(cells: i64, parts: i64, [first, last]: [i64; 2]) -> Option<Vec<i64>> {
    let split = |cells: i64, parts: i64| (0..parts).map(move |part| cells * (part + 1) / parts - cells * part / parts);
    let natural: Vec<i64> = split(cells, parts).collect();
    let head = (parts > 1 && natural[0] < first).then_some(first);
    let tail = (parts > 1 && natural[natural.len() - 1] < last).then_some(last);
    let ends = [head, tail];
    let rest = parts - ends.iter().flatten().count() as i64;
    let left = cells - ends.iter().flatten().sum::<i64>();
    let lengths: Vec<i64> = head.into_iter().chain(split(left, rest)).chain(tail).collect();
    (lengths.iter().sum::<i64>() == cells && lengths.iter().all(|&length| length >= 1)).then_some(lengths)
}

/// The number of parts along each axis: as many chunks as ranks, or as a multiple of them where chunks would have more than
/// `most` cells; of all ways the one whose largest chunk, its surface with it, is smallest. Cuts across axis 0 count
/// double, as their cells are not together in memory.
fn grid(lattice: [i64; 3], ranks: usize, most: i64) -> [usize; 3] {
    let ranks = ranks as i64;
    let length =
        |parts: [i64; 3]| -> [i64; 3] { std::array::from_fn(|axis| (lattice[axis] + parts[axis] - 1) / parts[axis]) };
    for per_rank in 1_i64.. {
        let chunks = ranks * per_rank;
        let mut best: Option<(i64, [i64; 3])> = None;
        for a in (1..=chunks.min(lattice[0])).filter(|a| chunks % a == 0) {
            for b in (1..=(chunks / a).min(lattice[1])).filter(|b| (chunks / a) % b == 0) {
                let parts = [a, b, chunks / a / b];
                let [x, y, z] = length(parts);
                // Ghost cells are part of what a kernel binds.
                if parts[2] > lattice[2] || (x + 2) * (y + 2) * (z + 2) > most && x * y * z > 1 {
                    continue;
                }
                let cut = |axis: usize, area: i64| if parts[axis] > 1 { area } else { 0 };
                let cost = 10 * x * y * z + 2 * cut(0, y * z) + cut(1, x * z) + cut(2, x * y);
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, parts));
                }
            }
        }
        if let Some((_, parts)) = best {
            return parts.map(|part| part as usize);
        }
        if chunks >= lattice.iter().product() {
            break;
        }
    }
    // More ranks than cells: a chunk for each cell along the longest axis, and nothing for the others.
    let longest = (0..3).max_by_key(|&axis| lattice[axis]).unwrap_or(0);
    std::array::from_fn(|axis| if axis == longest { lattice[axis].min(ranks) as usize } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::{even, grid};

    #[test]
    fn parts_are_even_and_all_there() {
        for (cells, parts) in [(1, 1), (7, 3), (130, 4), (5, 5)] {
            let lengths = even(cells, parts, [1, 1]).expect("parts");
            assert_eq!((lengths.len() as i64, lengths.iter().sum::<i64>()), (parts, cells));
            assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1);
        }
        assert_eq!(even(10, 5, [1, 3]), Some(vec![1, 2, 2, 2, 3]));
        assert_eq!(even(10, 5, [3, 1]), Some(vec![3, 1, 2, 2, 2]));
        assert_eq!(even(10, 5, [3, 3]), Some(vec![3, 1, 1, 2, 3]));
        assert_eq!(even(6, 5, [3, 3]), None);
    }

    #[test]
    fn grids_fit_ranks_and_bindings() {
        let all = i64::MAX / 64;
        assert_eq!(grid([64, 64, 64], 1, all), [1, 1, 1]);
        assert_eq!(grid([64, 64, 64], 2, all), [1, 1, 2]);
        assert_eq!(grid([64, 64, 64], 8, all), [1, 2, 4]);
        assert_eq!(grid([300, 20, 20], 5, all), [5, 1, 1]);
        assert_eq!(grid([128, 128, 1], 4, all), [1, 4, 1]);
        // 130³ cells do not fit into a million each but in four parts.
        let parts = grid([130, 130, 130], 1, 1_000_000);
        assert!(parts.iter().product::<usize>() >= 3, "{parts:?}");
        assert_eq!(grid([2, 3, 1], 64, all), [1, 3, 1]);
    }
}
