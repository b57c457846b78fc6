//! The window: what it shows and what it asks for.

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

use super::link::{Event, Frame, Link, Setting, Wanted};
use crate::legend::short;
use crate::scene::{Shown, Way, scale};

/// So long after the last change the picture is drawn in full.
const REST: Duration = Duration::from_millis(250);

const HELP: &str =
    "space: pause and go on   s: one step   drag: turn   right drag: move   wheel: zoom   double click: back";
const HELP_OF_SLICES: &str = "space: pause and go on   s: one step";

pub struct App {
    link: Arc<Link>,
    events: Receiver<Event>,
    viewer: Option<Viewer>,
}

impl App {
    pub fn new(context: &CreationContext, link: Arc<Link>, events: Receiver<Event>) -> Self {
        link.attach(context.egui_ctx.clone());
        Self { link, events, viewer: None }
    }
}

impl eframe::App for App {
    fn logic(&mut self, context: &Context, _: &mut eframe::Frame) {
        for event in self.events.try_iter() {
            match (event, &mut self.viewer) {
                (Event::Ready(setting), viewer) => *viewer = Some(Viewer::new(*setting)),
                (Event::Picture(frame), Some(viewer)) => viewer.picture(context, *frame),
                (Event::Values(shown, values, extremes), Some(viewer)) => viewer.values(shown, *values, extremes),
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
                if let Some(wanted) = viewer.show(ui) {
                    self.link.want(wanted);
                }
            }
            None => {
                CentralPanel::default().show(ui, |ui| {
                    ui.centered_and_justified(|ui| ui.heading("Setting the flow up …"));
                });
            }
        }
    }
}

/// A flow that is looked at.
pub struct Viewer {
    pub setting: Setting,
    pub wanted: Wanted,
    /// The transfer function and the colours' values of each quantity, while another one is shown.
    pub looks: [(TransferFunction, [f64; 2]); 4],
    pub editor: TransferEditor,
    /// How often values of what is shown occur, and the least and the largest one; once that is known.
    pub values: Option<(Shown, Distribution, [f64; 2])>,
    control: CameraControl,
    picture: Picture,
    /// What was asked for last, and since when it is what it is.
    asked: Option<Wanted>,
    since: Instant,
    rate: FrameRate,
    mlups: f64,
    steps: u64,
    resolution: String,
    refused: Option<String>,
    /// Why it stands still for good.
    pub stopped: Option<String>,
}

impl Viewer {
    fn new(setting: Setting) -> Self {
        let looks = Shown::ALL.map(|shown| {
            let (mut scene, range) = (setting.scene.clone(), setting.ranges[shown as usize]);
            scene.spread(range, setting.length);
            (scene.look.transfer, range)
        });
        let scene = setting.scene.clone();
        let control = CameraControl::new(scene.look.camera.clone());
        let editor = TransferEditor::new(empty(scene.range));
        let (speed, per_frame) = (setting.speed, setting.per_frame);
        let wanted = Wanted { scene, moving: false, running: true, singles: 0, per_frame, speed, measured: 0 };
        Self {
            setting,
            wanted,
            looks,
            editor,
            values: None,
            control,
            picture: Picture::default(),
            asked: None,
            since: Instant::now(),
            rate: FrameRate::default(),
            mlups: 0.0,
            steps: 0,
            resolution: String::new(),
            refused: None,
            stopped: None,
        }
    }

