//! Changes of the problem of a running flow.

use zippy::error::CallSite;
use zippy::{GlobalArray, Result};

use super::find_boundary::find_boundary;
use super::running_flow::Flow;
use crate::cell_kind::CellKind;
use crate::error::{FixedProperty, FlowError};
use crate::problem::Problem;

impl Flow<'_> {
    /// Continues with another problem from the next step on. The populations stay. Viscosity,
    /// force, and the velocities and densities of sides and bodies may differ; sudden changes cause
    /// sound waves. Collective; the problem must be equal on all ranks. Cost: classifies all cells
    /// again, with two lists of boundary cells meanwhile.
    ///
    /// # Errors
    /// An invalid problem; [`FlowError::FixedProperty`]; [`FlowError::ChangedCellKind`]. Errors are
    /// the same on every rank. The flow is unchanged after an error.
    #[track_caller]
    pub fn change_problem(&mut self, problem: &Problem) -> Result<()> {
        let _call = CallSite::enter();
        let checked = problem.check().and_then(|()| self.check_fixed_properties(problem));
        self.world.agree("changing the problem of a flow", checked.map_err(Into::into))?;
        let before = self.kinds.chunks().map(|chunk| chunk.all().read()).collect::<Result<Vec<_>>>();
        let before = self.world.agree("reading the kinds of cells", before)?;
        let found = find_boundary(self.world, problem, &self.kinds).and_then(|boundary| {
            self.check_kinds(&before)?;
            Ok((boundary, self.evaluate_force_field(problem)?))
        });
        match self.world.agree("classifying the cells of a flow", found) {
            Ok((boundary, force_field)) => {
                (self.boundary, self.problem) = (boundary, problem.clone());
                if let Some(array) = &self.force_field {
                    self.write_force_field(array, &force_field)?;
                }
                self.world.ghosts(&self.kinds).map(drop)
            }
            Err(error) => {
                let restored = self.kinds.chunks().zip(&before).try_for_each(|(chunk, kinds)| chunk.all().write(kinds));
                self.world.agree("restoring the kinds of cells", restored)?;
                Err(error)
            }
        }
    }

    /// Number of the [`CellKind`] of each cell, with the axes x, y and z. Local.
    pub fn cell_kinds(&self) -> &GlobalArray<u8, 3> {
        &self.kinds
    }

    fn check_fixed_properties(&self, problem: &Problem) -> Result<(), FlowError> {
        let current = &self.problem;
        let periodic = |problem: &Problem| [0, 1, 2].map(|axis| problem.is_periodic(axis));
        let operator = |problem: &Problem| std::mem::discriminant(&problem.collision);
        let property = if problem.set != current.set {
            FixedProperty::VelocitySet
        } else if problem.extents != current.extents || periodic(problem) != periodic(current) {
            FixedProperty::Lattice
        } else if operator(problem) != operator(current)
            || problem.smagorinsky.is_some() != current.smagorinsky.is_some()
        {
            FixedProperty::Collision
        } else if problem.precision != current.precision {
            FixedProperty::Precision
        } else if problem.force_field.is_some() != current.force_field.is_some() {
            FixedProperty::ForceField
        } else if problem.bodies.len() != current.bodies.len() {
            FixedProperty::Bodies
        } else {
            return Ok(());
        };
        Err(FlowError::FixedProperty(property))
    }

    /// Checks that cells have the same kinds as before. Solid cells may start to move or come to
    /// rest.
    fn check_kinds(&self, before: &[Vec<u8>]) -> Result<()> {
        let solid = CellKind::Solid.number();
        let normalize = |kind: u8| if CellKind::is_solid_number(kind) { solid } else { kind };
        for (chunk, before) in self.kinds.chunks().zip(before) {
            let now = chunk.all().read()?;
            let changed = now.iter().zip(before).position(|(&now, &before)| normalize(now) != normalize(before));
            if let Some(at) = changed.and_then(|index| chunk.region().points().nth(index)) {
                let cell = self.problem.box_cell([at[0], at[1], at[2]]);
                return Err(FlowError::ChangedCellKind { cell }.into());
            }
        }
        Ok(())
    }
}
