//! Table of the moves of the last transfer.

use egui_table::{CellInfo, Column, HeaderCellInfo, HeaderRow, Table, TableDelegate};
use zippy_protocol::{ArrayEntry, ArrayRef, MoveEntry, Request};
use zippy_view::egui::{Label, RichText, Ui};

use super::store::Store;
use super::{format, table};

const ROW_HEIGHT: f32 = 21.0;
const COLUMNS: [(&str, f32); 4] = [("from", 290.0), ("to", 290.0), ("cells", 110.0), ("bytes", 90.0)];

/// Shows the moves of the last transfer of the program.
pub(super) fn show(ui: &mut Ui, store: &mut Store, arrays: &[ArrayEntry]) {
    let found = store.want(Request::Moves);
    if let Some(error) = &found.error {
        ui.colored_label(ui.visuals().error_fg_color, error);
        return;
    }
    let Some(moves) = found.moves() else {
        ui.weak("loading …");
        return;
    };
    if moves.operation.is_empty() {
        ui.weak("Nothing was moved yet.");
        return;
    }
    ui.horizontal_wrapped(|ui| {
        format::label(ui, RichText::new(&moves.operation).strong(), 420.0);
        ui.label(if moves.count == 1 { "1 box".into() } else { format!("{} boxes", moves.count) });
        ui.label(format!("{} between ranks", format::bytes(moves.bytes_network)));
        ui.label(format!("{} within ranks", format::bytes(moves.bytes_local)));
        if moves.count > moves.moves.len() as u64 {
            ui.weak(format!("the first {} are listed", moves.moves.len()));
        }
    });
    let columns: Vec<Column> = COLUMNS.iter().map(|(_, width)| Column::new(*width)).collect();
    let table = Table::new().id_salt("moves").num_rows(moves.moves.len() as u64).columns(columns);
    table::show(ui, table.headers([HeaderRow::new(ROW_HEIGHT)]), &mut Rows { moves: &moves.moves, arrays });
}

struct Rows<'a> {
    moves: &'a [MoveEntry],
    arrays: &'a [ArrayEntry],
}

impl Rows<'_> {
    fn endpoint_text(&self, (array, chunk, rank, start): &(Option<ArrayRef>, u64, u32, Vec<i64>)) -> String {
        let Some(array) = array else { return format!("rank {rank}: the program's own memory") };
        let known = self.arrays.iter().find(|entry| entry.array == *array);
        let name = known.map_or_else(|| "an array that is gone".into(), |entry| entry.name.clone());
        format!("rank {rank}: {name}{} of chunk {chunk}", format::index(start))
    }
}

impl TableDelegate for Rows<'_> {
    fn default_row_height(&self) -> f32 {
        ROW_HEIGHT
    }

    fn header_cell_ui(&mut self, ui: &mut Ui, cell: &HeaderCellInfo) {
        ui.add_space(4.0);
        ui.strong(COLUMNS[cell.col_range.start].0);
    }

    fn cell_ui(&mut self, ui: &mut Ui, cell: &CellInfo) {
        let Some(entry) = self.moves.get(cell.row_nr as usize) else { return };
        ui.add_space(4.0);
        let text = match cell.col_nr {
            0 => self.endpoint_text(&entry.from),
            1 => self.endpoint_text(&entry.to),
            2 => format::shape(&entry.extents),
            _ => format::bytes(entry.bytes),
        };
        ui.add(Label::new(text).truncate());
    }
}
