//! Collectives on whole payloads, with latency logarithmic in the number of ranks. Large payloads
//! go directly from their owner to the receivers.

use super::calls::CollectiveCall;
use super::contribution::{Contribution, INLINE_BYTES, pack, unpack};
use super::payload::{copied, shared};
use super::{Group, Payload, Tag};
use zippy_base::error::{CallSite, Result, TransportError};

/// Inline contribution of a small payload, or direct contribution with the payload moved into
/// `large`.
fn contribution(payload: Payload, large: &mut Option<Payload>) -> Contribution {
    if (*payload).as_ref().len() <= INLINE_BYTES {
        return Contribution::Inline(payload);
    }
    *large = Some(payload);
    Contribution::Direct
}

impl Group {
    /// Waits until all ranks of the group have called it. Collective; log₂ P messages per rank
    /// (dissemination).
    ///
    /// # Errors
    /// All collectives return a failure of the run
    /// ([`ErrorKind::Remote`](zippy_base::error::ErrorKind::Remote)), a timeout
    /// ([`TransportError::Timeout`]) and different calls on different ranks
    /// ([`ErrorKind::Differing`](zippy_base::error::ErrorKind::Differing)).
    #[track_caller]
    pub fn barrier(&self) -> Result<()> {
        let _call = CallSite::enter();
        self.check_collective(CollectiveCall::new("barrier"))?;
        self.barrier_on(self.next_sequence())
    }

    pub(crate) fn barrier_on(&self, tag: Tag) -> Result<()> {
        let size = self.size();
        let mut distance = 1;
        while distance < size {
            self.send((self.rank() + distance) % size, tag, copied::<u8>(&[]))?;
            self.receive_in("barrier", (self.rank() + size - distance) % size, tag)?;
            distance *= 2;
        }
        Ok(())
    }

    /// Returns the payload of rank `root` on every rank. Only the root passes a payload.
    /// Collective; binomial tree of depth log₂ P.
    ///
    /// # Errors
    /// [`TransportError::Count`] on all ranks for a missing or an additional payload, and the
    /// errors of every collective (see [`barrier`](Self::barrier)).
    #[track_caller]
    pub fn broadcast(&self, root: usize, payload: Option<Payload>) -> Result<Payload> {
        let _call = CallSite::enter();
        self.check_rank(root)?;
        self.check_collective(CollectiveCall::new("broadcast").argument("root", root))?;
        let tag = self.next_sequence();
        if payload.is_some() != (self.rank() == root) {
            let found = if payload.is_some() { "one from a rank that is not the root" } else { "none from the root" };
            let expected = format!("one payload, from its root, rank {}", self.world_rank_of(root));
            let operation = "broadcast".to_owned();
            let error = TransportError::Count { operation, expected, found: found.into() };
            return Err(self.fail_in("broadcast", error.into()));
        }
        self.broadcast_on(tag, root, payload)
    }

    pub(crate) fn broadcast_on(&self, tag: Tag, root: usize, payload: Option<Payload>) -> Result<Payload> {
        let size = self.size();
        let virtual_rank = (self.rank() + size - root) % size;
        // The lowest set bit gives the parent, lower bits the children.
        let mut bit = 1;
        while bit < size && virtual_rank & bit == 0 {
            bit *= 2;
        }
        let payload = match payload {
            Some(payload) => payload,
            None => self.receive_in("broadcast", (virtual_rank - bit + root) % size, tag)?,
        };
        let mut children = Vec::new();
        while bit > 1 {
            bit /= 2;
            if virtual_rank + bit < size {
                children.push((virtual_rank + bit + root) % size);
            }
        }
        if children.is_empty() {
            return Ok(payload);
        }
        let mut copies = shared(payload, children.len() + 1);
        for (child, copy) in children.into_iter().zip(&mut copies) {
            self.send(child, tag, copy)?;
        }
        copies.next().ok_or_else(|| TransportError::Other("a broadcast lost its payload".into()).into())
    }

    /// Returns the payloads of all ranks, in order of rank, on rank `root`, and `None` elsewhere.
    /// Lengths may differ. Collective; small payloads go up a binomial tree, large payloads
    /// directly to the root.
    ///
    /// # Errors
    /// The errors of every collective (see [`barrier`](Self::barrier)).
    #[track_caller]
    pub fn gather(&self, root: usize, payload: Payload) -> Result<Option<Vec<Payload>>> {
        let _call = CallSite::enter();
        self.check_rank(root)?;
        self.check_collective(CollectiveCall::new("gather").argument("root", root))?;
        let (tree, direct) = (self.next_sequence(), self.next_sequence());
        let size = self.size();
        let virtual_rank = (self.rank() + size - root) % size;
        let mut large = None;
        let mut items = vec![(self.rank(), contribution(payload, &mut large))];
        let mut bit = 1;
        while bit < size {
            if virtual_rank & bit != 0 {
                self.send((virtual_rank - bit + root) % size, tree, pack(&items))?;
                if let Some(large) = large {
                    self.send(root, direct, large)?;
                }
                return Ok(None);
            }
            if virtual_rank + bit < size {
                let packed = self.receive_in("gather", (virtual_rank + bit + root) % size, tree)?;
                items.extend(unpack(packed)?);
            }
            bit *= 2;
        }
        self.order_by_rank("gather", items, large, direct).map(Some)
    }

