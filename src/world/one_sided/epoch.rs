//! The operations that wait for a fence.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::fetched::Fetched;
use crate::array::ArrayCore;
use crate::device::Operator;
use crate::error::{ArrayError, Result};
use crate::region::Region;

/// The operations queued since the last fence.
#[derive(Debug, Default)]
pub struct Epoch {
    queue: RefCell<Vec<Queued>>,
    tickets: Cell<u64>,
}

impl Epoch {
    /// The number of the next ticket.
    pub(super) fn next_ticket(&self) -> u64 {
        self.tickets.replace(self.tickets.get() + 1)
    }

    /// Adds an operation.
    pub(super) fn queue(&self, array: &Rc<ArrayCore>, region: Region, action: Action) {
        self.queue.borrow_mut().push(Queued { array: array.clone(), region, action });
    }

    /// That nothing is left for a fence which will not come.
    pub fn ended(&self) -> Result<(), ArrayError> {
        match self.queue.borrow().as_slice() {
            [] => Ok(()),
            [first, rest @ ..] => {
                Err(ArrayError::Unfenced { count: 1 + rest.len(), first: first.array.label(&first.region) })
            }
        }
    }

    /// The operations since the last call.
    pub(super) fn take(&self) -> Vec<Queued> {
        self.queue.take()
    }
}

/// One operation as it was called. Data to send was read at the call.
pub(super) struct Queued {
    pub array: Rc<ArrayCore>,
    pub region: Region,
    pub action: Action,
}

impl std::fmt::Debug for Queued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.array.label(&self.region))
    }
}

/// What is done with the bytes that a get brings.
pub(super) type Then = Box<dyn FnOnce(Vec<u8>, &mut Fetched) -> Result<()>>;

/// What an operation does.
pub(super) enum Action {
    Get(Then),
    Put(Vec<u8>),
    Accumulate(Vec<u8>, Operator),
}
