//! Classifies the cells of a lattice, and lists its boundary cells.

use std::ops::Range;

use zippy::region::Region;
use zippy::{GlobalArray, Layout, LocalArray, Result, World};

use super::boundary_lists::{BodySurface, BoundaryLists, ChunkBoundary};
use crate::boundary_cell::BoundaryCell;
use crate::cell_index::CellIndex;
use crate::cell_kind::CellKind;
use crate::error::FlowError;
use crate::lattice_cell::{LatticeCell, OpenCondition};
use crate::periodic_images::nearest_offset;
use crate::problem::Problem;

/// Writes the kind of each cell of this rank to `kinds`, and lists the boundary cells. Local.
pub(super) fn find_boundary(world: &World, problem: &Problem, kinds: &GlobalArray<u8, 3>) -> Result<BoundaryLists> {
    let mut finder = BoundaryFinder::new(problem);
    for chunk in kinds.chunks() {
        chunk.all().write(&finder.add_chunk(&chunk.region())?)?;
    }
    finder.into_lists(world)
}

/// Boundary cells of the processed chunks.
struct BoundaryFinder<'p> {
    problem: &'p Problem,
    lattice: [i64; 3],
    cells: Vec<BoundaryCell>,
    chunks: Vec<ChunkBoundary>,
    bodies: Vec<SurfaceCells>,
    fluid_cells: u64,
    outlet_cells: u64,
}

#[derive(Clone, Default)]
struct SurfaceCells {
    cells: Vec<BoundaryCell>,
    chunks: Vec<Range<i64>>,
}

struct CellPosition {
    /// Index in the lattice.
    at: [i64; 3],
    /// Index in the box.
    cell: CellIndex,
    /// Index in the chunk.
    in_chunk: [i32; 3],
}

impl<'p> BoundaryFinder<'p> {
    fn new(problem: &'p Problem) -> Self {
        Self {
            problem,
            lattice: problem.lattice_extents(),
            cells: Vec::new(),
            chunks: Vec::new(),
            bodies: vec![SurfaceCells::default(); problem.bodies.len()],
            fluid_cells: 0,
            outlet_cells: 0,
        }
    }

    fn add_chunk(&mut self, region: &Region) -> Result<Vec<u8>, FlowError> {
        let first = self.cells.len();
        let body_starts: Vec<i64> = self.bodies.iter().map(|body| body.cells.len() as i64).collect();
        let mut kinds = Vec::with_capacity(region.cells() as usize);
        for at in region.points() {
            let at = [at[0], at[1], at[2]];
            let role = self.problem.classify(self.problem.box_cell(at));
            kinds.push(role.kind().number());
            self.fluid_cells += u64::from(role.is_fluid());
            if role != LatticeCell::Fluid {
                let in_chunk = std::array::from_fn(|axis| (at[axis] - region.start[axis]) as i32);
                self.add_cell(role, &CellPosition { at, cell: self.problem.box_cell(at), in_chunk })?;
            }
        }
        let kind = |cell: &BoundaryCell| cell.cell[3];
        self.cells[first..].sort_by_key(kind);
        let start_of = |least: CellKind| {
            (first + self.cells[first..].partition_point(|cell| kind(cell) < least.number().into())) as i64
        };
        let end = self.cells.len() as i64;
        let boundary = ChunkBoundary {
            moving: start_of(CellKind::MovingSolid)..start_of(CellKind::Mirror),
            mirrors: start_of(CellKind::Mirror)..start_of(CellKind::OpenVelocity),
            open: start_of(CellKind::OpenVelocity)..end,
            outlets: start_of(CellKind::OpenOutlet)..end,
        };
        self.outlet_cells += (boundary.outlets.end - boundary.outlets.start) as u64;
        self.chunks.push(boundary);
        for (body, start) in self.bodies.iter_mut().zip(body_starts) {
            body.chunks.push(start..body.cells.len() as i64);
        }
        Ok(kinds)
    }

    fn add_cell(&mut self, role: LatticeCell, position: &CellPosition) -> Result<(), FlowError> {
        let [x, y, z] = position.in_chunk;
        let record = BoundaryCell { cell: [x, y, z, role.kind().number().into()], ..BoundaryCell::default() };
        match role {
            LatticeCell::Fluid => Ok(()),
            LatticeCell::Solid => self.add_solid(record, position, None),
            LatticeCell::MovingSolid(velocity) => self.add_solid(record, position, Some(velocity)),
            LatticeCell::Mirror(steps) => {
                let normal = vec4(steps.map(|x| x as f64), 0.0);
                self.cells.push(BoundaryCell { normal, mirrored_axes: axis_bits(steps), ..record });
                Ok(())
            }
            LatticeCell::Open { normal, condition } => {
                let wanted_density = if let OpenCondition::Outlet(density) = condition { density } else { 0.0 };
                self.cells.push(BoundaryCell {
                    normal: vec4(normal.map(|x| x as f64), wanted_density),
                    outside: self.outside_bits(position.at),
                    flow: self.open_flow(condition, position.cell)?,
                    ..record
                });
                Ok(())
            }
        }
    }

