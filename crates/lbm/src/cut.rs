//! How a lattice is cut over the ranks.

use zippy::{Layout, Split, World};

use crate::error::FlowError;

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
    /// periodic.
    Sizes([Vec<i64>; 3]),
}

impl Cut {
    /// The lengths of the parts along each axis of a lattice, whose cells have so many bytes.
    pub(crate) fn resolve(&self, world: &World, lattice: [i64; 3], bytes: i64) -> Result<[Vec<i64>; 3], FlowError> {
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
                }
                return Ok(sizes.clone());
            }
            Self::Parts(parts) => *parts,
            Self::Auto => {
                let most = i64::try_from(world.binding_bytes()).unwrap_or(i64::MAX) / bytes;
                grid(lattice, world.size(), most)
            }
        };
        for (axis, &count) in parts.iter().enumerate() {
            if count < 1 || count as i64 > lattice[axis] {
                let wrong = format!("{count} parts of {} cells: each part must have a cell", lattice[axis]);
                return Err(FlowError::Cut { axis, parts: vec![], wrong });
            }
        }
        Ok(std::array::from_fn(|axis| even(lattice[axis], parts[axis] as i64)))
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

/// `cells` in so many parts whose lengths differ by one at most.
fn even(cells: i64, parts: i64) -> Vec<i64> {
    (0..parts).map(|part| cells * (part + 1) / parts - cells * part / parts).collect()
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
            let lengths = even(cells, parts);
            assert_eq!((lengths.len() as i64, lengths.iter().sum::<i64>()), (parts, cells));
            assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn grids_fit_ranks_and_bindings() {
        let all = i64::MAX / 64;
        assert_eq!(grid([64, 64, 64], 1, all), [1, 1, 1]);
        assert_eq!(grid([64, 64, 64], 2, all), [1, 1, 2]);
        assert_eq!(grid([64, 64, 64], 8, all), [2, 2, 2]);
        assert_eq!(grid([300, 20, 20], 5, all), [5, 1, 1]);
        assert_eq!(grid([128, 128, 1], 4, all), [1, 4, 1]);
        // 130³ cells do not fit into a million each but in four parts.
        let parts = grid([130, 130, 130], 1, 1_000_000);
        assert!(parts.iter().product::<usize>() >= 3, "{parts:?}");
        assert_eq!(grid([2, 3, 1], 64, all), [1, 3, 1]);
    }
}
