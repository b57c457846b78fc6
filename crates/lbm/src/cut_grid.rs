//! [`CutGrid`]: choice of the number of parts along each axis.

/// Largest number of chunks of a lattice, unless there are more ranks. Each chunk costs memory and
/// messages on every rank.
pub(crate) const MAX_CHUNKS: i128 = 1 << 16;

/// Lattice to be divided into a grid of chunks.
pub(crate) struct CutGrid {
    pub extents: [i64; 3],
    /// Layers of ghost cells of a chunk along each axis.
    pub ghosts: [i64; 3],
    /// Least lengths of the first and the last part along each axis.
    pub minima: [[i64; 2]; 3],
    /// Largest number of cells of a chunk with its ghost cells.
    pub max_cells: i128,
}

pub(crate) fn product(extents: &[i64; 3]) -> i128 {
    extents.iter().fold(1, |product, &n| product.saturating_mul(n.into()))
}

/// Adds ghost layers to the extents of a chunk.
pub(crate) fn extend(cells: [i64; 3], ghosts: [i64; 3]) -> [i64; 3] {
    std::array::from_fn(|axis| cells[axis] + ghosts[axis])
}

/// True if an axis can be divided into parts of at least one cell, with these least lengths of the
/// first and the last part.
pub(crate) fn fits(cells: i64, parts: i64, [first, last]: [i64; 2]) -> bool {
    (1..=cells).contains(&parts) && (parts == 1 || first + last + parts - 2 <= cells)
}

/// Divides an axis into parts that [`fits`] permits. Lengths differ by at most one, except for ends
/// with larger minima.
pub(crate) fn split_evenly(cells: i64, parts: i64, [first, last]: [i64; 2]) -> Vec<i64> {
    let split = |cells: i64, parts: i64| (0..parts).map(move |part| cells * (part + 1) / parts - cells * part / parts);
    let (mut head, mut tail) = (None, None);
    loop {
        let fixed = [head, tail];
        let rest = cells - fixed.iter().flatten().sum::<i64>();
        let middle = split(rest, parts - fixed.iter().flatten().count() as i64);
        let lengths: Vec<i64> = head.into_iter().chain(middle).chain(tail).collect();
        // One fixed end may make the other end too short.
        if parts > 1 && lengths[0] < first {
            head = Some(first);
        } else if parts > 1 && lengths[lengths.len() - 1] < last {
            tail = Some(last);
        } else {
            return lengths;
        }
    }
}

impl CutGrid {
    /// Number of parts along each axis: one chunk per rank, or more for chunks of at most
    /// `max_cells` cells. If no such grid fits, some ranks have no chunk.
    pub(crate) fn choose(&self, ranks: i64) -> [i64; 3] {
        let is_small = |chunk: [i64; 3]| product(&extend(chunk, self.ghosts)) <= self.max_cells || product(&chunk) <= 1;
        let max_chunks = product(&self.extents).min(MAX_CHUNKS.max(ranks.into())) as i64;
        let min_per_rank = (product(&self.extents) / self.max_cells.max(1)).min(max_chunks.into()) as i64 / ranks;
        let multiples =
            (min_per_rank.max(1)..).map(|per_rank| per_rank * ranks).take_while(|&chunks| chunks <= max_chunks);
        let fewer = (1..ranks.min(max_chunks + 1)).rev();
        multiples
            .into_iter()
            .find_map(|chunks| self.best_grid(chunks, is_small))
            .or_else(|| fewer.into_iter().find_map(|chunks| self.best_grid(chunks, |_| true)))
            .unwrap_or([1; 3])
    }

