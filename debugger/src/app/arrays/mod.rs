//! The list of all arrays.

mod columns;

use std::collections::HashMap;

use egui_table::{CellInfo, Column, HeaderCellInfo, HeaderRow, Table, TableDelegate};
use zippy_protocol::{ArrayEntry, ArrayRef, ScalarValue, Summary, SummaryRequest};
use zippy_view::egui::{Align, Button, Label, Layout, Rect, Sense, Shape, Stroke, TextEdit, Ui, vec2};

use super::store::Store;
use super::{format, table};
use columns::{COLUMNS, Stats};

const ROW_HEIGHT: f32 = 22.0;
/// Maximum length of a number in a column, in letters. A longer number is shortened.
const MAX_NUMBER_LETTERS: usize = 10;

/// The list of arrays and the selected array.
#[derive(Default)]
pub(super) struct Arrays {
    filter: String,
    sort_column: usize,
    descending: bool,
    /// Requests minimum, maximum and NaNs of all visible arrays, not only of the selected one.
    for_all_arrays: bool,
    stats: HashMap<ArrayRef, Stats>,
    /// Name and reference of the selected array. A reference is valid in one run of the program
    /// only; the name finds the array again in the next run.
    selected: Option<(String, ArrayRef)>,
    run: u64,
}

impl Arrays {
    pub(super) fn selected<'a>(&self, arrays: &'a [ArrayEntry]) -> Option<&'a ArrayEntry> {
        let (_, array) = self.selected.as_ref()?;
        arrays.iter().find(|entry| entry.array == *array)
    }

    pub(super) fn select(&mut self, array: &ArrayEntry) {
        self.selected = Some((array.name.clone(), array.array));
    }

    /// Adapts the list to a new run: drops statistics of the old run and finds the selected array
    /// again by name.
    pub(super) fn update_run(&mut self, store: &Store, arrays: &[ArrayEntry]) {
        if self.run != store.run {
            self.run = store.run;
            self.stats.clear();
            if let Some((name, array)) = &mut self.selected {
                let again = |entry: &&ArrayEntry| entry.name == *name && entry.array.rank == array.rank;
                match arrays.iter().find(again) {
                    Some(entry) => *array = entry.array,
                    None => self.selected = None,
                }
            }
        }
        if self.selected(arrays).is_none()
            && let Some(first) = arrays.first()
        {
            self.select(first);
        }
    }

    /// Shows the list. A click on a name selects the array.
    pub(super) fn show(&mut self, ui: &mut Ui, store: &mut Store, arrays: &[ArrayEntry]) {
        ui.horizontal(|ui| {
            ui.strong("Arrays");
            ui.add(TextEdit::singleline(&mut self.filter).desired_width(110.0).hint_text("filter by name"))
                .accessible_name("filter by name");
            ui.checkbox(&mut self.for_all_arrays, "min, max of all")
                .on_hover_text("Also for arrays that are not selected");
        });
        let rows = self.filtered_rows(arrays);
        if rows.is_empty() {
            let text = if arrays.is_empty() { "No arrays." } else { "No array has this in its name." };
            ui.weak(text);
        }
        let columns: Vec<Column> = COLUMNS.iter().map(|column| Column::new(column.width)).collect();
        let table = Table::new().id_salt("arrays").num_rows(rows.len() as u64).columns(columns).num_sticky_cols(1);
        let mut list = List { rows, store, panel: self };
        table::show(ui, table.headers([HeaderRow::new(ROW_HEIGHT)]), &mut list);
    }

    /// Returns the arrays that match the filter, in sort order.
    fn filtered_rows<'a>(&self, arrays: &'a [ArrayEntry]) -> Vec<&'a ArrayEntry> {
        let filter = self.filter.trim().to_lowercase();
        let mut rows: Vec<&ArrayEntry> =
            arrays.iter().filter(|entry| format::title(entry).to_lowercase().contains(&filter)).collect();
        let order = COLUMNS[self.sort_column].order;
        rows.sort_by(|a, b| {
            let order = order(a, self.stats.get(&a.array), b, self.stats.get(&b.array));
            if self.descending { order.reverse() } else { order }
        });
        rows
    }

    fn stats(&mut self, store: &mut Store, entry: &ArrayEntry) -> Option<Stats> {
        let is_selected = self.selected.as_ref().is_some_and(|(_, array)| *array == entry.array);
        if (self.for_all_arrays || is_selected) && !entry.element.numbers.is_empty() {
            let request = SummaryRequest::of(entry.array, 0);
            if let Some(summary) = store.summary(request).summary() {
                self.stats.insert(entry.array, combine_components(summary));
            }
        }
        self.stats.get(&entry.array).copied()
    }
}

