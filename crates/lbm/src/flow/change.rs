//! A flow that goes on as that of another problem.

use zippy::error::CallSite;
use zippy::{GlobalArray, Result};

use super::Flow;
use super::lists::kinds;
use crate::cell::{MOVING, SOLID};
use crate::error::FlowError;
use crate::problem::Problem;

impl Flow<'_> {
    /// From the next step on the flow of another problem, with the populations that it has: viscosity, force, and the
    /// velocities and densities of sides and bodies may be others. What changes at once sends sound through the fluid, as
    /// it would anywhere. All ranks give the same problem. Cost: each cell's description is looked at, as when a flow is
    /// made; for that long there are two lists of the cells that move, mirror or are open.
    ///
    /// # Errors
    /// What is wrong with the problem; one of another lattice, collision or kind of cells, the same on every rank. The flow
    /// is then as it was.
    #[track_caller]
    pub fn change(&mut self, problem: &Problem) -> Result<()> {
        let _call = CallSite::enter();
        let fits = problem.check().and_then(|()| self.fits(problem));
        self.world.agree("changing a flow", fits.map_err(Into::into))?;
        let before = self.cells.chunks().map(|chunk| chunk.all().read()).collect::<Result<Vec<_>>>();
        let before = self.world.agree("looking at the cells of a flow", before)?;
        let found = kinds(self.world, problem, &self.cells).and_then(|lists| {
            self.same(&before)?;
            Ok((lists, self.forces_of(problem)?))
        });
        match self.world.agree("looking at the cells of a changed flow", found) {
            Ok((lists, forces)) => {
                (self.lists, self.problem) = (lists, problem.clone());
                let mut chunks = self.forces.iter().flat_map(|array| array.chunks()).zip(&forces);
                let written = chunks.try_for_each(|(chunk, forces)| chunk.all().write(forces));
                self.world.agree("writing the forces on a flow", written)?;
                self.world.ghosts(&self.cells).map(drop)
            }
            Err(error) => {
                let back = self.cells.chunks().zip(&before).try_for_each(|(chunk, kinds)| chunk.all().write(kinds));
                self.world.agree("keeping the cells of a flow", back)?;
                Err(error)
            }
        }
    }

    /// What each cell is, x, y, z, as kernels see it: 0 is fluid, 1 a solid cell at rest, 2 one that moves, 3 a mirror, and
    /// fluid at an open side is 4 or more. Local.
    pub fn cells(&self) -> &GlobalArray<u8, 3> {
        &self.cells
    }

    /// Whether the kernels and arrays that there are suit another problem.
    fn fits(&self, problem: &Problem) -> Result<(), FlowError> {
        let own = &self.problem;
        let periodic = |problem: &Problem| [0, 1, 2].map(|axis| problem.periodic(axis));
        let kind = |problem: &Problem| std::mem::discriminant(&problem.collision);
        let what = if problem.set != own.set {
            "its velocities"
        } else if problem.extents != own.extents || periodic(problem) != periodic(own) {
            "its lattice"
        } else if kind(problem) != kind(own) || problem.smagorinsky.is_some() != own.smagorinsky.is_some() {
            "its collision"
        } else if problem.storage != own.storage {
            "how it keeps populations"
        } else if problem.forces.is_some() != own.forces.is_some() {
            "whether forces differ from cell to cell"
        } else if problem.bodies.len() != own.bodies.len() {
            "its bodies"
        } else {
            return Ok(());
        };
        Err(FlowError::Changed(what))
    }

    /// Whether all cells are what they were, but for solid ones that move now or have come to rest.
    fn same(&self, before: &[Vec<u8>]) -> Result<()> {
        let like = |kind: u8| if kind == MOVING { SOLID } else { kind };
        for (chunk, before) in self.cells.chunks().zip(before) {
            let now = chunk.all().read()?;
            let other = now.iter().zip(before).position(|(&now, &before)| like(now) != like(before));
            if let Some(at) = other.and_then(|number| chunk.region().points().nth(number)) {
                return Err(FlowError::ChangedCell(self.place([at[0], at[1], at[2]])).into());
            }
        }
        Ok(())
    }
}
