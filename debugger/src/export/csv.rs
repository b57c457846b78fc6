//! Cells as text.

use std::fmt::Write as _;
use std::io::Write;

use zippy::debug::protocol::Numbers;

use super::{Sheet, Wanted};
use crate::look::{Part, Quantity, axis_name};

/// What a column of numbers is.
struct Column<'a> {
    name: String,
    quantity: Quantity,
    numbers: &'a Numbers,
}

/// A name that a comma or a quote does not break.
fn field(name: &str) -> String {
    let name: String = name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name }
}

/// Writes a line of names and then a line a cell, the first axis fastest: its index along every axis and its numbers, in digits
/// that give them back exactly. Numbers without a name stand under `value`.
///
/// # Errors
/// Cells have no such numbers; what the writer says.
pub fn csv(sheet: &Sheet, wanted: Wanted, out: &mut impl Write) -> Result<(), String> {
    let none = || format!("cells of {} have no such numbers", sheet.element.name);
    let all = Quantity::all(sheet.element).into_iter();
    let shown = |quantity: &Quantity| match wanted {
        Some(wanted) => *quantity == wanted,
        None => matches!(quantity.part, Part::Component(_)),
    };
    let columns: Option<Vec<Column>> = all
        .filter(|(_, quantity)| shown(quantity))
        .map(|(name, quantity)| {
            let name = if name.is_empty() { "value".into() } else { name };
            Some(Column { name, quantity, numbers: quantity.of(sheet.element)? })
        })
        .collect();
    let columns = columns.filter(|columns| !columns.is_empty()).ok_or_else(none)?;
    let axes = (0..sheet.view.of.start.len()).map(axis_name);
    let names: Vec<String> = axes.chain(columns.iter().map(|column| field(&column.name))).collect();
    let mut line = names.join(",") + "\n";
    let mut put = |line: &str| out.write_all(line.as_bytes()).map_err(|error| error.to_string());
    put(&line)?;
    for place in sheet.places() {
        let index: Vec<String> = sheet.index(&place).iter().map(i64::to_string).collect();
        line.clear();
        line.push_str(&index.join(","));
        for Column { quantity, numbers, .. } in &columns {
            let bytes = sheet.numbers(&place, numbers);
            let text = match quantity.part {
                Part::Component(place) => bytes
                    .get(usize::from(place) * numbers.scalar.bytes()..)
                    .and_then(|bytes| numbers.scalar.text(bytes)),
                Part::Length => quantity.value(numbers, bytes).map(|length| format!("{length:?}")),
            };
            let _ = write!(line, ",{}", text.ok_or_else(none)?);
        }
        line.push('\n');
        put(&line)?;
    }
    Ok(())
}
