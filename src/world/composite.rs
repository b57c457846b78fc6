//! Composite: copy with an operator where data arrives.

use super::transfer::Meeting;
use super::{Moved, Operator, Pending, World};
use crate::array::GlobalSection;
use crate::element::Element;
use crate::error::Result;

impl World {
    /// Combines a section into another of the same extents: `destination = operator(source, destination)`, cell by cell.
    /// With [`Operator::Over`] the source lies in front of the destination. The regions may overlap: the source is read
    /// completely first. Collective; on return this rank's part is done.
    ///
    /// The arithmetic is done by the owner of the destination, in the same kernel wherever the source was, so that the
    /// bits do not depend on the decomposition.
    ///
    /// # Errors
    /// A bad region, extents that differ, an operator that does not exist for the element type or does not compile, or a
    /// failure of this or of another rank.
    pub fn composite<T: Element, const D: usize>(
        &self,
        source: GlobalSection<T, D>,
        destination: GlobalSection<T, D>,
        operator: Operator,
    ) -> Result<Moved> {
        let (job, operation) = self.composite_job(&source, &destination, operator)?;
        self.collective(operation.clone(), operation.signature(), || self.execute(job))
    }

    /// Starts a composite: on return the source has been read; the destination must not be touched before `wait`.
    /// Collective.
    ///
    /// # Errors
    /// As [`composite`](Self::composite).
    #[track_caller]
    pub fn start_composite<T: Element, const D: usize>(
        &self,
        source: GlobalSection<T, D>,
        destination: GlobalSection<T, D>,
        operator: Operator,
    ) -> Result<Pending<'_>> {
        let (job, operation) = self.composite_job(&source, &destination, operator)?;
        let moved = job.transfer.moved;
        let in_flight = self.collective(operation.clone(), operation.signature(), || self.start(job))?;
        Ok(Pending::new(self, operation, in_flight, moved))
    }

    fn composite_job<T: Element, const D: usize>(
        &self,
        source: &GlobalSection<T, D>,
        destination: &GlobalSection<T, D>,
        operator: Operator,
    ) -> Result<(super::execute::Job, super::copy::Operation)> {
        let (mut job, mut operation) = self.copy_job(source, destination, None)?;
        operator.check(&T::INFO)?;
        job.meeting = Meeting::Combine(operator.clone());
        operation.operator = Some(operator);
        Ok((job, operation))
    }
}
