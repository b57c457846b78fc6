//! Fluid that bodies and walls close in.

use crate::cell::{Cell, Open};
use crate::problem::{Place, Problem};

/// Boxes of more cells are not searched: it takes a byte and some ten nanoseconds a cell.
const MOST: i64 = 1 << 23;

/// Connected cells of fluid.
#[derive(Default)]
struct Region {
    cells: u64,
    /// Fluid that the given velocities bring in a step, less what they take away, and both added.
    net: f64,
    through: f64,
    has_pressure: bool,
}

impl Problem {
    /// A warning about a region of the fluid, closed by bodies and walls, that given velocities
    /// fill or empty: its density changes for ever. Boxes without bodies, and those of more than
    /// 2²³ cells, are not searched. Local.
    pub fn closed_in(&self) -> Option<String> {
        if self.bodies.is_empty() || self.extents.iter().product::<i64>() > MOST {
            return None;
        }
        let index = |[x, y, z]: Place| ((z * self.extents[1] + y) * self.extents[0] + x) as usize;
        let [nx, ny, nz] = self.extents;
        let places = || (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
        let mut is_open_to_search: Vec<bool> = places().map(|place| self.flows(place)).collect();
        let mut worst: Option<Region> = None;
        for start in places() {
            if !is_open_to_search[index(start)] {
                continue;
            }
            let mut region = Region::default();
            let mut found = vec![start];
            is_open_to_search[index(start)] = false;
            while let Some(place) = found.pop() {
                self.add(place, &mut region);
                for q in 1..self.set.count() {
                    let step = self.set.velocity(q);
                    let next = self.reflected(std::array::from_fn(|axis| place[axis] + step[axis])).0;
                    let is_inside = (0..3).all(|axis| (0..self.extents[axis]).contains(&next[axis]));
                    if is_inside && std::mem::take(&mut is_open_to_search[index(next)]) {
                        found.push(next);
                    }
                }
            }
            let rate = |region: &Region| region.net.abs() / region.cells as f64;
            let is_closed = !region.has_pressure && region.net.abs() > 1e-3 * region.through;
            if is_closed && worst.as_ref().is_none_or(|worst| rate(&region) > rate(worst)) {
                worst = Some(region);
            }
        }
        worst.map(|Region { cells, net, .. }| {
            let [way, missing] = if net > 0.0 { ["in", "out"] } else { ["out", "in"] };
            format!(
                "a region of {cells} cells is closed by bodies and walls: fluid flows {way} with a given velocity and not {missing}, \
                 so that its density changes by {:+.3} % in 1000 steps; open a way to a side that is an outlet or has a pressure",
                1e5 * net / cells as f64
            )
        })
    }

    /// Adds a cell to its region.
    fn add(&self, place: Place, region: &mut Region) {
        region.cells += 1;
        match self.cell(place) {
            Cell::Open { normal, open: Open::Velocity(velocity) } => {
                let inflow: f64 = (0..3).map(|axis| normal[axis] as f64 * velocity[axis]).sum();
                region.net += inflow;
                region.through += inflow.abs();
            }
            Cell::Open { .. } => region.has_pressure = true,
            _ => {}
        }
    }
}
