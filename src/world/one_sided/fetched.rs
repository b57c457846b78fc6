//! [`Ticket`]: pending get. [`Fetched`]: data that a fence returns.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use crate::element::Element;
use crate::error::{ArrayError, CallSite, Result};
use crate::plan::Moved;

/// Handle of a pending [`get`](crate::World::get), exchanged for the data after the fence.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the data is had from Fetched::redeem after the fence"]
pub struct Ticket<T> {
    number: u64,
    section: String,
    requested_at: CallSite,
    element: PhantomData<T>,
}

/// Data that a fence returned.
#[derive(Debug, Default)]
pub struct Fetched {
    data: BTreeMap<u64, Vec<u8>>,
    /// Data that the operations of this rank moved. `messages` counts the messages that this rank
    /// sent, including replies to other ranks.
    pub moved: Moved,
}

impl<T> Ticket<T> {
    pub(super) fn new(number: u64, section: String) -> Self {
        Self { number, section, requested_at: CallSite::here(), element: PhantomData }
    }
}

impl Fetched {
    pub(super) fn store(&mut self, ticket: u64, data: Vec<u8>) {
        self.data.insert(ticket, data);
    }

    /// Returns the cells of a get, axis 0 fastest.
    ///
    /// # Errors
    /// The ticket belongs to another fence, or has been redeemed already.
    #[track_caller]
    pub fn redeem<T: Element>(&mut self, ticket: Ticket<T>) -> Result<Vec<T>> {
        let _call = CallSite::enter();
        let Ticket { number, section, requested_at, .. } = ticket;
        let bytes = self.data.remove(&number).ok_or(ArrayError::Ticket { section, asked_at: requested_at })?;
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }
}
