//! Memory check before the creation of an array. All ranks compute the same result.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::World;
use crate::array::chunk_bytes;
use crate::element::ElementInfo;
use crate::error::ArrayError;
use crate::extents::Index;
use crate::locate::Placement;

/// Total bytes of an array's chunks, per rank.
fn bytes_by_rank(placement: &Placement, element: &ElementInfo) -> Rc<[u64]> {
    let (chunks, owners) = (placement.chunks(), placement.ownership());
    let mut bytes = vec![0_u64; owners.ranks()];
    for chunk in 0..chunks.count() {
        let rank_bytes = &mut bytes[owners.owner(chunk).rank];
        *rank_bytes = rank_bytes.saturating_add(chunk_bytes(&chunks.storage(chunk), element));
    }
    bytes.into()
}

fn saturating_sum<'a>(bytes: impl IntoIterator<Item = &'a u64>) -> u64 {
    bytes.into_iter().fold(0, |sum, bytes| sum.saturating_add(*bytes))
}

impl World {
    /// Checks the memory for an array, and returns the bytes of its chunks per rank.
    ///
    /// # Errors
    /// The memory of all ranks, or of one rank, is too small for the array and the live arrays.
    pub(super) fn check_memory(
        &self,
        name: &str,
        element: &'static ElementInfo,
        placement: &Placement,
    ) -> Result<Rc<[u64]>, ArrayError> {
        let needed = bytes_by_rank(placement, element);
        let mut taken = vec![0_u64; needed.len()];
        // Several handles of the same chunks count once.
        let live: BTreeMap<_, _> = self.registry.borrow().alive().map(|array| (array.allocation_id(), array)).collect();
        for array in live.values() {
            taken.iter_mut().zip(array.bytes_by_rank()).for_each(|(sum, bytes)| *sum = sum.saturating_add(*bytes));
        }
        let total = |rank: usize| taken[rank].saturating_add(needed[rank]);
        let rank = (0..needed.len()).max_by_key(|&rank| (total(rank), usize::MAX - rank)).unwrap_or(0);
        let (bytes, taken_of_all) = (saturating_sum(&*needed), saturating_sum(&taken));
        let (of_rank, taken_of_rank) = (needed[rank], taken[rank]);
        let (rank_has, all_have) = (self.limits.rank_bytes, self.limits.all_bytes);
        let (free, free_of_rank) = (all_have.saturating_sub(taken_of_all), rank_has.saturating_sub(taken_of_rank));
        if bytes <= free && of_rank <= free_of_rank {
            return Ok(needed);
        }
        // The smaller fraction is the binding limit.
        let fractions = [(free_of_rank.into(), of_rank.into()), (free.into(), bytes.into())];
        let fraction = if is_smaller_fraction(fractions[0], fractions[1]) { fractions[0] } else { fractions[1] };
        let ranks = (u128::from(bytes) + u128::from(taken_of_all)) * self.size() as u128;
        Err(ArrayError::Memory {
            array: name.to_string(),
            element: element.name.to_string(),
            shape: placement.chunks().shape(),
            bytes,
            rank,
            of_rank,
            taken_of_rank,
            all_have,
            rank_has,
            taken: taken_of_all,
            fits: shrink_to_fit(placement.chunks().shape(), fraction),
            ranks: ranks.div_ceil(u128::from(all_have.max(1))).max(self.size() as u128),
        })
    }
}

fn is_smaller_fraction(a: (u128, u128), b: (u128, u128)) -> bool {
    a.0 * b.1 < b.0 * a.1
}

/// Reduces the slowest axis of a shape to about `part / whole` of its length. `None` if no cell is
/// left.
fn shrink_to_fit(shape: Index, (part, whole): (u128, u128)) -> Option<Index> {
    let axis = (0..shape.axes()).rev().find(|&axis| shape[axis] > 1)?;
    let mut smaller = shape;
    smaller[axis] = (shape[axis] as u128 * part / whole.max(1)) as i64;
    (smaller[axis] > 0).then_some(smaller)
}
