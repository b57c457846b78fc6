//! NumPy arrays: a magic number, a Python dictionary in text, and the raw numbers.
//!
//! Format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

pub mod array;
mod dictionary;
mod header_text;
mod order;
mod write;

use zippy_files::quoted;

use dictionary::{Dictionary, Value};
pub(super) use header_text::MAGIC;
use header_text::{header_text, is_fortran};
pub use order::NumpyAxes;
pub use write::{header, write_image};

use super::head::Head;
use super::scalar::ScalarKind;
use super::voxels::{Claim, Description, Encoding, MOST_COMPONENTS, Segment, Stated};
use crate::IoError;

pub(super) const FORMAT: &str = "NumPy";

/// Describes the volume. NumPy's last axis counts components if there are 4 axes, or with
/// `components`.
pub(super) fn open(head: &Head, components: bool, axes: NumpyAxes) -> Result<Description, IoError> {
    let path = &head.path;
    let (at, text) = header_text(head)?;
    let found = Dictionary::parse(path, at, text)?;
    let (kind, big_endian) = kind(head, &found)?;
    let is_fortran = is_fortran(path, &found)?;
    let Stated { value: Value::Tuple(shape), at: shape_at } = found.get("shape")? else {
        return Err(IoError::malformed(path, found.get("shape")?.at, "shape must be a tuple of integers"));
    };
    let mut sizes = shape.clone();
    let mut count = Stated::new(1, *shape_at);
    if sizes.len() == 4 || components && sizes.len() > 1 {
        count.value = sizes.pop().unwrap_or(1);
        if count.value > MOST_COMPONENTS {
            let message = format!(
                "{} entries along the last axis are too many for the numbers of a voxel; an array of voxels with c numbers \
                 has shape (z, y, x, c)",
                count.value
            );
            return Err(IoError::unsupported(path, *shape_at, message));
        }
    }
    let sizes = axes.reorder(sizes);
    let claim = Claim { components: count, ..Claim::plain(kind, big_endian, Stated::new(sizes, *shape_at)) };
    let grid = claim.check(path)?;
    let start = at + text.len() as u64;
    let segment = Segment::from_byte(path, start, Encoding::Raw, 0, grid.bytes(), grid.kind)?;
    let order = axes.in_file(grid.shape.axes(), is_fortran, grid.components as i64);
    Ok(Description::in_order(FORMAT, grid, order, segment))
}

/// Number type, and true for big-endian.
fn kind(head: &Head, found: &Dictionary<'_>) -> Result<(ScalarKind, bool), IoError> {
    let Stated { value, at } = found.get("descr")?;
    let refuse = |message: String| Err(IoError::unsupported(&head.path, *at, message));
    let Value::Text(descr) = value else {
        return refuse("records are not read; save one field of the array".into());
    };
    let (order, name) = descr.split_at_checked(1).unwrap_or(("", descr));
    let kind = match name {
        "u1" | "b1" => ScalarKind::U8,
        "i1" => ScalarKind::I8,
        "u2" => ScalarKind::U16,
        "i2" => ScalarKind::I16,
        "u4" => ScalarKind::U32,
        "i4" => ScalarKind::I32,
        "u8" => ScalarKind::U64,
        "i8" => ScalarKind::I64,
        "f2" => ScalarKind::F16,
        "f4" => ScalarKind::F32,
        "f8" => ScalarKind::F64,
        _ => {
            let held = array::describe_type(descr);
            let message = format!("a volume of {held} is not read; convert the array, say with .astype(\"f4\")");
            return refuse(message);
        }
    };
    match order {
        "<" => Ok((kind, false)),
        ">" => Ok((kind, true)),
        "|" if kind.bytes() == 1 => Ok((kind, false)),
        "=" => Ok((kind, cfg!(target_endian = "big"))),
        _ => Err(IoError::malformed(&head.path, *at, format!("unknown byte order in type {}", quoted(descr)))),
    }
}
