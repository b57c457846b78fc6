//! Collectives that combine values. The order of operands depends only on the ranks.

use bytemuck::Pod;

use super::calls::CollectiveCall;
use super::payload::{copied, values};
use super::{Group, Payload, Tag};
use zippy_base::error::{CallSite, Result, TransportError};

impl Group {
    /// Combines the slices of all ranks element by element, with the same result on every rank.
    /// Collective; up and down a binomial tree, 2 log₂ P messages deep.
    ///
    /// `items` has the same length on all ranks and is replaced by the result. `combine(a, b)`
    /// replaces `a` by `a ∘ b`, where `a` comes from lower ranks. The operation must be associative
    /// but not commutative. The order of operands depends only on the number of ranks.
    ///
    /// # Errors
    /// [`TransportError::Length`] on all ranks for different lengths, and the errors of every
    /// collective (see [`barrier`](Self::barrier)).
    #[track_caller]
    pub fn all_reduce<T: Pod>(&self, items: &mut [T], combine: impl Fn(&mut T, &T)) -> Result<()> {
        let _call = CallSite::enter();
        self.check_collective(CollectiveCall::new("all_reduce").argument("bytes", size_of_val(items)))?;
        let (up, down) = (self.next_sequence(), self.next_sequence());
        self.reduce_on(up, down, items, combine)
    }

    /// [`all_reduce`](Self::all_reduce) with the caller's tags, without a comparison of calls.
    pub(crate) fn reduce_on<T: Pod>(
        &self,
        up: Tag,
        down: Tag,
        items: &mut [T],
        combine: impl Fn(&mut T, &T),
    ) -> Result<()> {
        let (rank, size) = (self.rank(), self.size());
        let mut bit = 1;
        while bit < size {
            if rank & bit != 0 {
                self.send(rank - bit, up, copied(items))?;
                break;
            }
            if rank + bit < size {
                let theirs = self.values_of("all_reduce", rank + bit, up, items)?;
                items.iter_mut().zip(&theirs).for_each(|(mine, theirs)| combine(mine, theirs));
            }
            bit *= 2;
        }
        let result = self.broadcast_on(down, 0, (rank == 0).then(|| copied(items)))?;
        if rank != 0 {
            items.copy_from_slice(&self.same_length("all_reduce", 0, &result, items)?);
        }
        Ok(())
    }

    /// Combines the slices of all lower ranks element by element. Rank 0 receives `identity` in
    /// every element. Collective; log₂ P messages per rank. `items` and `combine` are as in
    /// [`all_reduce`](Self::all_reduce).
    ///
    /// # Errors
    /// [`TransportError::Length`] on all ranks for different lengths, and the errors of every
    /// collective (see [`barrier`](Self::barrier)).
    #[track_caller]
    pub fn exclusive_scan<T: Pod>(&self, items: &mut [T], identity: T, combine: impl Fn(&mut T, &T)) -> Result<()> {
        let _call = CallSite::enter();
        self.check_collective(CollectiveCall::new("exclusive_scan").argument("bytes", size_of_val(items)))?;
        let tag = self.next_sequence();
        let (rank, size) = (self.rank(), self.size());
        // `through` combines `distance` ranks up to this rank; `before` excludes this rank.
        let mut through = items.to_vec();
        let mut before: Option<Vec<T>> = None;
        let mut distance = 1;
        while distance < size {
            if rank + distance < size {
                self.send(rank + distance, tag, copied(&through))?;
            }
            if rank >= distance {
                let lower = self.values_of("exclusive_scan", rank - distance, tag, items)?;
                let prepend = |higher: &mut [T]| {
                    for (higher, lower) in higher.iter_mut().zip(&lower) {
                        let mut both = *lower;
                        combine(&mut both, higher);
                        *higher = both;
                    }
                };
                prepend(&mut through);
                match &mut before {
                    Some(before) => prepend(before),
                    None => before = Some(lower),
                }
            }
            distance *= 2;
        }
        match before {
            Some(before) => items.copy_from_slice(&before),
            None => items.fill(identity),
        }
        Ok(())
    }

    fn values_of<T: Pod>(&self, operation: &str, from: usize, tag: Tag, like: &[T]) -> Result<Vec<T>> {
        let payload = self.receive_in(operation, from, tag)?;
        self.same_length(operation, from, &payload, like)
    }

    fn same_length<T: Pod>(&self, operation: &str, from: usize, payload: &Payload, like: &[T]) -> Result<Vec<T>> {
        let (found, expected) = ((**payload).as_ref().len(), size_of_val(like));
        if found == expected {
            return if found == 0 { Ok(Vec::new()) } else { values(payload) };
        }
        let rank = self.world_rank_of(from);
        let error = TransportError::Length { operation: operation.into(), rank, expected, found };
        Err(self.fail_in(operation, error.into()))
    }
}
