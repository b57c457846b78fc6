//! Arrays of elements in NumPy files.

use zippy_base::element::{ElementInfo, ElementKind, Packed, Scalar};
use zippy_files::{FileError, quoted};
use zippy_plan::extents::Index;

use super::dictionary::{Dictionary, Value};
use super::header_text::{MAGIC, header_text, is_fortran};
use super::write;
use crate::IoError;
use crate::axis_order::AxisOrder;
use crate::head::Head;
use crate::voxels::Stated;

const MACHINE_ORDER: char = if cfg!(target_endian = "big") { '>' } else { '<' };

/// Header of an array with this shape, axis 0 fastest.
pub fn header(element: &ElementInfo, shape: &Index) -> Vec<u8> {
    let (kind, numbers) = (python_type(element), component_count(element));
    let mut sizes: Vec<u64> = (0..shape.axes()).rev().map(|axis| shape[axis] as u64).collect();
    sizes.extend(numbers);
    write::header(&kind, &sizes)
}

/// Location of an array's cells in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct NpyCells {
    /// Shape of the array.
    pub shape: Vec<i64>,
    /// Order of the file's axes, if it differs from `shape`.
    pub order: Option<AxisOrder>,
    /// Offset of the first cell.
    pub start: u64,
    /// Number of consecutive arrays, each with one number of every cell. 1: the numbers of a cell
    /// are adjacent.
    pub planes: usize,
    /// Bytes of a number in the other byte order; 1 for the machine's order.
    pub swap_width: usize,
}

/// Locates the cells of a file with an array of this element type and number of axes.
///
/// # Errors
/// Another type or number of axes; a malformed header; a file of another length.
pub fn open(head: &Head, element: &ElementInfo, axes: usize) -> Result<NpyCells, IoError> {
    let path = &head.path;
    if !head.bytes.starts_with(MAGIC) {
        return Err(IoError::malformed(path, 0, "not a NumPy file, which begins with \\x93NUMPY"));
    }
    let (at, text) = header_text(head)?;
    let found = Dictionary::parse(path, at, text)?;
    let swap_width = swap_width_of(head, &found, element)?;
    let is_fortran = is_fortran(path, &found)?;
    let Stated { value: Value::Tuple(shape), at: shape_at } = found.get("shape")? else {
        return Err(IoError::malformed(path, found.get("shape")?.at, "shape must be a tuple of integers"));
    };
    let mut sizes = shape.clone();
    if let Some(numbers) = component_count(element)
        && sizes.pop() != Some(numbers as i64)
    {
        let message = format!("cells of {} need a last axis of {numbers} numbers", element.name);
        return Err(IoError::unsupported(path, *shape_at, message));
    }
    if sizes.len() != axes {
        let message = format!("an array of {} axes, not of {axes}", sizes.len());
        return Err(IoError::unsupported(path, *shape_at, message));
    }
    sizes.reverse();
    let (order, planes) = if is_fortran {
        (AxisOrder::reversed(axes), component_count(element).unwrap_or(1) as usize)
    } else {
        (None, 1)
    };
    let cells = if sizes.contains(&0) && sizes.iter().all(|&size| size >= 0) {
        Some(0)
    } else {
        sizes.iter().try_fold(1_u64, |all, &size| all.checked_mul(u64::try_from(size).ok()?))
    };
    let expected = cells.and_then(|cells| cells.checked_mul(element.bytes as u64));
    let Some(expected) = expected.filter(|&bytes| i64::try_from(bytes).is_ok()) else {
        return Err(IoError::malformed(path, *shape_at, format!("sizes {shape:?} are no sizes of an array")));
    };
    let start = at + text.len() as u64;
    match head.length.saturating_sub(start) {
        found if found < expected => {
            Err(FileError::Truncated { path: path.clone(), offset: head.length, found, expected }.into())
        }
        found if found > expected => {
            Err(FileError::Oversized { path: path.clone(), offset: start + expected, expected }.into())
        }
        _ => Ok(NpyCells { shape: sizes, order, start, planes, swap_width }),
    }
}

/// Shape of an array, axis 0 fastest, and the Rust type of its numbers; for records the type in the
/// header.
pub fn describe(head: &Head) -> Result<(Vec<i64>, String), IoError> {
    let path = &head.path;
    if !head.bytes.starts_with(MAGIC) {
        return Err(IoError::malformed(path, 0, "not a NumPy file, which begins with \\x93NUMPY"));
    }
    let (at, text) = header_text(head)?;
    let found = Dictionary::parse(path, at, text)?;
    let Value::Tuple(shape) = &found.get("shape")?.value else {
        return Err(IoError::malformed(path, found.get("shape")?.at, "shape must be a tuple of integers"));
    };
    let mut shape = shape.clone();
    shape.reverse();
    let element = match &found.get("descr")?.value {
        Value::List(text) => text.clone(),
        Value::Text(text) => rust_name(text).map_or_else(|| text.clone(), str::to_string),
        _ => return Err(IoError::malformed(path, found.get("descr")?.at, "descr must be a text or a list")),
    };
    Ok((shape, element))
}

