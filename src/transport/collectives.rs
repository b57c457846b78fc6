//! Collectives that move whole payloads. Latency grows with the logarithm of the number of ranks; large data travels
//! from its owner to where it is needed without a copy on the way.

use super::bundle::{Contribution, INLINE_BYTES, pack, unpack};
use super::calls::Brief;
use super::payload::{copied, shared};
use super::{Group, Payload, Tag};
use crate::error::{CallSite, Result, TransportError};

/// `payload` if it may go along the tree; else it goes into `large` and is announced.
fn inline(payload: Payload, large: &mut Option<Payload>) -> Contribution {
    if (*payload).as_ref().len() <= INLINE_BYTES {
        return Contribution::Here(payload);
    }
    *large = Some(payload);
    Contribution::Direct
}

impl Group {
    /// Returns when all ranks of the group have called it: log₂ P messages per rank (dissemination).
    ///
    /// # Errors
    /// As every collective: the run's failure, a timeout, differing calls.
    #[track_caller]
    pub fn barrier(&self) -> Result<()> {
        let _call = CallSite::enter();
        self.check_brief(Brief::new("barrier"))?;
        self.meet(self.next_sequence())
    }

    /// A barrier with a tag of the caller and no comparison of calls.
    pub(crate) fn meet(&self, tag: Tag) -> Result<()> {
        let size = self.size();
        let mut distance = 1;
        while distance < size {
            self.send((self.rank() + distance) % size, tag, copied::<u8>(&[]))?;
            self.receive_in("barrier", (self.rank() + size - distance) % size, tag)?;
            distance *= 2;
        }
        Ok(())
    }

    /// The payload of rank `root` on every rank, which alone gives one. A binomial tree: log₂ P messages deep.
    ///
    /// # Errors
    /// [`TransportError::Count`] when the root gives none or another rank gives one, told to all ranks; and as every
    /// collective.
    #[track_caller]
    pub fn broadcast(&self, root: usize, payload: Option<Payload>) -> Result<Payload> {
        let _call = CallSite::enter();
        self.check_rank(root)?;
        self.check_brief(Brief::new("broadcast").of("root", root))?;
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

    /// A broadcast with a tag of the caller and no comparison of calls.
    pub(crate) fn broadcast_on(&self, tag: Tag, root: usize, payload: Option<Payload>) -> Result<Payload> {
        let size = self.size();
        let virtual_rank = (self.rank() + size - root) % size;
        // The lowest set bit tells the parent; all lower bits tell the children.
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

    /// The payloads of all ranks on rank `root`, in order of rank; `None` elsewhere. Lengths may differ.
    /// Small payloads come up a binomial tree, large ones directly.
    ///
    /// # Errors
    /// As every collective.
    #[track_caller]
    pub fn gather(&self, root: usize, payload: Payload) -> Result<Option<Vec<Payload>>> {
        let _call = CallSite::enter();
        self.check_rank(root)?;
        self.check_brief(Brief::new("gather").of("root", root))?;
        let (tree, direct) = (self.next_sequence(), self.next_sequence());
        let size = self.size();
        let virtual_rank = (self.rank() + size - root) % size;
        let mut large = None;
        let mut items = vec![(self.rank(), inline(payload, &mut large))];
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
                let bundle = self.receive_in("gather", (virtual_rank + bit + root) % size, tree)?;
                items.extend(unpack(bundle)?);
            }
            bit *= 2;
        }
        self.collect("gather", items, large, direct).map(Some)
    }

    /// The payloads of all ranks on every rank, in order of rank. Lengths may differ. log₂ P messages per rank for small
    /// payloads (Bruck); a large one is sent to each rank directly.
    ///
    /// # Errors
    /// As every collective.
    #[track_caller]
    pub fn all_gather_v(&self, payload: Payload) -> Result<Vec<Payload>> {
        let _call = CallSite::enter();
        self.check_brief(Brief::new("all_gather_v"))?;
        self.all_gather_raw(payload)
    }

    pub(crate) fn all_gather_raw(&self, payload: Payload) -> Result<Vec<Payload>> {
        let (ring, direct) = (self.next_sequence(), self.next_sequence());
        let (rank, size) = (self.rank(), self.size());
        let mut large = None;
        let own = inline(payload, &mut large);
        let mut kept = None;
        if let Some(large) = large {
            let mut copies = shared(large, size);
            for (step, copy) in (1..size).zip(&mut copies) {
                self.send((rank + step) % size, direct, copy)?;
            }
            kept = copies.next();
        }
        // Items of this rank and the ones after it, in that order; each round doubles them.
        let mut items = vec![(rank, own)];
        while items.len() < size {
            let held = items.len();
            let count = held.min(size - held);
            self.send((rank + size - held) % size, ring, pack(&items[..count]))?;
            items.extend(unpack(self.receive_in("all_gather_v", (rank + held) % size, ring)?)?);
        }
        self.collect("all_gather_v", items, kept, direct)
    }

    /// Puts items in order of rank and fetches the announced ones.
    fn collect(
        &self,
        operation: &str,
        items: Vec<(usize, Contribution)>,
        mut own: Option<Payload>,
        direct: Tag,
    ) -> Result<Vec<Payload>> {
        let mut slots: Vec<Option<Payload>> = (0..self.size()).map(|_| None).collect();
        for (rank, item) in items {
            let payload = match item {
                Contribution::Here(payload) => Some(payload),
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

    /// Gives payload *i* to rank *i* and returns what each rank gave to this one, in order of rank. One message per pair.
    ///
    /// # Errors
    /// [`TransportError::Count`] when there is not one payload per rank, told to all ranks; and as every collective.
    #[track_caller]
    pub fn all_to_all_v(&self, payloads: Vec<Payload>) -> Result<Vec<Payload>> {
        let _call = CallSite::enter();
        self.check_brief(Brief::new("all_to_all_v"))?;
        let tag = self.next_sequence();
        let (rank, size) = (self.rank(), self.size());
        if payloads.len() != size {
            let (expected, found) = (format!("{size} payloads, one per rank"), payloads.len().to_string());
            let error = TransportError::Count { operation: "all_to_all_v".into(), expected, found };
            return Err(self.fail_in("all_to_all_v", error.into()));
        }
        let mut slots: Vec<Option<Payload>> = payloads.into_iter().map(Some).collect();
        // Each rank starts with its successor, so that nobody is everybody's first.
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
