//! Attribute "zippy" (axes of an array) and dimension names of a store.

use std::path::Path;

use serde_json::{Map, Value, json};
use zippy_files::FileError;

use zippy_io::array::{Axis, Metadata};

pub(super) const ATTRIBUTE: &str = "zippy";

/// Dimension names, axis 0 first; axes without a name are "x", "y", "z", "axis_3" and so on.
pub(super) fn names(metadata: &Metadata, axes: usize) -> Vec<String> {
    let user_name = |axis: usize| metadata.axes.get(axis).and_then(|axis| axis.name.clone());
    let taken: Vec<String> = (0..axes).filter_map(user_name).collect();
    let default_name = |axis: usize| {
        let letter = ["x", "y", "z"].get(axis).copied().filter(|letter| !taken.iter().any(|name| name == letter));
        letter.map_or_else(|| format!("axis_{axis}"), str::to_string)
    };
    (0..axes).map(|axis| user_name(axis).unwrap_or_else(|| default_name(axis))).collect()
}

/// Checks number of axes, distinct and valid names, and reserved attributes.
pub(super) fn check(path: &Path, metadata: &Metadata, axes: usize) -> Result<(), FileError> {
    let bad = |message: String| Err(FileError::request(path, message));
    metadata.check(axes).or_else(bad)?;
    let names = names(metadata, axes);
    for (axis, name) in names.iter().enumerate() {
        check_name(path, &format!("axis {axis}"), name)?;
        if names[..axis].contains(name) {
            return bad(format!("two axes are called {name:?}; each needs a name of its own"));
        }
    }
    if metadata.attributes.contains_key(ATTRIBUTE) {
        return bad(format!(
            "an attribute is called {ATTRIBUTE:?}, which says where the cells are; it needs another name"
        ));
    }
    Ok(())
}

pub(super) fn check_name(path: &Path, what: &str, name: &str) -> Result<(), FileError> {
    if name.is_empty()
        || name.len() > 200
        || name.starts_with("__")
        || name.trim_matches('.').is_empty()
        || matches!(name, "zarr.json" | ".zarray" | ".zgroup" | ".zattrs")
        || name.chars().any(|c| c.is_control() || matches!(c, '/' | '\\' | ':'))
    {
        let message = format!(
            "{what} is called {name:?}, which is no name in a Zarr store: it must have 1 to 200 bytes, no / \\ : nor \
                 control characters, and not begin with __ nor be of dots only"
        );
        return Err(FileError::request(path, message));
    }
    Ok(())
}

/// Attributes of an array with every `every`-th cell of the saved one.
pub(super) fn attributes(metadata: &Metadata, every: f64) -> Map<String, Value> {
    let mut attributes = metadata.attributes.clone();
    let mut fields = Map::new();
    if !metadata.axes.is_empty() {
        let per_axis = |field: &dyn Fn(&Axis) -> Value| metadata.axes.iter().rev().map(field).collect::<Value>();
        fields.insert("names".into(), per_axis(&|axis| json!(axis.name)));
        fields.insert("units".into(), per_axis(&|axis| json!(axis.unit)));
        fields.insert("spacing".into(), per_axis(&|axis| json!(axis.spacing * every)));
        fields.insert("origin".into(), per_axis(&|axis| json!(axis.origin)));
    }
    if !metadata.further_origin.is_empty() {
        fields.insert("further_origin".into(), json!(metadata.further_origin));
    }
    if let Some(directions) = &metadata.directions {
        fields.insert("directions".into(), directions.iter().rev().map(|direction| json!(direction)).collect());
    }
    if !fields.is_empty() {
        attributes.insert(ATTRIBUTE.into(), Value::Object(fields));
    }
    attributes
}

/// Metadata of `axes` axes from attributes. Attributes without a known meaning belong to the user.
pub(super) fn metadata(attributes: &Map<String, Value>, axes: usize) -> Metadata {
    let known = attributes.get(ATTRIBUTE).and_then(Value::as_object).and_then(|fields| read_axes(fields, axes));
    let is_known = known.is_some();
    let known = known.unwrap_or_default();
    let users = attributes.iter().filter(|(name, _)| !is_known || *name != ATTRIBUTE);
    let attributes = users.map(|(name, value)| (name.clone(), value.clone())).collect();
    Metadata { attributes, ..known }
}

fn read_axes(fields: &Map<String, Value>, axes: usize) -> Option<Metadata> {
    let list = |key: &str| fields.get(key).and_then(Value::as_array).filter(|list| list.len() == axes);
    let directions = list("directions").map(|list| list.iter().rev().map(numbers).collect::<Option<Vec<_>>>());
    let known = Metadata { directions: directions.flatten(), ..Metadata::default() };
    if !fields.contains_key("spacing") {
        return Some(known);
    }
    let text = |value: &Value| value.as_str().map(str::to_string);
    let (names, units, spacing, origin) = (list("names")?, list("units")?, list("spacing")?, list("origin")?);
    let axis = |at: usize| {
        let (spacing, origin) = (spacing[at].as_f64()?, origin[at].as_f64()?);
        Some(Axis { name: text(&names[at]), unit: text(&units[at]), spacing, origin })
    };
    let further_origin = fields.get("further_origin").and_then(numbers).unwrap_or_default();
    Some(Metadata { axes: (0..axes).rev().map(axis).collect::<Option<_>>()?, further_origin, ..known })
}

fn numbers(list: &Value) -> Option<Vec<f64>> {
    list.as_array()?.iter().map(Value::as_f64).collect()
}
