//! Window of `--view`: picture, controls and requests.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use zippy_render::volume::{Distribution, TransferFunction};
use zippy_view::eframe::{self, CreationContext};
use zippy_view::egui::{
    self, Align, Align2, CentralPanel, Color32, Context, FontId, Key, Layout, Panel, Rect, RichText, ScrollArea, Ui,
    vec2,
};
use zippy_view::panels::FrameRate;
use zippy_view::{CameraControl, Picture, TransferEditor};

use super::link::{Event, Frame, Link, ViewRequest, ViewerSetup};
use crate::legend::format_short;
use crate::scene::{DrawMode, ShownQuantity, scale};

/// Time after the last change at which the picture is rendered at full quality.
const REST_TIME: Duration = Duration::from_millis(250);

const HELP: &str =
    "space: pause or continue   s: one step   drag: turn   right drag: move   wheel: zoom   double click: back";
const SLICE_HELP: &str = "space: pause or continue   s: one step";

pub(super) struct App {
    link: Arc<Link>,
    events: Receiver<Event>,
    viewer: Option<Viewer>,
}

impl App {
    pub(super) fn new(context: &CreationContext<'_>, link: Arc<Link>, events: Receiver<Event>) -> Self {
        link.attach(context.egui_ctx.clone());
        Self { link, events, viewer: None }
    }
}

impl eframe::App for App {
    fn logic(&mut self, context: &Context, _: &mut eframe::Frame) {
        for event in self.events.try_iter() {
            match (event, &mut self.viewer) {
                (Event::Ready(setup), viewer) => *viewer = Some(Viewer::new(*setup)),
                (Event::Picture(frame), Some(viewer)) => viewer.set_picture(context, *frame),
                (Event::Values(quantity, values, extremes), Some(viewer)) => {
                    viewer.set_values(quantity, *values, extremes)
                }
                (Event::Refused(message), Some(viewer)) => viewer.refused = Some(message),
                (Event::Stopped(message), Some(viewer)) => viewer.stop(message),
                (Event::Ended, _) => context.send_viewport_cmd(egui::ViewportCommand::Close),
                _ => {}
            }
        }
        if self.link.is_closed() {
            context.send_viewport_cmd(egui::ViewportCommand::Close);
        }
    }

    fn ui(&mut self, ui: &mut Ui, _: &mut eframe::Frame) {
        match &mut self.viewer {
            Some(viewer) => {
                if let Some(request) = viewer.show(ui) {
                    self.link.request(request);
                }
            }
            None => {
                CentralPanel::default().show(ui, |ui| {
                    ui.centered_and_justified(|ui| ui.heading("ViewerSetup the flow up …"));
                });
            }
        }
    }
}

/// State of the window after the flow is set up.
pub(super) struct Viewer {
    pub setup: ViewerSetup,
    pub request: ViewRequest,
    /// Transfer function and range of the colours of each quantity, from the last time it was
    /// shown.
    pub looks: [(TransferFunction, [f64; 2]); 4],
    pub editor: TransferEditor,
    /// Distribution of the shown quantity, and its smallest and largest value, after they arrive
    /// from the ranks.
    pub values: Option<(ShownQuantity, Distribution, [f64; 2])>,
    control: CameraControl,
    picture: Picture,
    /// Last request, and time of its last change.
    last_request: Option<ViewRequest>,
    changed_at: Instant,
    rate: FrameRate,
    mlups: f64,
    steps: u64,
    resolution: String,
    refused: Option<String>,
    /// Reason for which the flow cannot continue.
    pub stopped: Option<String>,
}

impl Viewer {
    fn new(setup: ViewerSetup) -> Self {
        let looks = ShownQuantity::ALL.map(|quantity| {
            let (mut scene, range) = (setup.scene.clone(), setup.ranges[quantity as usize]);
            scene.set_range(range, setup.length);
            (scene.look.transfer, range)
        });
        let scene = setup.scene.clone();
        let control = CameraControl::new(scene.look.camera.clone());
        let editor = TransferEditor::new(empty_distribution(scene.range));
        let (speed, steps_per_frame) = (setup.speed, setup.steps_per_frame);
        let request = ViewRequest {
            scene,
            moving: false,
            running: true,
            single_steps: 0,
            steps_per_frame,
            speed,
            distributions: 0,
        };
        Self {
            setup,
            request,
            looks,
            editor,
            values: None,
            control,
            picture: Picture::default(),
            last_request: None,
            changed_at: Instant::now(),
            rate: FrameRate::default(),
            mlups: 0.0,
            steps: 0,
            resolution: String::new(),
            refused: None,
            stopped: None,
        }
    }

