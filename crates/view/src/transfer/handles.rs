//! A point that can be dragged, reached by Tab and moved by arrows.

use egui::accesskit::Role;
use egui::{EventFilter, Id, Key, Pos2, Rect, Response, Sense, Ui, Vec2, WidgetInfo, vec2};

use super::axes::Axes;

/// How far from its middle a handle is caught.
const REACH: f32 = 8.0;
/// An arrow moves by this share of the plot, with shift by a tenth of it.
const KEY_SHARE: f32 = 0.02;

/// One point of the plot.
pub struct Handle {
    pub centre: Pos2,
    pub name: String,
    pub id: Id,
}

/// What was done with a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Done {
    Nothing,
    Selected,
    Moved(Pos2),
    Removed,
}

impl Handle {
    /// Takes what was done with the handle and paints it where it is now.
    pub fn update(self, ui: &Ui, axes: &Axes, paint: impl FnOnce(&Response, Pos2, bool)) -> Done {
        // Points outside the plot wait at its edge, where they can be caught.
        let caught = self.centre.clamp(axes.area.min, axes.area.max + vec2(0.0, 3.0 * REACH));
        let response =
            ui.interact(Rect::from_center_size(caught, Vec2::splat(2.0 * REACH)), self.id, Sense::click_and_drag());
        let name = self.name;
        response.widget_info(|| WidgetInfo::labeled(Role::Slider, ui.is_enabled(), &name));
        if response.clicked() || response.drag_started() {
            response.request_focus();
        }
        let by = if response.dragged() { response.drag_delta() } else { keys(ui, &response, axes) };
        let place = caught + by;
        paint(&response, place.clamp(axes.area.min, axes.area.max + vec2(0.0, 3.0 * REACH)), response.has_focus());
        if response.secondary_clicked() || (response.has_focus() && ui.input(deleted)) {
            Done::Removed
        } else if by != Vec2::ZERO {
            Done::Moved(place)
        } else if response.clicked() || response.gained_focus() {
            Done::Selected
        } else {
            Done::Nothing
        }
    }
}

fn deleted(input: &egui::InputState) -> bool {
    input.key_pressed(Key::Delete) || input.key_pressed(Key::Backspace)
}

fn keys(ui: &Ui, response: &Response, axes: &Axes) -> Vec2 {
    if !response.has_focus() {
        return Vec2::ZERO;
    }
    let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    ui.input(|input| {
        let presses = |key| input.num_presses(key) as f32;
        let steps =
            vec2(presses(Key::ArrowRight) - presses(Key::ArrowLeft), presses(Key::ArrowDown) - presses(Key::ArrowUp));
        let share = if input.modifiers.shift { KEY_SHARE / 10.0 } else { KEY_SHARE };
        steps * axes.area.size() * share
    })
}
