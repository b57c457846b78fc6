//! Table of the numbers of a slice.

use egui_table::{CellInfo, Column, HeaderCellInfo, HeaderRow, PrefetchInfo, Table, TableDelegate};
use zippy_protocol::{MOST_VIEW_BYTES, View};
use zippy_view::egui::{Align, Button, Layout, Ui};

use super::pane::PaneContext;
use crate::app::pick::Cell;
use crate::app::store::CachedAnswer;
use crate::app::{format, table};
use crate::imaging::{self, Quantity, Slice, Values, VectorPart};

/// Maximum number of columns, because the table lays out all of them.
const MAX_COLUMNS: i64 = 4096;
/// Requested boxes begin and end at multiples of this number of cells, so that short scrolls need
/// no new request.
const BLOCK_CELLS: i64 = 32;
const ROW_HEIGHT: f32 = 21.0;

/// Shows a slice as a table of numbers, with a column per cell along the horizontal axis and a row
/// per cell along the vertical axis.
pub(super) fn show(ui: &mut Ui, slice: &Slice, quantity: Quantity, context: PaneContext<'_>) {
    let [across, up] = slice.extents(&context.array.shape);
    if across > MAX_COLUMNS {
        ui.weak(format!("the first {MAX_COLUMNS} of {across} along {}", format::axis(slice.across)));
    }
    let columns = across.min(MAX_COLUMNS);
    let wide = (0..columns).map(|_| Column::new(120.0));
    let columns: Vec<Column> = std::iter::once(Column::new(84.0)).chain(wide).collect();
    let table = Table::new().id_salt("numbers").num_rows(up.max(0) as u64).num_sticky_cols(1);
    let table = table.columns(columns).headers([HeaderRow::new(ROW_HEIGHT)]);
    let mut table_rows = NumberTable { slice, quantity, context, response: CachedAnswer::default(), values: None };
    table::show(ui, table, &mut table_rows);
    if let Some(error) = &table_rows.response.error {
        ui.colored_label(ui.visuals().error_fg_color, error);
    }
}

struct NumberTable<'a> {
    slice: &'a Slice,
    quantity: Quantity,
    context: PaneContext<'a>,
    response: CachedAnswer,
    values: Option<Values>,
}

impl NumberTable<'_> {
    fn index(&self, column: usize, row: u64) -> Vec<i64> {
        self.slice.index([column as i64 - 1, row as i64])
    }

    fn text(&self, view: &View, index: &[i64]) -> Option<String> {
        let element = &self.context.array.element;
        match self.quantity.part {
            VectorPart::Length => self.values.as_ref()?.at(index).map(format::short),
            VectorPart::Component(component) => {
                let name = &self.quantity.of(element)?.name;
                let members = imaging::cell(view, element, index)?;
                let member = members.into_iter().find(|member| member.name == *name)?;
                Some(member.components.into_iter().nth(usize::from(component))?.text)
            }
        }
    }
}

impl TableDelegate for NumberTable<'_> {
    fn default_row_height(&self) -> f32 {
        ROW_HEIGHT
    }

    fn prepare(&mut self, info: &PrefetchInfo) {
        let extents = self.slice.extents(&self.context.array.shape);
        let along = |start: i64, end: i64, extent: i64| {
            let end = end.clamp(0, extent);
            let up = (end.div_euclid(BLOCK_CELLS) + i64::from(end.rem_euclid(BLOCK_CELLS) > 0)) * BLOCK_CELLS;
            (start.clamp(0, end).div_euclid(BLOCK_CELLS) * BLOCK_CELLS, up.min(extent))
        };
        let columns = &info.visible_columns;
        let (left, right) = along(columns.start as i64 - 1, columns.end as i64 - 1, extents[0]);
        let (low, high) = along(info.visible_rows.start as i64, info.visible_rows.end as i64, extents[1]);
        let array = self.context.array;
        if left >= right || low >= high {
            return;
        }
        let cells = [[left, low], [right, high]];
        let request = self.slice.request(array.array, cells, [1, 1], Some(self.quantity.numbers));
        let bytes = self.quantity.of(&array.element).map_or(1, |numbers| numbers.bytes());
        if request.bytes(bytes).is_none_or(|bytes| bytes > MOST_VIEW_BYTES) {
            return;
        }
        self.response = self.context.store.view(request);
        let view = self.response.view().filter(|_| self.quantity.part == VectorPart::Length);
        self.values = view.and_then(|view| Values::new(view, &array.element, self.quantity).ok());
    }

    fn header_cell_ui(&mut self, ui: &mut Ui, cell: &HeaderCellInfo) {
        ui.add_space(4.0);
        let column = cell.col_range.start;
        let text = match (column, self.slice.up) {
            (0, Some(up)) => format!("{} \\ {}", format::axis(up), format::axis(self.slice.across)),
            (0, None) => format::axis(self.slice.across),
            _ => format!("{}", column - 1),
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
        let text = self.response.view().and_then(|view| self.text(view, &index));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(6.0);
            let shown = text.as_deref().unwrap_or("–");
            let button =
                ui.add(Button::new(shown).frame(false)).accessible_name(format!("{} {shown}", format::index(&index)));
            let cell = Cell { array: self.context.array.array, chunk: None, at: index };
            if button.hovered() || button.has_focus() {
                self.context.picks.hovered = Some(cell.clone());
            }
            if button.clicked() {
                self.context.picks.toggle(self.context.array, cell);
            }
        });
    }
}