    fn set_picture(&mut self, context: &Context, frame: Frame) {
        self.rate.push(frame.secs);
        if frame.mlups > 0.0 {
            self.mlups = frame.mlups;
        }
        self.steps = frame.steps;
        let [width, height] = frame.image.size;
        self.resolution = format!("{width} × {height}{}", if frame.quick { " while moving" } else { "" });
        self.refused = None;
        self.picture.set(context, frame.image);
    }

    /// Stops the flow for good: the last picture stays, with the reason.
    fn stop(&mut self, message: String) {
        self.request.running = false;
        self.stopped = Some(message);
    }

    fn set_values(&mut self, quantity: ShownQuantity, values: Distribution, extremes: [f64; 2]) {
        if quantity == self.request.scene.quantity && [values.min, values.max] == self.request.scene.range {
            self.editor.set_values(values.clone());
            self.values = Some((quantity, values, extremes));
        }
    }

    /// Shows another quantity with its last settings.
    pub(super) fn show_quantity(&mut self, quantity: ShownQuantity) {
        let scene = &mut self.request.scene;
        if quantity == scene.quantity {
            return;
        }
        self.looks[scene.quantity as usize] = (scene.look.transfer.clone(), scene.range);
        let (transfer, range) = self.looks[quantity as usize].clone();
        (scene.look.transfer, scene.range, scene.iso) = (transfer, range, None);
        (scene.quantity, scene.surface_range) = (quantity, self.looks[quantity.surface_quantity() as usize].1);
        self.reset_distribution();
    }

    /// Sets the values of the first and the last colour.
    pub(super) fn set_range(&mut self, range: [f64; 2]) {
        self.request.scene.set_range(range, self.setup.length);
        self.reset_distribution();
    }

    /// Discards the distribution and requests it again.
    fn reset_distribution(&mut self) {
        self.values = None;
        self.editor = TransferEditor::new(empty_distribution(self.request.scene.range));
        self.request.distributions += 1;
    }