    /// Grid of `chunks` chunks with the least cost: volume and cut surface of the largest chunk.
    /// Cuts across axis 0 count double, because their cells are not contiguous.
    fn best_grid(&self, chunks: i64, is_small: impl Fn([i64; 3]) -> bool) -> Option<[i64; 3]> {
        let mut best: Option<(i128, [i64; 3])> = None;
        for a in divisors(chunks) {
            for b in divisors(chunks / a) {
                let parts = [a, b, chunks / a / b];
                if (0..3).any(|axis| !fits(self.extents[axis], parts[axis], self.minima[axis])) {
                    continue;
                }
                let chunk: [i64; 3] = std::array::from_fn(|axis| (self.extents[axis] + parts[axis] - 1) / parts[axis]);
                if !is_small(chunk) {
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
}

fn divisors(n: i64) -> Vec<i64> {
    let mut all: Vec<i64> = (1..).take_while(|d| d * d <= n).filter(|d| n % d == 0).collect();
    let large: Vec<i64> = all.iter().rev().map(|d| n / d).filter(|d| d * d > n).collect();
    all.extend(large);
    all
}

#[cfg(test)]
mod tests {
    use super::{CutGrid, divisors, fits, split_evenly};

    const UNLIMITED: i128 = i64::MAX as i128 / 64;

    #[test]
    fn parts_are_even_and_complete() {
        for (cells, parts) in [(1, 1), (7, 3), (130, 4), (5, 5)] {
            let lengths = split_evenly(cells, parts, [1, 1]);
            assert_eq!((lengths.len() as i64, lengths.iter().sum::<i64>()), (parts, cells));
            assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1);
        }
        assert_eq!(split_evenly(10, 5, [1, 3]), [1, 2, 2, 2, 3]);
        assert_eq!(split_evenly(10, 5, [3, 1]), [3, 1, 2, 2, 2]);
        assert_eq!(split_evenly(10, 5, [3, 3]), [3, 1, 1, 2, 3]);
        assert_eq!(split_evenly(9, 4, [3, 3]), [3, 1, 2, 3]);
    }

    #[test]
    fn ends_have_their_least_lengths() {
        for cells in 1..15 {
            for (parts, first, last) in (0..17).flat_map(|n| (1..5).flat_map(move |a| (1..5).map(move |b| (n, a, b)))) {
                let is_possible = match parts {
                    0 => false,
                    1 => true,
                    _ => (first..=cells).any(|a| {
                        (last..=cells - a).any(|b| {
                            (parts - 2..=cells - a - b).contains(&(cells - a - b)) && (parts > 2 || a + b == cells)
                        })
                    }),
                };
                assert_eq!(fits(cells, parts, [first, last]), is_possible, "{cells} in {parts}, {first} and {last}");
                if !is_possible {
                    continue;
                }
                let lengths = split_evenly(cells, parts, [first, last]);
                assert_eq!((lengths.len() as i64, lengths.iter().sum::<i64>()), (parts, cells));
                assert!(lengths.iter().all(|&length| length >= 1), "{lengths:?}");
                assert!(parts == 1 || lengths[0] >= first && *lengths.last().unwrap() >= last, "{lengths:?}");
            }
        }
    }

    #[test]
    fn divisors_are_complete() {
        for n in 1..200 {
            assert_eq!(divisors(n), (1..=n).filter(|d| n % d == 0).collect::<Vec<_>>());
        }
    }

    #[test]
    fn grid_fits_ranks_and_bindings() {
        let choose = |extents, ranks, max_cells| {
            CutGrid { extents, ghosts: [2; 3], minima: [[1; 2]; 3], max_cells }.choose(ranks)
        };
        assert_eq!(choose([64, 64, 64], 1, UNLIMITED), [1, 1, 1]);
        assert_eq!(choose([64, 64, 64], 2, UNLIMITED), [1, 1, 2]);
        assert_eq!(choose([64, 64, 64], 8, UNLIMITED), [1, 2, 4]);
        assert_eq!(choose([300, 20, 20], 5, UNLIMITED), [5, 1, 1]);
        assert_eq!(choose([128, 128, 1], 4, UNLIMITED), [1, 4, 1]);
        let parts = choose([130, 130, 130], 1, 1_000_000);
        assert!((3..=4).contains(&parts.iter().product::<i64>()), "{parts:?}");
        assert_eq!(choose([2, 3, 1], 64, UNLIMITED), [2, 3, 1]);
        let parts = choose([1 << 24; 3], 7, 1 << 60);
        assert!(parts.iter().product::<i64>() % 7 == 0, "{parts:?}");
    }

    #[test]
    fn plane_has_no_ghost_cells_along_z() {
        let choose =
            |max_cells| CutGrid { extents: [64, 64, 1], ghosts: [2, 2, 0], minima: [[1; 2]; 3], max_cells }.choose(1);
        assert_eq!(choose(4356), [1, 1, 1]);
        assert_eq!(choose(4355).iter().product::<i64>(), 2);
    }

    #[test]
    fn part_at_an_outlet_has_three_cells() {
        let choose = |extents| {
            let minima = [[1, 3], [1, 1], [1, 1]];
            CutGrid { extents, ghosts: [2; 3], minima, max_cells: UNLIMITED }.choose(14)
        };
        let parts = choose([14, 3, 3]);
        assert_eq!(parts.iter().product::<i64>(), 14);
        assert!(parts[0] <= 12, "{parts:?}");
        assert_eq!(choose([14, 1, 1]), [12, 1, 1]);
    }
}
