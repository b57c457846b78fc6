//! Tables whose columns are as wide as they are told.

use egui_table::{Table, TableDelegate, TableState};
use zippy_view::egui::Ui;

/// Shows a table in all the room that there is. By itself it would lay out every column once to find its width.
pub fn show(ui: &mut Ui, table: Table, rows: &mut dyn TableDelegate) {
    let id = table.get_id(ui);
    if TableState::load(ui.ctx(), id).is_none() {
        TableState::default().store(ui.ctx(), id);
    }
    table.show(ui, rows);
}