    /// Draws the window. Returns the next request to the ranks, if it differs from the last
    /// request.
    fn show(&mut self, ui: &mut Ui) -> Option<ViewRequest> {
        self.handle_keys(ui);
        Panel::bottom("status").show(ui, |ui| self.status(ui));
        Panel::right("settings").default_size(345.0).show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| self.settings(ui));
        });
        CentralPanel::no_frame().show(ui, |ui| {
            let points = ui.available_size() * ui.ctx().pixels_per_point();
            let look = &mut self.request.scene.look;
            look.size = (points.x.clamp(16.0, 16384.0) as u32, points.y.clamp(16.0, 16384.0) as u32);
            let (response, picture_rect) = self.picture.show(ui, [0.0; 3]);
            let is_slice = self.request.scene.mode == DrawMode::Slice;
            if !is_slice {
                self.control.update(ui, &response, picture_rect, &mut look.camera);
            }
            let colour = ui.visuals().weak_text_color().gamma_multiply(0.7);
            let corner = response.rect.left_top() + vec2(10.0, 8.0);
            let help = if is_slice { SLICE_HELP } else { HELP };
            ui.painter().text(corner, Align2::LEFT_TOP, help, FontId::proportional(12.0), colour);
            self.draw_legend(ui, response.rect);
            self.draw_stop_reason(ui, response.rect);
        });
        self.next_request(ui.ctx())
    }

    /// Draws the legend in the lower left corner of the picture.
    fn draw_legend(&self, ui: &Ui, area: Rect) {
        let scene = &self.request.scene;
        let (name, [low, high]) = match scene.mode {
            DrawMode::Surface => (
                format!("{} on {}", scene.quantity.surface_quantity().name(), scene.quantity.name()),
                scene.surface_range,
            ),
            _ => (scene.quantity.name().to_owned(), scene.range),
        };
        let on_surfaces = TransferFunction { colour: scale(scene.surface_range), ..scene.look.transfer.clone() };
        let colours = if scene.mode == DrawMode::Surface { &on_surfaces } else { &scene.look.transfer };
        let (font, ink, painter) = (FontId::proportional(13.0), ui.visuals().text_color(), ui.painter());
        let mut at = area.left_bottom() + vec2(12.0, -18.0);
        let text = |at, text: String| painter.text(at, Align2::LEFT_CENTER, text, font.clone(), ink).right() + 8.0;
        at.x = text(at, name);
        at.x = text(at, format_short(low));
        for step in 0..64_u8 {
            let share = f64::from(step) / 63.0;
            let bytes = colours.colour_at(low + (high - low) * share).map(|part| (part * 255.0) as u8);
            let square = Rect::from_min_size(at + vec2(3.0 * f32::from(step), -6.0), vec2(3.5, 12.0));
            painter.rect_filled(square, 0.0, Color32::from_rgb(bytes[0], bytes[1], bytes[2]));
        }
        at.x += 64.0 * 3.0 + 8.0;
        _ = text(at, format_short(high));
    }

    /// Draws the reason for which the flow stopped over the picture.
    fn draw_stop_reason(&self, ui: &Ui, area: Rect) {
        let Some(message) = &self.stopped else { return };
        let text = format!("{message}\n\nThis is the last valid picture. Closing the window ends the program.");
        let (font, width) = (FontId::proportional(15.0), (area.width() - 80.0).clamp(100.0, 640.0));
        let text = ui.painter().layout(text, font, Color32::from_rgb(255, 225, 215), width);
        let frame = Rect::from_center_size(area.center_top() + vec2(0.0, 60.0 + 0.5 * text.size().y), text.size());
        ui.painter().rect_filled(frame.expand(14.0), 6.0, Color32::from_rgba_unmultiplied(90, 20, 15, 235));
        ui.painter().galley(frame.min, text, Color32::WHITE);
    }

    /// Handles keys, unless the flow has stopped or a widget has the keyboard focus.
    fn handle_keys(&mut self, ui: &Ui) {
        if self.stopped.is_some() || ui.memory(|memory| memory.focused()).is_some() {
            return;
        }
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        if pressed(Key::Space) {
            self.request.running = !self.request.running;
        }
        if pressed(Key::S) {
            self.request_single_step();
        }
    }

    /// Requests one step and pauses.
    pub(super) fn request_single_step(&mut self) {
        self.request.running = false;
        self.request.single_steps += 1;
    }

    fn status(&self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            let state = match (&self.stopped, self.request.running) {
                (Some(_), _) => "unstable",
                (None, true) => "runs",
                (None, false) => "paused",
            };
            ui.label(RichText::new(format!("step {} · {state}", self.steps)).strong());
            ui.separator();
            ui.label(format!("{:.1} MLUPS · {}", self.mlups, self.rate.text()));
            ui.separator();
            match &self.refused {
                Some(message) => ui.colored_label(Color32::from_rgb(240, 110, 90), message),
                None => ui.weak(&self.resolution),
            };
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(&self.setup.title));
        });
    }

    /// Request for the current settings, if it is new: at low resolution while they change, in full
    /// after [`REST_TIME`].
    fn next_request(&mut self, context: &Context) -> Option<ViewRequest> {
        let before = self.last_request.as_ref().map(|last| ViewRequest { moving: self.request.moving, ..last.clone() });
        if before.as_ref() != Some(&self.request) {
            self.changed_at = Instant::now();
        }
        let rest = REST_TIME.saturating_sub(self.changed_at.elapsed());
        // The first picture has full resolution.
        self.request.moving = self.last_request.is_some() && rest > Duration::ZERO;
        if self.request.moving {
            context.request_repaint_after(rest);
        }
        let is_new = self.stopped.is_none() && self.last_request.as_ref() != Some(&self.request);
        is_new.then(|| self.last_request.insert(self.request.clone()).clone())
    }
}

/// Empty distribution over a range.
fn empty_distribution([min, max]: [f64; 2]) -> Distribution {
    Distribution { min, max, counts: vec![0] }
}
