//! Window of `--view`: picture, controls and requests for pictures.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use zippy_render::volume::Look;
use zippy_view::eframe::{self, CreationContext};
use zippy_view::egui::{
    self, Align, Align2, CentralPanel, CollapsingHeader, Color32, Context, FontId, Layout, Panel, RichText, ScrollArea,
    Ui, vec2,
};
use zippy_view::panels::{self, ClipEditor, FrameRate, Timing};
use zippy_view::{CameraControl, Picture, TransferEditor};

use super::link::{Event, FinishedPicture, Link, ViewRequest};
use crate::isosurface::Isosurface;
use crate::viewer_setup::ViewerSetup;

/// Time after the last change at which the picture is rendered at full quality.
const REST_TIME: Duration = Duration::from_millis(250);

const HELP: &str = "drag: turn   right drag: move   wheel: zoom   double click: back";

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
                (Event::Picture(finished), Some(viewer)) => viewer.set_picture(context, *finished),
                (Event::Refused(message), Some(viewer)) => viewer.refused = Some(message),
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
                    ui.centered_and_justified(|ui| ui.heading("Reading the volume …"));
                });
            }
        }
    }
}

/// State of the window after the volume is loaded.
struct Viewer {
    setup: ViewerSetup,
    look: Look,
    /// Available isosurface, and true if it is shown.
    isosurface: Option<(Isosurface, bool)>,
    background: [f32; 3],
    control: CameraControl,
    editor: TransferEditor,
    clip: ClipEditor,
    picture: Picture,
    /// Last request, and time of its last change.
    requested: Option<ViewRequest>,
    changed_at: Instant,
    rate: FrameRate,
    timings: Vec<Timing>,
    resolution: String,
    refused: Option<String>,
}

impl Viewer {
    fn new(setup: ViewerSetup) -> Self {
        Self {
            look: setup.look.clone(),
            isosurface: setup.isosurface.clone(),
            background: setup.background,
            control: CameraControl::new(setup.look.camera.clone()),
            editor: TransferEditor::new(setup.values.clone()),
            clip: ClipEditor::new(setup.bounds, &setup.look.clip),
            picture: Picture::default(),
            requested: None,
            changed_at: Instant::now(),
            rate: FrameRate::default(),
            timings: Vec::new(),
            resolution: String::new(),
            refused: None,
            setup,
        }
    }

    fn set_picture(&mut self, context: &Context, finished: FinishedPicture) {
        if !finished.moving {
            self.rate.clear();
        }
        self.rate.push(finished.secs);
        self.timings = finished.timings;
        let [width, height] = finished.image.size;
        self.resolution = format!("{width} × {height}{}", if finished.moving { " while moving" } else { "" });
        self.refused = None;
        self.picture.set(context, finished.image);
    }

    /// Draws the window. Returns the next request to the ranks, if it differs from the last
    /// request.
    fn show(&mut self, ui: &mut Ui) -> Option<ViewRequest> {
        Panel::bottom("status").show(ui, |ui| self.status(ui));
        Panel::right("settings").default_size(345.0).show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| self.settings(ui));
        });
        CentralPanel::no_frame().show(ui, |ui| {
            let points = ui.available_size() * ui.ctx().pixels_per_point();
            self.look.size = (points.x.clamp(1.0, 16384.0) as u32, points.y.clamp(1.0, 16384.0) as u32);
            let (response, picture_rect) = self.picture.show(ui, self.background);
            self.control.update(ui, &response, picture_rect, &mut self.look.camera);
            let colour = ui.visuals().weak_text_color().gamma_multiply(0.7);
            let corner = response.rect.left_bottom() + vec2(10.0, -8.0);
            ui.painter().text(corner, Align2::LEFT_BOTTOM, HELP, FontId::proportional(12.0), colour);
        });
        self.next_request(ui.ctx())
    }

    fn status(&self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            ui.label(RichText::new(self.rate.text()).strong());
            ui.separator();
            ui.label(&self.resolution);
            ui.separator();
            match &self.refused {
                Some(message) => ui.colored_label(Color32::from_rgb(240, 110, 90), message),
                None => ui.weak(self.timings_text()),
            };
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(&self.setup.title));
        });
    }

    /// Times of the phases of the last frame, on one line.
    fn timings_text(&self) -> String {
        let part = |(name, secs): &Timing| format!("{name} {:.0} ms", secs * 1e3);
        self.timings.iter().map(part).collect::<Vec<_>>().join(" · ")
    }

    fn settings(&mut self, ui: &mut Ui) {
        let Self { setup, look, .. } = self;
        ui.add_space(6.0);
        ui.strong("Presets");
        let names: Vec<&str> = setup.presets.iter().map(|(name, _)| *name).collect();
        let current = setup.presets.iter().position(|(_, transfer)| *transfer == look.transfer);
        if let Some(index) = panels::presets(ui, &names, current) {
            look.transfer = setup.presets[index].1.clone();
        }
        ui.separator();
        ui.strong("Transfer function");
        self.editor.show(ui, &mut look.transfer);
        panels::density(ui, setup.finest_spacing, &mut look.transfer.unit_distance);
        if let Some((Isosurface { isovalue, material }, is_shown)) = &mut self.isosurface {
            section(ui, "Isosurface", |ui| {
                ui.checkbox(is_shown, "show an isosurface");
                if *is_shown {
                    panels::isovalue(ui, &setup.values, isovalue);
                    panels::material(ui, material);
                }
            });
        }
        section(ui, "Light", |ui| panels::shading(ui, &mut look.shading));
        section(ui, "Clip planes", |ui| self.clip.show(ui, &mut look.clip));
        section(ui, "Crop", |ui| panels::crop(ui, setup.size, &mut look.crop));
        section(ui, "Sampling", |ui| {
            let Look { step, preintegrated, jitter, .. } = look;
            panels::sampling(ui, setup.finest_spacing, step, preintegrated, jitter);
            panels::background(ui, &mut self.background)
        });
        section(ui, "Timings", |ui| panels::timings(ui, &self.timings));
    }

    /// Request for the current look, if it is new: at low resolution while it changes, in full
    /// after [`REST_TIME`].
    fn next_request(&mut self, context: &Context) -> Option<ViewRequest> {
        let isosurface =
            self.isosurface.iter().find(|(_, is_shown)| *is_shown).map(|(isosurface, _)| isosurface.clone());
        let before = self.requested.as_ref().map(|request| (&request.look, &request.isosurface));
        let changed = before != Some((&self.look, &isosurface));
        if changed {
            self.changed_at = Instant::now();
        }
        let rest = REST_TIME.saturating_sub(self.changed_at.elapsed());
        // The first picture has full resolution.
        let moving = self.requested.is_some() && rest > Duration::ZERO;
        if moving {
            context.request_repaint_after(rest);
        }
        let request = ViewRequest { look: self.look.clone(), isosurface, moving };
        if self.requested.as_ref() == Some(&request) {
            return None;
        }
        self.requested = Some(request.clone());
        Some(request)
    }
}

/// Section of the settings with a heading that folds it.
fn section<R>(ui: &mut Ui, title: &str, show: impl FnOnce(&mut Ui) -> R) {
    CollapsingHeader::new(RichText::new(title).strong()).default_open(true).show(ui, show);
}