    fn picture(&mut self, context: &Context, frame: Frame) {
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

    /// The flow cannot go on: the last picture stays, with the reason.
    fn stop(&mut self, message: String) {
        self.wanted.running = false;
        self.stopped = Some(message);
    }

    fn values(&mut self, shown: Shown, values: Distribution, extremes: [f64; 2]) {
        if shown == self.wanted.scene.shown && [values.min, values.max] == self.wanted.scene.range {
            self.editor.set_values(values.clone());
            self.values = Some((shown, values, extremes));
        }
    }

    /// Shows another quantity, as it was shown last.
    pub fn turn_to(&mut self, shown: Shown) {
        let scene = &mut self.wanted.scene;
        if shown == scene.shown {
            return;
        }
        self.looks[scene.shown as usize] = (scene.look.transfer.clone(), scene.range);
        let (transfer, range) = self.looks[shown as usize].clone();
        (scene.look.transfer, scene.range, scene.iso) = (transfer, range, None);
        (scene.shown, scene.beside) = (shown, self.looks[shown.beside() as usize].1);
        self.renew();
    }

    /// Spreads the colours over other values.
    pub fn spread(&mut self, range: [f64; 2]) {
        self.wanted.scene.spread(range, self.setting.length);
        self.renew();
    }

    /// The values of the scene are not known any more.
    fn renew(&mut self) {
        self.values = None;
        self.editor = TransferEditor::new(empty(self.wanted.scene.range));
        self.wanted.measured += 1;
    }

    /// Shows everything; what the ranks shall do from now on, if it is something else.
    fn show(&mut self, ui: &mut Ui) -> Option<Wanted> {
        self.keys(ui);
        Panel::bottom("status").show(ui, |ui| self.status(ui));
        Panel::right("settings").default_size(345.0).show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| self.settings(ui));
        });
        CentralPanel::no_frame().show(ui, |ui| {
            let points = ui.available_size() * ui.ctx().pixels_per_point();
            let look = &mut self.wanted.scene.look;
            look.size = (points.x.clamp(16.0, 16384.0) as u32, points.y.clamp(16.0, 16384.0) as u32);
            let (response, place) = self.picture.show(ui, [0.0; 3]);
            let slice = self.wanted.scene.way == Way::Slice;
            if !slice {
                self.control.update(ui, &response, place, &mut look.camera);
            }
            let colour = ui.visuals().weak_text_color().gamma_multiply(0.7);
            let corner = response.rect.left_top() + vec2(10.0, 8.0);
            let help = if slice { HELP_OF_SLICES } else { HELP };
            ui.painter().text(corner, Align2::LEFT_TOP, help, FontId::proportional(12.0), colour);
            self.legend(ui, response.rect);
            self.reason(ui, response.rect);
        });
        self.asks(ui.ctx())
    }

    /// What the colours are, in the lower left corner of the picture.
    fn legend(&self, ui: &Ui, area: Rect) {
        let scene = &self.wanted.scene;
        let (name, [low, high]) = match scene.way {
            Way::Surface => (format!("{} on {}", scene.shown.beside().name(), scene.shown.name()), scene.beside),
            _ => (scene.shown.name().to_owned(), scene.range),
        };
        let on_surfaces = TransferFunction { colour: scale(scene.beside), ..scene.look.transfer.clone() };
        let colours = if scene.way == Way::Surface { &on_surfaces } else { &scene.look.transfer };
        let (font, ink, painter) = (FontId::proportional(13.0), ui.visuals().text_color(), ui.painter());
        let mut at = area.left_bottom() + vec2(12.0, -18.0);
        let text = |at, text: String| painter.text(at, Align2::LEFT_CENTER, text, font.clone(), ink).right() + 8.0;
        at.x = text(at, name);
        at.x = text(at, short(low));
        for step in 0..64_u8 {
            let share = f64::from(step) / 63.0;
            let bytes = colours.colour_at(low + (high - low) * share).map(|part| (part * 255.0) as u8);
            let square = Rect::from_min_size(at + vec2(3.0 * f32::from(step), -6.0), vec2(3.5, 12.0));
            painter.rect_filled(square, 0.0, Color32::from_rgb(bytes[0], bytes[1], bytes[2]));
        }
        at.x += 64.0 * 3.0 + 8.0;
        _ = text(at, short(high));
    }

    /// Why the flow stands still, in a frame over the picture.
    fn reason(&self, ui: &Ui, area: Rect) {
        let Some(message) = &self.stopped else { return };
        let text = format!("{message}\n\nThis is the last good picture. Closing the window ends the program.");
        let (font, width) = (FontId::proportional(15.0), (area.width() - 80.0).clamp(100.0, 640.0));
        let text = ui.painter().layout(text, font, Color32::from_rgb(255, 225, 215), width);
        let frame = Rect::from_center_size(area.center_top() + vec2(0.0, 60.0 + 0.5 * text.size().y), text.size());
        ui.painter().rect_filled(frame.expand(14.0), 6.0, Color32::from_rgba_unmultiplied(90, 20, 15, 235));
        ui.painter().galley(frame.min, text, Color32::WHITE);
    }

    /// Keys that work wherever the pointer is, but not while something else listens to them.
    fn keys(&mut self, ui: &Ui) {
        if self.stopped.is_some() || ui.memory(|memory| memory.focused()).is_some() {
            return;
        }
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        if pressed(Key::Space) {
            self.wanted.running = !self.wanted.running;
        }
        if pressed(Key::S) {
            self.single();
        }
    }

    /// One step, after which it stands still.
    pub fn single(&mut self) {
        self.wanted.running = false;
        self.wanted.singles += 1;
    }

    fn status(&self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            let state = match (&self.stopped, self.wanted.running) {
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
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(&self.setting.about));
        });
    }

    /// Asks for what there is now: quickly while it changes, in full when it has come to rest.
    fn asks(&mut self, context: &Context) -> Option<Wanted> {
        let before = self.asked.as_ref().map(|asked| Wanted { moving: self.wanted.moving, ..asked.clone() });
        if before.as_ref() != Some(&self.wanted) {
            self.since = Instant::now();
        }
        let rest = REST.saturating_sub(self.since.elapsed());
        // The first picture is one to look at.
        self.wanted.moving = self.asked.is_some() && rest > Duration::ZERO;
        if self.wanted.moving {
            context.request_repaint_after(rest);
        }
        let news = self.stopped.is_none() && self.asked.as_ref() != Some(&self.wanted);
        news.then(|| self.asked.insert(self.wanted.clone()).clone())
    }
}

/// A range of which nothing is known.
fn empty([min, max]: [f64; 2]) -> Distribution {
    Distribution { min, max, counts: vec![0] }
}
