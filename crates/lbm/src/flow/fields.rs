//! Density and velocity, made when they are asked for.

use zippy::array::ChunkRef;
use zippy::error::CallSite;
use zippy::{GlobalArray, Layout, Result};

use super::fastest::{number, numbered};
use super::populations::parts_in_cells;
use super::{Flow, on_lattice, scalars, vectors};
use crate::cell::flows;
use crate::given;
use crate::problem::Problem;

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
    /// Density and velocity now, in arrays of their own, 16 bytes a cell. Half a step's force belongs to the velocity. The
    /// first ones are called `flow velocity` and `flow excess density`, if the flow is called `flow`, the next ones
    /// `flow velocity 2` and so on.
    ///
    /// # Errors
    /// No memory for them; a failure of this or of another rank.
    #[track_caller]
    pub fn fields(&mut self) -> Result<Fields> {
        let _call = CallSite::enter();
        self.asked += 1;
        let name = |what: &str| if self.asked > 1 { format!("{what} {}", self.asked) } else { what.to_owned() };
        let (excess, velocity) = (name("excess density"), name("velocity"));
        let fields = Fields { excess: self.scalar(&excess)?, velocity: self.vector(&velocity)? };
        self.fields_into(&fields)?;
        Ok(fields)
    }

    /// [`fields`](Self::fields) into arrays that are there.
    ///
    /// # Errors
    /// Arrays that are not of this flow; a failure of this or of another rank.
    #[track_caller]
    pub fn fields_into(&mut self, fields: &Fields) -> Result<()> {
        let _call = CallSite::enter();
        let own = self.owns_fields(fields).map_err(Into::into);
        self.world.agree("arrays for density and velocity of a flow", own)?;
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

    /// Sum of the density beyond 1 of all cells with fluid, with the populations that solid cells
    /// hold for a step. In a closed box it stays the same, apart from the rounding of collisions
    /// and, in 16 bits, that of populations.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    #[track_caller]
    pub fn mass(&mut self) -> Result<f64> {
        let _call = CallSite::enter();
        self.settle()?;
        let (f, values) = (self.f.chunks(), self.scalar("mass")?);
        for (n, (cells, values)) in self.cells.chunks().zip(values.chunks()).enumerate() {
            // Cells around a periodic end are in the lattice.
            let (region, lattice) = (cells.region(), self.problem.lattice());
            let periodic = |axis: usize| self.problem.periodic(axis);
            let start = [0, 1, 2].map(|k| if periodic(k) { 1 } else { region.start[k] as i32 });
            let bounds = [0, 1, 2].map(|k| if periodic(k) { i32::MAX } else { lattice[k] as i32 });
            let call = self.reading(&self.kernels.mass, &f, n).read("cells", cells.all());
            call.param("start", start).param("bounds", bounds).write("values", values.all()).run()?;
        }
        self.look_before_outlets()?;
        for (n, (list, values)) in self.lists.chunks.iter().zip(values.chunks()).enumerate() {
            if !list.open.is_empty() {
                let list = self.lists.borders.at(list.open.clone());
                let call = self.reading(&self.kernels.open_mass, &f, n).read("borders", list.clone());
                self.forced(call.update("values", values.all()), n).over(list).run()?;
            }
        }
        self.world.sum(values.at(..))
    }

    /// Checks that the density of each cell is finite and near 1, and that no velocity is beyond
    /// that of sound. Reads the fields of all cells: [`start_check`](Self::start_check) is for
    /// looks while a flow goes on.
    ///
    /// # Errors
    /// [`FlowError::Unstable`](crate::FlowError::Unstable) with the first cell of the box for which
    /// that is not so, the same on every rank and for every number of ranks; arrays that are not of
    /// this flow; a failure of this or of another rank.
    #[track_caller]
    pub fn check(&mut self, fields: &Fields) -> Result<()> {
        let _call = CallSite::enter();
        let own = self.owns_fields(fields).map_err(Into::into);
        self.world.agree("arrays of density and velocity of a flow", own)?;
        let found = self.first_unstable(fields);
        let mut first = [self.world.agree("looking whether a flow is stable", found)?];
        self.world.group().all_reduce(&mut first, |one, other| *one = (*one).min(*other))?;
        match first[0] {
            u64::MAX => Ok(()),
            cell => Err(self.unstable(self.steps, numbered(cell, self.problem.extents)).into()),
        }
    }

    /// The number of this rank's first cell that is not finite, or faster than sound; `u64::MAX`
    /// where there is none.
    fn first_unstable(&self, fields: &Fields) -> Result<u64> {
        let mut first = u64::MAX;
        for (excess, velocity) in zippy::together((&fields.excess, &fields.velocity))? {
            let (values, u) = (excess.all().read()?, velocity.all().read()?);
            let count = values.len();
            for (i, at) in excess.region().points().enumerate() {
                let square: f32 = (0..3).map(|axis| u[axis * count + i].powi(2)).sum();
                // Comparisons with what is no number are false.
                if !(values[i].abs() < 1.0 && square < 1.0 / 3.0) {
                    first = first.min(number(self.place([at[0], at[1], at[2]]), self.problem.extents));
                }
            }
        }
        Ok(first)
    }

    /// The forces of a problem on each cell of this rank's chunks, where they differ; zero where nothing flows. Local.
    pub(super) fn forces_of(&self, problem: &Problem) -> Result<Vec<Vec<f32>>> {
        let Some(force) = &problem.forces else { return Ok(Vec::new()) };
        let of_chunk = |cells: ChunkRef<u8, 3>| {
            let kinds = cells.all().read()?;
            let mut values = vec![0.0_f32; 3 * kinds.len()];
            for (n, at) in cells.region().points().enumerate().filter(|&(n, _)| flows(kinds[n])) {
                let place = self.place([at[0], at[1], at[2]]);
                let value = force(place);
                given::force(problem, place, value)?;
                (0..3).for_each(|axis| values[axis * kinds.len() + n] = value[axis] as f32);
            }
            Ok(values)
        };
        self.cells.chunks().map(of_chunk).collect()
    }

    /// An array of the forces on each cell, where they differ.
    pub(super) fn force_array(&self) -> Result<Option<GlobalArray<f32, 4>>> {
        if self.problem.forces.is_none() {
            return Ok(None);
        }
        let forces = self.world.agree("the forces on a flow", self.forces_of(&self.problem))?;
        let array: GlobalArray<f32, 4> =
            self.lattice_array(&self.problem.array_name("forces"), &self.vectors(3).ghost([0; 4]))?;
        let written = array.chunks().zip(&forces).try_for_each(|(chunk, forces)| chunk.all().write(forces));
        self.world.agree("writing the forces on a flow", written)?;
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
