//! A slice as a table of numbers.

use egui_table::{CellInfo, Column, HeaderCellInfo, HeaderRow, PrefetchInfo, Table, TableDelegate};
use zippy::debug::protocol::{MOST_VIEW_BYTES, View};
use zippy_view::egui::{Align, Button, Layout, Ui};

use super::pane::Given;
use crate::app::pick::Cell;
use crate::app::store::Found;
use crate::app::{table, words};
use crate::look::{self, Part, Quantity, Slice, Values};

/// Columns at most; the table lays out all of them.
const MOST_COLUMNS: i64 = 4096;
/// What is asked for begins and ends at multiples of so many cells, so that small moves ask for nothing new.
const BLOCK: i64 = 32;
const ROW: f32 = 21.0;

/// Shows the slice: a column for each cell across, a row for each one up.
pub fn show(ui: &mut Ui, slice: &Slice, quantity: Quantity, given: Given) {
    let [across, up] = slice.extents(&given.array.shape);
    if across > MOST_COLUMNS {
        ui.weak(format!("the first {MOST_COLUMNS} of {across} along {}", words::axis(slice.across)));
    }
    let columns = across.min(MOST_COLUMNS);
    let wide = (0..columns).map(|_| Column::new(120.0));
    let columns: Vec<Column> = std::iter::once(Column::new(84.0)).chain(wide).collect();
    let table = Table::new().id_salt("numbers").num_rows(up.max(0) as u64).num_sticky_cols(1);
    let table = table.columns(columns).headers([HeaderRow::new(ROW)]);
    let mut cells = Cells { slice, quantity, given, found: Found::default(), values: None };
    table::show(ui, table, &mut cells);
    if let Some(error) = &cells.found.error {
        ui.colored_label(ui.visuals().error_fg_color, error);
    }
}

struct Cells<'a> {
    slice: &'a Slice,
    quantity: Quantity,
    given: Given<'a>,
    found: Found,
    values: Option<Values>,
}

impl Cells<'_> {
    fn index(&self, column: usize, row: u64) -> Vec<i64> {
        self.slice.index([column as i64 - 1, row as i64])
    }

    fn text(&self, view: &View, index: &[i64]) -> Option<String> {
        let element = &self.given.array.element;
        match self.quantity.part {
            Part::Length => self.values.as_ref()?.at(index).map(words::short),
            Part::Component(component) => {
                let name = &self.quantity.of(element)?.name;
                let members = look::cell(view, element, index)?;
                let member = members.into_iter().find(|member| member.name == *name)?;
                Some(member.components.into_iter().nth(usize::from(component))?.text)
            }
        }
    }
}

impl TableDelegate for Cells<'_> {
    fn default_row_height(&self) -> f32 {
        ROW
    }

    fn prepare(&mut self, info: &PrefetchInfo) {
        let extents = self.slice.extents(&self.given.array.shape);
        let along = |start: i64, end: i64, extent: i64| {
            let end = end.clamp(0, extent);
            let up = (end.div_euclid(BLOCK) + i64::from(end.rem_euclid(BLOCK) > 0)) * BLOCK;
            (start.clamp(0, end).div_euclid(BLOCK) * BLOCK, up.min(extent))
        };
        let columns = &info.visible_columns;
        let (left, right) = along(columns.start as i64 - 1, columns.end as i64 - 1, extents[0]);
        let (low, high) = along(info.visible_rows.start as i64, info.visible_rows.end as i64, extents[1]);
        let array = self.given.array;
        if left >= right || low >= high {
            return;
        }
        let cells = [[left, low], [right, high]];
        let request = self.slice.request(array.array, cells, [1, 1], Some(self.quantity.numbers));
        let bytes = self.quantity.of(&array.element).map_or(1, |numbers| numbers.bytes());
        if request.bytes(bytes).is_none_or(|bytes| bytes > MOST_VIEW_BYTES) {
            return;
        }
        self.found = self.given.store.view(request);
        let view = self.found.view().filter(|_| self.quantity.part == Part::Length);
        self.values = view.and_then(|view| Values::new(view, &array.element, self.quantity).ok());
    }

    fn header_cell_ui(&mut self, ui: &mut Ui, cell: &HeaderCellInfo) {
        ui.add_space(4.0);
        let number = cell.col_range.start;
        let text = match (number, self.slice.up) {
            (0, Some(up)) => format!("{} \\ {}", words::axis(up), words::axis(self.slice.across)),
            (0, None) => words::axis(self.slice.across),
            _ => format!("{}", number - 1),
        };
        ui.strong(text);
    }

    fn row_ui(&mut self, ui: &mut Ui, row: u64) {
        if row % 2 == 1 {
            ui.painter().rect_filled(ui.max_rect(), 0.0, ui.visuals().faint_bg_color);
        }
    }

    fn cell_ui(&mut self, ui: &mut Ui, cell: &CellInfo) {
        if cell.col_nr == 0 {
            ui.add_space(4.0);
            ui.strong(if self.slice.up.is_some() { cell.row_nr.to_string() } else { "value".into() });
            return;
        }
        let index = self.index(cell.col_nr, cell.row_nr);
        let text = self.found.view().and_then(|view| self.text(view, &index));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(6.0);
            let shown = text.as_deref().unwrap_or("–");
            let button =
                ui.add(Button::new(shown).frame(false)).accessible_name(format!("{} {shown}", words::place(&index)));
            let cell = Cell { array: self.given.array.array, chunk: None, at: index };
            if button.hovered() || button.has_focus() {
                self.given.picks.hovered = Some(cell.clone());
            }
            if button.clicked() {
                self.given.picks.toggle(self.given.array, cell);
            }
        });
    }
}