    /// Adds a solid cell that touches fluid to the moving cells and to the surface of its body.
    fn add_solid(
        &mut self,
        record: BoundaryCell,
        position: &CellPosition,
        velocity: Option<[f64; 3]>,
    ) -> Result<(), FlowError> {
        let links = self.link_bits(position.cell);
        if links == 0 {
            return Ok(());
        }
        let u = velocity.unwrap_or_default();
        self.problem.check_velocity("the velocity of a body or a wall", position.cell, u)?;
        let record = BoundaryCell { links, flow: vec4(u, 1.0), outside: self.outside_bits(position.at), ..record };
        if velocity.is_some() {
            self.cells.push(record);
        }
        let reflected = self.problem.reflect(position.cell);
        if !self.problem.contains(reflected.cell) {
            return Ok(());
        }
        if let Some(index) = self.problem.bodies.iter().position(|body| (body.is_inside)(reflected.cell)) {
            let centre = self.problem.bodies[index].centre;
            let arm = nearest_offset(self.problem.periods(), reflected.cell, centre);
            let mirrored_axes = axis_bits(reflected.steps);
            self.bodies[index].cells.push(BoundaryCell { normal: vec4(arm, 0.0), mirrored_axes, ..record });
        }
        Ok(())
    }

    /// Velocity and density of an open cell; of an outlet, the initial values.
    fn open_flow(&self, condition: OpenCondition, cell: CellIndex) -> Result<[f32; 4], FlowError> {
        let problem = self.problem;
        match condition {
            OpenCondition::Velocity(velocity) => {
                problem.check_velocity("the velocity at an open side", cell, velocity)?;
                Ok(vec4(velocity, 1.0))
            }
            OpenCondition::Pressure(density) => Ok(vec4([0.0; 3], density)),
            OpenCondition::Outlet(_) => {
                problem.check_initial_flow(cell)?;
                Ok(vec4((problem.initial_velocity)(cell), (problem.initial_density)(cell)))
            }
        }
    }

    fn outside_bits(&self, at: [i64; 3]) -> u32 {
        population_bits(self.problem, |velocity| {
            let is_outside = |axis: usize| !(0..self.lattice[axis]).contains(&(at[axis] - velocity[axis]));
            (0..3).any(|axis| !self.problem.is_periodic(axis) && is_outside(axis))
        })
    }

    fn link_bits(&self, cell: CellIndex) -> u32 {
        population_bits(self.problem, |velocity| {
            self.problem.classify(std::array::from_fn(|axis| cell[axis] - velocity[axis])).is_fluid()
        })
    }

    fn into_lists(self, world: &World) -> Result<BoundaryLists> {
        let upload = |name: &str, cells: &[BoundaryCell]| -> Result<LocalArray<BoundaryCell, 1>> {
            let array = world.local_array(&self.problem.array_name(name), &Layout::new([cells.len().max(1)]))?;
            if !cells.is_empty() {
                array.at(0..cells.len() as i64).write(cells)?;
            }
            Ok(array)
        };
        let surface = |body: &SurfaceCells| {
            let box_cells = body.cells.iter().filter(|cell| cell.mirrored_axes == 0).count() as u64;
            Ok(BodySurface { cells: upload("body surface", &body.cells)?, chunks: body.chunks.clone(), box_cells })
        };
        let bodies = self.bodies.iter().map(surface).collect::<Result<_>>()?;
        let cells = upload("boundary cells", &self.cells)?;
        let (outlet_cells, fluid_cells) = (self.outlet_cells, self.fluid_cells);
        Ok(BoundaryLists { cells, chunks: self.chunks, bodies, outlet_cells, fluid_cells })
    }
}

/// Bits of the moving populations whose velocity has a property.
fn population_bits(problem: &Problem, has_property: impl Fn([i64; 3]) -> bool) -> u32 {
    let set = problem.set;
    (1..set.count()).filter(|&q| has_property(set.velocity(q))).fold(0, |bits, q| bits | 1 << q)
}

fn axis_bits(steps: [i64; 3]) -> u32 {
    (0..3).filter(|&axis| steps[axis] != 0).fold(0, |bits, axis| bits | 1 << axis)
}

fn vec4([x, y, z]: [f64; 3], w: f64) -> [f32; 4] {
    [x as f32, y as f32, z as f32, w as f32]
}
