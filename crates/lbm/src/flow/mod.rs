//! A flow: its arrays and kernels, and what is done with them.
//!
//! Populations and the parity of the step are the whole state of a flow, and hence a checkpoint. An
//! outlet keeps its memory in the slots towards the wall behind it, which nothing else uses. Cells
//! that move, mirror or are open are in lists, each with a kernel of its own: in one kernel for all
//! cells, a software adapter would do the work of all branches. A kernel over all cells counts
//! slots in the variable itself and not by helpers, so a chunk must fit one binding, and checked
//! runs do not see these accesses.

mod change;
mod derived;
mod exchange;
mod fastest;
mod fields;
mod hash;
mod lists;
mod motion;
mod own;
mod populations;
mod pulls;
mod step;

use zippy::error::CallSite;
use zippy::region::Region;
use zippy::{ArrayOptions, Element, GlobalArray, Grid, Kernel, Layout, Result, World};

use self::exchange::Due;
use self::fastest::Looks;
use self::lists::{Lists, Totals, kinds};
use self::populations::{Lane, lanes, ownership, parts_in_cells};
use crate::cut::{Cut, layout};
use crate::problem::{Place, Problem};
use crate::shader::{self, Form};

pub use derived::Quantity;
pub use fastest::Fastest;
pub use fields::Fields;
pub use hash::SolidCells;
pub use motion::Motion;
pub use populations::Populations;
pub use pulls::Pull;

/// A fluid that flows, over all ranks of a world.
///
/// Its methods are collective but where they say otherwise.
pub struct Flow<'w> {
    world: &'w World,
    problem: Problem,
    f: Populations,
    /// What each cell is.
    cells: GlobalArray<u8, 3>,
    /// The forces on each cell, where they differ.
    forces: Option<GlobalArray<f32, 4>>,
    /// How the lattice is cut along each axis, in words of populations.
    parts: [Vec<i64>; 3],
    /// Where the populations of each of this rank's chunks of the lattice are.
    lanes: Vec<Lane>,
    lists: Lists,
    /// Cells with fluid, and whether there are outlets, on all ranks.
    fluid: u64,
    surfaces: Vec<u64>,
    any_outlets: bool,
    form: Form,
    kernels: Kernels,
    steps: u64,
    due: Due,
    /// How often there were new arrays for density and velocity.
    asked: u64,
    looks: Option<Looks>,
    fastest: Option<Fastest>,
}

struct Kernels {
    step: Kernel,
    moving: Kernel,
    mirror: Kernel,
    open: Kernel,
    outlets: Kernel,
    fields: Kernel,
    open_fields: Kernel,
    pulls: Kernel,
    mass: Kernel,
    open_mass: Kernel,
}

impl<'w> Flow<'w> {
    /// The flow of a problem at its beginning: every cell in equilibrium with its density and velocity.
    ///
    /// All ranks describe the same problem and name the same cut. Cost: the populations, one byte a cell, and 64 bytes for
    /// each cell that moves, mirrors or is open, and for each cell of a body's surface; 16 bytes a cell more while it is set
    /// up. Functions of the problem are called for the cells of this rank and those around them, those of the beginning
    /// and forces for cells of fluid alone.
    ///
    /// # Errors
    /// What is wrong with the problem or the cut, the same on every rank; no memory for it on some rank.
    #[track_caller]
    pub fn new(world: &'w World, problem: &Problem, cut: &Cut) -> Result<Self> {
        let _call = CallSite::enter();
        let mut flow = Self::empty(world, problem, cut)?;
        world.agree("looking at the beginning of a flow", lists::start(problem, &flow.cells))?;
        flow.begin()?;
        Ok(flow)
    }

    /// A flow that goes on after so many steps, with populations that `fill` brings: those of
    /// [`populations`](Self::populations) then, on any number of ranks and of any cut. Viscosity, forces and velocities of
    /// the problem may be others now.
    ///
    /// # Errors
    /// As those of [`new`](Self::new), and what `fill` says, which is collective.
    #[track_caller]
    pub fn resumed(
        world: &'w World,
        problem: &Problem,
        cut: &Cut,
        steps: u64,
        fill: impl FnOnce(&Populations) -> Result<()>,
    ) -> Result<Self> {
        let _call = CallSite::enter();
        let mut flow = Self::empty(world, problem, cut)?;
        fill(&flow.f)?;
        flow.steps = steps;
        flow.due = Due::Filling;
        Ok(flow)
    }

