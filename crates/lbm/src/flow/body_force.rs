//! Forces of the fluid on bodies.

use zippy::error::CallSite;
use zippy::{Layout, LocalArray, Result};

use super::boundary_lists::BodySurface;
use super::running_flow::Flow;

/// Force and torque of the fluid on a body in the last step, in lattice units, by momentum exchange
/// (Ladd 1994).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BodyForce {
    /// The force.
    pub force: [f64; 3],
    /// The torque about the centre of the body.
    pub torque: [f64; 3],
}

impl Flow<'_> {
    /// Computes force and torque on each body, in the order of the problem; the same bits for every
    /// number of ranks. Collective.
    ///
    /// # Errors
    /// A failure of any rank.
    #[track_caller]
    pub fn body_forces(&mut self) -> Result<Vec<BodyForce>> {
        let _call = CallSite::enter();
        self.settle()?;
        let mut forces = Vec::new();
        for body in &self.boundary.bodies {
            let per_cell = self.world.agree("computing the force on a body", self.surface_forces(body))?;
            let mut sums = [0.0; 6];
            for (component, sum) in sums.iter_mut().enumerate() {
                *sum = self.world.sum(per_cell.at((.., component as i64)))?;
            }
            let [fx, fy, fz, tx, ty, tz] = sums;
            forces.push(BodyForce { force: [fx, fy, fz], torque: [tx, ty, tz] });
        }
        Ok(forces)
    }

    /// Force and torque on each surface cell of a body on this rank: six numbers per cell.
    fn surface_forces(&self, body: &BodySurface) -> Result<LocalArray<f32, 2>> {
        let length = body.chunks.last().map_or(0, |range| range.end);
        let name = self.problem.array_name("body forces");
        let forces = self.world.local_array(&name, &Layout::new([length.max(1), 6]))?;
        let words = self.populations.chunks();
        for (chunk, range) in body.chunks.iter().enumerate().filter(|(_, range)| !range.is_empty()) {
            let cells = body.cells.at(range.clone());
            let call = self.call_reading(&self.kernels.body_force, &words, chunk).read("boundary_cells", cells.clone());
            call.write("forces", forces.at((range.clone(), ..))).over(cells).run()?;
        }
        Ok(forces)
    }
}
