//! Units of a case file.

use super::schema::CaseTables;
use super::source_text::SourceText;
use crate::error::FlowError;
use crate::units::Units;

/// Units of a case file; lattice units without a table `units`. Refuses numbers that are not
/// positive, a step that is missing or given twice, and units out of the range of floats.
pub(super) fn resolve_units(text: &SourceText<'_>, tables: &CaseTables) -> Result<Units, FlowError> {
    let Some(table) = &tables.units else { return Ok(Units::LATTICE) };
    let entries = table.get_ref();
    text.check_positive(table, "units.cell", entries.cell)?;
    text.check_positive(table, "units.density", entries.density)?;
    let step = match (entries.step, entries.lattice_speed) {
        (Some(step), None) => {
            text.check_positive(table, "units.step", step)?;
            step
        }
        (None, Some(speed)) => {
            text.check_positive(table, "units.lattice_speed", speed)?;
            speed * entries.cell / tables.reference.get_ref().speed
        }
        _ => {
            let message = "give one of step, the time of a step in s, and lattice_speed, which is reference.speed in cells per step";
            return Err(text.error(table, "units", message));
        }
    };
    let units = Units { cell: entries.cell, step, density: entries.density };
    let derived = [units.step, units.viscosity(), units.acceleration(), units.pressure(), units.torque(false)];
    if derived.iter().all(|x| *x > 0.0 && x.is_finite()) {
        return Ok(units);
    }
    Err(text.error(table, "units", "they are so small or so large that values in them leave the range of floats"))
}
