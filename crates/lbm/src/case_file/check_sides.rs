//! Checks the sides of a case file.

use super::schema::CaseTables;
use super::side_entry::SideEntry;
use super::sides::{AxisSides, KeyedSide, axes};
use super::source_text::SourceText;
use crate::error::FlowError;
use crate::units::Units;

/// Refuses numbers that are not finite or out of range, and axes with one periodic side.
pub(super) fn check_sides(text: &SourceText<'_>, tables: &CaseTables, units: &Units) -> Result<(), FlowError> {
    for sides in axes(tables) {
        for side in sides.both() {
            check_side(text, &sides, &side, units)?;
        }
        let table = sides.table.get_ref();
        if (table.below == SideEntry::Periodic) != (table.above == SideEntry::Periodic) {
            let message = "only one side is periodic; both are, or neither";
            return Err(text.error(sides.table, &sides.key(), message));
        }
    }
    Ok(())
}

fn check_side(text: &SourceText<'_>, sides: &AxisSides<'_>, side: &KeyedSide, units: &Units) -> Result<(), FlowError> {
    let (axis, table, key) = (sides.axis, sides.table, &side.key);
    match side.entry {
        SideEntry::Periodic | SideEntry::Wall | SideEntry::FreeSlip => Ok(()),
        SideEntry::Velocity(u) | SideEntry::Parabola(u) => text.check_finite(table, key, &u),
        SideEntry::MovingWall(u) => {
            text.check_finite(table, key, &u)?;
            if u[axis] != 0.0 {
                let message = format!("a wall moves along itself: the component {axis} of its velocity must be 0");
                return Err(text.error(table, key, message));
            }
            Ok(())
        }
        SideEntry::Pressure(pressure) | SideEntry::Outlet(pressure) => {
            text.check_finite(table, key, &[pressure])?;
            let density = units.lattice_density(pressure);
            if !(density > 0.0 && density < 2.0) {
                let max_pressure = units.pressure();
                let message = format!(
                    "{pressure} is the density {density} of the lattice, which must stay near 1: pressures are well between \
                     {} and {max_pressure}",
                    -max_pressure
                );
                return Err(text.error(table, key, message));
            }
            Ok(())
        }
    }
}
