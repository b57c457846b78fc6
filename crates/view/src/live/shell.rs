//! [`Shell`]: the parts of the window that do not depend on its content.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use eframe::Frame;
use egui::{
    Align, CentralPanel, Color32, Context, FontId, Layout, Panel, RichText, ScrollArea, Ui, ViewportCommand, vec2,
};

use super::link::{Event, Link};
use super::pacing::RequestPacing;
use super::view::{FinishedPicture, Request, StatusLine, View};
use crate::panels::FrameRate;
use crate::{CameraControl, Picture};

/// Maximum side of a picture in pixels.
const MAX_SIDE: f32 = 16384.0;

/// Window that shows events of the ranks and sends requests.
pub(super) struct Shell<V: View> {
    link: Arc<Link<V>>,
    /// Event that opened the window.
    first: Option<Event<V>>,
    events: Receiver<Event<V>>,
    viewer: Option<OpenView<V>>,
}

impl<V: View> Shell<V> {
    pub(super) fn new(context: Context, link: Arc<Link<V>>, first: Event<V>, events: Receiver<Event<V>>) -> Self {
        link.attach(context);
        Self { link, first: Some(first), events, viewer: None }
    }
}

impl<V: View> eframe::App for Shell<V> {
    fn logic(&mut self, context: &Context, _: &mut Frame) {
        for event in self.first.take().into_iter().chain(self.events.try_iter()) {
            match (event, &mut self.viewer) {
                (Event::Ready(setup), viewer) => *viewer = Some(OpenView::new(V::new(*setup))),
                (Event::Picture(finished), Some(viewer)) => viewer.set_picture(context, *finished),
                (Event::Refused(message), Some(viewer)) => viewer.refused = Some(message),
                (Event::Other(event), Some(viewer)) => viewer.content.handle_event(event),
                (Event::Ended, _) => context.send_viewport_cmd(ViewportCommand::Close),
                _ => {}
            }
        }
        if self.link.is_closed() {
            context.send_viewport_cmd(ViewportCommand::Close);
        }
    }

    fn ui(&mut self, ui: &mut Ui, _: &mut Frame) {
        let Some(viewer) = &mut self.viewer else {
            CentralPanel::default().show(ui, |ui| {
                ui.centered_and_justified(|ui| ui.heading(V::LOADING));
            });
            return;
        };
        if let Some(request) = viewer.show(ui) {
            self.link.request(request);
        }
    }
}

/// State of the window after the ranks have sent its initial state.
struct OpenView<V: View> {
    content: V,
    control: CameraControl,
    picture: Picture,
    pacing: RequestPacing<V::Settings>,
    rate: FrameRate,
    resolution: String,
    /// Error message of the last request, if the ranks refused it.
    refused: Option<String>,
}

impl<V: View> OpenView<V> {
    fn new(mut content: V) -> Self {
        Self {
            control: CameraControl::new(content.look().camera.clone()),
            content,
            picture: Picture::default(),
            pacing: RequestPacing::new(),
            rate: FrameRate::default(),
            resolution: String::new(),
            refused: None,
        }
    }

    fn set_picture(&mut self, context: &Context, finished: FinishedPicture<V::Details>) {
        if finished.restarts_rate {
            self.rate.clear();
        }
        self.rate.push(finished.secs);
        self.content.update(finished.details);
        let [width, height] = finished.image.size;
        self.resolution = format!("{width} × {height}{}", if finished.quick { " while moving" } else { "" });
        self.refused = None;
        self.picture.set(context, finished.image);
    }

    /// Draws the window. Returns the next request to the ranks, if it is new.
    fn show(&mut self, ui: &mut Ui) -> Option<Request<V::Settings>> {
        self.content.handle_keys(ui);
        Panel::bottom("status").show(ui, |ui| self.show_status(ui));
        Panel::right("settings").default_size(345.0).show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                ui.add_space(6.0);
                self.content.show_settings(ui);
            });
        });
        CentralPanel::no_frame().show(ui, |ui| self.show_picture(ui));
        self.pacing.next(ui.ctx(), self.content.requested()?, Instant::now())
    }

    fn show_status(&self, ui: &mut Ui) {
        let StatusLine { state, facts, note, title } = self.content.status(self.rate.text(), self.resolution.clone());
        ui.horizontal(|ui| {
            ui.label(RichText::new(state).strong());
            ui.separator();
            ui.label(facts);
            ui.separator();
            match &self.refused {
                Some(message) => ui.colored_label(Color32::from_rgb(240, 110, 90), message),
                None => ui.weak(note),
            };
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(title));
        });
    }

    fn show_picture(&mut self, ui: &mut Ui) {
        let pixels = ui.available_size() * ui.ctx().pixels_per_point();
        let side = |length: f32| length.clamp(V::MIN_SIDE, MAX_SIDE) as u32;
        self.content.look().size = (side(pixels.x), side(pixels.y));
        let (response, picture_rect) = self.picture.show(ui, self.content.background());
        if self.content.moves_camera() {
            self.control.update(ui, &response, picture_rect, &mut self.content.look().camera);
        }
        let colour = ui.visuals().weak_text_color().gamma_multiply(0.7);
        let corner = V::HELP_CORNER.pos_in_rect(&response.rect.shrink2(vec2(10.0, 8.0)));
        ui.painter().text(corner, V::HELP_CORNER, self.content.help(), FontId::proportional(12.0), colour);
        self.content.draw_over(ui, response.rect);
    }
}
