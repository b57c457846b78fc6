//! Cells that are not like the others, found when a flow is made.

use std::ops::Range;

use zippy::{GlobalArray, Layout, LocalArray, Result, World};

use crate::cell::{Border, Cell, MIRROR, MOVING, OPEN, OUTLET, Open, flows};
use crate::error::FlowError;
use crate::given;
use crate::images::nearest;
use crate::problem::Problem;

/// Lists of one rank's cells.
pub struct Lists {
    /// Those that move, mirror or are open, chunk by chunk, in this order; of a chunk its outlets last.
    pub borders: LocalArray<Border, 1>,
    pub chunks: Vec<ListOfChunk>,
    /// Surfaces of bodies, body by body, with their images beyond mirrors.
    pub bodies: Vec<ListOfBody>,
    /// Cells of this rank at outlets.
    pub outlets: u64,
    /// Cells of this rank with fluid.
    pub fluid: u64,
}

/// Numbers of cells, of all ranks.
pub struct Totals {
    pub fluid: u64,
    pub outlets: u64,
    /// Cells of each body that touch fluid.
    pub surfaces: Vec<u64>,
}

impl Lists {
    /// Adds up the cells of all ranks. Collective.
    ///
    /// # Errors
    /// No cell has fluid; a failure of another rank.
    pub fn totals(&self, world: &World, problem: &Problem) -> Result<Totals> {
        let surfaces = self.bodies.iter().map(|body| body.cells);
        let mut sums: Vec<u64> = [self.fluid, self.outlets].into_iter().chain(surfaces).collect();
        world.group().all_reduce(&mut sums, |one, other| *one += *other)?;
        let surfaces = sums.split_off(2);
        match sums[..] {
            [0, _] => Err(FlowError::NoFluid(problem.extents.iter().product()).into()),
            _ => Ok(Totals { fluid: sums[0], outlets: sums[1], surfaces }),
        }
    }
}

/// Where a chunk's cells are among the borders.
pub struct ListOfChunk {
    pub moving: Range<i64>,
    pub mirrors: Range<i64>,
    /// Outlets among them, last.
    pub open: Range<i64>,
    pub outlets: Range<i64>,
}

/// The cells of a body that the fluid touches.
pub struct ListOfBody {
    pub borders: LocalArray<Border, 1>,
    /// The part of each chunk.
    pub chunks: Vec<Range<i64>>,
    /// Cells of the box among them.
    pub cells: u64,
}

