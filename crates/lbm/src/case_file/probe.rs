//! Probes of a case file.

use super::schema::CaseTables;
use super::source_text::SourceText;
use crate::cell_index::CellIndex;
use crate::error::FlowError;
use crate::units::Units;

/// Named cell at which density and velocity are recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// Name in tables.
    pub name: String,
    /// The cell.
    pub cell: CellIndex,
}

/// Converts the probes of a case file to cells. Refuses duplicate or invalid names and positions
/// outside of the box.
pub(super) fn resolve_probes(
    text: &SourceText<'_>,
    tables: &CaseTables,
    units: &Units,
) -> Result<Vec<Probe>, FlowError> {
    let cells = tables.lattice.get_ref().cells;
    let mut probes: Vec<Probe> = Vec::new();
    for (index, table) in tables.probes.iter().enumerate() {
        let probe = table.get_ref();
        let (name_key, position_key) = (format!("probes[{index}].name"), format!("probes[{index}].at"));
        if probe.name.is_empty() || probe.name.contains([',', '"', '\n', '\r']) {
            let message = "it must be some text without commas, quotation marks and ends of lines";
            return Err(text.error(table, &name_key, message));
        }
        if probes.iter().any(|other| other.name == probe.name) {
            return Err(text.error(table, &name_key, format!("there are two of the name {:?}", probe.name)));
        }
        for (axis, &n) in cells.iter().enumerate() {
            let (position, end) = (probe.at[axis], n as f64 * units.cell);
            if !(0.0..end).contains(&position) {
                let message = format!("{position} along axis {axis} must be from 0 to below {end}, in the box");
                return Err(text.error(table, &position_key, message));
            }
        }
        let cell = std::array::from_fn(|axis| ((probe.at[axis] / units.cell) as i64).min(cells[axis] - 1));
        probes.push(Probe { name: probe.name.clone(), cell });
    }
    Ok(probes)
}
