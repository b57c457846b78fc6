//! Density and velocity, made when they are asked for.

use zippy::{GlobalArray, Layout, Result};

use super::populations::parts_in_cells;
use super::{Flow, on_lattice, scalars, vectors};
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
        let f = self.f.chunks();
        let outputs = || fields.excess.chunks().zip(fields.velocity.chunks());
        for (n, (cells, (excess, velocity))) in self.cells.chunks().zip(outputs()).enumerate() {
            let call = self.reading(&self.kernels.fields, &f, n).read("cells", cells.all());
            self.forced(call, n).write("excess", excess.all()).write("velocity", velocity.all()).run()?;
        }
        self.look_before_outlets()?;
        for (n, (list, (excess, velocity))) in self.lists.chunks.iter().zip(outputs()).enumerate() {
            if list.open.is_empty() {
                continue;
            }
            let list = self.lists.borders.at(list.open.clone());
            let call = self.reading(&self.kernels.open_fields, &f, n).read("borders", list.clone());
            let call = call.update("excess", excess.all()).update("velocity", velocity.all());
            self.forced(call, n).over(list).run()?;
        }
        Ok(())
    }

    /// The sum of all density beyond 1, with what walls hold of it for a step; of each slot not rounded until the end. In a
    /// closed box it stays what it is, but for the rounding of collisions, and in 16 bits that of populations.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn mass(&mut self) -> Result<f64> {
        self.settle()?;
        let (f, values, mut mass) = (self.f.chunks(), self.scalar("slot")?, 0.0);
        for slot in 0..self.problem.set.count() as i32 {
            for (n, values) in values.chunks().enumerate() {
                self.reading(&self.kernels.slot, &f, n).param("slot", slot).write("values", values.all()).run()?;
            }
            mass += self.world.sum(values.at(..))?;
        }
        Ok(mass)
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

    /// The forces on each cell, where they differ.
    pub(super) fn force_array(&self) -> Result<Option<GlobalArray<f32, 4>>> {
        let Some(force) = &self.problem.forces else { return Ok(None) };
        let array: GlobalArray<f32, 4> =
            self.lattice_array(&self.problem.array_name("forces"), &self.vectors(3).ghost([0; 4]))?;
        let mut wrong = None;
        array.fill_with(|[x, y, z, axis]| {
            let value = force(self.place([x, y, z]))[axis as usize];
            if !value.is_finite() || self.problem.set.axes() == 2 && axis == 2 && value != 0.0 {
                wrong.get_or_insert(value);
            }
            value as f32
        })?;
        let what = "a component of the force on a cell";
        let wrong = wrong.map_or(Ok(()), |value| {
            Err(FlowError::Number { what, value, wanted: "finite, and in two dimensions the third one 0" })
        });
        self.world.agree("the forces on a flow", wrong.map_err(Into::into))?;
        Ok(Some(array))
    }

    /// An array of a number a cell, cut as the flow is.
    pub(super) fn scalar(&self, name: &str) -> Result<GlobalArray<f32, 3>> {
        self.lattice_array(&self.problem.array_name(name), &scalars(&self.problem, &self.parts))
    }

    /// An array of three numbers a cell.
    pub(super) fn vector(&self, name: &str) -> Result<GlobalArray<f32, 4>> {
        self.lattice_array(&self.problem.array_name(name), &self.vectors(3))
    }

    fn vectors(&self, components: usize) -> Layout {
        vectors(&self.problem, &parts_in_cells(&self.problem, &self.parts), components)
    }

    pub(super) fn lattice_array<const D: usize>(&self, name: &str, layout: &Layout) -> Result<GlobalArray<f32, D>> {
        on_lattice(self.world, &self.problem, &self.parts, name, layout)
    }
}
