//! The named arrays of a world.

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use super::core::{ArrayCore, ArrayId};
use crate::element::ElementInfo;
use crate::error::ArrayError;
use crate::locate::Placement;

/// The arrays that are alive, by number and by name. Holds none of them alive.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    next: u64,
    arrays: BTreeMap<ArrayId, Weak<ArrayCore>>,
    /// Cuts and owners of handles made without a collective, which the next one says were made.
    rearranged: Vec<Rearranged>,
}

/// A handle of chunks that another array was made for.
#[derive(Debug)]
pub(crate) struct Rearranged {
    pub name: String,
    pub element: &'static ElementInfo,
    pub placement: Placement,
}

impl Registry {
    /// The number of the next array.
    pub fn next_id(&mut self) -> ArrayId {
        self.next += 1;
        ArrayId(self.next)
    }

    /// How many handles were made, the same on every rank that made the same calls.
    pub fn made(&self) -> u64 {
        self.next
    }

    /// Remembers that a handle of other owners was made.
    pub fn rearranged(&mut self, name: &str, element: &'static ElementInfo, placement: Placement) {
        self.rearranged.push(Rearranged { name: name.to_string(), element, placement });
    }

    /// The handles of other owners since the last call.
    pub fn take_rearranged(&mut self) -> Vec<Rearranged> {
        std::mem::take(&mut self.rearranged)
    }

    /// Fails when an array of this name is alive.
    pub fn check_name(&mut self, name: &str) -> Result<(), ArrayError> {
        self.arrays.retain(|_, array| array.strong_count() > 0);
        match self.alive().any(|array| array.name() == name) {
            true => Err(ArrayError::NameTaken { name: name.to_string() }),
            false => Ok(()),
        }
    }

    /// Remembers an array.
    pub fn add(&mut self, array: &Rc<ArrayCore>) {
        self.arrays.insert(array.id(), Rc::downgrade(array));
        // Now and then, as handles may be made and dropped without end.
        if self.next.is_multiple_of(256) {
            self.arrays.retain(|_, array| array.strong_count() > 0);
        }
    }

    /// The array of this number, if it is alive.
    pub fn get(&self, id: ArrayId) -> Option<Rc<ArrayCore>> {
        self.arrays.get(&id)?.upgrade()
    }

    /// The arrays that are alive, in order of creation.
    pub fn alive(&self) -> impl Iterator<Item = Rc<ArrayCore>> + '_ {
        self.arrays.values().filter_map(Weak::upgrade)
    }
}
