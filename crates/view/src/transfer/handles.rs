//! A point that is dragged with the pointer, reached with Tab and moved with arrow keys.

use egui::accesskit::Role;
use egui::{EventFilter, Id, Key, Pos2, Rect, Response, Sense, Ui, Vec2, WidgetInfo, vec2};

use super::axes::Axes;

/// Half of the size of the handle of a point, in screen points.
const HALF_SIZE: f32 = 8.0;
/// Movement of a handle by an arrow key, as a fraction of the plot. With shift, a tenth of it.
const KEY_FRACTION: f32 = 0.02;

/// Handle of a point of the transfer function, at its position in the plot.
pub(super) struct Handle {
    pub centre: Pos2,
    pub name: String,
    pub id: Id,
}

/// The user's action on a handle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum HandleAction {
    Nothing,
    Selected,
    Moved(Pos2),
    Removed,
}

impl Handle {
    /// Handles the user's actions and paints the handle at its new position.
    pub(super) fn update(self, ui: &Ui, axes: &Axes, paint: impl FnOnce(&Response, Pos2, bool)) -> HandleAction {
        // Handles outside of the plot are shown at its edge, so that they can be dragged.
        let shown = self.centre.clamp(axes.area.min, axes.area.max + vec2(0.0, 3.0 * HALF_SIZE));
        let response =
            ui.interact(Rect::from_center_size(shown, Vec2::splat(2.0 * HALF_SIZE)), self.id, Sense::click_and_drag());
        let name = self.name;
        response.widget_info(|| WidgetInfo::labeled(Role::Slider, ui.is_enabled(), &name));
        if response.clicked() || response.drag_started() {
            response.request_focus();
        }
        let by = if response.dragged() { response.drag_delta() } else { key_movement(ui, &response, axes) };
        let position = shown + by;
        paint(
            &response,
            position.clamp(axes.area.min, axes.area.max + vec2(0.0, 3.0 * HALF_SIZE)),
            response.has_focus(),
        );
        if response.secondary_clicked() || (response.has_focus() && ui.input(is_delete_pressed)) {
            HandleAction::Removed
        } else if by != Vec2::ZERO {
            HandleAction::Moved(position)
        } else if response.clicked() || response.gained_focus() {
            HandleAction::Selected
        } else {
            HandleAction::Nothing
        }
    }
}

fn is_delete_pressed(input: &egui::InputState) -> bool {
    input.key_pressed(Key::Delete) || input.key_pressed(Key::Backspace)
}

fn key_movement(ui: &Ui, response: &Response, axes: &Axes) -> Vec2 {
    if !response.has_focus() {
        return Vec2::ZERO;
    }
    let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    ui.input(|input| {
        let presses = |key| input.num_presses(key) as f32;
        let steps =
            vec2(presses(Key::ArrowRight) - presses(Key::ArrowLeft), presses(Key::ArrowDown) - presses(Key::ArrowUp));
        let fraction = if input.modifiers.shift { KEY_FRACTION / 10.0 } else { KEY_FRACTION };
        steps * axes.area.size() * fraction
    })
}
