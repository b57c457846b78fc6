//! [`Epoch`]: the one-sided operations between two fences.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::fetched::Fetched;
use crate::array::ArrayCore;
use crate::device::Operator;
use crate::error::{ArrayError, Result};
use crate::region::Region;
use crate::world::local_box::LocalBox;

/// One-sided operations queued since the last fence.
#[derive(Debug, Default)]
pub(crate) struct Epoch {
    queue: RefCell<Vec<QueuedOperation>>,
    tickets: Cell<u64>,
}

impl Epoch {
    pub(super) fn next_ticket(&self) -> u64 {
        self.tickets.replace(self.tickets.get() + 1)
    }

    pub(super) fn queue(&self, array: &Rc<ArrayCore>, region: Region, action: OneSidedAction) {
        self.queue.borrow_mut().push(QueuedOperation { array: array.clone(), region, action });
    }

    /// Fails if operations are queued at the end of the run.
    pub(crate) fn check_empty(&self) -> Result<(), ArrayError> {
        match self.queue.borrow().as_slice() {
            [] => Ok(()),
            [first, rest @ ..] => {
                Err(ArrayError::Unfenced { count: 1 + rest.len(), first: first.array.label(&first.region) })
            }
        }
    }

    /// Empties the queue and returns its operations.
    pub(super) fn take(&self) -> Vec<QueuedOperation> {
        self.queue.take()
    }
}

/// Queued one-sided operation. Data to send has been read already.
pub(super) struct QueuedOperation {
    pub array: Rc<ArrayCore>,
    pub region: Region,
    pub action: OneSidedAction,
}

impl std::fmt::Debug for QueuedOperation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.array.label(&self.region))
    }
}

/// Function that consumes the bytes of a get.
pub(super) type GetConsumer = Box<dyn FnOnce(Vec<u8>, &mut Fetched) -> Result<()>>;

/// Kind of a one-sided operation, with its data.
pub(super) enum OneSidedAction {
    Get(GetConsumer),
    /// Get into a box of this rank. Cells that this rank owns are copied on the device.
    GetInto(LocalBox),
    Put(Vec<u8>),
    /// Put of a box of this rank. Cells for chunks of this rank are copied on the device.
    PutFrom(LocalBox),
    Accumulate(Vec<u8>, Operator),
}
