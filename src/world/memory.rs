//! Whether the ranks have the memory for an array: looked at before any of it is taken, and the same on every rank.

use std::collections::BTreeMap;

use super::World;
use crate::array::chunk_bytes;
use crate::element::ElementInfo;
use crate::error::ArrayError;
use crate::extents::Index;
use crate::locate::Placement;

/// The bytes of an array.
struct Needed {
    all: u64,
    /// On the rank that has most of them.
    most: u64,
    rank: usize,
}

impl Needed {
    fn of(placement: &Placement, element: &ElementInfo) -> Self {
        let (chunks, owners) = (placement.chunks(), placement.ownership());
        let mut of_ranks = vec![0_u64; owners.ranks()];
        for chunk in 0..chunks.count() {
            let bytes = &mut of_ranks[owners.owner(chunk).rank];
            *bytes = bytes.saturating_add(chunk_bytes(&chunks.storage(chunk), element));
        }
        let all = of_ranks.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
        let (rank, most) = (0..).zip(of_ranks).max_by_key(|&(rank, bytes)| (bytes, -(rank as i64))).unwrap_or((0, 0));
        Self { all, most, rank }
    }
}

impl World {
    /// The bytes that an array takes on all ranks.
    ///
    /// # Errors
    /// The ranks have not so much, together or the one that has most of it; what live arrays hold counts.
    pub(super) fn check_memory(
        &self,
        name: &str,
        element: &'static ElementInfo,
        placement: &Placement,
    ) -> Result<u64, ArrayError> {
        let needed = Needed::of(placement, element);
        let live: BTreeMap<_, _> =
            self.registry.borrow().alive().map(|array| (array.data(), array.bytes_of_all())).collect();
        let taken = live.values().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
        let (rank_has, all_have) = (self.common.rank_bytes, self.common.all_bytes);
        let free = all_have.saturating_sub(taken);
        if needed.all <= free && needed.most <= rank_has {
            return Ok(needed.all);
        }
        // The tighter of both limits, as a part of what is needed.
        let of_all = (free.into(), needed.all.into());
        let of_rank = (rank_has.into(), needed.most.into());
        let part = if less(of_rank, of_all) { of_rank } else { of_all };
        let ranks = (u128::from(needed.all) + u128::from(taken)) * self.size() as u128;
        Err(ArrayError::Memory {
            array: name.to_string(),
            element: element.name.to_string(),
            shape: placement.chunks().shape(),
            bytes: needed.all,
            rank: needed.rank,
            of_rank: needed.most,
            all_have,
            rank_has,
            taken,
            fits: fitting(placement.chunks().shape(), part),
            ranks: ranks.div_ceil(u128::from(all_have.max(1))).max(self.size() as u128),
        })
    }
}

/// Whether the fraction `a` is less than `b`.
fn less(a: (u128, u128), b: (u128, u128)) -> bool {
    a.0 * b.1 < b.0 * a.1
}

/// The shape cut along its slowest axis to about this part of its cells, if that leaves any.
fn fitting(shape: Index, (part, of): (u128, u128)) -> Option<Index> {
    let axis = (0..shape.axes()).rev().find(|&axis| shape[axis] > 1)?;
    let mut smaller = shape;
    smaller[axis] = (shape[axis] as u128 * part / of.max(1)) as i64;
    (smaller[axis] > 0).then_some(smaller)
}
