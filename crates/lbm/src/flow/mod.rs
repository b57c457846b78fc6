//! A flow: its arrays and kernels, and what is done with them.

mod change;
mod derived;
mod exchange;
mod fields;
mod hash;
mod lists;
mod pulls;
mod step;

use zippy::{GlobalArray, Kernel, Layout, Result, World};

use self::exchange::Due;
use self::lists::{Lists, kinds};
use crate::cut::{Cut, layout};
use crate::problem::{Place, Problem};
use crate::shader;

pub use derived::Quantity;
pub use fields::Fields;
pub use pulls::Pull;

/// A fluid that flows, over all ranks of a world.
///
/// Its methods are collective but where they say otherwise.
pub struct Flow<'w> {
    world: &'w World,
    problem: Problem,
    /// The populations, one copy: x, y, z, slot.
    f: GlobalArray<f32, 4>,
    /// What each cell is.
    cells: GlobalArray<u8, 3>,
    /// How the lattice is cut along each axis.
    parts: [Vec<i64>; 3],
    lists: Lists,
    /// Cells with fluid, and whether there are outlets, on all ranks.
    fluid: u64,
    any_outlets: bool,
    kernels: Kernels,
    steps: u64,
    due: Due,
}

struct Kernels {
    step: Kernel,
    borders: Kernel,
    outlets: Kernel,
    fields: Kernel,
    open_fields: Kernel,
    pulls: Kernel,
}

impl<'w> Flow<'w> {
    /// The flow of a problem at its beginning: every cell in equilibrium with its density and velocity.
    ///
    /// All ranks describe the same problem and name the same cut. Cost: the populations, one byte a cell, and 64 bytes for
    /// each cell that moves, mirrors or is open; 16 bytes a cell more while it is set up. Functions of the problem are
    /// called for the cells of this rank and those around them.
    ///
    /// # Errors
    /// What is wrong with the problem or the cut, the same on every rank; no memory for it on some rank.
    pub fn new(world: &'w World, problem: &Problem, cut: &Cut) -> Result<Self> {
        let mut flow = Self::empty(world, problem, cut)?;
        flow.begin()?;
        Ok(flow)
    }

    /// A flow that goes on after so many steps, with populations that `fill` brings: those of
    /// [`populations`](Self::populations) then, on any number of ranks and of any cut. Viscosity, forces and velocities of
    /// the problem may be others now.
    ///
    /// # Errors
    /// As those of [`new`](Self::new), and what `fill` says, which is collective.
    pub fn resumed(
        world: &'w World,
        problem: &Problem,
        cut: &Cut,
        steps: u64,
        fill: impl FnOnce(&GlobalArray<f32, 4>) -> Result<()>,
    ) -> Result<Self> {
        let mut flow = Self::empty(world, problem, cut)?;
        fill(&flow.f)?;
        flow.steps = steps;
        flow.due = Due::Filling;
        Ok(flow)
    }

    /// Without populations.
    fn empty(world: &'w World, problem: &Problem, cut: &Cut) -> Result<Self> {
        problem.check()?;
        let set = problem.set;
        let bytes = 4 * set.count() as i64;
        let parts = cut.resolve(world, problem, bytes)?;
        Cut::check(world, &parts, bytes)?;
        let f = world.array("populations", &vectors(problem, &parts, set.count()))?;
        let cells = world.array("cells", &scalars(problem, &parts))?;
        let kernels = Kernels {
            step: world.kernel(shader::step(set, problem.collision, problem.smagorinsky.is_some()))?,
            borders: world.kernel(shader::borders(set, problem.collision, problem.smagorinsky.is_some()))?,
            outlets: world.kernel(shader::outlets(set))?,
            fields: world.kernel(shader::fields(set))?,
            open_fields: world.kernel(shader::open_fields(set))?,
            pulls: world.kernel(shader::pulls(set))?,
        };
        let lists = world.agree("looking at the cells of a flow", kinds(world, problem, &cells))?;
        world.ghosts(&cells)?;
        let mut sums = [lists.fluid, lists.outlets];
        world.group().all_reduce(&mut sums, |one, other| *one += *other)?;
        let (fluid, any_outlets) = (sums[0], sums[1] > 0);
        let (problem, due) = (problem.clone(), Due::Nothing);
        Ok(Self { world, problem, f, cells, parts, lists, fluid, any_outlets, kernels, steps: 0, due })
    }

    /// All that a flow is: the populations, one copy, x, y, z and slot. With the number of steps it can be saved, and
    /// [go on](Self::resumed) later. Which population of a pair is in which of its two slots changes from step to step.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn populations(&mut self) -> Result<&GlobalArray<f32, 4>> {
        self.settle()?;
        Ok(&self.f)
    }

    /// How many steps it has made. Local.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What was asked for. Local.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The number of cells with fluid, on all ranks. Local.
    pub fn fluid_cells(&self) -> u64 {
        self.fluid
    }

    /// The coordinates of the box's cells in arrays of the flow, along each axis. Local.
    pub fn inside(&self) -> [std::ops::Range<i64>; 3] {
        std::array::from_fn(|axis| {
            let layer = self.problem.layer(axis);
            layer..layer + self.problem.extents[axis]
        })
    }

    /// The cell of the box at these coordinates of an array.
    fn place(&self, at: [i64; 3]) -> Place {
        std::array::from_fn(|axis| at[axis] - self.problem.layer(axis))
    }
}

/// The layout of an array of one value a cell.
fn scalars(problem: &Problem, parts: &[Vec<i64>; 3]) -> Layout {
    layout(parts, None).ghost(ghost(problem)).periodic(periodic(problem))
}

/// The layout of an array of several numbers a cell.
fn vectors(problem: &Problem, parts: &[Vec<i64>; 3], components: usize) -> Layout {
    let ([gx, gy, gz], [px, py, pz]) = (ghost(problem), periodic(problem));
    layout(parts, Some(components)).ghost([gx, gy, gz, 0]).periodic([px, py, pz, false])
}

fn ghost(problem: &Problem) -> [i64; 3] {
    std::array::from_fn(|axis| (axis < problem.set.axes()).into())
}

fn periodic(problem: &Problem) -> [bool; 3] {
    std::array::from_fn(|axis| axis < problem.set.axes() && problem.periodic(axis))
}
