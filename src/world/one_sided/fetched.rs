//! What a fence brings.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use crate::element::Element;
use crate::error::{ArrayError, CallSite, Result};
use crate::plan::Moved;

/// Stands for the data of a [`get`](crate::World::get) until the fence has brought it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the data is had from Fetched::redeem after the fence"]
pub struct Ticket<T> {
    number: u64,
    section: String,
    asked_at: CallSite,
    element: PhantomData<T>,
}

/// What a fence brought.
#[derive(Debug, Default)]
pub struct Fetched {
    data: BTreeMap<u64, Vec<u8>>,
    /// What this rank's operations moved; `messages` are those that it sent, replies to others included.
    pub moved: Moved,
}

impl<T> Ticket<T> {
    pub(super) fn new(number: u64, section: String) -> Self {
        Self { number, section, asked_at: CallSite::here(), element: PhantomData }
    }
}

impl Fetched {
    /// Keeps the data of a ticket.
    pub(super) fn keep(&mut self, ticket: u64, data: Vec<u8>) {
        self.data.insert(ticket, data);
    }

    /// The cells that a get asked for, axis 0 fastest.
    ///
    /// # Errors
    /// The ticket was redeemed already or belongs to another fence.
    #[track_caller]
    pub fn redeem<T: Element>(&mut self, ticket: Ticket<T>) -> Result<Vec<T>> {
        let _call = CallSite::enter();
        let Ticket { number, section, asked_at, .. } = ticket;
        let bytes = self.data.remove(&number).ok_or(ArrayError::Ticket { section, asked_at })?;
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }
}
