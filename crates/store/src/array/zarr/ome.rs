//! Attribute "ome" of a group: levels of detail in OME-Zarr 0.5.

use serde_json::{Map, Value, json};

use super::axes;
use zippy_io::array::{Axis, Metadata};

const UNITS: &[(&str, &str)] = &[
    ("nm", "nanometer"),
    ("um", "micrometer"),
    ("µm", "micrometer"),
    ("μm", "micrometer"),
    ("mm", "millimeter"),
    ("cm", "centimeter"),
    ("m", "meter"),
    ("km", "kilometer"),
    ("ns", "nanosecond"),
    ("us", "microsecond"),
    ("ms", "millisecond"),
    ("s", "second"),
    ("min", "minute"),
    ("h", "hour"),
];

/// Value of the attribute for arrays at `nodes`, level 0 first; `None` if OME-Zarr cannot describe
/// the axes. It has scales and translations, and no directions.
pub(super) fn attribute(metadata: &Metadata, count: usize, nodes: &[String]) -> Option<Value> {
    if !metadata.is_along_space() {
        return None;
    }
    let names = axes::names(metadata, count);
    let axis_types = axis_types(&names)?;
    let axis = |axis: usize| {
        let mut out = Map::new();
        out.insert("name".into(), json!(names[axis]));
        out.extend(axis_types[axis].map(|kind| ("type".to_string(), json!(kind))));
        let unit = metadata.axes.get(axis).and_then(|axis| axis.unit.as_deref());
        out.extend(unit.map(|unit| ("unit".to_string(), json!(full_unit_name(unit)))));
        Value::Object(out)
    };
    let default_axis = Axis::default();
    let per_axis = |field: &dyn Fn(&Axis) -> f64| -> Value {
        (0..count).rev().map(|axis| json!(field(metadata.axes.get(axis).unwrap_or(&default_axis)))).collect()
    };
    let dataset = |(level, node): (usize, &String)| {
        let every = (1_u64 << level) as f64;
        json!({"path": node, "coordinateTransformations": [
            {"type": "scale", "scale": per_axis(&|axis| axis.spacing * every)},
            {"type": "translation", "translation": per_axis(&|axis| axis.origin)},
        ]})
    };
    let axes: Vec<Value> = (0..count).rev().map(axis).collect();
    let datasets: Vec<Value> = nodes.iter().enumerate().map(dataset).collect();
    let multiscale = json!({"name": nodes[0], "axes": axes, "datasets": datasets, "type": "every second cell"});
    Some(json!({"version": "0.5", "multiscales": [multiscale]}))
}

/// Type of each axis, axis 0 first: space, then at most one channel or other axis, then time.
fn axis_types(names: &[String]) -> Option<Vec<Option<&'static str>>> {
    let is_time = |name: &String| matches!(name.as_str(), "t" | "time");
    let is_channel = |name: &String| matches!(name.as_str(), "c" | "channel");
    let space = names.iter().take(3).take_while(|&name| !is_time(name) && !is_channel(name)).count();
    let rest = &names[space..];
    let other_type = |name: &String| if is_channel(name) { Some("channel") } else { None };
    let mut axis_types = vec![Some("space"); space];
    match rest {
        [] => {}
        [name] if is_time(name) => axis_types.push(Some("time")),
        [name] => axis_types.push(other_type(name)),
        [name, time] if !is_time(name) && is_time(time) => axis_types.extend([other_type(name), Some("time")]),
        _ => return None,
    }
    (space >= 2).then_some(axis_types)
}

fn full_unit_name(unit: &str) -> &str {
    UNITS.iter().find(|(short, _)| *short == unit).map_or(unit, |(_, long)| long)
}

/// Axes of the array at a node, axis 0 first, from the attribute of its group. The transformations
/// of the array apply first, then those of all levels.
pub(super) fn axes_of(attributes: &Map<String, Value>, node: &str, count: usize) -> Option<Vec<Axis>> {
    multiscales(attributes)?.as_array()?.iter().find_map(|multiscale| {
        let is_for_node = |dataset: &&Value| dataset["path"].as_str() == Some(node);
        let dataset = multiscale.get("datasets")?.as_array()?.iter().find(is_for_node)?;
        let axes = multiscale.get("axes")?.as_array().filter(|axes| axes.len() == count)?;
        let lists = [dataset.get("coordinateTransformations"), multiscale.get("coordinateTransformations")];
        let transformations: Vec<&Value> = lists.into_iter().flatten().filter_map(Value::as_array).flatten().collect();
        let spacing_and_origin = |axis: usize| {
            let number = |transformation: &Value, key: &str| transformation.get(key)?.as_array()?.get(axis)?.as_f64();
            transformations.iter().fold((1.0, 0.0), |(spacing, origin), transformation| {
                let scale = number(transformation, "scale").unwrap_or(1.0);
                (spacing * scale, origin * scale + number(transformation, "translation").unwrap_or(0.0))
            })
        };
        let text = |axis: usize, key: &str| axes[axis][key].as_str().map(str::to_string);
        let axis = |at: usize| {
            let (spacing, origin) = spacing_and_origin(at);
            Axis { name: text(at, "name"), unit: text(at, "unit"), spacing, origin }
        };
        Some((0..count).rev().map(axis).collect())
    })
}

pub(super) fn first_dataset(attributes: &Map<String, Value>) -> Option<&str> {
    multiscales(attributes)?.get(0)?.get("datasets")?.get(0)?.get("path")?.as_str()
}

fn multiscales(attributes: &Map<String, Value>) -> Option<&Value> {
    attributes.get("ome").and_then(|ome| ome.get("multiscales")).or_else(|| attributes.get("multiscales"))
}
