//! Differences between two versions of a case file.

use std::collections::BTreeMap;

use toml::{Spanned, Value};

use super::beyond::Beyond;
use super::case::{Described, velocities};
use super::schema::{Axis, Relaxation, Velocities};
use crate::error::FlowError;
use crate::velocities::VelocitySet;

/// Keys of the beginning of a flow.
const BEGINNING: [&str; 1] = ["fluid.velocity"];

/// Differences of two texts, for a flow that goes on with the second one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changes {
    /// Differences that a restart accepts, one line each: `fluid.viscosity: 0.02 -> 0.03`.
    pub taken: Vec<String>,
    /// Differences that a restart refuses, one line each.
    pub refused: Vec<String>,
}

impl Described {
    /// Compares two cases key by key. Equal values in another spelling are no difference.
    ///
    /// A flow that goes on may have another name, other steps, probes, reference numbers,
    /// viscosity, acceleration, collision, density in kg/m³, and other values at sides of the same
    /// kind and on surfaces of bodies. A shape's file may have another name, but its cells are
    /// those of before. Cells and velocities of the lattice, the size of a cell and the time of a
    /// step, kinds of sides, and shapes stay.
    ///
    /// # Errors
    /// A text cannot be compared.
    pub fn changes(&self, other: &Self) -> Result<Changes, FlowError> {
        let (before, after) = (self.entries()?, other.entries()?);
        let mut changes = Changes::default();
        for key in before.keys().chain(after.keys().filter(|key| !before.contains_key(*key))) {
            let (old, new) = (before.get(key), after.get(key));
            if old == new {
                continue;
            }
            let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), written);
            let effect = if BEGINNING.contains(&key.as_str()) { ": has no effect on a run that goes on" } else { "" };
            let line = format!("{key}: {} -> {}{effect}", text(old), text(new));
            match may_change(key, [old, new]) {
                true => changes.taken.push(line),
                false => changes.refused.push(line),
            }
        }
        Ok(changes)
    }

    /// All keys with their values, defaults included.
    fn entries(&self) -> Result<BTreeMap<String, Value>, FlowError> {
        let (mut file, units) = (self.file.clone(), self.units);
        let lattice = file.lattice.get_mut();
        lattice.velocities = Some(match velocities(lattice) {
            VelocitySet::D2Q9 => Velocities::D2Q9,
            VelocitySet::D3Q19 => Velocities::D3Q19,
            VelocitySet::D3Q27 => Velocities::D3Q27,
        });
        let collision = *lattice.collision.get_or_insert(Relaxation::Trt);
        if collision == Relaxation::Trt {
            lattice.magic.get_or_insert(3.0 / 16.0);
        }
        if let Some(table) = &mut file.units {
            let table = table.get_mut();
            (table.step, table.lattice_speed) = (Some(units.step), None);
        }
        let periodic = || Spanned::new(0..0, Axis { below: Beyond::Periodic, above: Beyond::Periodic });
        for axis in [&mut file.sides.x, &mut file.sides.y, &mut file.sides.z] {
            axis.get_or_insert_with(periodic);
        }
        let mut entries = BTreeMap::new();
        let all = Value::try_from(&file).map_err(|error| FlowError::Described {
            line: 1,
            key: "the text".to_owned(),
            wrong: format!("its values cannot be compared: {error}"),
        })?;
        flatten(String::new(), all, &mut entries);
        Ok(entries)
    }
}

/// A value as a text has it.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Boolean(is_true) => is_true.to_string(),
        Value::Array(values) => format!("[{}]", values.iter().map(written).collect::<Vec<_>>().join(", ")),
        Value::Datetime(_) | Value::Table(_) => format!("{value:?}"),
    }
}

/// Adds a value's parts by their keys; numbers of one list stay together.
fn flatten(key: String, value: Value, entries: &mut BTreeMap<String, Value>) {
    match value {
        Value::Table(table) => {
            for (name, value) in table {
                flatten(if key.is_empty() { name } else { format!("{key}.{name}") }, value, entries);
            }
        }
        Value::Array(values) if values.iter().any(Value::is_table) => {
            for (number, value) in values.into_iter().enumerate() {
                flatten(format!("{key}[{number}]"), value, entries);
            }
        }
        value => _ = entries.insert(key, value),
    }
}

fn may_change(key: &str, [old, new]: [Option<&Value>; 2]) -> bool {
    const FREE: [&str; 8] = [
        "name",
        "steps",
        "every",
        "units.density",
        "lattice.collision",
        "lattice.magic",
        "lattice.smagorinsky",
        "probes",
    ];
    let (table, last) = (key.split(['.', '[']).next().unwrap_or(key), key.rsplit('.').next().unwrap_or(key));
    match table {
        "fluid" | "reference" | "probes" => true,
        // A side of another kind has another key, or is a name.
        "sides" => old.is_some() && new.is_some() && !old.is_some_and(Value::is_str) && !new.is_some_and(Value::is_str),
        "bodies" => old.is_some() && new.is_some() && (matches!(last, "velocity" | "spin" | "file")),
        _ => FREE.contains(&key),
    }
}
