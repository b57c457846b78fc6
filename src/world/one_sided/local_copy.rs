//! [`LocalCopy`]: a copy between a global array and local sections of each rank, run as a separate
//! epoch.

use super::calls::{PutSource, get_action, read_source};
use super::epoch::{Action, Queued};
use crate::array::{GlobalSection, LocalSection};
use crate::element::Element;
use crate::error::Result;
use crate::plan::Moved;
use crate::world::{ArrayIdentity, Collective, Pending, World};

/// Copy between a global and a local section: the collective, and the request of this rank.
pub(in crate::world) struct LocalCopy<'a> {
    operation: Collective,
    request: Box<dyn FnOnce() -> Result<Queued> + 'a>,
}

pub(in crate::world) fn to_local<'a, T: Element, const D: usize>(
    source: &'a GlobalSection<T, D>,
    destination: &'a LocalSection<T, D>,
) -> LocalCopy<'a> {
    LocalCopy {
        operation: Collective::new("copy").array(ArrayIdentity::from_core(&source.core), None).text_after(" -> local"),
        request: Box::new(|| queued(source, get_action(source, destination.clone())?)),
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
        request: Box::new(|| {
            let data = read_source(PutSource::Device(source.clone()), destination)?;
            queued(destination, Action::Put(data))
        }),
    }
}

fn queued<T: Element, const D: usize>(section: &GlobalSection<T, D>, action: Action) -> Result<Queued> {
    Ok(Queued { array: section.core.clone(), region: section.region()?, action })
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
