//! Tables with fixed column widths.

use egui_table::{Table, TableDelegate, TableState};
use zippy_view::egui::Ui;

/// Shows a table in all remaining space. The stored state keeps the table from laying out every
/// column once to find its width.
pub(super) fn show(ui: &mut Ui, table: Table, rows: &mut dyn TableDelegate) {
    let id = table.get_id(ui);
    if TableState::load(ui.ctx(), id).is_none() {
        TableState::default().store(ui.ctx(), id);
    }
    table.show(ui, rows);
}
