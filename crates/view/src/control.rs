//! [`CameraControl`]: moves a camera with pointer, wheel and keys.

use std::f64::consts::PI;

use egui::accesskit::Role;
use egui::{EventFilter, Key, PointerButton, Pos2, Rect, Response, Ui, WidgetInfo, vec2};
use zippy_render::volume::Camera;

use crate::orbit;

/// Angle of a drag across the height of the picture, in radians.
const TURN_PER_HEIGHT: f64 = PI;
/// Wheel travel that zooms by a factor of e, in points.
const POINTS_PER_E: f64 = 200.0;
/// Movement by a key press: angle in radians, distance in picture heights, and zoom factor.
const KEY_TURN: f64 = PI / 36.0;
const KEY_PAN: f64 = 0.05;
const KEY_ZOOM: f64 = 1.1;
/// Maximum ratio between the scales of the camera and of the first camera, which limits rounding
/// errors.
const MAX_ZOOM: f64 = 1e4;

/// Moves a camera with pointer and keys.
///
/// * Drag: turn. With the right or middle button, or with shift: move.
/// * Wheel and pinch: zoom about the pointer.
/// * Double click: return to the first camera.
/// * Keys: arrows turn, arrows with shift move, `+` and `-` zoom, Home returns to the first camera.
#[derive(Debug, Clone)]
pub struct CameraControl {
    home: Camera,
}

impl CameraControl {
    /// Creates a control with the first camera `home`.
    pub fn new(home: Camera) -> Self {
        Self { home }
    }

    /// Returns the first camera.
    pub fn home(&self) -> &Camera {
        &self.home
    }

    /// Applies the user's actions of a frame to `camera`. `picture` is the screen rectangle of the
    /// picture, and `response` must sense clicks and drags. Returns true if the camera has changed.
    pub fn update(&self, ui: &Ui, response: &Response, picture: Rect, camera: &mut Camera) -> bool {
        let before = camera.clone();
        response.widget_info(|| WidgetInfo::labeled(Role::Image, ui.is_enabled(), "picture of the volume"));
        if response.clicked() || response.drag_started() {
            response.request_focus();
        }
        if response.double_clicked() {
            camera.clone_from(&self.home);
        } else {
            apply_drag(ui, response, picture, camera);
            self.handle_wheel(ui, response, picture, camera);
        }
        if response.has_focus() {
            self.handle_keys(ui, response, camera);
        }
        *camera != before
    }

    fn handle_wheel(&self, ui: &Ui, response: &Response, picture: Rect, camera: &mut Camera) {
        let Some(pointer) = response.hover_pos() else { return };
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        if scroll != 0.0 || pinch != 1.0 {
            let height = f64::from(picture.height());
            let from_centre = pointer - picture.center();
            let at = [f64::from(from_centre.x) / height, f64::from(-from_centre.y) / height];
            self.zoom(camera, (f64::from(scroll) / POINTS_PER_E).exp() * f64::from(pinch), at);
        }
    }

    fn zoom(&self, camera: &mut Camera, factor: f64, at: [f64; 2]) {
        let scale = orbit::height_at_focus(&self.home) / orbit::height_at_focus(camera) * factor;
        if (1.0 / MAX_ZOOM..=MAX_ZOOM).contains(&scale) {
            orbit::zoom(camera, factor, at);
        }
    }

    fn handle_keys(&self, ui: &Ui, response: &Response, camera: &mut Camera) {
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let (keys, shift) = ui.input(|input| {
            let presses = |key| input.num_presses(key) as f64;
            let right = presses(Key::ArrowRight) - presses(Key::ArrowLeft);
            let up = presses(Key::ArrowUp) - presses(Key::ArrowDown);
            let larger = presses(Key::Plus) + presses(Key::Equals) - presses(Key::Minus);
            ([right, up, larger, presses(Key::Home)], input.modifiers.shift)
        });
        let [right, up, larger, home] = keys;
        match (right != 0.0 || up != 0.0, shift) {
            (true, false) => orbit::turn(camera, right * KEY_TURN, up * KEY_TURN),
            (true, true) => orbit::pan(camera, right * KEY_PAN, up * KEY_PAN),
            _ => {}
        }
        if larger != 0.0 {
            self.zoom(camera, KEY_ZOOM.powf(larger), [0.0; 2]);
        }
        if home > 0.0 {
            camera.clone_from(&self.home);
        }
    }
}

/// Returns the screen position of a point of the volume, in a picture of `camera` that fills
/// `picture`. `None` for a point behind the camera.
pub fn seen_at(camera: &Camera, picture: Rect, point: [f64; 3]) -> Option<Pos2> {
    let [right, up] = orbit::seen_at(camera, point)?;
    let height = f64::from(picture.height());
    Some(picture.center() + vec2((right * height) as f32, (-up * height) as f32))
}

fn apply_drag(ui: &Ui, response: &Response, picture: Rect, camera: &mut Camera) {
    let by = response.drag_delta() / picture.height();
    let (right, up) = (f64::from(by.x), f64::from(-by.y));
    if !response.dragged() || (right == 0.0 && up == 0.0) {
        return;
    }
    if !response.dragged_by(PointerButton::Primary) || ui.input(|input| input.modifiers.shift) {
        orbit::pan(camera, right, up);
    } else {
        orbit::turn(camera, right * TURN_PER_HEIGHT, up * TURN_PER_HEIGHT);
    }
}
