//! [`Viewer`]: content of the window of `--view`.

use std::convert::Infallible;

use zippy_render::volume::Look;
use zippy_view::TransferEditor;
use zippy_view::egui::{Align2, Ui};
use zippy_view::live::{StatusLine, View};
use zippy_view::panels::{self, ClipEditor, Timing, section};

use crate::isosurface::Isosurface;
use crate::viewer_setup::ViewerSetup;

/// Look of a picture, and the isosurface in it.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureSettings {
    pub look: Look,
    /// Isosurface to show.
    pub isosurface: Option<Isosurface>,
}

/// State of the window after the volume is loaded.
pub struct Viewer {
    setup: ViewerSetup,
    look: Look,
    /// Available isosurface, and true if it is shown.
    isosurface: Option<(Isosurface, bool)>,
    background: [f32; 3],
    editor: TransferEditor,
    clip: ClipEditor,
    timings: Vec<Timing>,
}

impl View for Viewer {
    type Setup = ViewerSetup;
    type Settings = PictureSettings;
    type Details = Vec<Timing>;
    type Event = Infallible;

    const LOADING: &'static str = "Reading the volume …";
    const MIN_SIDE: f32 = 1.0;
    const HELP_CORNER: Align2 = Align2::LEFT_BOTTOM;

    fn new(setup: ViewerSetup) -> Self {
        Self {
            look: setup.look.clone(),
            isosurface: setup.isosurface.clone(),
            background: setup.background,
            editor: TransferEditor::new(setup.values.clone()),
            clip: ClipEditor::new(setup.bounds, &setup.look.clip),
            timings: Vec::new(),
            setup,
        }
    }

    fn look(&mut self) -> &mut Look {
        &mut self.look
    }

    fn requested(&self) -> Option<PictureSettings> {
        let isosurface =
            self.isosurface.iter().find(|(_, is_shown)| *is_shown).map(|(isosurface, _)| isosurface.clone());
        Some(PictureSettings { look: self.look.clone(), isosurface })
    }

    fn update(&mut self, timings: Vec<Timing>) {
        self.timings = timings;
    }

    fn handle_event(&mut self, event: Infallible) {
        match event {}
    }

    fn show_settings(&mut self, ui: &mut Ui) {
        let Self { setup, look, .. } = self;
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

    fn status(&self, rate: String, resolution: String) -> StatusLine {
        // Times of the phases of the last frame.
        let part = |(name, secs): &Timing| format!("{name} {:.0} ms", secs * 1e3);
        let note = self.timings.iter().map(part).collect::<Vec<_>>().join(" · ");
        StatusLine { state: rate, facts: resolution, note, title: self.setup.title.clone() }
    }

    fn background(&self) -> [f32; 3] {
        self.background
    }

    fn help(&self) -> &'static str {
        "drag: turn   right drag: move   wheel: zoom   double click: back"
    }
}
