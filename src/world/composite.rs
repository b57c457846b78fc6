//! Composite: copy with an operator where data arrives.

use super::exchange::Exchange;
use super::{Moved, Operator, World};
use crate::array::IntoGlobalSection;
use crate::element::Element;
use crate::error::{CallSite, Result};

impl World {
    /// Combines a section into another of the same extents: `destination = operator(source, destination)`, cell by
    /// cell. With [`Operator::Over`] the source lies in front of the destination. The regions may overlap: the source
    /// is read completely first. Collective; on return this rank's part is done.
    ///
    /// The arithmetic is done by the owner of the destination, by the same means wherever the source was, so that the
    /// bits do not depend on the decomposition. Costs the messages of a [`copy`](Self::copy), and one dispatch more
    /// where it is not the host that combines, as it does with built-in operators on adapters that share its memory.
    ///
    /// # Errors
    /// A bad region, extents that differ, an operator that does not exist for the element type or does not compile (the
    /// error names line and column of its text), or a failure of this or of another rank.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let layout = Layout::new([6]).split([Split::Even(2)]);
    /// let (front, back) = (world.array::<[f32; 4], 1>("front", &layout)?, world.array::<[f32; 4], 1>("back", &layout)?);
    /// front.fill([0.25, 0.0, 0.0, 0.5])?; // premultiplied
    /// back.fill([0.0, 0.0, 1.0, 1.0])?;
    /// world.composite(front.at(0..3), back.at(3..6), Operator::Over)?;
    /// let ticket = world.get(back.at(2..4))?;
    /// assert_eq!(world.fence()?.redeem(ticket)?, [[0.0, 0.0, 1.0, 1.0], [0.25, 0.0, 0.5, 1.0]]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    #[track_caller]
    pub fn composite<T: Element, const D: usize>(
        &self,
        source: impl IntoGlobalSection<T, D>,
        destination: impl IntoGlobalSection<T, D>,
        operator: Operator,
    ) -> Result<Moved> {
        let _call = CallSite::enter();
        self.exchange(Exchange::new().composite(source, destination, operator))
    }
}
