//! Balance of the fluid that enters and leaves the box of a case file.

use super::body_extents::may_cover_side;
use super::schema::CaseTables;
use super::side_entry::SideEntry;
use super::sides::{axes, axes_between_walls};
use crate::units::Units;

/// Warning if fixed velocities add more fluid than they remove, or less, and no side has a
/// pressure: the density then changes for ever.
pub(super) fn inflow_imbalance(tables: &CaseTables, units: &Units) -> Option<String> {
    let (cells, is_between_walls) = (tables.lattice.get_ref().cells, axes_between_walls(tables));
    let (mut keys, mut net, mut total) = (Vec::new(), 0.0, 0.0_f64);
    for sides in axes(tables) {
        let axis = sides.axis;
        let walled_axes = (0..3).filter(|&other| other != axis && is_between_walls[other]).count();
        for (side, inward) in sides.both().into_iter().zip([1.0, -1.0]) {
            let mean = match side.entry {
                SideEntry::Pressure(_) | SideEntry::Outlet(_) => return None,
                SideEntry::Velocity(u) => u[axis],
                // The mean of a parabola is 2/3 of its peak.
                SideEntry::Parabola(u) => u[axis] * (2.0_f64 / 3.0).powi(walled_axes as i32),
                _ => continue,
            };
            if may_cover_side(tables, units, axis, inward) {
                return None;
            }
            let area: i64 = (0..3).filter(|&other| other != axis).map(|other| cells[other]).product();
            let volume = inward * mean / units.speed() * area as f64;
            (net, total) = (net + volume, total + volume.abs());
            keys.push(side.key);
        }
    }
    if net.abs() <= 1e-3 * total {
        return None;
    }
    let rate = 1e5 * net / cells.iter().product::<i64>() as f64;
    let [surplus, missing] = if net > 0.0 { ["in", "out"] } else { ["out", "in"] };
    Some(format!(
        "more fluid flows {surplus} than {missing} ({}), and no side has a pressure: the density of the box changes by \
         {rate:+.3} % in 1000 steps; give another side outlet, pressure or the velocity that is missing",
        keys.join(", ")
    ))
}
