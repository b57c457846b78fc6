//! The window: what it shows and what it asks for.

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

use super::link::{Event, Link, Shown, Wanted};
use crate::isosurface::Isosurface;
use crate::setting::Setting;

/// So long after the last change the picture is rendered in full.
const REST: Duration = Duration::from_millis(250);

const HELP: &str = "drag: turn   right drag: move   wheel: zoom   double click: back";

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
                (Event::Picture(shown), Some(viewer)) => viewer.picture(context, *shown),
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
                if let Some(wanted) = viewer.show(ui) {
                    self.link.want(wanted);
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

/// A volume that is looked at.
struct Viewer {
    setting: Setting,
    look: Look,
    /// The isosurface that can be shown, and whether it is.
    isosurface: Option<(Isosurface, bool)>,
    background: [f32; 3],
    control: CameraControl,
    editor: TransferEditor,
    clip: ClipEditor,
    picture: Picture,
    /// What was asked for last, and since when it is what it is.
    asked: Option<Wanted>,
    since: Instant,
    rate: FrameRate,
    timings: Vec<Timing>,
    resolution: String,
    refused: Option<String>,
}

impl Viewer {
    fn new(setting: Setting) -> Self {
        Self {
            look: setting.look.clone(),
            isosurface: setting.isosurface.clone(),
            background: setting.background,
            control: CameraControl::new(setting.look.camera.clone()),
            editor: TransferEditor::new(setting.values.clone()),
            clip: ClipEditor::new(setting.bounds, &setting.look.clip),
            picture: Picture::default(),
            asked: None,
            since: Instant::now(),
            rate: FrameRate::default(),
            timings: Vec::new(),
            resolution: String::new(),
            refused: None,
            setting,
        }
    }

    fn picture(&mut self, context: &Context, shown: Shown) {
        if !shown.moving {
            self.rate.clear();
        }
        self.rate.push(shown.secs);
        self.timings = shown.timings;
        let [width, height] = shown.image.size;
        self.resolution = format!("{width} × {height}{}", if shown.moving { " while moving" } else { "" });
        self.refused = None;
        self.picture.set(context, shown.image);
    }

    /// Shows everything; what the ranks shall render from now on, if it is something else.
    fn show(&mut self, ui: &mut Ui) -> Option<Wanted> {
        Panel::bottom("status").show(ui, |ui| self.status(ui));
        Panel::right("settings").default_size(345.0).show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| self.settings(ui));
        });
        CentralPanel::no_frame().show(ui, |ui| {
            let points = ui.available_size() * ui.ctx().pixels_per_point();
            self.look.size = (points.x.clamp(1.0, 16384.0) as u32, points.y.clamp(1.0, 16384.0) as u32);
            let (response, place) = self.picture.show(ui, self.background);
            self.control.update(ui, &response, place, &mut self.look.camera);
            let colour = ui.visuals().weak_text_color().gamma_multiply(0.7);
            let corner = response.rect.left_bottom() + vec2(10.0, -8.0);
            ui.painter().text(corner, Align2::LEFT_BOTTOM, HELP, FontId::proportional(12.0), colour);
        });
        self.wanted(ui.ctx())
    }

    fn status(&self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            ui.label(RichText::new(self.rate.text()).strong());
            ui.separator();
            ui.label(&self.resolution);
            ui.separator();
            match &self.refused {
                Some(message) => ui.colored_label(Color32::from_rgb(240, 110, 90), message),
                None => ui.weak(self.parts()),
            };
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(&self.setting.about));
        });
    }

    /// What the last frame took, in a line.
    fn parts(&self) -> String {
        let part = |(name, secs): &Timing| format!("{name} {:.0} ms", secs * 1e3);
        self.timings.iter().map(part).collect::<Vec<_>>().join(" · ")
    }

    fn settings(&mut self, ui: &mut Ui) {
        let Self { setting, look, .. } = self;
        ui.add_space(6.0);
        ui.strong("Presets");
        let names: Vec<&str> = setting.presets.iter().map(|(name, _)| *name).collect();
        let current = setting.presets.iter().position(|(_, transfer)| *transfer == look.transfer);
        if let Some(number) = panels::presets(ui, &names, current) {
            look.transfer = setting.presets[number].1.clone();
        }
        ui.separator();
        ui.strong("Transfer function");
        self.editor.show(ui, &mut look.transfer);
        panels::density(ui, setting.voxel, &mut look.transfer.unit_distance);
        if let Some((Isosurface { isovalue, material }, is_shown)) = &mut self.isosurface {
            section(ui, "Isosurface", |ui| {
                ui.checkbox(is_shown, "show an isosurface");
                if *is_shown {
                    panels::isovalue(ui, &setting.values, isovalue);
                    panels::material(ui, material);
                }
            });
        }
        section(ui, "Light", |ui| panels::shading(ui, &mut look.shading));
        section(ui, "Clip planes", |ui| self.clip.show(ui, &mut look.clip));
        section(ui, "Crop", |ui| panels::crop(ui, setting.size, &mut look.crop));
        section(ui, "Sampling", |ui| {
            let Look { step, preintegrated, jitter, .. } = look;
            panels::sampling(ui, setting.voxel, step, preintegrated, jitter);
            panels::background(ui, &mut self.background)
        });
        section(ui, "Timings", |ui| panels::timings(ui, &self.timings));
    }

    /// Asks for the look that there is now: quickly while it changes, in full when it has come to rest.
    fn wanted(&mut self, context: &Context) -> Option<Wanted> {
        let isosurface =
            self.isosurface.iter().find(|(_, is_shown)| *is_shown).map(|(isosurface, _)| isosurface.clone());
        let before = self.asked.as_ref().map(|asked| (&asked.look, &asked.isosurface));
        let changed = before != Some((&self.look, &isosurface));
        if changed {
            self.since = Instant::now();
        }
        let rest = REST.saturating_sub(self.since.elapsed());
        // The first picture is one to look at.
        let moving = self.asked.is_some() && rest > Duration::ZERO;
        if moving {
            context.request_repaint_after(rest);
        }
        let wanted = Wanted { look: self.look.clone(), isosurface, moving };
        let news = self.asked.as_ref() != Some(&wanted);
        news.then(|| {
            self.asked = Some(wanted.clone());
            wanted
        })
    }
}

/// A part of the settings that can be folded away.
fn section<R>(ui: &mut Ui, title: &str, show: impl FnOnce(&mut Ui) -> R) {
    CollapsingHeader::new(RichText::new(title).strong()).default_open(true).show(ui, show);
}
