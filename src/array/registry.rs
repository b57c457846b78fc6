//! [`Registry`]: live arrays of a world, by id and name.

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use crate::element::ElementInfo;
use crate::error::ArrayError;
use crate::locate::Placement;

/// Id of an array in a world: the same number on every rank, because arrays are created
/// collectively. Local arrays have separate numbers per rank, which never appear in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayId(pub u64);

/// Weak references to the arrays of a rank, by id and by name.
#[derive(Debug)]
pub(crate) struct Registry<A> {
    next: u64,
    arrays: BTreeMap<ArrayId, (String, Weak<A>)>,
    /// Number of arrays after the last removal of dead ones.
    arrays_alive: usize,
    next_local: u64,
    /// Arrays on this rank only.
    locals: Vec<Weak<A>>,
    /// Number of local arrays after the last removal of dead ones.
    locals_alive: usize,
    /// Handles created without a collective; the next collective compares their cuts and owners
    /// between ranks.
    rearranged: Vec<Rearranged>,
}

/// Handle of chunks that were allocated for another array.
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
    pub(crate) fn next_id(&mut self) -> ArrayId {
        self.next += 1;
        ArrayId(self.next)
    }

    /// Returns a new id for an array on this rank only.
    pub(crate) fn next_local_id(&mut self) -> ArrayId {
        self.next_local += 1;
        ArrayId(self.next_local)
    }

    /// Number of handles created so far, the same on every rank that made the same calls.
    pub(crate) fn handle_count(&self) -> u64 {
        self.next
    }

    /// Records a new handle with other owners.
    pub(crate) fn rearranged(&mut self, name: &str, element: &'static ElementInfo, placement: Placement) {
        self.rearranged.push(Rearranged { name: name.to_string(), element, placement });
    }

    /// Takes the handles with other owners created since the last call.
    pub(crate) fn take_rearranged(&mut self) -> Vec<Rearranged> {
        std::mem::take(&mut self.rearranged)
    }

    /// Fails if a live array has this name.
    pub(crate) fn check_name(&mut self, name: &str) -> Result<(), ArrayError> {
        self.remove_dead();
        if self.arrays.values().any(|(taken, _)| taken == name) {
            Err(ArrayError::NameTaken { name: name.to_string() })
        } else {
            Ok(())
        }
    }

    pub(crate) fn add(&mut self, id: ArrayId, name: &str, array: &Rc<A>) {
        if is_removal_due(self.arrays.len(), self.arrays_alive) {
            self.remove_dead();
        }
        self.arrays.insert(id, (name.to_string(), Rc::downgrade(array)));
    }

    pub(crate) fn add_local(&mut self, array: &Rc<A>) {
        if is_removal_due(self.locals.len(), self.locals_alive) {
            self.locals.retain(|array| array.strong_count() > 0);
            self.locals_alive = self.locals.len();
        }
        self.locals.push(Rc::downgrade(array));
    }

    /// Live arrays on this rank only, in order of creation.
    pub(crate) fn locals(&self) -> impl Iterator<Item = Rc<A>> + '_ {
        self.locals.iter().filter_map(Weak::upgrade)
    }

    fn remove_dead(&mut self) {
        self.arrays.retain(|_, (_, array)| array.strong_count() > 0);
        self.arrays_alive = self.arrays.len();
    }

    /// Array with this id, if it is alive.
    pub(crate) fn get(&self, id: ArrayId) -> Option<Rc<A>> {
        self.arrays.get(&id)?.1.upgrade()
    }

    /// Live arrays of the world, in order of creation.
    pub(crate) fn alive(&self) -> impl Iterator<Item = Rc<A>> + '_ {
        self.arrays.values().filter_map(|(_, array)| array.upgrade())
    }
}

/// True if the removal of dead handles is due: at least as many handles were added as were alive
/// after the last removal, so that the amortized cost per handle is constant.
fn is_removal_due(all: usize, alive: usize) -> bool {
    all >= 2 * alive + 64
}