/// Combines the statistics of all components.
fn combine_components(summary: &Summary) -> Stats {
    let components = &summary.components;
    let low = components.iter().filter_map(|component| component.extremes).map(|(low, _)| low).reduce(ScalarValue::min);
    let high =
        components.iter().filter_map(|component| component.extremes).map(|(_, high)| high).reduce(ScalarValue::max);
    Stats { extremes: low.zip(high), nans: components.iter().map(|component| component.nans).sum() }
}

/// Draws a triangle in the header of the sorted column, which points in the direction of larger
/// values.
fn draw_sort_mark(ui: &Ui, header: Rect, descending: bool) {
    let (middle, by) = (header.center_top() + vec2(0.0, 1.0), if descending { -2.0 } else { 2.0 });
    let corners = vec![middle + vec2(-4.0, -by), middle + vec2(4.0, -by), middle + vec2(0.0, by)];
    ui.painter().add(Shape::convex_polygon(corners, ui.visuals().strong_text_color(), Stroke::NONE));
}

struct List<'a> {
    rows: Vec<&'a ArrayEntry>,
    store: &'a mut Store,
    panel: &'a mut Arrays,
}

impl TableDelegate for List<'_> {
    fn default_row_height(&self) -> f32 {
        ROW_HEIGHT
    }

    fn header_cell_ui(&mut self, ui: &mut Ui, cell: &HeaderCellInfo) {
        let number = cell.col_range.start;
        let sorted = self.panel.sort_column == number;
        let name = COLUMNS[number].name;
        ui.add_space(4.0);
        let header = ui.selectable_label(sorted, name).on_hover_text("sort by this");
        if sorted {
            draw_sort_mark(ui, header.rect, self.panel.descending);
        }
        if header.accessible_name(format!("sort by {name}")).clicked() {
            self.panel.descending = sorted && !self.panel.descending;
            self.panel.sort_column = number;
        }
    }

    fn row_ui(&mut self, ui: &mut Ui, row: u64) {
        let selected = self.panel.selected.as_ref().map(|(_, array)| *array);
        let rect = ui.max_rect();
        if self.rows.get(row as usize).is_some_and(|entry| Some(entry.array) == selected) {
            ui.painter().rect_filled(rect, 0.0, ui.visuals().selection.bg_fill.gamma_multiply(0.35));
        } else if row % 2 == 1 {
            ui.painter().rect_filled(rect, 0.0, ui.visuals().faint_bg_color);
        }
    }

    fn cell_ui(&mut self, ui: &mut Ui, cell: &CellInfo) {
        let Some(entry) = self.rows.get(cell.row_nr as usize).copied() else { return };
        let column = &COLUMNS[cell.col_nr];
        // Request statistics of visible rows only.
        let stats = if column.needs_stats { self.panel.stats(self.store, entry) } else { None };
        ui.add_space(4.0);
        if cell.col_nr == 0 {
            let selected = self.panel.selected.as_ref().is_some_and(|(_, array)| *array == entry.array);
            let title = format::title(entry);
            let name = ui.add(Button::selectable(selected, &title).truncate()).on_hover_text(&title);
            if name.accessible_name(format!("look at {title}")).clicked() {
                self.panel.select(entry);
            }
            return;
        }
        let text = (column.text)(entry, stats.as_ref());
        let layout = if column.align_right { Layout::right_to_left(Align::Center) } else { *ui.layout() };
        ui.with_layout(layout, |ui| {
            if column.align_right {
                ui.add_space(6.0);
            }
            // Long numbers often differ only in their last digits, so both ends are kept.
            let short = if column.align_right { format::shorten(&text, MAX_NUMBER_LETTERS) } else { text.clone() };
            let is_cut = short != text;
            let mut label = ui.add(Label::new(short).sense(Sense::hover()).truncate());
            if is_cut {
                label = label.on_hover_text(text);
            }
            if let Some(write) = &entry.last_write {
                label.on_hover_text(format!(
                    "last written by {} at {}:{} in step {}",
                    write.operation, write.file, write.line, write.step
                ));
            }
        });
    }
}
