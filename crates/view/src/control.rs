//! [`CameraControl`]: a camera moved by pointer, wheel and keys.

use std::f64::consts::PI;

use egui::accesskit::Role;
use egui::{EventFilter, Key, PointerButton, Pos2, Rect, Response, Ui, WidgetInfo, vec2};
use zippy_render::volume::Camera;

use crate::orbit;

/// A drag across the height of the picture turns by so much.
const TURN_PER_HEIGHT: f64 = PI;
/// The wheel must turn by so many points to make things e times as large.
const POINTS_PER_E: f64 = 200.0;
/// What a key turns, moves (picture heights) and zooms.
const KEY_TURN: f64 = PI / 36.0;
const KEY_PAN: f64 = 0.05;
const KEY_ZOOM: f64 = 1.1;
/// The camera stays within this factor of the first one's scale, where numbers are good.
const MOST_ZOOM: f64 = 1e4;

/// Moves a camera: a drag turns, with the right or middle button or with shift it moves, the wheel and a pinch zoom about
/// the pointer, a double click goes back to the first camera. With the keyboard: arrows, shift and arrows, `+`, `-`, Home.
#[derive(Debug, Clone)]
pub struct CameraControl {
    home: Camera,
}

impl CameraControl {
    /// A control that goes back to `home`.
    pub fn new(home: Camera) -> Self {
        Self { home }
    }

    /// The camera that it goes back to.
    pub fn home(&self) -> &Camera {
        &self.home
    }

    /// Takes what was done on the picture, which fills `picture` on the screen and senses clicks and drags. Returns whether
    /// the camera is another one.
    pub fn update(&self, ui: &Ui, response: &Response, picture: Rect, camera: &mut Camera) -> bool {
        let before = camera.clone();
        response.widget_info(|| WidgetInfo::labeled(Role::Image, ui.is_enabled(), "picture of the volume"));
        if response.clicked() || response.drag_started() {
            response.request_focus();
        }
        if response.double_clicked() {
            camera.clone_from(&self.home);
        } else {
            drag(ui, response, picture, camera);
            self.wheel(ui, response, picture, camera);
        }
        if response.has_focus() {
            self.keys(ui, response, camera);
        }
        *camera != before
    }

    fn wheel(&self, ui: &Ui, response: &Response, picture: Rect, camera: &mut Camera) {
        let Some(pointer) = response.hover_pos() else { return };
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        if scroll != 0.0 || pinch != 1.0 {
            let height = f64::from(picture.height());
            let aside = pointer - picture.center();
            let at = [f64::from(aside.x) / height, f64::from(-aside.y) / height];
            self.zoom(camera, (f64::from(scroll) / POINTS_PER_E).exp() * f64::from(pinch), at);
        }
    }

    fn zoom(&self, camera: &mut Camera, factor: f64, at: [f64; 2]) {
        let scale = orbit::height_at_focus(&self.home) / orbit::height_at_focus(camera) * factor;
        if (1.0 / MOST_ZOOM..=MOST_ZOOM).contains(&scale) {
            orbit::zoom(camera, factor, at);
        }
    }

    fn keys(&self, ui: &Ui, response: &Response, camera: &mut Camera) {
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

/// Where on the screen a point of the volume is seen in a picture that a camera has taken and that fills `picture`; none behind
/// the camera.
pub fn seen_at(camera: &Camera, picture: Rect, point: [f64; 3]) -> Option<Pos2> {
    let [right, up] = orbit::seen_at(camera, point)?;
    let height = f64::from(picture.height());
    Some(picture.center() + vec2((right * height) as f32, (-up * height) as f32))
}

fn drag(ui: &Ui, response: &Response, picture: Rect, camera: &mut Camera) {
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
