//! Cells as NumPy arrays.

use zippy::debug::protocol::{Numbers, ScalarType};
use zippy_io::npy::header;

use super::{Sheet, Wanted};
use crate::look::Part;

fn descr(scalar: ScalarType) -> &'static str {
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

/// A member as Python writes it.
fn member(place: usize, numbers: &Numbers) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
    let name: String = numbers.name.chars().map(|letter| if plain(letter) { letter } else { '_' }).collect();
    let name = if name.is_empty() { format!("numbers{place}") } else { name };
    let shape = if numbers.components > 1 { format!(", ({},)", numbers.components) } else { String::new() };
    format!("('{name}', {}{shape})", descr(numbers.scalar))
}

/// The file of an array of the sheet's axes, the last one first, as (rows, columns) of a slice. Numbers are in their own types;
/// lengths of vectors are `f64`. Whole vectors make one more axis, the fastest, and whole records a structured type.
///
/// # Errors
/// Cells have no such numbers.
pub fn npy(sheet: &Sheet, wanted: Wanted) -> Result<Vec<u8>, String> {
    let none = || format!("cells of {} have no such numbers", sheet.element.name);
    let mut shape: Vec<u64> = sheet.extents.iter().rev().map(|&extent| extent as u64).collect();
    let all = &sheet.element.numbers;
    let single;
    let (kind, members): (String, &[Numbers]) = match (wanted, all.as_slice()) {
        (Some(quantity), _) => {
            let numbers = quantity.of(sheet.element).ok_or_else(none)?;
            match quantity.part {
                Part::Length => {
                    let mut out = header("'<f8'", &shape);
                    for place in sheet.places() {
                        let value = quantity.value(numbers, sheet.numbers(&place, numbers));
                        out.extend(value.ok_or_else(none)?.to_le_bytes());
                    }
                    return Ok(out);
                }
                Part::Component(place) => {
                    let offset = numbers.offset + u32::from(place) * numbers.scalar.bytes() as u32;
                    single = [Numbers { offset, components: 1, ..numbers.clone() }];
                    (descr(numbers.scalar).into(), &single)
                }
            }
        }
        (None, []) => return Err(none()),
        (None, [numbers]) => {
            if numbers.components > 1 {
                shape.push(u64::from(numbers.components));
            }
            (descr(numbers.scalar).into(), all)
        }
        (None, all) => {
            let members: Vec<String> = all.iter().enumerate().map(|(place, numbers)| member(place, numbers)).collect();
            (format!("[{}]", members.join(", ")), all)
        }
    };
    let mut out = header(&kind, &shape);
    for place in sheet.places() {
        members.iter().for_each(|numbers| out.extend(sheet.numbers(&place, numbers)));
    }
    Ok(out)
}
