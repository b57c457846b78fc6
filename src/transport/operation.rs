//! What a rank is doing, kept as values and formatted only when a wait is slow or something fails.

use std::cell::RefCell;
use std::fmt::{self, Display};
use std::rc::Rc;
use std::sync::Arc;

/// The operations that a rank is inside of, outermost first.
#[derive(Default)]
pub(crate) struct Operations(RefCell<Vec<Rc<dyn Display>>>);

impl Operations {
    pub(crate) fn enter(self: &Rc<Self>, operation: impl Display + 'static) -> Entered {
        let mut stack = self.0.borrow_mut();
        stack.push(Rc::new(operation));
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

/// An operation and the array it works on: `ghosts("density")`.
#[derive(Debug, Clone)]
pub struct Named(pub &'static str, pub Arc<str>);

impl Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({:?})", self.0, self.1)
    }
}
