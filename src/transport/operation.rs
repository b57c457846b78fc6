//! What a rank is doing, kept as values and formatted only when a wait is slow or something fails.

use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;

/// The operations that a rank is inside of, outermost first.
#[derive(Default)]
pub(crate) struct Operations(RefCell<Vec<Rc<dyn Display>>>);

impl Operations {
    pub(crate) fn enter(self: &Rc<Self>, operation: Rc<dyn Display>) -> Entered {
        let mut stack = self.0.borrow_mut();
        stack.push(operation);
        Entered { operations: Rc::clone(self), depth: stack.len() - 1 }
    }

    /// The innermost named operation, else `otherwise`.
    pub(crate) fn text(&self, otherwise: &str) -> String {
        let top = self.0.borrow().last().cloned();
        top.map_or_else(|| otherwise.to_owned(), |operation| operation.to_string())
    }
}

/// Ends the operation of [`Group::entering`](super::Group::entering) when dropped.
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
