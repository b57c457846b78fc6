//! Computes density and velocity.

use zippy::error::CallSite;
use zippy::{GlobalArray, Layout, Result};

use super::fields::Fields;
use super::lattice_arrays::{create_on_lattice, parts_in_cells, scalar_layout, vector_layout};
use super::running_flow::Flow;

impl Flow<'_> {
    /// Computes density and velocity of the current state, in new arrays: `flow velocity` and `flow
    /// excess density` for the name `flow`, then `flow velocity 2` and so on. The velocity includes
    /// half of a step's force. Collective. Cost: 16 bytes per cell.
    ///
    /// # Errors
    /// No memory; a failure of any rank.
    #[track_caller]
    pub fn fields(&mut self) -> Result<Fields> {
        let _call = CallSite::enter();
        self.field_count += 1;
        let number = if self.field_count > 1 { format!(" {}", self.field_count) } else { String::new() };
        let fields = Fields {
            excess: self.create_scalar(&format!("excess density{number}"))?,
            velocity: self.create_vector(&format!("velocity{number}"))?,
        };
        self.update_fields(&fields)?;
        Ok(fields)
    }

    /// Writes density and velocity of the current state to existing arrays. Collective.
    ///
    /// # Errors
    /// [`FlowError::ForeignArray`](crate::FlowError::ForeignArray); a failure of any rank.
    #[track_caller]
    pub fn update_fields(&mut self, fields: &Fields) -> Result<()> {
        let _call = CallSite::enter();
        let checked = self.check_fields(fields).map_err(Into::into);
        self.world.agree("checking arrays of density and velocity", checked)?;
        self.settle()?;
        let words = self.populations.chunks();
        let outputs = || fields.excess.chunks().zip(fields.velocity.chunks());
        for (chunk, (kinds, (excess, velocity))) in self.kinds.chunks().zip(outputs()).enumerate() {
            let call = self.call_reading(&self.kernels.fields, &words, chunk).read("kinds", kinds.all());
            let call = self.bind_force_field(call, chunk);
            call.write("excess", excess.all()).write("velocity", velocity.all()).run()?;
        }
        self.read_outlet_neighbours()?;
        for (chunk, (boundary, (excess, velocity))) in self.boundary.chunks.iter().zip(outputs()).enumerate() {
            if boundary.open.is_empty() {
                continue;
            }
            let cells = self.boundary.cells.at(boundary.open.clone());
            let call = self.call_reading(&self.kernels.open_fields, &words, chunk);
            let call = call.read("boundary_cells", cells.clone()).update("excess", excess.all());
            self.bind_force_field(call.update("velocity", velocity.all()), chunk).over(cells).run()?;
        }
        Ok(())
    }

    pub(super) fn create_scalar(&self, suffix: &str) -> Result<GlobalArray<f32, 3>> {
        self.create_array(&self.problem.array_name(suffix), &scalar_layout(&self.problem, &self.parts))
    }

    pub(super) fn create_vector(&self, suffix: &str) -> Result<GlobalArray<f32, 4>> {
        self.create_array(&self.problem.array_name(suffix), &self.vector_layout_of_cells())
    }

    pub(super) fn vector_layout_of_cells(&self) -> Layout {
        vector_layout(&self.problem, &parts_in_cells(&self.problem, &self.parts), 3)
    }

    pub(super) fn create_array<const D: usize>(&self, name: &str, layout: &Layout) -> Result<GlobalArray<f32, D>> {
        create_on_lattice(self.world, &self.problem, &self.parts, name, layout)
    }
}
