//! [`Plane`]: an area of the screen that shows cells. Pointer and keys zoom and move it.

use zippy_view::egui::accesskit::Role;
use zippy_view::egui::{EventFilter, Key, Rect, Response, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};

use crate::imaging::Viewport;

/// Margin around a plane that fits the screen, in points.
const MARGIN: f64 = 12.0;
/// Wheel travel that zooms by a factor of e, in points.
const POINTS_PER_E: f64 = 200.0;
/// Zoom factor of a key press, and distance of a key press in heights of the screen area.
const KEY_ZOOM: f64 = 1.25;
const KEY_PAN: f64 = 0.1;

/// Zoom and position of a plane on the screen.
#[derive(Default)]
pub(super) struct Plane {
    port: Option<Viewport>,
    /// True after the user has zoomed or moved the plane.
    is_moved: bool,
    bounds: [[i64; 2]; 2],
    /// Cell that the user selected with keys.
    cursor: Option<[i64; 2]>,
}

/// Result of the user's actions on a plane in a frame.
pub(super) struct PlaneResponse {
    pub response: Response,
    pub port: Viewport,
    /// Cell under the pointer, or cell that the user selected with keys.
    pub cell: Option<[i64; 2]>,
    /// True if the user pins or unpins the cell in this frame.
    pub pinned: bool,
    /// True if the user moves the other planes to the cell in this frame.
    pub centre: bool,
}

impl Plane {
    /// Fits the whole plane to the screen in the next frame.
    pub(super) fn fit(&mut self) {
        self.is_moved = false;
    }

    /// Allocates an area of the screen for the cells in `bounds`, and handles the user's actions
    /// there.
    pub(super) fn show(&mut self, ui: &mut Ui, size: Vec2, bounds: [[i64; 2]; 2], name: &str) -> PlaneResponse {
        let (area, response) = ui.allocate_exact_size(size.max(vec2(8.0, 8.0)), Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, ui.is_enabled(), name));
        ui.painter().rect_filled(area, 2.0, ui.visuals().extreme_bg_color);
        if bounds != self.bounds {
            *self = Self { bounds, ..Self::default() };
        }
        if response.clicked() || response.secondary_clicked() || response.drag_started() {
            response.request_focus();
        }
        if response.double_clicked() {
            self.is_moved = false;
        }
        let port = self.handle_input(ui, &response, self.viewport(area));
        self.port = Some(port);
        let pointer = response.hover_pos().map(|at| port.cell([at.x.into(), at.y.into()]));
        let mut pinned = response.clicked() && !response.double_clicked();
        if response.has_focus() {
            pinned |= ui.input(|input| input.key_pressed(Key::Enter)) && self.cursor.is_some();
        } else {
            self.cursor = None;
        }
        if pointer.is_some() && ui.input(|input| input.pointer.is_moving()) {
            self.cursor = None;
        }
        let centre = response.secondary_clicked();
        PlaneResponse { cell: self.cursor.or(pointer), port, pinned, centre, response }
    }

    fn viewport(&self, area: Rect) -> Viewport {
        let corner = [area.left().into(), area.top().into()];
        let size = [area.width().into(), area.height().into()];
        match self.port.filter(|_| self.is_moved) {
            Some(port) => port.on(corner, size),
            None => {
                let [low, high] = self.bounds;
                let inner = size.map(|side: f64| (side - 2.0 * MARGIN).max(1.0));
                let extents = [high[0] - low[0], high[1] - low[1]];
                let port = Viewport::fit(corner, inner, extents).on(corner, size);
                let centre = [0, 1].map(|axis| port.centre[axis] + low[axis] as f64);
                Viewport { centre, ..port }
            }
        }
    }

    fn handle_input(&mut self, ui: &Ui, response: &Response, before: Viewport) -> Viewport {
        let mut port = before;
        if response.dragged() {
            let by = response.drag_delta();
            port = self.panned(port, [by.x.into(), by.y.into()]);
        }
        if let Some(pointer) = response.hover_pos() {
            let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
            let factor = (f64::from(scroll) / POINTS_PER_E).exp() * f64::from(pinch);
            if factor != 1.0 {
                port = port.zoomed([pointer.x.into(), pointer.y.into()], factor);
            }
        }
        if response.has_focus() {
            port = self.handle_keys(ui, response, port);
        }
        self.is_moved |= port != before;
        port
    }

    fn panned(&self, port: Viewport, by: [f64; 2]) -> Viewport {
        // `Viewport::panned` assumes a plane that begins at 0.
        let [low, high] = self.bounds;
        let shifted = |port: Viewport, sign: f64| {
            let centre = [0, 1].map(|axis| port.centre[axis] + sign * low[axis] as f64);
            Viewport { centre, ..port }
        };
        shifted(shifted(port, -1.0).panned(by, [high[0] - low[0], high[1] - low[1]]), 1.0)
    }

    /// Handles keys. Arrows move the selected cell; arrows with shift move the plane.
    fn handle_keys(&mut self, ui: &Ui, response: &Response, mut port: Viewport) -> Viewport {
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let (right, up, larger, home, shift) = ui.input(|input| {
            let presses = |key| input.num_presses(key) as i64;
            let right = presses(Key::ArrowRight) - presses(Key::ArrowLeft);
            let up = presses(Key::ArrowUp) - presses(Key::ArrowDown);
            let larger = presses(Key::Plus) + presses(Key::Equals) - presses(Key::Minus);
            (right, up, larger, input.key_pressed(Key::Home), input.modifiers.shift)
        });
        let middle = response.rect.center();
        if larger != 0 {
            port = port.zoomed([middle.x.into(), middle.y.into()], KEY_ZOOM.powf(larger as f64));
        }
        if shift && (right != 0 || up != 0) {
            let step = KEY_PAN * f64::from(response.rect.height());
            port = self.panned(port, [-step * right as f64, step * up as f64]);
        } else if right != 0 || up != 0 {
            let [low, high] = self.bounds;
            let at = self.cursor.unwrap_or_else(|| port.cell([middle.x.into(), middle.y.into()]));
            let within = |axis: usize, at: i64| at.clamp(low[axis], (high[axis] - 1).max(low[axis]));
            self.cursor = Some([within(0, at[0].saturating_add(right)), within(1, at[1].saturating_add(up))]);
        }
        if home {
            self.is_moved = false;
        }
        port
    }
}

/// Screen rectangle of a box of cells.
pub(super) fn on_screen(port: &Viewport, cells: [[i64; 2]; 2]) -> Rect {
    let [low, high] = port.rectangle(cells);
    // Coordinates far outside of the screen have too few digits in `f32`.
    let point = |[x, y]: [f64; 2]| pos2(x.clamp(-1e6, 1e6) as f32, y.clamp(-1e6, 1e6) as f32);
    Rect::from_min_max(point(low), point(high))
}
