//! Export of cells as NumPy arrays.

use zippy_io::npy::header;
use zippy_protocol::{Numbers, ScalarType};

use super::{CellGrid, NumberSelection};
use crate::imaging::VectorPart;

fn scalar_descr(scalar: ScalarType) -> &'static str {
    match scalar {
        ScalarType::U8 => "'|u1'",
        ScalarType::I8 => "'|i1'",
        ScalarType::U16 => "'<u2'",
        ScalarType::I16 => "'<i2'",
        ScalarType::F16 => "'<f2'",
        ScalarType::U32 => "'<u4'",
        ScalarType::I32 => "'<i4'",
        ScalarType::F32 => "'<f4'",
        ScalarType::U64 => "'<u8'",
        ScalarType::I64 => "'<i8'",
        ScalarType::F64 => "'<f8'",
    }
}

/// Describes a member of a NumPy structured type in Python syntax.
fn describe_member(index: usize, numbers: &Numbers) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
    let name: String = numbers.name.chars().map(|letter| if plain(letter) { letter } else { '_' }).collect();
    let name = if name.is_empty() { format!("numbers{index}") } else { name };
    let shape = if numbers.components > 1 { format!(", ({},)", numbers.components) } else { String::new() };
    format!("('{name}', {}{shape})", scalar_descr(numbers.scalar))
}

/// Returns a file with an array of the grid's axes, the last axis first: a slice has the shape
/// (rows, columns). Numbers keep their types; vector lengths are `f64`. Whole vectors add a fastest
/// axis, and whole records have a structured type.
///
/// # Errors
/// The cells have no such numbers.
pub fn npy(grid: &CellGrid<'_>, selection: NumberSelection) -> Result<Vec<u8>, String> {
    let none = || format!("cells of {} have no such numbers", grid.element.name);
    let mut shape: Vec<u64> = grid.extents.iter().rev().map(|&extent| extent as u64).collect();
    let all = &grid.element.numbers;
    let single;
    let (kind, members): (String, &[Numbers]) = match (selection, all.as_slice()) {
        (Some(quantity), _) => {
            let numbers = quantity.of(grid.element).ok_or_else(none)?;
            match quantity.part {
                VectorPart::Length => {
                    let mut out = header("'<f8'", &shape);
                    for cell in grid.cells() {
                        let value = quantity.value(numbers, grid.numbers(&cell, numbers));
                        out.extend(value.ok_or_else(none)?.to_le_bytes());
                    }
                    return Ok(out);
                }
                VectorPart::Component(component) => {
                    let offset = numbers.offset + u32::from(component) * numbers.scalar.bytes() as u32;
                    single = [Numbers { offset, components: 1, ..numbers.clone() }];
                    (scalar_descr(numbers.scalar).into(), &single)
                }
            }
        }
        (None, []) => return Err(none()),
        (None, [numbers]) => {
            if numbers.components > 1 {
                shape.push(u64::from(numbers.components));
            }
            (scalar_descr(numbers.scalar).into(), all)
        }
        (None, all) => {
            let members: Vec<String> =
                all.iter().enumerate().map(|(index, numbers)| describe_member(index, numbers)).collect();
            (format!("[{}]", members.join(", ")), all)
        }
    };
    let mut out = header(&kind, &shape);
    for cell in grid.cells() {
        members.iter().for_each(|numbers| out.extend(grid.numbers(&cell, numbers)));
    }
    Ok(out)
}
