//! Speed, vorticity and the Q-criterion, on the device.

use zippy::error::CallSite;
use zippy::{GlobalArray, Kernel, Result, include_wgsl};

use super::{Fields, Flow, scalars};

/// A number for each cell that shows what a flow does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// The magnitude of the velocity.
    Speed,
    /// The magnitude of the velocity's curl: how fast the fluid turns, twice over.
    Vorticity,
    /// The Q-criterion (Hunt, Wray, Moin 1988): above 0 the fluid turns more than it is strained.
    QCriterion,
}

impl Flow<'_> {
    /// An array for [`quantity_into`](Self::quantity_into), or for whatever there is one number a cell of.
    ///
    /// # Errors
    /// A name that is taken; no memory.
    #[track_caller]
    pub fn quantity_array(&self, name: &str) -> Result<GlobalArray<f32, 3>> {
        let _call = CallSite::enter();
        self.lattice_array(name, &scalars(&self.problem, &self.parts))
    }

    /// A quantity of the flow now, from the velocities of a cell and of those around it, by central
    /// differences; zero where there is no fluid. Velocities count as zero in walls, as those of
    /// the cell itself beyond open sides, and as those of its image beyond free-slip sides.
    /// `fields` takes density and velocity.
    ///
    /// # Errors
    /// Arrays that are not of this flow; a failure of this or of another rank.
    #[track_caller]
    pub fn quantity_into(&mut self, quantity: Quantity, fields: &Fields, values: &GlobalArray<f32, 3>) -> Result<()> {
        let _call = CallSite::enter();
        let own = self.owns(values).map_err(Into::into);
        self.world.agree("an array for a quantity of a flow", own)?;
        self.fields_into(fields)?;
        self.world.ghosts(&fields.velocity)?;
        let kernel: Kernel = self.world.kernel(include_wgsl!("../../shaders/derived.wgsl"))?;
        for (cells, velocity, values) in zippy::together((&self.cells, &fields.velocity, values))? {
            let call = kernel.call().read("cells", cells.all()).read("velocity", velocity.all());
            call.write("values", values.all()).param("quantity", quantity as u32).run()?;
        }
        Ok(())
    }
}
