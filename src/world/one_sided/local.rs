//! Copies between a global array and each rank's own local sections: an epoch of their own.

use super::calls::{PutSource, captured, get_action};
use super::epoch::{Action, Queued};
use crate::array::{GlobalSection, LocalSection};
use crate::element::Element;
use crate::error::Result;
use crate::plan::Moved;
use crate::world::{Collective, Named, Pending, World};

/// A copy with a local end: how it is named, how it is compared between ranks, and what this rank asks for.
pub(in crate::world) struct LocalCopy<'a> {
    operation: Collective,
    queued: Box<dyn FnOnce() -> Result<Queued> + 'a>,
}

pub(in crate::world) fn to_local<'a, T: Element, const D: usize>(
    source: &'a GlobalSection<T, D>,
    destination: &'a LocalSection<T, D>,
) -> LocalCopy<'a> {
    LocalCopy {
        operation: Collective::new("copy").of(Named::of(&source.core), None).and(" -> local"),
        queued: Box::new(|| queued(source, get_action(source, destination.clone())?)),
    }
}

pub(in crate::world) fn from_local<'a, T: Element, const D: usize>(
    source: &'a LocalSection<T, D>,
    destination: &'a GlobalSection<T, D>,
) -> LocalCopy<'a> {
    LocalCopy {
        operation: Collective::new("copy").from("local -> ").of(Named::of(&destination.core), None),
        queued: Box::new(|| {
            let data = captured(PutSource::Device(source.clone()), destination)?;
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
        let LocalCopy { operation, queued } = copy;
        self.collective(operation.clone(), operation.signature(), || Ok(self.run_epoch(vec![queued()?])?.moved))
    }

    #[track_caller]
    pub(in crate::world) fn start_copy_local(&self, copy: LocalCopy<'_>) -> Result<Pending<'_>> {
        let LocalCopy { operation, queued } = copy;
        let asked = self.collective(operation.clone(), operation.signature(), || self.ask(vec![queued()?]))?;
        let moved = asked.fetched.moved;
        Ok(Pending::new(self, operation, moved, move || self.collect(asked).map(drop)))
    }
}