    /// Without populations.
    fn empty(world: &'w World, problem: &Problem, cut: &Cut) -> Result<Self> {
        problem.check()?;
        // A word is four bytes.
        let bytes = 4 * problem.set.count() as i64;
        let parts = cut.resolve(world, problem, bytes)?;
        Cut::check(world, problem, &parts, bytes)?;
        let f = Populations::new(world, problem, &parts)?;
        let cells: GlobalArray<u8, 3> =
            on_lattice(world, problem, &parts, &problem.array_name("cells"), &scalars(problem, &parts))?;
        let software = world.gpu().adapter().device_type == zippy::wgpu::DeviceType::Cpu;
        let strides: Vec<_> = f.chunks().iter().map(|words| words.strides(ghost(problem))).collect();
        let form = Form::of(problem, &parts, software).with_strides(&strides);
        let kernels = Kernels {
            step: world.kernel(shader::step(&form))?,
            moving: world.kernel(shader::moving(&form))?,
            mirror: world.kernel(shader::mirror(&form))?,
            open: world.kernel(shader::open(&form))?,
            outlets: world.kernel(shader::outlets(&form))?,
            fields: world.kernel(shader::quantities::fields(&form))?,
            open_fields: world.kernel(shader::quantities::open_fields(&form))?,
            pulls: world.kernel(shader::pulls(&form))?,
            mass: world.kernel(shader::quantities::mass(&form))?,
            open_mass: world.kernel(shader::quantities::open_mass(&form))?,
        };
        let lists = world.agree("looking at the cells of a flow", kinds(world, problem, &cells))?;
        world.ghosts(&cells)?;
        let Totals { fluid, outlets, surfaces } = lists.totals(world, problem)?;
        let any_outlets = outlets > 0;
        let regions: Vec<Region> = cells.chunks().map(|chunk| chunk.region()).collect();
        let lanes = lanes(problem, &f.chunks(), &regions);
        let (problem, due) = (problem.clone(), Due::Nothing);
        let forces = None;
        let mut flow = Self {
            world,
            problem,
            f,
            cells,
            forces,
            parts,
            lanes,
            lists,
            fluid,
            surfaces,
            any_outlets,
            form,
            kernels,
            steps: 0,
            due,
            asked: 0,
            looks: None,
            fastest: None,
        };
        flow.forces = flow.force_array()?;
        Ok(flow)
    }

    /// All that a flow is: the populations. With the number of steps it can be saved, and
    /// [go on](Self::resumed) later. Which population of a pair is in which of its two slots changes from step to step.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    #[track_caller]
    pub fn populations(&mut self) -> Result<&Populations> {
        let _call = CallSite::enter();
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

    /// The number of cells of each body that touch fluid, on all ranks: 0 for a body that has no cell, or is within others.
    /// Local.
    pub fn surface_cells(&self) -> &[u64] {
        &self.surfaces
    }

    /// The coordinates of the box's cells in arrays of the flow, along each axis. Local.
    pub fn inside(&self) -> [std::ops::Range<i64>; 3] {
        std::array::from_fn(|axis| {
            let layer = self.problem.layer(axis);
            layer..layer + self.problem.extents[axis]
        })
    }

    /// Positions of the cells of the flow's arrays, in lengths of the lattice: the first cell of the box has its middle at
    /// 0, and solids of a [`Placement`](crate::solids::Placement) stand in the same space. Local.
    pub fn grid(&self) -> Grid {
        Grid::new(self.inside().map(|axis| -(axis.start as f64)), [1.0; 3])
    }

    /// The cell of the box at these coordinates of an array.
    fn place(&self, at: [i64; 3]) -> Place {
        std::array::from_fn(|axis| at[axis] - self.problem.layer(axis))
    }
}

/// An array on the lattice whose layout this is, where the words of its cells are.
fn on_lattice<T: Element, const D: usize>(
    world: &World,
    problem: &Problem,
    words: &[Vec<i64>; 3],
    name: &str,
    layout: &Layout,
) -> Result<GlobalArray<T, D>> {
    match problem.fold() {
        None => world.array(name, layout),
        Some(_) => world.array(name, ArrayOptions::new(layout).owned_by(ownership(world, problem, words)?)),
    }
}

/// The layout of an array of one value a cell.
fn scalars(problem: &Problem, words: &[Vec<i64>; 3]) -> Layout {
    layout(&parts_in_cells(problem, words), None).ghost(ghost(problem)).periodic(periodic(problem))
}

/// The layout of an array of several numbers for each place of these parts.
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
