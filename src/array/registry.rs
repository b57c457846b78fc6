//! The named arrays of a world.

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use crate::element::ElementInfo;
use crate::error::ArrayError;
use crate::locate::Placement;

/// Names an array in a world: the same number on every rank, because arrays are created collectively.
/// Arrays of one rank count in a space of that rank's own and are never named to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayId(pub u64);

/// The arrays that are alive, by number and by name. Holds none of them alive.
#[derive(Debug)]
pub(crate) struct Registry<A> {
    next: u64,
    arrays: BTreeMap<ArrayId, (String, Weak<A>)>,
    /// How many of these there were after the dead ones had been forgotten.
    arrays_alive: usize,
    next_local: u64,
    /// Arrays of this rank alone.
    locals: Vec<Weak<A>>,
    /// How many of these there were after the dead ones had been forgotten.
    locals_alive: usize,
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

impl<A> Default for Registry<A> {
    fn default() -> Self {
        let (locals, rearranged) = (Vec::new(), Vec::new());
        let arrays = BTreeMap::new();
        Self { next: 0, arrays, arrays_alive: 0, next_local: 0, locals, locals_alive: 0, rearranged }
    }
}

impl<A> Registry<A> {
    /// The number of the next array.
    pub fn next_id(&mut self) -> ArrayId {
        self.next += 1;
        ArrayId(self.next)
    }

    /// The number of the next array of this rank alone.
    pub fn next_local_id(&mut self) -> ArrayId {
        self.next_local += 1;
        ArrayId(self.next_local)
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
        self.forget_dead();
        match self.arrays.values().any(|(taken, _)| taken == name) {
            true => Err(ArrayError::NameTaken { name: name.to_string() }),
            false => Ok(()),
        }
    }

    /// Remembers an array.
    pub fn add(&mut self, id: ArrayId, name: &str, array: &Rc<A>) {
        if is_due(self.arrays.len(), self.arrays_alive) {
            self.forget_dead();
        }
        self.arrays.insert(id, (name.to_string(), Rc::downgrade(array)));
    }

    /// Remembers an array of this rank alone.
    pub fn add_local(&mut self, array: &Rc<A>) {
        if is_due(self.locals.len(), self.locals_alive) {
            self.locals.retain(|array| array.strong_count() > 0);
            self.locals_alive = self.locals.len();
        }
        self.locals.push(Rc::downgrade(array));
    }

    /// The arrays of this rank alone that are alive, in order of creation.
    pub fn locals(&self) -> impl Iterator<Item = Rc<A>> + '_ {
        self.locals.iter().filter_map(Weak::upgrade)
    }

    fn forget_dead(&mut self) {
        self.arrays.retain(|_, (_, array)| array.strong_count() > 0);
        self.arrays_alive = self.arrays.len();
    }

    /// The array of this number, if it is alive.
    pub fn get(&self, id: ArrayId) -> Option<Rc<A>> {
        self.arrays.get(&id)?.1.upgrade()
    }

    /// The arrays that are alive, in order of creation.
    pub fn alive(&self) -> impl Iterator<Item = Rc<A>> + '_ {
        self.arrays.values().filter_map(|(_, array)| array.upgrade())
    }
}

/// Whether to forget dead handles, as these may be made and dropped without end: there are as many new ones as there were living
/// ones the last time, so that a handle costs as much however many there are.
fn is_due(all: usize, alive: usize) -> bool {
    all >= 2 * alive + 64
}
