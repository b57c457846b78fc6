//! [`LocalCopy`]: copy between a global array and local sections of each rank, which runs as a
//! separate epoch.

use super::epoch::{OneSidedAction, QueuedOperation};
use crate::array::{GlobalSection, LocalSection};
use crate::element::Element;
use crate::error::{PlanError, Result};
use crate::plan::Moved;
use crate::world::local_box::LocalBox;
use crate::world::{ArrayIdentity, Collective, Pending, World};

/// Copy between a global and a local section: the collective, and the request of this rank.
pub(in crate::world) struct LocalCopy<'a> {
    operation: Collective,
    request: Box<dyn FnOnce() -> Result<QueuedOperation> + 'a>,
}

pub(in crate::world) fn to_local<'a, T: Element, const D: usize>(
    source: &'a GlobalSection<T, D>,
    destination: &'a LocalSection<T, D>,
) -> LocalCopy<'a> {
    LocalCopy {
        operation: Collective::new("copy").array(ArrayIdentity::from_core(&source.core), None).text_after(" -> local"),
        request: Box::new(|| queued(source, OneSidedAction::GetInto(local_box(source, destination, false)?))),
    }
}

pub(in crate::world) fn from_local<'a, T: Element, const D: usize>(
    source: &'a LocalSection<T, D>,
    destination: &'a GlobalSection<T, D>,
) -> LocalCopy<'a> {
    LocalCopy {
        operation: Collective::new("copy")
            .text_before("local -> ")
            .array(ArrayIdentity::from_core(&destination.core), None),
        request: Box::new(|| queued(destination, OneSidedAction::PutFrom(local_box(destination, source, true)?))),
    }
}

/// Box of the local section of a copy.
///
/// # Errors
/// An invalid region; a section of several boxes; different extents.
fn local_box<T: Element, const D: usize>(
    global: &GlobalSection<T, D>,
    local: &LocalSection<T, D>,
    is_source: bool,
) -> Result<LocalBox> {
    let (region, local) = (global.region()?, LocalBox::new(local, "copy")?);
    let ends = [(global.core.label(&region), region.extents()), (local.label(), local.region.extents())];
    if ends[0].1 == ends[1].1 {
        return Ok(local);
    }
    let [(first, first_extents), (second, second_extents)] = ends;
    Err(if is_source {
        PlanError::extents(second, second_extents, first, first_extents).into()
    } else {
        PlanError::extents(first, first_extents, second, second_extents).into()
    })
}

fn queued<T: Element, const D: usize>(
    section: &GlobalSection<T, D>,
    action: OneSidedAction,
) -> Result<QueuedOperation> {
    Ok(QueuedOperation { array: section.core.clone(), region: section.region()?, action })
}

impl World {
    #[track_caller]
    pub(in crate::world) fn copy_local(&self, copy: LocalCopy<'_>) -> Result<Moved> {
        let LocalCopy { operation, request } = copy;
        self.collective(operation.clone(), operation.signature(), || Ok(self.run_epoch(vec![request()?])?.moved))
    }

    #[track_caller]
    pub(in crate::world) fn start_copy_local(&self, copy: LocalCopy<'_>) -> Result<Pending<'_>> {
        let LocalCopy { operation, request } = copy;
        let sent =
            self.collective(operation.clone(), operation.signature(), || self.send_requests(vec![request()?]))?;
        let moved = sent.fetched.moved;
        Ok(Pending::new(self, operation, moved, move || self.receive_replies(sent).map(drop)))
    }
}
