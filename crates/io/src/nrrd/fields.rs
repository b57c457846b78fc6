//! Field names and keywords of NRRD headers.

use std::path::Path;

use zippy_files::quoted;

use crate::IoError;
use crate::scalar::ScalarKind;
use crate::text::{check_count, float};

/// Maximum dimension of space in the format.
const MAX_DIMENSIONS: usize = 8;

/// Canonical name of a field, for any spelling in the format.
pub(super) fn canonical_name(name: &str) -> Option<&'static str> {
    Some(match name.trim().to_ascii_lowercase().as_str() {
        "dimension" => "dimension",
        "type" => "type",
        "block size" | "blocksize" => "block size",
        "encoding" => "encoding",
        "endian" => "endian",
        "content" => "content",
        "old min" | "oldmin" => "old min",
        "old max" | "oldmax" => "old max",
        "min" => "min",
        "max" => "max",
        "data file" | "datafile" => "data file",
        "line skip" | "lineskip" => "line skip",
        "byte skip" | "byteskip" => "byte skip",
        "number" => "number",
        "sample units" | "sampleunits" => "sample units",
        "sizes" => "sizes",
        "spacings" => "spacings",
        "thicknesses" => "thicknesses",
        "axis mins" | "axismins" => "axis mins",
        "axis maxs" | "axismaxs" => "axis maxs",
        "centers" | "centerings" => "centers",
        "labels" => "labels",
        "units" => "units",
        "kinds" => "kinds",
        "space" => "space",
        "space dimension" => "space dimension",
        "space units" => "space units",
        "space origin" => "space origin",
        "space directions" => "space directions",
        "measurement frame" => "measurement frame",
        _ => return None,
    })
}

pub(super) fn scalar_kind(path: &Path, at: u64, value: &str) -> Result<ScalarKind, IoError> {
    Ok(match value.to_ascii_lowercase().as_str() {
        "signed char" | "int8" | "int8_t" => ScalarKind::I8,
        "uchar" | "unsigned char" | "uint8" | "uint8_t" => ScalarKind::U8,
        "short" | "short int" | "signed short" | "signed short int" | "int16" | "int16_t" => ScalarKind::I16,
        "ushort" | "unsigned short" | "unsigned short int" | "uint16" | "uint16_t" => ScalarKind::U16,
        "int" | "signed int" | "int32" | "int32_t" => ScalarKind::I32,
        "uint" | "unsigned int" | "uint32" | "uint32_t" => ScalarKind::U32,
        "longlong"
        | "long long"
        | "long long int"
        | "signed long long"
        | "signed long long int"
        | "int64"
        | "int64_t" => ScalarKind::I64,
        "ulonglong" | "unsigned long long" | "unsigned long long int" | "uint64" | "uint64_t" => ScalarKind::U64,
        "float" => ScalarKind::F32,
        "double" => ScalarKind::F64,
        "block" => return Err(IoError::unsupported(path, at, "type block (opaque records) is not read")),
        _ => return Err(IoError::malformed(path, at, format!("unknown type {}", quoted(value)))),
    })
}

/// Parses strings in double quotes, `wanted` of them if set; `\"` is a quote, and `\\` a backslash.
pub(super) fn strings(
    path: &Path,
    at: u64,
    field: &str,
    value: &str,
    wanted: Option<usize>,
) -> Result<Vec<String>, IoError> {
    let (mut strings, mut open, mut escaped) = (Vec::new(), None::<String>, false);
    for letter in value.chars() {
        match (&mut open, letter) {
            (Some(text), _) if escaped => {
                if !matches!(letter, '"' | '\\') {
                    text.push('\\');
                }
                text.push(letter);
                escaped = false;
            }
            (Some(_), '\\') => escaped = true,
            (Some(text), '"') => {
                strings.push(std::mem::take(text));
                open = None;
            }
            (Some(text), _) => text.push(letter),
            (None, '"') => open = Some(String::new()),
            (None, _) if letter.is_whitespace() => {}
            (None, _) => {
                let message = format!("field \"{field}\": {letter:?} stands outside double quotes");
                return Err(IoError::malformed(path, at, message));
            }
        }
    }
    if open.is_some() {
        return Err(IoError::malformed(path, at, format!("field \"{field}\": a double quote is not closed")));
    }
    check_count(path, at, field, strings.len(), wanted.unwrap_or(strings.len()))?;
    Ok(strings)
}

