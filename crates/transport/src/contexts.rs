//! [`Contexts`]: numbers that separate the messages of different groups.

use std::cell::Cell;
use std::rc::Rc;

use super::Tag;

pub(crate) const WORDS: usize = (1 << Tag::CONTEXT_BITS) / 64;

/// Set of the contexts in use on one rank, one bit each.
#[derive(Default)]
pub(crate) struct Contexts([Cell<u64>; WORDS]);

impl Contexts {
    pub(crate) fn take(self: &Rc<Self>, id: u8) -> Context {
        let word = &self.0[usize::from(id) / 64];
        word.set(word.get() | 1 << (id % 64));
        Context { id, contexts: Rc::clone(self) }
    }

    pub(crate) fn used(&self) -> [u64; WORDS] {
        std::array::from_fn(|i| self.0[i].get())
    }
}

/// Context of one group. Dropping it frees the number.
pub(crate) struct Context {
    id: u8,
    contexts: Rc<Contexts>,
}

impl Context {
    pub(crate) fn id(&self) -> u8 {
        self.id
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let word = &self.contexts.0[usize::from(self.id) / 64];
        word.set(word.get() & !(1 << (self.id % 64)));
    }
}
