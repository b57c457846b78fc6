//! Search for regions of fluid that bodies and walls close.

use crate::cell_index::CellIndex;
use crate::lattice_cell::{LatticeCell, OpenCondition};
use crate::problem::Problem;

/// Largest box of a search. The search takes a byte and about ten nanoseconds per cell.
const MAX_CELLS: i64 = 1 << 23;

/// Connected cells of fluid.
#[derive(Default)]
struct FluidRegion {
    cells: u64,
    /// Volume that enters in a step with fixed velocities, minus the volume that leaves.
    net_inflow: f64,
    /// Sum of both volumes.
    total_flow: f64,
    has_pressure: bool,
}

impl FluidRegion {
    fn add(&mut self, cell: LatticeCell) {
        self.cells += 1;
        match cell {
            LatticeCell::Open { normal, condition: OpenCondition::Velocity(velocity) } => {
                let inflow: f64 = (0..3).map(|axis| normal[axis] as f64 * velocity[axis]).sum();
                self.net_inflow += inflow;
                self.total_flow += inflow.abs();
            }
            LatticeCell::Open { .. } => self.has_pressure = true,
            _ => {}
        }
    }

    fn is_closed(&self) -> bool {
        !self.has_pressure && self.net_inflow.abs() > 1e-3 * self.total_flow
    }

    fn density_rate(&self) -> f64 {
        self.net_inflow / self.cells as f64
    }
}

impl Problem {
    /// Warning about a region of fluid, closed by bodies and walls, with an imbalance of fixed
    /// velocities: the density changes for ever. Boxes without bodies, and boxes of more than 2²³
    /// cells, are not searched. Local.
    pub fn closed_region_warning(&self) -> Option<String> {
        if self.bodies.is_empty() || self.extents.iter().product::<i64>() > MAX_CELLS {
            return None;
        }
        let index = |[x, y, z]: CellIndex| ((z * self.extents[1] + y) * self.extents[0] + x) as usize;
        let [nx, ny, nz] = self.extents;
        let cells = || (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
        let mut is_unvisited: Vec<bool> = cells().map(|cell| self.is_fluid(cell)).collect();
        let mut worst: Option<FluidRegion> = None;
        for start in cells() {
            if !std::mem::take(&mut is_unvisited[index(start)]) {
                continue;
            }
            let mut region = FluidRegion::default();
            let mut open = vec![start];
            while let Some(cell) = open.pop() {
                region.add(self.classify(cell));
                for q in 1..self.set.count() {
                    let step = self.set.velocity(q);
                    let next = self.reflect(std::array::from_fn(|axis| cell[axis] + step[axis])).cell;
                    if self.contains(next) && std::mem::take(&mut is_unvisited[index(next)]) {
                        open.push(next);
                    }
                }
            }
            let rate = region.density_rate().abs();
            if region.is_closed() && worst.as_ref().is_none_or(|worst| rate > worst.density_rate().abs()) {
                worst = Some(region);
            }
        }
        worst.map(|region| {
            let [given, missing] = if region.net_inflow > 0.0 { ["in", "out"] } else { ["out", "in"] };
            format!(
                "a region of {} cells is closed by bodies and walls: fluid flows {given} with a given velocity and not \
                 {missing}, so that its density changes by {:+.3} % in 1000 steps; open a way to a side that is an outlet or \
                 has a pressure",
                region.cells,
                1e5 * region.net_inflow / region.cells as f64
            )
        })
    }
}
