//! [`Flow`]: a running flow.

use std::ops::Range;

use zippy::error::CallSite;
use zippy::region::Region;
use zippy::{GlobalArray, Grid, Result, World};

use super::boundary_lists::{BoundaryLists, CellTotals};
use super::chunk_lanes::{ChunkLane, chunk_lanes};
use super::due_exchange::DueExchange;
use super::fastest_cell::FastestCell;
use super::find_boundary::find_boundary;
use super::flow_kernels::FlowKernels;
use super::lattice_arrays::{create_on_lattice, ghost_widths, scalar_layout};
use super::pending_checks::PendingChecks;
use super::populations::Populations;
use crate::cut::Cut;
use crate::problem::Problem;
use crate::shader::KernelForm;

const WORD_BYTES: i64 = 4;

/// Running flow on all ranks of a world. Methods are collective unless they are documented as
/// local.
pub struct Flow<'w> {
    pub(super) world: &'w World,
    pub(super) problem: Problem,
    pub(super) populations: Populations,
    /// Numbers of the kinds of cells.
    pub(super) kinds: GlobalArray<u8, 3>,
    pub(super) force_field: Option<GlobalArray<f32, 4>>,
    /// Lengths of the parts of the cut along each axis, in words.
    pub(super) parts: [Vec<i64>; 3],
    /// Lanes of this rank's chunks of cells.
    pub(super) lanes: Vec<ChunkLane>,
    pub(super) boundary: BoundaryLists,
    pub(super) totals: CellTotals,
    pub(super) form: KernelForm,
    pub(super) kernels: FlowKernels,
    pub(super) steps: u64,
    pub(super) due: DueExchange,
    pub(super) field_count: u64,
    pub(super) pending_checks: Option<PendingChecks>,
    pub(super) fastest: Option<FastestCell>,
}

impl<'w> Flow<'w> {
    /// Creates the flow of a problem at its start: each cell is in equilibrium with its density and
    /// velocity.
    ///
    /// Problem and cut must be equal on all ranks. The functions of the problem are called for
    /// cells of this rank and their neighbours; those of the initial flow and of forces, only for
    /// cells with fluid. Cost: the populations, 1 byte per cell, 64 bytes for each cell that moves,
    /// mirrors or is open and for each surface cell of a body, and 16 bytes per cell during the
    /// call.
    ///
    /// # Errors
    /// An invalid problem or cut, the same on every rank; no memory on some rank.
    #[track_caller]
    pub fn new(world: &'w World, problem: &Problem, cut: &Cut) -> Result<Self> {
        let _call = CallSite::enter();
        let mut flow = Self::without_populations(world, problem, cut)?;
        world.agree("checking the initial flow", flow.check_initial_flow())?;
        flow.set_initial_populations()?;
        Ok(flow)
    }

    /// Creates a flow that continues after `steps` steps. `fill` writes the
    /// [populations](Self::populations) of that step, from any number of ranks and any cut, and is
    /// collective. Viscosity, forces and velocities of the problem may have changed.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new) and of `fill`.
    #[track_caller]
    pub fn resumed(
        world: &'w World,
        problem: &Problem,
        cut: &Cut,
        steps: u64,
        fill: impl FnOnce(&Populations) -> Result<()>,
    ) -> Result<Self> {
        let _call = CallSite::enter();
        let mut flow = Self::without_populations(world, problem, cut)?;
        fill(&flow.populations)?;
        flow.steps = steps;
        flow.due = DueExchange::FillGhosts;
        Ok(flow)
    }

    fn without_populations(world: &'w World, problem: &Problem, cut: &Cut) -> Result<Self> {
        problem.check()?;
        let cell_bytes = WORD_BYTES * problem.set.count() as i64;
        let parts = cut.resolve(world, problem, cell_bytes)?;
        Cut::check_chunk_size(world, problem, &parts, cell_bytes)?;
        let populations = Populations::new(world, problem, &parts)?;
        let kinds_layout = scalar_layout(problem, &parts);
        let kinds: GlobalArray<u8, 3> =
            create_on_lattice(world, problem, &parts, &problem.array_name("cells"), &kinds_layout)?;
        let words = populations.chunks();
        let is_software_adapter = world.gpu().adapter().device_type == zippy::wgpu::DeviceType::Cpu;
        let strides: Vec<_> = words.iter().map(|chunk| chunk.strides(ghost_widths(problem))).collect();
        let form = KernelForm::new(problem, &parts, is_software_adapter).with_strides(&strides);
        let kernels = FlowKernels::new(world, &form)?;
        let boundary = world.agree("classifying the cells of a flow", find_boundary(world, problem, &kinds))?;
        world.ghosts(&kinds)?;
        let totals = boundary.total(world, problem)?;
        let regions: Vec<Region> = kinds.chunks().map(|chunk| chunk.region()).collect();
        let mut flow = Self {
            world,
            problem: problem.clone(),
            lanes: chunk_lanes(problem, &words, &regions),
            populations,
            kinds,
            force_field: None,
            parts,
            boundary,
            totals,
            form,
            kernels,
            steps: 0,
            due: DueExchange::None,
            field_count: 0,
            pending_checks: None,
            fastest: None,
        };
        flow.force_field = flow.create_force_field()?;
        Ok(flow)
    }

    /// Completes pending exchanges and returns the populations: with the number of steps, the
    /// complete state of the flow (see [`resumed`](Self::resumed)). The two slots of a pair
    /// exchange their populations from step to step.
    ///
    /// # Errors
    /// A failure of any rank.
    #[track_caller]
    pub fn populations(&mut self) -> Result<&Populations> {
        let _call = CallSite::enter();
        self.settle()?;
        Ok(&self.populations)
    }

    /// Number of steps. Local.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Problem of the flow. Local.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Number of cells with fluid on all ranks. Local.
    pub fn fluid_cells(&self) -> u64 {
        self.totals.fluid
    }

    /// Number of surface cells (cells that touch fluid) of each body on all ranks. 0 for a body
    /// without cells or inside of other bodies. Local.
    pub fn surface_cells(&self) -> &[u64] {
        &self.totals.surfaces
    }

    /// Ranges of the box in arrays of the flow, along each axis. Local.
    pub fn box_ranges(&self) -> [Range<i64>; 3] {
        std::array::from_fn(|axis| {
            let start = self.problem.side_layers(axis);
            start..start + self.problem.extents[axis]
        })
    }

    /// Positions of the cells of the flow's arrays, in cells: the first cell of the box has its
    /// centre at 0, as for a [`Placement`](crate::solids::Placement). Local.
    pub fn grid(&self) -> Grid {
        Grid::new(self.box_ranges().map(|range| -(range.start as f64)), [1.0; 3])
    }
}