/// Length of a vector; exact for a vector along an axis of space.
pub(super) fn length(vector: &[f64]) -> f64 {
    match vector.iter().filter(|&&part| part != 0.0).collect::<Vec<_>>()[..] {
        [part] => part.abs(),
        _ => vector.iter().map(|part| part * part).sum::<f64>().sqrt(),
    }
}

/// Numbers of a vector in parentheses, and the rest of the text.
pub(super) fn vector<'a>(path: &Path, at: u64, field: &str, text: &'a str) -> Result<(Vec<f64>, &'a str), IoError> {
    let bad = |message: &str| IoError::malformed(path, at, format!("field \"{field}\": {message}"));
    let inner = text.strip_prefix('(').ok_or_else(|| bad("a vector must begin with \"(\""))?;
    let (inner, rest_of_text) = inner.split_once(')').ok_or_else(|| bad("a vector must end with \")\""))?;
    let count = inner.split(',').count();
    if count > MAX_DIMENSIONS {
        return Err(bad(&format!("a vector of {count} numbers; at most {MAX_DIMENSIONS} are read")));
    }
    let parts = inner.split(',').map(|word| float(path, at, field, word.trim()));
    Ok((parts.collect::<Result<_, _>>()?, rest_of_text.trim_start()))
}

/// Vectors of "space directions"; `None` for "none", which marks an axis of components.
pub(super) fn directions(path: &Path, at: u64, value: &str, axes: usize) -> Result<Vec<Option<Vec<f64>>>, IoError> {
    let mut vectors = Vec::new();
    let mut rest = value.trim_start();
    while !rest.is_empty() && vectors.len() <= axes {
        if let Some(rest_of_text) = rest.strip_prefix("none") {
            vectors.push(None);
            rest = rest_of_text.trim_start();
            continue;
        }
        let (parts, rest_of_text) = vector(path, at, "space directions", rest)?;
        vectors.push(Some(parts));
        rest = rest_of_text;
    }
    check_count(path, at, "space directions", vectors.len(), axes)?;
    Ok(vectors)
}

pub(super) fn left_handed(value: &str) -> bool {
    let name = value.to_ascii_lowercase();
    let name = name.strip_suffix("-time").unwrap_or(&name);
    matches!(name, "left-anterior-superior" | "las" | "last" | "3d-left-handed")
}

pub(super) enum AxisKind {
    /// Positions in space or time.
    Positions,
    /// Components, with their number if the kind defines it.
    Components(Option<i64>),
}

pub(super) fn axis_kind(word: &str) -> Option<AxisKind> {
    let components = |count| Some(AxisKind::Components(Some(count)));
    match word.to_ascii_lowercase().as_str() {
        "domain" | "space" | "time" | "none" | "???" => Some(AxisKind::Positions),
        "list" | "point" | "vector" | "covariant-vector" | "normal" => Some(AxisKind::Components(None)),
        "stub" | "scalar" => components(1),
        "complex" | "2-vector" => components(2),
        "3-color"
        | "rgb-color"
        | "hsv-color"
        | "xyz-color"
        | "3-vector"
        | "3-gradient"
        | "3-normal"
        | "2d-symmetric-matrix" => components(3),
        "4-color" | "rgba-color" | "4-vector" | "quaternion" | "2d-masked-symmetric-matrix" | "2d-matrix" => {
            components(4)
        }
        "2d-masked-matrix" => components(5),
        "3d-symmetric-matrix" => components(6),
        "3d-masked-symmetric-matrix" => components(7),
        "3d-matrix" => components(9),
        "3d-masked-matrix" => components(10),
        _ => None,
    }
}