    /// Returns the payloads of all ranks on every rank, in order of rank. Lengths may differ.
    /// Collective; log₂ P messages per rank for small payloads (Bruck), P − 1 per rank for a large
    /// payload.
    ///
    /// # Errors
    /// The errors of every collective (see [`barrier`](Self::barrier)).
    #[track_caller]
    pub fn all_gather_v(&self, payload: Payload) -> Result<Vec<Payload>> {
        let _call = CallSite::enter();
        self.check_collective(CollectiveCall::new("all_gather_v"))?;
        self.all_gather_raw(payload)
    }

    pub(crate) fn all_gather_raw(&self, payload: Payload) -> Result<Vec<Payload>> {
        let (ring, direct) = (self.next_sequence(), self.next_sequence());
        let (rank, size) = (self.rank(), self.size());
        let mut large = None;
        let own = contribution(payload, &mut large);
        let mut kept = None;
        if let Some(large) = large {
            let mut copies = shared(large, size);
            for (step, copy) in (1..size).zip(&mut copies) {
                self.send((rank + step) % size, direct, copy)?;
            }
            kept = copies.next();
        }
        // Contributions of this rank and its successors; each round doubles their number.
        let mut items = vec![(rank, own)];
        while items.len() < size {
            let held = items.len();
            let count = held.min(size - held);
            self.send((rank + size - held) % size, ring, pack(&items[..count]))?;
            items.extend(unpack(self.receive_in("all_gather_v", (rank + held) % size, ring)?)?);
        }
        self.order_by_rank("all_gather_v", items, kept, direct)
    }

    /// Receives the direct contributions and returns all payloads in order of rank.
    fn order_by_rank(
        &self,
        operation: &str,
        items: Vec<(usize, Contribution)>,
        mut own: Option<Payload>,
        direct: Tag,
    ) -> Result<Vec<Payload>> {
        let mut slots: Vec<Option<Payload>> = (0..self.size()).map(|_| None).collect();
        for (rank, item) in items {
            let payload = match item {
                Contribution::Inline(payload) => Some(payload),
                Contribution::Direct if rank == self.rank() => own.take(),
                Contribution::Direct => Some(self.receive_in(operation, rank, direct)?),
            };
            if let Some(slot) = slots.get_mut(rank) {
                *slot = payload;
            }
        }
        let lost = || TransportError::Other(format!("{operation} lost the payload of a rank")).into();
        slots.into_iter().map(|slot| slot.ok_or_else(lost)).collect()
    }

    /// Sends payload *i* to rank *i* and returns the payloads of all ranks, in order of rank.
    /// Collective; one message per pair of ranks.
    ///
    /// # Errors
    /// [`TransportError::Count`] on all ranks if the number of payloads is not the number of ranks,
    /// and the errors of every collective (see [`barrier`](Self::barrier)).
    #[track_caller]
    pub fn all_to_all_v(&self, payloads: Vec<Payload>) -> Result<Vec<Payload>> {
        let _call = CallSite::enter();
        self.check_collective(CollectiveCall::new("all_to_all_v"))?;
        let tag = self.next_sequence();
        let (rank, size) = (self.rank(), self.size());
        if payloads.len() != size {
            let (expected, found) = (format!("{size} payloads, one per rank"), payloads.len().to_string());
            let error = TransportError::Count { operation: "all_to_all_v".into(), expected, found };
            return Err(self.fail_in("all_to_all_v", error.into()));
        }
        let mut slots: Vec<Option<Payload>> = payloads.into_iter().map(Some).collect();
        // Each rank starts with its successor, to spread the load.
        for step in 1..size {
            let to = (rank + step) % size;
            if let Some(payload) = slots[to].take() {
                self.send(to, tag, payload)?;
            }
        }
        for step in 1..size {
            let from = (rank + size - step) % size;
            slots[from] = Some(self.receive_in("all_to_all_v", from, tag)?);
        }
        Ok(slots.into_iter().flatten().collect())
    }
}
