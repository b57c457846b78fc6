//! Arrays as NRRD files.

use std::fmt::Write;

use zippy_base::element::{ElementInfo, ElementKind};
use zippy_plan::region::Region;

use super::leaves::leaves;
use super::metadata::{Axis, Metadata};
use super::outline::Outline;

/// Maximum bytes of a header.
const MOST: usize = 1 << 20;

/// Maximum dimension of space in a header.
const MOST_DIMENSIONS: usize = 8;

/// Layout of the file for a box.
///
/// # Errors
/// Content that NRRD cannot store: no cells, records, 16-bit floats, names that are no single line.
pub(super) fn outline(element: &ElementInfo, region: &Region, metadata: &Metadata) -> Result<Outline, String> {
    let header = header(element, region, metadata)?.into_bytes();
    if header.len() > MOST {
        return Err(format!("would have a header of {} bytes; at most {MOST} are read", header.len()));
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
    let (axes, before) = (shape.axes(), usize::from(components));
    let lead = |word: &str| if components { format!("{word} ") } else { String::new() };
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
        axes + before,
        lead(&leaf.components.to_string()),
        words(&|axis| shape[axis].to_string()),
        lead("vector"),
        words(&|_| "domain".into()),
    );
    write_positions(&mut text, metadata, axes, &lead("none"))?;
    if metadata.axes.iter().any(|axis| axis.name.is_some()) {
        let names = quoted_words(metadata, |axis| &axis.name)?;
        let _ = writeln!(text, "labels: {}{names}", lead("\"\""));
    }
    for (key, value) in &metadata.attributes {
        check_key(key)?;
        let _ = writeln!(text, "{}:={}", escaped(key), escaped(&value.to_string()));
    }
    text.push('\n');
    Ok(text)
}

/// Writes the fields with the positions of cells.
fn write_positions(text: &mut String, metadata: &Metadata, axes: usize, lead: &str) -> Result<(), String> {
    if metadata.axes.is_empty() && metadata.directions.is_none() {
        return Ok(());
    }
    let along = |axis: usize| metadata.axes.get(axis).cloned().unwrap_or_default();
    let vector = |parts: Vec<f64>| format!("({})", parts.iter().map(f64::to_string).collect::<Vec<_>>().join(","));
    let dimensions = axes + metadata.further_origin.len();
    if dimensions > MOST_DIMENSIONS {
        return Err(format!("cannot have a space of {dimensions} dimensions; at most {MOST_DIMENSIONS}"));
    }
    let straight = |axis: usize| (0..dimensions).map(|at| f64::from(u8::from(at == axis))).collect();
    let direction = |axis: usize| -> String {
        let unit: Vec<f64> = metadata.directions.as_ref().map_or_else(|| straight(axis), |all| all[axis].clone());
        vector(unit.iter().map(|part| part * along(axis).spacing).collect())
    };
    let directions: Vec<String> = (0..axes).map(direction).collect();
    let origin = (0..axes).map(|axis| along(axis).origin).chain(metadata.further_origin.iter().copied());
    let origin = vector(origin.collect());
    let _ = write!(
        text,
        "space dimension: {dimensions}\nspace directions: {lead}{}\nspace origin: {origin}\n",
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

fn check_line(what: &str, text: &str) -> Result<(), String> {
    match text.trim() != text || text.contains(char::is_control) {
        true => Err(format!(
            "cannot have {} as {what}: it must be one line, without blanks around it",
            zippy_files::quoted(text)
        )),
        false => Ok(()),
    }
}

fn check_key(key: &str) -> Result<(), String> {
    let bad = key.is_empty() || key.starts_with('#') || key.contains([':', '\r']);
    match bad {
        true => Err(format!(
            "cannot have an attribute called {}: it must not be empty, begin with # or have a colon",
            zippy_files::quoted(key)
        )),
        false => Ok(()),
    }
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
