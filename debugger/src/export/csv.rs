//! Export of cells as CSV.

use std::fmt::Write as _;
use std::io::Write;

use zippy_protocol::Numbers;

use super::{CellGrid, NumberSelection};
use crate::imaging::{Quantity, VectorPart, axis_name};

struct Column<'a> {
    name: String,
    quantity: Quantity,
    numbers: &'a Numbers,
}

fn quote_column_name(name: &str) -> String {
    let name: String = name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name }
}

/// Writes a line of column names, then a line per cell with the first axis fastest. A line has the
/// index along every axis and the numbers, in digits that parse to exactly the same numbers.
/// Unnamed numbers have the column name `value`.
///
/// # Errors
/// The cells have no such numbers, or the writer fails.
pub fn csv(grid: &CellGrid<'_>, selection: NumberSelection, out: &mut impl Write) -> Result<(), String> {
    let none = || format!("cells of {} have no such numbers", grid.element.name);
    let all = Quantity::all(grid.element).into_iter();
    let shown = |quantity: &Quantity| match selection {
        Some(selected) => *quantity == selected,
        None => matches!(quantity.part, VectorPart::Component(_)),
    };
    let columns: Option<Vec<Column<'_>>> = all
        .filter(|(_, quantity)| shown(quantity))
        .map(|(name, quantity)| {
            let name = if name.is_empty() { "value".into() } else { name };
            Some(Column { name, quantity, numbers: quantity.of(grid.element)? })
        })
        .collect();
    let columns = columns.filter(|columns| !columns.is_empty()).ok_or_else(none)?;
    let axes = (0..grid.view.of.start.len()).map(axis_name);
    let names: Vec<String> = axes.chain(columns.iter().map(|column| quote_column_name(&column.name))).collect();
    let mut line = names.join(",") + "\n";
    let mut put = |line: &str| out.write_all(line.as_bytes()).map_err(|error| error.to_string());
    put(&line)?;
    for cell in grid.cells() {
        let index: Vec<String> = grid.index(&cell).iter().map(i64::to_string).collect();
        line.clear();
        line.push_str(&index.join(","));
        for Column { quantity, numbers, .. } in &columns {
            let bytes = grid.numbers(&cell, numbers);
            let text = match quantity.part {
                VectorPart::Component(component) => bytes
                    .get(usize::from(component) * numbers.scalar.bytes()..)
                    .and_then(|bytes| numbers.scalar.text(bytes)),
                VectorPart::Length => quantity.value(numbers, bytes).map(|length| format!("{length:?}")),
            };
            let _ = write!(line, ",{}", text.ok_or_else(none)?);
        }
        line.push('\n');
        put(&line)?;
    }
    Ok(())
}
