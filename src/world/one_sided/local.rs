//! Copies between a global array and each rank's own local sections: an epoch of their own.

use super::calls::{PutSource, captured, get_action};
use super::epoch::{Action, Queued};
use crate::array::{GlobalSection, LocalSection};
use crate::element::Element;
use crate::error::Result;
use crate::plan::Moved;
use crate::world::{World, hash};

impl World {
    pub(in crate::world) fn copy_to_local<T: Element, const D: usize>(
        &self,
        source: &GlobalSection<T, D>,
        destination: &LocalSection<T, D>,
    ) -> Result<Moved> {
        let name = source.core.name();
        self.collective(format!("copy(\"{name}\" -> local)"), hash(("to local", name)), || {
            let action = get_action(source, destination.clone())?;
            self.run_one(source, action)
        })
    }

    pub(in crate::world) fn copy_from_local<T: Element, const D: usize>(
        &self,
        source: &LocalSection<T, D>,
        destination: &GlobalSection<T, D>,
    ) -> Result<Moved> {
        let name = destination.core.name();
        self.collective(format!("copy(local -> \"{name}\")"), hash(("from local", name)), || {
            let data = captured(PutSource::Device(source.clone()), destination)?;
            self.run_one(destination, Action::Put(data))
        })
    }

    fn run_one<T: Element, const D: usize>(&self, section: &GlobalSection<T, D>, action: Action) -> Result<Moved> {
        let region = section.region()?;
        Ok(self.run_epoch(vec![Queued { array: section.core.clone(), region, action }])?.moved)
    }
}