/// Fills `cells` with what each cell is, and finds those that need more.
///
/// # Errors
/// Velocities or densities of these that cannot be; what writing says. Of this rank alone.
pub fn kinds(world: &World, problem: &Problem, cells: &GlobalArray<u8, 3>) -> Result<Lists> {
    let set = problem.set;
    let lattice = problem.lattice();
    let layers = [0, 1, 2].map(|axis| problem.layer(axis));
    let (mut all, mut chunks) = (Vec::new(), Vec::new());
    let mut bodies = vec![(Vec::new(), Vec::new()); problem.bodies.len()];
    let mut counts = [0_u64; 2];
    for chunk in cells.chunks() {
        let region = chunk.region();
        let (mut kinds, first) = (Vec::with_capacity(region.cells() as usize), all.len());
        let firsts: Vec<i64> = bodies.iter().map(|(list, _): &(Vec<Border>, _)| list.len() as i64).collect();
        for at in region.points() {
            let place: [i64; 3] = std::array::from_fn(|axis| at[axis] - layers[axis]);
            let cell = problem.cell(place);
            kinds.push(cell.kind());
            counts[0] += u64::from(cell.flows());
            let [x, y, z]: [i32; 3] = std::array::from_fn(|axis| (at[axis] - region.start[axis]) as i32);
            let mut border = Border { cell: [x, y, z, cell.kind().into()], ..Border::default() };
            // Most cells are not kept, and this costs most.
            let outside = |q: &usize| {
                let c = set.velocity(*q);
                (0..3).any(|axis| !problem.periodic(axis) && !(0..lattice[axis]).contains(&(at[axis] - c[axis])))
            };
            let beyond = || (1..set.count()).filter(outside).fold(0, |bits, q| bits | 1 << q);
            let links = || {
                let from = |q: &usize| {
                    let c = set.velocity(*q);
                    problem.cell(std::array::from_fn(|axis| place[axis] - c[axis])).flows()
                };
                (1..set.count()).filter(from).fold(0, |bits, q| bits | 1 << q)
            };
            match cell {
                Cell::Fluid => {}
                Cell::Solid | Cell::Moving(_) => {
                    let velocity = if let Cell::Moving(velocity) = cell { velocity } else { [0.0; 3] };
                    border.links = links();
                    border.flow = flow(velocity, 1.0);
                    if border.links == 0 {
                        continue;
                    }
                    given::velocity(problem, "the velocity of a body or a wall", place, velocity)?;
                    border.beyond = beyond();
                    if let Cell::Moving(_) = cell {
                        all.push(border);
                    }
                    let (shown, inward) = problem.reflected(place);
                    let within = (0..3).all(|axis| (0..problem.extents[axis]).contains(&shown[axis]));
                    if let (true, Some(body)) = (within, problem.bodies.iter().position(|body| (body.inside)(shown))) {
                        let centre = problem.bodies[body].centre;
                        let arm = nearest(problem.periods(), shown, centre);
                        border.normal = flow(arm, 0.0);
                        border.mirrored = axes(inward);
                        bodies[body].0.push(border);
                    }
                }
                Cell::Mirror(inward) => {
                    border.normal = flow(inward.map(|x| x as f64), 0.0);
                    border.mirrored = axes(inward);
                    all.push(border);
                }
                Cell::Open { normal, open } => {
                    let tends = if let Open::Outlet(density) = open { density } else { 0.0 };
                    border.normal = flow(normal.map(|x| x as f64), tends);
                    border.beyond = beyond();
                    border.flow = match open {
                        Open::Velocity(velocity) => {
                            given::velocity(problem, "the velocity at an open side", place, velocity)?;
                            flow(velocity, 1.0)
                        }
                        Open::Pressure(density) => flow([0.0; 3], density),
                        Open::Outlet(_) => {
                            given::start(problem, place)?;
                            flow((problem.velocity)(place), (problem.density)(place))
                        }
                    };
                    all.push(border);
                }
            }
        }
        chunk.all().write(&kinds)?;
        let kind = |border: &Border| border.cell[3];
        all[first..].sort_by_key(kind);
        let from = |least: u8| (first + all[first..].partition_point(|border| kind(border) < least.into())) as i64;
        let list = ListOfChunk {
            moving: from(MOVING)..from(MIRROR),
            mirrors: from(MIRROR)..from(OPEN),
            open: from(OPEN)..all.len() as i64,
            outlets: from(OUTLET)..all.len() as i64,
        };
        counts[1] += (list.outlets.end - list.outlets.start) as u64;
        chunks.push(list);
        for ((list, chunks), first) in bodies.iter_mut().zip(firsts) {
            chunks.push(first..list.len() as i64);
        }
    }
    let local = |name: &str, list: &[Border]| -> Result<LocalArray<Border, 1>> {
        let array = world.local_array(&problem.array_name(name), &Layout::new([list.len().max(1)]))?;
        if !list.is_empty() {
            array.at(0..list.len() as i64).write(list)?;
        }
        Ok(array)
    };
    let bodies = bodies.into_iter().map(|(list, chunks)| {
        let cells = list.iter().filter(|border| border.mirrored == 0).count() as u64;
        Ok(ListOfBody { borders: local("body", &list)?, chunks, cells })
    });
    let bodies = bodies.collect::<Result<_>>()?;
    let borders = local("borders", &all)?;
    Ok(Lists { borders, chunks, bodies, outlets: counts[1], fluid: counts[0] })
}

/// Sees that the fluid can begin as the problem says.
///
/// # Errors
/// The first cell of this rank that cannot.
pub fn start(problem: &Problem, cells: &GlobalArray<u8, 3>) -> Result<()> {
    for chunk in cells.chunks() {
        let kinds = chunk.all().read()?;
        for (at, _) in chunk.region().points().zip(&kinds).filter(|&(_, &kind)| flows(kind)) {
            given::start(problem, std::array::from_fn(|axis| at[axis] - problem.layer(axis)))?;
        }
    }
    Ok(())
}

/// A bit for each axis along which there are steps.
fn axes(inward: [i64; 3]) -> u32 {
    (0..3).filter(|&axis| inward[axis] != 0).fold(0, |bits, axis| bits | 1 << axis)
}

fn flow(u: [f64; 3], last: f64) -> [f32; 4] {
    [u[0] as f32, u[1] as f32, u[2] as f32, last as f32]
}
