//! The list of all arrays.

mod columns;

use std::collections::HashMap;

use egui_table::{CellInfo, Column, HeaderCellInfo, HeaderRow, Table, TableDelegate};
use zippy::debug::protocol::{ArrayEntry, ArrayRef, ScalarValue, Summary, SummaryRequest};
use zippy_view::egui::{Align, Button, Label, Layout, Rect, Sense, Shape, Stroke, TextEdit, Ui, vec2};

use super::store::Store;
use super::{table, words};
use columns::{COLUMNS, Stats};

const ROW: f32 = 22.0;
/// Letters of a number that a column has room for.
const DIGITS: usize = 10;

/// The list, and which array of it is looked at.
#[derive(Default)]
pub struct Arrays {
    filter: String,
    sorted: usize,
    falling: bool,
    /// Whether minimum, maximum and NaNs of all that are seen are asked for.
    all: bool,
    stats: HashMap<ArrayRef, Stats>,
    /// Its name, and where that is known its number in this run.
    chosen: Option<(String, ArrayRef)>,
    run: u64,
}

impl Arrays {
    /// The array that is looked at, if it is there.
    pub fn chosen<'a>(&self, arrays: &'a [ArrayEntry]) -> Option<&'a ArrayEntry> {
        let (_, array) = self.chosen.as_ref()?;
        arrays.iter().find(|entry| entry.array == *array)
    }

    /// Looks at this one.
    pub fn choose(&mut self, array: &ArrayEntry) {
        self.chosen = Some((array.name.clone(), array.array));
    }

    /// Numbers are of one run; what is looked at is found again by its name.
    pub fn renew(&mut self, store: &Store, arrays: &[ArrayEntry]) {
        if self.run != store.run {
            self.run = store.run;
            self.stats.clear();
            if let Some((name, array)) = &mut self.chosen {
                let again = |entry: &&ArrayEntry| entry.name == *name && entry.array.rank == array.rank;
                match arrays.iter().find(again) {
                    Some(entry) => *array = entry.array,
                    None => self.chosen = None,
                }
            }
        }
        if self.chosen(arrays).is_none()
            && let Some(first) = arrays.first()
        {
            self.choose(first);
        }
    }

    /// Shows the list; a click looks at another array.
    pub fn show(&mut self, ui: &mut Ui, store: &mut Store, arrays: &[ArrayEntry]) {
        ui.horizontal(|ui| {
            ui.strong("Arrays");
            ui.add(TextEdit::singleline(&mut self.filter).desired_width(110.0).hint_text("filter by name"))
                .accessible_name("filter by name");
            ui.checkbox(&mut self.all, "min, max of all").on_hover_text("Also of arrays that are not looked at");
        });
        let rows = self.rows(arrays);
        if rows.is_empty() {
            let text = if arrays.is_empty() { "No arrays." } else { "No array has this in its name." };
            ui.weak(text);
        }
        let columns: Vec<Column> = COLUMNS.iter().map(|column| Column::new(column.width)).collect();
        let table = Table::new().id_salt("arrays").num_rows(rows.len() as u64).columns(columns).num_sticky_cols(1);
        let mut list = List { rows, store, panel: self };
        table::show(ui, table.headers([HeaderRow::new(ROW)]), &mut list);
    }

    /// The arrays that are listed, in their order.
    fn rows<'a>(&self, arrays: &'a [ArrayEntry]) -> Vec<&'a ArrayEntry> {
        let filter = self.filter.trim().to_lowercase();
        let mut rows: Vec<&ArrayEntry> =
            arrays.iter().filter(|entry| words::title(entry).to_lowercase().contains(&filter)).collect();
        let order = COLUMNS[self.sorted].order;
        rows.sort_by(|a, b| {
            let order = order(a, self.stats.get(&a.array), b, self.stats.get(&b.array));
            if self.falling { order.reverse() } else { order }
        });
        rows
    }

    fn stats(&mut self, store: &mut Store, entry: &ArrayEntry) -> Option<Stats> {
        let looked_at = self.chosen.as_ref().is_some_and(|(_, array)| *array == entry.array);
        if (self.all || looked_at) && !entry.element.numbers.is_empty() {
            let request = SummaryRequest::of(entry.array, 0);
            if let Some(summary) = store.summary(request).summary() {
                self.stats.insert(entry.array, folded(summary));
            }
        }
        self.stats.get(&entry.array).copied()
    }
}

/// All components together.
fn folded(summary: &Summary) -> Stats {
    let components = &summary.components;
    let low = components.iter().filter_map(|one| one.extremes).map(|(low, _)| low).reduce(ScalarValue::min);
    let high = components.iter().filter_map(|one| one.extremes).map(|(_, high)| high).reduce(ScalarValue::max);
    Stats { extremes: low.zip(high), nans: components.iter().map(|one| one.nans).sum() }
}

/// A triangle over the column that the list is sorted by: it points to where values get larger.
fn mark(ui: &Ui, header: Rect, falling: bool) {
    let (middle, by) = (header.center_top() + vec2(0.0, 1.0), if falling { -2.0 } else { 2.0 });
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
        ROW
    }

    fn header_cell_ui(&mut self, ui: &mut Ui, cell: &HeaderCellInfo) {
        let number = cell.col_range.start;
        let sorted = self.panel.sorted == number;
        let name = COLUMNS[number].name;
        ui.add_space(4.0);
        let header = ui.selectable_label(sorted, name).on_hover_text("sort by this");
        if sorted {
            mark(ui, header.rect, self.panel.falling);
        }
        if header.accessible_name(format!("sort by {name}")).clicked() {
            self.panel.falling = sorted && !self.panel.falling;
            self.panel.sorted = number;
        }
    }

    fn row_ui(&mut self, ui: &mut Ui, row: u64) {
        let chosen = self.panel.chosen.as_ref().map(|(_, array)| *array);
        let rect = ui.max_rect();
        if self.rows.get(row as usize).is_some_and(|entry| Some(entry.array) == chosen) {
            ui.painter().rect_filled(rect, 0.0, ui.visuals().selection.bg_fill.gamma_multiply(0.35));
        } else if row % 2 == 1 {
            ui.painter().rect_filled(rect, 0.0, ui.visuals().faint_bg_color);
        }
    }

    fn cell_ui(&mut self, ui: &mut Ui, cell: &CellInfo) {
        let Some(entry) = self.rows.get(cell.row_nr as usize).copied() else { return };
        let column = &COLUMNS[cell.col_nr];
        // Only those that are seen are asked for.
        let stats = match column.of_numbers {
            true => self.panel.stats(self.store, entry),
            false => None,
        };
        ui.add_space(4.0);
        if cell.col_nr == 0 {
            let chosen = self.panel.chosen.as_ref().is_some_and(|(_, array)| *array == entry.array);
            let title = words::title(entry);
            let name = ui.add(Button::selectable(chosen, &title).truncate()).on_hover_text(&title);
            if name.accessible_name(format!("look at {title}")).clicked() {
                self.panel.choose(entry);
            }
            return;
        }
        let text = (column.text)(entry, stats.as_ref());
        let layout = if column.right { Layout::right_to_left(Align::Center) } else { *ui.layout() };
        ui.with_layout(layout, |ui| {
            if column.right {
                ui.add_space(6.0);
            }
            // Numbers that differ may do so in their last digits.
            let short = if column.right { words::cut(&text, DIGITS) } else { text.clone() };
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
