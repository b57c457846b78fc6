//! Density and velocity, made when they are asked for.

use zippy::{GlobalArray, Result};

use super::{Flow, scalars, vectors};
use crate::error::FlowError;

/// Density and velocity of each cell of the lattice, zero where there is no fluid. Cut as the flow is, with its ghost
/// cells, which are not filled.
#[derive(Clone)]
pub struct Fields {
    /// The density beyond 1; a third of it is the pressure.
    pub excess: GlobalArray<f32, 3>,
    /// The velocity, in cells a step: x, y, z, component.
    pub velocity: GlobalArray<f32, 4>,
}

impl Flow<'_> {
    /// Density and velocity now, in arrays of their own. Half a step's force belongs to the velocity.
    ///
    /// # Errors
    /// No memory for them; a failure of this or of another rank.
    pub fn fields(&mut self) -> Result<Fields> {
        let fields = Fields { excess: self.scalar("excess density")?, velocity: self.vector("velocity")? };
        self.fields_into(&fields)?;
        Ok(fields)
    }

    /// [`fields`](Self::fields) into arrays that are there.
    ///
    /// # Errors
    /// Arrays that are not of this flow; a failure of this or of another rank.
    pub fn fields_into(&mut self, fields: &Fields) -> Result<()> {
        self.settle()?;
        let outputs = fields.excess.chunks().zip(fields.velocity.chunks());
        for ((f, cells), (excess, velocity)) in self.f.chunks().zip(self.cells.chunks()).zip(outputs) {
            let call = self.kernels.fields.call().read("f", f.all()).read("cells", cells.all());
            let call = call.write("excess", excess.all()).write("velocity", velocity.all());
            self.parameters(call).run()?;
        }
        self.look_before_outlets()?;
        let outputs = fields.excess.chunks().zip(fields.velocity.chunks());
        let inputs = self.f.chunks().zip(&self.lists.chunks);
        for ((f, list), (excess, velocity)) in inputs.zip(outputs).filter(|((_, list), _)| !list.active.is_empty()) {
            let list = self.lists.borders.at(list.active.clone());
            let call = self.kernels.open_fields.call().read("f", f.all()).read("borders", list.clone());
            self.parameters(call.update("excess", excess.all()).update("velocity", velocity.all()).over(list)).run()?;
        }
        Ok(())
    }

    /// The sum of all density beyond 1, with what walls hold of it for a step, not rounded until the end. In a closed box it
    /// stays what it is, but for the rounding of collisions.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn mass(&mut self) -> Result<f64> {
        self.settle()?;
        self.world.sum(self.f.at(..))
    }

    /// Sees that all is well: that densities and velocities are numbers, and no velocity is beyond that of sound.
    ///
    /// # Errors
    /// The first cell of the lowest rank where it is not; the same error on every rank.
    pub fn check(&mut self, fields: &Fields) -> Result<()> {
        let mut wrong = Ok(());
        for (excess, velocity) in fields.excess.chunks().zip(fields.velocity.chunks()) {
            let (values, cells) = (excess.all().read()?, excess.region());
            let u = velocity.all().read()?;
            let count = values.len();
            let bad = (0..count).find(|&i| {
                let square: f32 = (0..3).map(|axis| u[axis * count + i].powi(2)).sum();
                // Comparisons with what is no number are false.
                !(values[i].abs() < 1.0 && square < 1.0 / 3.0)
            });
            if let Some((i, at)) = bad.and_then(|i| cells.points().nth(i).map(|at| (i, at))) {
                wrong = Err(FlowError::Unstable {
                    step: self.steps,
                    cell: self.place([at[0], at[1], at[2]]),
                    density: 1.0 + values[i],
                    velocity: [0, 1, 2].map(|axis| u[axis * count + i]),
                    rank: self.world.rank(),
                }
                .into());
                break;
            }
        }
        self.world.agree("looking whether a flow is stable", wrong)
    }

    /// An array of a number a cell, cut as the flow is.
    pub(super) fn scalar(&self, name: &str) -> Result<GlobalArray<f32, 3>> {
        self.world.array(name, &scalars(&self.problem, &self.parts))
    }

    /// An array of three numbers a cell.
    pub(super) fn vector(&self, name: &str) -> Result<GlobalArray<f32, 4>> {
        self.world.array(name, &vectors(&self.problem, &self.parts, 3))
    }
}
