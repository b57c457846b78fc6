//! [`Operations`]: names of a rank's current operations, formatted only for slow waits and
//! failures.

use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;

/// Stack of a rank's current operations.
#[derive(Default)]
pub(crate) struct Operations(RefCell<Vec<Rc<dyn Display>>>);

impl Operations {
    pub(crate) fn enter(self: &Rc<Self>, operation: Rc<dyn Display>) -> Entered {
        let mut stack = self.0.borrow_mut();
        stack.push(operation);
        Entered { operations: Rc::clone(self), depth: stack.len() - 1 }
    }

    /// Name of the innermost operation, or `otherwise` outside of all operations.
    pub(crate) fn text(&self, otherwise: &str) -> String {
        let top = self.0.borrow().last().cloned();
        top.map_or_else(|| otherwise.to_owned(), |operation| operation.to_string())
    }
}

/// Guard of [`Group::entering`](super::Group::entering): its drop ends the operation.
#[must_use = "the operation ends when this is dropped"]
pub struct Entered {
    operations: Rc<Operations>,
    depth: usize,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.operations.0.borrow_mut().truncate(self.depth);
    }
}
