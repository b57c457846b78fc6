//! Adds the sides of a case file to a problem.

use std::rc::Rc;

use super::schema::CaseTables;
use super::side_entry::SideEntry;
use super::sides::{axes, axes_between_walls};
use crate::cell_index::CellIndex;
use crate::problem::Problem;
use crate::side::Side;
use crate::units::Units;

pub(super) fn add_sides(mut problem: Problem, tables: &CaseTables, units: &Units) -> Problem {
    let (cells, is_between_walls) = (tables.lattice.get_ref().cells, axes_between_walls(tables));
    for sides in axes(tables) {
        let axis = sides.axis;
        let in_cells = |u: [f64; 3]| u.map(|u| u / units.speed());
        let side = |entry: SideEntry| match entry {
            SideEntry::Periodic => Side::Periodic,
            SideEntry::Wall => Side::Wall,
            SideEntry::FreeSlip => Side::FreeSlip,
            SideEntry::MovingWall(u) => Side::MovingWall(in_cells(u)),
            SideEntry::Velocity(u) => {
                let u = in_cells(u);
                Side::Velocity(Rc::new(move |_| u))
            }
            SideEntry::Parabola(peak) => {
                let peak = in_cells(peak);
                let profile = move |cell: CellIndex| {
                    let across = (0..3).filter(|&other| other != axis && is_between_walls[other]);
                    let positions = across.map(|other| (cell[other] as f64 + 0.5) / cells[other] as f64);
                    let factor: f64 = positions.map(|s| 4.0 * s * (1.0 - s)).product();
                    peak.map(|u| u * factor)
                };
                Side::Velocity(Rc::new(profile))
            }
            SideEntry::Pressure(pressure) => Side::Pressure(units.lattice_density(pressure)),
            SideEntry::Outlet(pressure) => Side::Outlet(units.lattice_density(pressure)),
        };
        problem = problem.sides(axis, side(sides.table.get_ref().below), side(sides.table.get_ref().above));
    }
    problem
}
