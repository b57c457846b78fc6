//! [`Operations`]: the names of the operations that a rank is in, for warnings and errors. A name
//! is formatted only when a wait is slow or an operation fails.

use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;

/// The operations that a rank is in, outermost first.
#[derive(Default)]
pub(crate) struct Operations(RefCell<Vec<Rc<dyn Display>>>);

impl Operations {
    pub(crate) fn enter(self: &Rc<Self>, operation: Rc<dyn Display>) -> Entered {
        let mut stack = self.0.borrow_mut();
        stack.push(operation);
        Entered { operations: Rc::clone(self), depth: stack.len() - 1 }
    }

    /// The name of the innermost operation, or `otherwise` outside of all operations.
    pub(crate) fn text(&self, otherwise: &str) -> String {
        let top = self.0.borrow().last().cloned();
        top.map_or_else(|| otherwise.to_owned(), |operation| operation.to_string())
    }
}

/// Guard of [`Group::entering`](super::Group::entering): the operation ends when the guard is
/// dropped.
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
