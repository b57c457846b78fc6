//! Tests that primitives over distributed vectors have the same results as on one rank, for any
//! layout and ownership.

mod global_indices;
mod merges;
mod scans;
mod segments;
mod selections;
mod sorts;

use zippy::array::GlobalArray;
use zippy::{ArrayOptions, Element, Layout, Ownership, Result, Split, World};

/// Layout and ownership of a test vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Spread {
    /// Automatic layout.
    Auto,
    /// Odd lengths, empty chunks, a rank without chunks, owners in any order.
    Odd,
    /// Whole blocks, assigned to the ranks in turn.
    Dealt,
    /// Owners in rank order, each with several chunks including an empty one; with many ranks, one
    /// has no cell.
    Rising,
}

/// Creates a vector with the given values. Collective.
pub(crate) fn vector<T: Element>(world: &World, name: &str, values: &[T], spread: Spread) -> Result<GlobalArray<T, 1>> {
    let (n, ranks) = (values.len() as i64, world.size());
    let array = match spread {
        Spread::Auto => world.array::<T, 1>(name, &Layout::new([n]).split([Split::Auto]))?,
        Spread::Odd => {
            let lengths = vec![n / 5, 0, n / 3, n / 100, 0, n - n / 5 - n / 3 - n / 100];
            // With several ranks, rank 0 has no chunk.
            let owner = |chunk: usize| if ranks == 1 { 0 } else { 1 + (7 - chunk) % (ranks - 1) };
            let owners = Ownership::table((0..lengths.len()).map(owner).collect(), ranks)?;
            let layout = Layout::new([n]).split([Split::Sizes(lengths)]).ghost([1]);
            world.array::<T, 1>(name, ArrayOptions::new(&layout).owned_by(owners))?
        }
        Spread::Dealt => {
            let lengths: Vec<i64> = (0..((n + 2047) / 2048).max(1)).map(|i| 2048.min(n - 2048 * i)).collect();
            let owners = Ownership::table((0..lengths.len()).map(|chunk| chunk % ranks).collect(), ranks)?;
            world.array::<T, 1>(
                name,
                ArrayOptions::new(&Layout::new([n]).split([Split::Sizes(lengths)])).owned_by(owners),
            )?
        }
        Spread::Rising => {
            let owners: Vec<usize> =
                (0..ranks).filter(|&rank| ranks < 3 || rank != ranks / 2).flat_map(|rank| [rank; 3]).collect();
            let each = n / owners.len() as i64;
            let mut lengths: Vec<i64> = (0..owners.len()).map(|chunk| if chunk % 3 == 1 { 0 } else { each }).collect();
            lengths[0] += n - lengths.iter().sum::<i64>();
            let owners = Ownership::table(owners, ranks)?;
            world.array::<T, 1>(
                name,
                ArrayOptions::new(&Layout::new([n]).split([Split::Sizes(lengths)])).owned_by(owners),
            )?
        }
    };
    array.fill_with(|[i]| values[i as usize])?;
    Ok(array)
}

/// Returns all cells of a vector on every rank. Collective.
pub(crate) fn all<T: Element>(world: &World, array: &GlobalArray<T, 1>) -> Result<Vec<T>> {
    let ticket = world.get(array.at(..))?;
    world.fence()?.redeem(ticket)
}

fn cell_bytes<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

const PAIRS: [(Spread, Spread); 4] = [
    (Spread::Auto, Spread::Auto),
    (Spread::Rising, Spread::Odd),
    (Spread::Dealt, Spread::Rising),
    (Spread::Odd, Spread::Dealt),
];

/// Pairs of layouts of input and output for tests of fewer cases.
const FEW_SPREAD_PAIRS: [(Spread, Spread); 3] =
    [(Spread::Rising, Spread::Auto), (Spread::Odd, Spread::Dealt), (Spread::Dealt, Spread::Rising)];
