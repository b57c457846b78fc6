//! Arrays as NRRD files.

use std::fmt::Write;

use zippy_base::element::{ElementInfo, ElementKind};
use zippy_plan::region::Region;

use super::leaves::leaves;
use super::metadata::{Axis, Metadata};
use super::outline::Outline;

const MAX_HEADER_BYTES: usize = 1 << 20;

const MAX_DIMENSIONS: usize = 8;

/// Layout of the file. Content that NRRD cannot store is an error: no cells, records, 16-bit
/// floats, names that are no single line.
pub(super) fn outline(element: &ElementInfo, region: &Region, metadata: &Metadata) -> Result<Outline, String> {
    let header = header(element, region, metadata)?.into_bytes();
    if header.len() > MAX_HEADER_BYTES {
        return Err(format!("would have a header of {} bytes; at most {MAX_HEADER_BYTES} are read", header.len()));
    }
    let mut outline = Outline::default();
    if outline.put(header) && outline.cells(element, region.cells()) {
        Ok(outline)
    } else {
        Err("would have more bytes than fit 63 bits".into())
    }
}

fn header(element: &ElementInfo, region: &Region, metadata: &Metadata) -> Result<String, String> {
    if matches!(element.kind, ElementKind::Record(_)) {
        return Err("cannot have records; .npy, .vti and .pvti can".into());
    }
    let leaf = &leaves(element)?[0];
    let shape = region.extents();
    if shape.contains(&0) {
        return Err(format!("cannot have an array without cells, of {shape}; .npy can"));
    }
    let components = matches!(element.kind, ElementKind::Vector(..));
    let (axes, component_axes) = (shape.axes(), usize::from(components));
    let with_component_axis = |word: &str| if components { format!("{word} ") } else { String::new() };
    let words = |word: &dyn Fn(usize) -> String| (0..axes).map(word).collect::<Vec<_>>().join(" ");
    let mut text = String::from("NRRD0005\n");
    if let Some(name) = &metadata.name {
        check_line("the name", name)?;
        let _ = writeln!(text, "content: {name}");
    }
    let order = if cfg!(target_endian = "big") { "big" } else { "little" };
    let _ = write!(
        text,
        "type: {}\ndimension: {}\nsizes: {}{}\nkinds: {}{}\nencoding: raw\nendian: {order}\n",
        kind(leaf.kind),
        axes + component_axes,
        with_component_axis(&leaf.components.to_string()),
        words(&|axis| shape[axis].to_string()),
        with_component_axis("vector"),
        words(&|_| "domain".into()),
    );
    write_positions(&mut text, metadata, axes, &with_component_axis("none"))?;
    if metadata.axes.iter().any(|axis| axis.name.is_some()) {
        let names = quoted_words(metadata, |axis| &axis.name)?;
        let _ = writeln!(text, "labels: {}{names}", with_component_axis("\"\""));
    }
    for (key, value) in &metadata.attributes {
        check_key(key)?;
        let _ = writeln!(text, "{}:={}", escaped(key), escaped(&value.to_string()));
    }
    text.push('\n');
    Ok(text)
}

fn write_positions(text: &mut String, metadata: &Metadata, axes: usize, component_entry: &str) -> Result<(), String> {
    if metadata.axes.is_empty() && metadata.directions.is_none() {
        return Ok(());
    }
    let axis_metadata = |axis: usize| metadata.axes.get(axis).cloned().unwrap_or_default();
    let vector = |parts: Vec<f64>| format!("({})", parts.iter().map(f64::to_string).collect::<Vec<_>>().join(","));
    let dimensions = axes + metadata.further_origin.len();
    if dimensions > MAX_DIMENSIONS {
        return Err(format!("cannot have a space of {dimensions} dimensions; at most {MAX_DIMENSIONS}"));
    }
    let unit_vector = |axis: usize| (0..dimensions).map(|at| f64::from(u8::from(at == axis))).collect();
    let direction = |axis: usize| -> String {
        let unit: Vec<f64> = metadata.directions.as_ref().map_or_else(|| unit_vector(axis), |all| all[axis].clone());
        vector(unit.iter().map(|part| part * axis_metadata(axis).spacing).collect())
    };
    let directions: Vec<String> = (0..axes).map(direction).collect();
    let origin = (0..axes).map(|axis| axis_metadata(axis).origin).chain(metadata.further_origin.iter().copied());
    let origin = vector(origin.collect());
    let _ = write!(
        text,
        "space dimension: {dimensions}\nspace directions: {component_entry}{}\nspace origin: {origin}\n",
        directions.join(" ")
    );
    if metadata.axes.iter().any(|axis| axis.unit.is_some()) {
        let further_units = " \"\"".repeat(dimensions - axes);
        let _ = writeln!(text, "space units: {}{further_units}", quoted_words(metadata, |axis| &axis.unit)?);
    }
    Ok(())
}

/// Quoted words, one per axis.
fn quoted_words(metadata: &Metadata, word: impl Fn(&Axis) -> &Option<String>) -> Result<String, String> {
    let quoted = |axis: &Axis| {
        let word = word(axis).as_deref().unwrap_or("");
        check_line("a name or a unit of an axis", word)?;
        Ok(format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")))
    };
    Ok(metadata.axes.iter().map(quoted).collect::<Result<Vec<_>, String>>()?.join(" "))
}

fn check_line(role: &str, text: &str) -> Result<(), String> {
    if text.trim() == text && !text.contains(char::is_control) {
        return Ok(());
    }
    Err(format!("cannot have {} as {role}: it must be one line, without blanks around it", zippy_files::quoted(text)))
}

fn check_key(key: &str) -> Result<(), String> {
    if !key.is_empty() && !key.starts_with('#') && !key.contains([':', '\r']) {
        return Ok(());
    }
    Err(format!(
        "cannot have an attribute called {}: it must not be empty, begin with # or have a colon",
        zippy_files::quoted(key)
    ))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

fn kind(kind: crate::scalar::ScalarKind) -> &'static str {
    use crate::scalar::ScalarKind;
    match kind {
        ScalarKind::U8 => "uint8",
        ScalarKind::I8 => "int8",
        ScalarKind::U16 => "uint16",
        ScalarKind::I16 => "int16",
        ScalarKind::U32 => "uint32",
        ScalarKind::I32 => "int32",
        ScalarKind::U64 => "uint64",
        ScalarKind::I64 => "int64",
        ScalarKind::F16 => "half",
        ScalarKind::F32 => "float",
        ScalarKind::F64 => "double",
    }
}
