//! The named arrays of a world.

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use super::core::{ArrayCore, ArrayId};
use crate::error::ArrayError;

/// The arrays that are alive, by number and by name. Holds none of them alive.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    next: u64,
    arrays: BTreeMap<ArrayId, Weak<ArrayCore>>,
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
