//! Initial populations.

use zippy::{Kernel, Result};

use super::running_flow::Flow;
use crate::cell_kind::CellKind;
use crate::lattice_cell::LatticeCell;
use crate::shader::initial_kernel;

impl Flow<'_> {
    pub(super) fn check_initial_flow(&self) -> Result<()> {
        for chunk in self.kinds.chunks() {
            let kinds = chunk.all().read()?;
            let points = chunk.region().points().zip(&kinds);
            for (at, _) in points.filter(|&(_, &kind)| CellKind::is_fluid_number(kind)) {
                self.problem.check_initial_flow(self.problem.box_cell([at[0], at[1], at[2]]))?;
            }
        }
        Ok(())
    }

    /// Sets all populations to the equilibrium of the initial density and velocity. Collective.
    pub(super) fn set_initial_populations(&mut self) -> Result<()> {
        let kernel: Kernel = self.world.kernel(initial_kernel(&self.form)?)?;
        let excess = self.create_scalar("excess")?;
        let velocity = self.create_vector("velocity")?;
        let problem = &self.problem;
        let filled = excess.fill_with(|at| {
            let cell = problem.box_cell(at);
            let is_fluid = problem.classify(cell).is_fluid();
            if is_fluid { ((problem.initial_density)(cell) - 1.0) as f32 } else { 0.0 }
        });
        self.world.agree("setting the initial density", filled)?;
        // Populations from a moving wall are in equilibrium with a stream at the same velocity.
        velocity.fill_with(|[x, y, z, component]| {
            let cell = problem.box_cell([x, y, z]);
            match problem.classify(cell) {
                role if role.is_fluid() => (problem.initial_velocity)(cell)[component as usize] as f32,
                LatticeCell::MovingSolid(velocity) => velocity[component as usize] as f32,
                _ => 0.0,
            }
        })?;
        let words = self.populations.chunks();
        for (chunk, (excess, velocity)) in excess.chunks().zip(velocity.chunks()).enumerate() {
            let call = self.call_updating(&kernel, &words, chunk);
            call.read("excess", excess.all()).read("velocity", velocity.all()).over(excess.all()).run()?;
        }
        self.return_initial_populations()
    }
}
