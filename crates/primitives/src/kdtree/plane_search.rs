//! Search for planes that divide the points of a grid in a given ratio. Points are counted in
//! slabs, which are refined down to single cells. No point moves.

use std::ops::Range;

use zippy::World;
use zippy::collective::CollectiveWorld;
use zippy::error::Result;

pub(super) type GridCell = [i64; 3];

/// Maximum total number of slabs that all searches count at a time.
const MAX_SLABS: usize = 1 << 20;
const MAX_SLABS_PER_SEARCH: usize = 256;

/// Search for a plane across `axis`, from cell `low` to cell `high`, with `part` of `parts` of the
/// points below the plane.
#[derive(Debug)]
pub(super) struct WantedPlane {
    /// Range of this rank's cells in the search.
    pub local_range: Range<usize>,
    pub axis: usize,
    pub low: i64,
    pub high: i64,
    /// Number of points of all ranks in the search.
    pub points: u64,
    pub part: usize,
    pub parts: usize,
}

/// Plane between two layers of cells: the first cell above it, and the number of points below it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plane {
    pub at: i64,
    pub below: u64,
}

impl WantedPlane {
    /// Difference of a number of points from the wanted one, multiplied by `parts`.
    pub(super) fn error(&self, below: u64) -> u128 {
        (u128::from(below) * self.parts as u128).abs_diff(u128::from(self.points) * self.part as u128)
    }

    fn enough(&self, below: u64) -> bool {
        u128::from(below) * self.parts as u128 > u128::from(self.points) * self.part as u128
    }
}

/// Returns the best plane of each search: the last one with at most the wanted number of points
/// below it, or the first one with more. Must be called inside a collective.
pub(super) fn planes(world: &World, wanted: &[WantedPlane], cells: &[GridCell]) -> Result<Vec<Plane>> {
    let mut found = vec![Plane { at: 0, below: 0 }; wanted.len()];
    // Each search with its remaining planes.
    let mut open: Vec<(usize, i64, i64)> =
        wanted.iter().zip(0..).map(|(search, i)| (i, search.low, search.high)).collect();
    while !open.is_empty() {
        let slabs = (MAX_SLABS / open.len()).clamp(2, MAX_SLABS_PER_SEARCH);
        // One more count per search: the points below the first slab.
        let mut counts = vec![0_u64; open.len() * (slabs + 1)];
        let step = |low: i64, high: i64| (high - low) / slabs as i64 + 1;
        for (&(number, low, high), counts) in open.iter().zip(counts.chunks_mut(slabs + 1)) {
            let (search, step) = (&wanted[number], step(low, high));
            for cell in &cells[search.local_range.clone()] {
                let at = cell[search.axis];
                let slab = if at < low { 0 } else { 1 + (at - low) / step };
                counts.get_mut(slab as usize).into_iter().for_each(|count| *count += 1);
            }
        }
        world.inner_group().all_reduce(&mut counts, |sum, more| *sum += more)?;
        let mut next = Vec::new();
        for (&(number, low, high), counts) in open.iter().zip(counts.chunks(slabs + 1)) {
            let (search, step) = (&wanted[number], step(low, high));
            let (mut at, mut below) = (low, counts[0]);
            let mut above = counts[1..].iter();
            let mut slab = above.next().copied().unwrap_or(0);
            while at.saturating_add(step) <= high && !search.enough(below + slab) {
                at += step;
                below += slab;
                slab = above.next().copied().unwrap_or(0);
            }
            if step > 1 {
                next.push((number, at, high.min(at.saturating_add(step - 1))));
            } else if at < search.high && search.error(below + slab) < search.error(below) {
                found[number] = Plane { at: at + 1, below: below + slab };
            } else {
                found[number] = Plane { at, below };
            }
        }
        open = next;
    }
    Ok(found)
}
