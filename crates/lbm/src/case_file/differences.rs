//! Differences between two versions of a case file.

use std::collections::BTreeMap;

use toml::{Spanned, Value};

use super::parse::{CaseFile, velocity_set};
use super::schema::{AxisTable, CollisionName, VelocitySetName};
use crate::collision::Collision;
use crate::error::FlowError;
use crate::velocity_set::VelocitySet;

const INITIAL_KEYS: [&str; 1] = ["fluid.velocity"];

/// Differences between the case file of a run and the file of its continuation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CaseDifferences {
    /// Differences that a restart accepts, one line each: `fluid.viscosity: 0.02 -> 0.03`.
    pub accepted: Vec<String>,
    /// Differences that a restart refuses, one line each.
    pub refused: Vec<String>,
}

impl CaseFile {
    /// Compares two files key by key. Equal values in another notation are no difference.
    ///
    /// * A restart accepts another name, other steps, probes, reference numbers, viscosity,
    ///   acceleration, collision and density in kg/m³, and other values at sides of the same kind
    ///   and on surfaces of bodies. The file of a shape may have another name if its cells are the
    ///   same.
    /// * A restart refuses other cells or velocities of the lattice, another size of a cell or time
    ///   of a step, and other kinds of sides and shapes.
    ///
    /// # Errors
    /// A file that cannot be compared.
    pub fn differences(&self, other: &Self) -> Result<CaseDifferences, FlowError> {
        let (before, after) = (self.entries()?, other.entries()?);
        let mut differences = CaseDifferences::default();
        for key in before.keys().chain(after.keys().filter(|key| !before.contains_key(*key))) {
            let (old, new) = (before.get(key), after.get(key));
            if old == new {
                continue;
            }
            let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), format_value);
            let is_initial = INITIAL_KEYS.contains(&key.as_str());
            let effect = if is_initial { ": has no effect on a run that goes on" } else { "" };
            let line = format!("{key}: {} -> {}{effect}", text(old), text(new));
            if may_change(key, [old, new]) {
                differences.accepted.push(line);
            } else {
                differences.refused.push(line);
            }
        }
        Ok(differences)
    }

    /// All keys with their values, defaults included.
    fn entries(&self) -> Result<BTreeMap<String, Value>, FlowError> {
        let (mut tables, units) = (self.tables.clone(), self.units);
        let lattice = tables.lattice.get_mut();
        lattice.velocities = Some(match velocity_set(lattice) {
            VelocitySet::D2Q9 => VelocitySetName::D2Q9,
            VelocitySet::D3Q19 => VelocitySetName::D3Q19,
            VelocitySet::D3Q27 => VelocitySetName::D3Q27,
        });
        let collision = *lattice.collision.get_or_insert(CollisionName::Trt);
        if collision == CollisionName::Trt {
            lattice.magic.get_or_insert(Collision::EXACT_WALL_MAGIC);
        }
        if let Some(table) = &mut tables.units {
            let table = table.get_mut();
            (table.step, table.lattice_speed) = (Some(units.step), None);
        }
        for axis in [&mut tables.sides.x, &mut tables.sides.y, &mut tables.sides.z] {
            axis.get_or_insert_with(|| Spanned::new(0..0, AxisTable::PERIODIC));
        }
        let mut entries = BTreeMap::new();
        let all = Value::try_from(&tables).map_err(|error| FlowError::CaseFile {
            line: 1,
            key: "the text".to_owned(),
            message: format!("its values cannot be compared: {error}"),
        })?;
        flatten(String::new(), all, &mut entries);
        Ok(entries)
    }
}

fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Boolean(is_true) => is_true.to_string(),
        Value::Array(values) => format!("[{}]", values.iter().map(format_value).collect::<Vec<_>>().join(", ")),
        Value::Datetime(_) | Value::Table(_) => format!("{value:?}"),
    }
}

/// Adds the entries of nested tables under full keys. Arrays of numbers are one entry.
fn flatten(key: String, value: Value, entries: &mut BTreeMap<String, Value>) {
    match value {
        Value::Table(table) => {
            for (name, value) in table {
                flatten(if key.is_empty() { name } else { format!("{key}.{name}") }, value, entries);
            }
        }
        Value::Array(values) if values.iter().any(Value::is_table) => {
            for (index, value) in values.into_iter().enumerate() {
                flatten(format!("{key}[{index}]"), value, entries);
            }
        }
        value => _ = entries.insert(key, value),
    }
}

fn may_change(key: &str, [old, new]: [Option<&Value>; 2]) -> bool {
    const FREE_KEYS: [&str; 8] = [
        "name",
        "steps",
        "every",
        "units.density",
        "lattice.collision",
        "lattice.magic",
        "lattice.smagorinsky",
        "probes",
    ];
    let table = key.split(['.', '[']).next().unwrap_or(key);
    let last_name = key.rsplit('.').next().unwrap_or(key);
    let exist = old.is_some() && new.is_some();
    match table {
        "fluid" | "reference" | "probes" => true,
        // A side of another kind has another key, or is a name.
        "sides" => exist && !old.is_some_and(Value::is_str) && !new.is_some_and(Value::is_str),
        "bodies" => exist && matches!(last_name, "velocity" | "spin" | "file"),
        _ => FREE_KEYS.contains(&key),
    }
}
