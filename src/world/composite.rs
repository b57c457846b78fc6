//! `World::composite`: a copy with an operator.

use super::World;
use super::exchange::Exchange;
use crate::array::IntoGlobalSection;
use crate::device::Operator;
use crate::element::Element;
use crate::error::{CallSite, Result};
use crate::plan::Moved;

impl World {
    /// Combines a section with another section of the same extents:
    /// `destination = operator(source, destination)` per cell. Collective; on return, the part of
    /// this rank is complete.
    ///
    /// With [`Operator::Over`], the source is in front of the destination. The regions may overlap:
    /// the source is read completely first.
    ///
    /// The owner of the destination does the arithmetic, in the same way for local and remote
    /// sources. The resulting bits therefore do not depend on the decomposition. Costs the messages
    /// of a [`copy`](Self::copy), and one more dispatch unless the host combines; the host does so
    /// for built-in operators on adapters with shared memory.
    ///
    /// # Errors
    /// An invalid region; different extents; an operator that the element type does not support, or
    /// that does not compile (the error has line and column of the operator's text); a failure of
    /// this or another rank.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let layout = Layout::new([6]).split([Split::Even(2)]);
    /// let front = world.array::<[f32; 4], 1>("front", &layout)?;
    /// let back = world.array::<[f32; 4], 1>("back", &layout)?;
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