fn rust_name(descr: &str) -> Option<&'static str> {
    Some(match descr.trim_start_matches(['<', '>', '=', '|']) {
        "u1" | "b1" => "u8",
        "i1" => "i8",
        "u2" => "u16",
        "i2" => "i16",
        "u4" => "u32",
        "i4" => "i32",
        "u8" => "u64",
        "i8" => "i64",
        "f2" => "f16",
        "f4" => "f32",
        "f8" => "f64",
        _ => return None,
    })
}

pub(super) fn describe_type(descr: &str) -> String {
    let bare = descr.trim_start_matches(['<', '>', '=', '|']);
    let kind = match (rust_name(descr), bare.chars().next()) {
        (Some(name), _) => return name.to_owned(),
        (_, Some('c')) => "complex numbers",
        (_, Some('f')) => "floats of another size",
        (_, Some('S' | 'U')) => "texts",
        (_, Some('O')) => "Python objects",
        (_, Some('M' | 'm')) => "times",
        _ => return format!("the NumPy type {}", quoted(descr)),
    };
    format!("{kind} (NumPy type {})", quoted(descr))
}

/// Describes a record such as `[('a', '<f4'), ('b', '<u2', (3,))]`.
fn describe_record(descr: &str) -> String {
    let parts: Vec<&str> = descr.split('\'').collect();
    let part = |(index, part): (usize, &&str)| match (index % 2, rust_name(part)) {
        (1, Some(name)) if parts[index - 1].ends_with(", ") => name.to_owned(),
        (1, _) => quoted(part),
        _ => (*part).to_owned(),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Bytes of a number in the other byte order; 1 for the machine's order. Another type is an error.
fn swap_width_of(head: &Head, found: &Dictionary<'_>, element: &ElementInfo) -> Result<usize, IoError> {
    let Stated { value, at } = found.get("descr")?;
    let expected = python_type(element);
    let (held, swapped) = match value {
        Value::Text(text) if !matches!(element.kind, ElementKind::Record(_)) => {
            let (order, name) = text.split_at_checked(1).unwrap_or(("", text));
            let (_, wanted) = expected.trim_matches('\'').split_at_checked(1).unwrap_or(("", ""));
            let other = matches!((order, MACHINE_ORDER), (">", '<') | ("<", '>'));
            let bytes = wanted.get(1..).and_then(|digits| digits.parse().ok()).unwrap_or(1);
            let is_order = matches!(order, "<" | ">" | "=") || order == "|" && bytes == 1;
            let is_known = is_order && (name == wanted || name == "b1" && wanted == "u1");
            (describe_type(text), is_known.then_some(if other { bytes } else { 1 }))
        }
        Value::List(text) => {
            let bare = |text: &str| text.replace(char::is_whitespace, "");
            (describe_record(text), (bare(text) == bare(&expected)).then_some(1))
        }
        Value::Text(text) => (describe_type(text), None),
        _ => ("something that is no type".to_owned(), None),
    };
    swapped.ok_or_else(|| {
        let wanted = match &element.kind {
            ElementKind::Record(_) => format!("a record of {}", describe_record(&expected)),
            ElementKind::Vector(scalar, _) => describe_type(python_name(*scalar)),
            _ => element.name.to_owned(),
        };
        let advice = match (value, &element.kind) {
            (Value::Text(_), ElementKind::Record(_)) | (Value::List(_), _) => "load it as what it holds",
            (Value::Text(text), _) => {
                let or_load = rust_name(text).map_or_else(String::new, |name| format!("load it as {name}, or "));
                &format!(
                    "{or_load}convert it in NumPy with .astype({:?})",
                    expected.trim_matches(['\'', '|', MACHINE_ORDER])
                )
            }
            _ => "save it again with one type of cells",
        };
        let message = format!("holds {held}, not {wanted}; {advice}");
        IoError::unsupported(&head.path, *at, message)
    })
}

/// Type of a cell, or of the numbers of a vector, in Python notation.
fn python_type(element: &ElementInfo) -> String {
    match element.kind {
        ElementKind::Scalar(scalar) | ElementKind::Vector(scalar, _) => {
            format!("'{MACHINE_ORDER}{}'", python_name(scalar))
        }
        ElementKind::Packed(packed) => match packed {
            Packed::U8 => "'|u1'".into(),
            Packed::I8 => "'|i1'".into(),
            Packed::U16 => format!("'{MACHINE_ORDER}u2'"),
            Packed::I16 => format!("'{MACHINE_ORDER}i2'"),
        },
        ElementKind::Record(fields) => {
            let field = |field: &zippy_base::element::Field| {
                let numbers = component_count(&field.info).map_or(String::new(), |numbers| format!(", ({numbers},)"));
                format!("('{}', {}{numbers})", field.name, python_type(&field.info))
            };
            format!("[{}]", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
    }
}

fn python_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F16 => "f2",
        Scalar::F32 => "f4",
        Scalar::F64 => "f8",
        Scalar::I32 => "i4",
        Scalar::U32 => "u4",
        Scalar::I64 => "i8",
        Scalar::U64 => "u8",
    }
}

fn component_count(element: &ElementInfo) -> Option<u64> {
    match element.kind {
        ElementKind::Vector(_, numbers) => Some(numbers as u64),
        _ => None,
    }
}
