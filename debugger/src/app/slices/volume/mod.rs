//! [`Volume`]: three axes of an array, rendered as a volume that the pointer turns.

mod outline;
mod painter;
mod scene;

use std::rc::Rc;
use std::sync::Arc;

use zippy_protocol::{Answer, ArrayRef, MOST_VIEW_BYTES};
use zippy_render::volume::{Camera, Look as RenderSettings, Shading};
use zippy_view::egui::accesskit::Role;
use zippy_view::egui::{Align2, Color32, ColorImage, ComboBox, FontId, Rect, Slider, Ui, WidgetInfo, vec2};
use zippy_view::{CameraControl, Picture};

use super::overlay::message;
use super::pane::PaneContext;
use crate::app::format;
use crate::app::style::Style;
use crate::imaging::{Opaque, Quantity, Ramp, Rgba, Subvolume, Values};
pub(super) use painter::Painter;
use painter::{RenderEvent, RenderRequest};

/// Maximum number of pixels along an edge of a picture.
const MAX_EDGE: f32 = 4096.0;
/// Approximate maximum number of samples along a ray, which limits the cost of thin boxes with long
/// axes.
const MAX_SAMPLES: f64 = 2048.0;
/// Distance over which opacities hold, as a fraction of the longest axis, so that opacities do not
/// depend on the size of the box.
const OPACITY_UNIT: f64 = 1.0 / 32.0;
const HELP: &str = "drag: turn   right drag: move   wheel: zoom   double click: back";
const OPACITY_RAMPS: [(Opaque, &str); 4] = [
    (Opaque::High, "high values"),
    (Opaque::Low, "low values"),
    (Opaque::Ends, "both ends"),
    (Opaque::All, "all values"),
];

/// Rendering settings of a volume, and its latest picture.
#[derive(Default)]
pub(crate) struct Volume {
    extents: [i64; 3],
    camera: Option<(CameraControl, Camera)>,
    ramp: Ramp,
    lit: bool,
    source: Option<(Rc<Answer>, Quantity, Subvolume)>,
    cells: Option<Arc<Values>>,
    picture: Picture,
    background: [u8; 3],
    /// Latest picture and the subvolume that it shows.
    shown: Option<(Subvolume, ColorImage)>,
    /// True if the picture is complete and matches the current settings.
    is_done: bool,
    error: Option<String>,
    /// Reason for a missing picture.
    problem: Option<String>,
}

impl Volume {
    pub(crate) fn values(&self) -> Option<&Values> {
        self.cells.as_deref()
    }

    /// Returns the picture of a debug point over the background, or `None` while it is being
    /// rendered.
    ///
    /// # Errors
    /// The reason for a missing picture.
    pub(crate) fn picture(&self, step: u64) -> Result<Option<Rgba>, String> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        let is_current =
            |_: &&(Subvolume, ColorImage)| self.is_done && self.values().is_some_and(|cells| cells.step == step);
        let Some((_, image)) = self.shown.as_ref().filter(is_current) else { return Ok(None) };
        let pixel = |pixel: &Color32| {
            let [red, green, blue, alpha] = pixel.to_array();
            let over =
                |front: u8, back: u8| front.saturating_add((u16::from(back) * u16::from(255 - alpha) / 255) as u8);
            let [r, g, b] = self.background;
            [over(red, r), over(green, g), over(blue, b), 255]
        };
        let pixels = image.pixels.iter().flat_map(pixel).collect();
        Ok(Some(Rgba { width: image.size[0], height: image.size[1], pixels }))
    }

    /// Shows the settings of opacity and light.
    pub(crate) fn settings(&mut self, ui: &mut Ui) {
        let chosen = OPACITY_RAMPS.iter().find(|(opaque, _)| *opaque == self.ramp.opaque).map_or("", |(_, name)| name);
        ComboBox::new("opaque", "opaque").selected_text(chosen).width(110.0).show_ui(ui, |ui| {
            for (opaque, name) in OPACITY_RAMPS {
                ui.selectable_value(&mut self.ramp.opaque, opaque, name);
            }
        });
        ui.spacing_mut().slider_width = 90.0;
        ui.add(Slider::new(&mut self.ramp.density, 0.001..=1.0).logarithmic(true).text("density"))
            .on_hover_text("How much the opaque values hide");
        ui.add(Slider::new(&mut self.ramp.clear, 0.0..=0.99).fixed_decimals(2).text("clear"))
            .on_hover_text("How much of the way to the opaque values is transparent");
        ui.checkbox(&mut self.lit, "light").on_hover_text("A light at the camera");
    }

    /// Shows the picture, the outline of the box, and errors.
    pub(crate) fn show(
        &mut self,
        ui: &mut Ui,
        subvolume: &Subvolume,
        quantity: Quantity,
        style: &mut Style,
        context: &mut PaneContext<'_>,
        painter: &mut Painter,
    ) {
        let array = context.array;
        self.reset_camera(subvolume.extents(&array.shape));
        self.request_cells(subvolume, quantity, context);
        self.receive_pictures(ui, subvolume, array.array, painter);
        let [red, green, blue, _] = ui.visuals().extreme_bg_color.to_array();
        self.background = [red, green, blue];
        let background = self.background.map(|part| f32::from(part) / 255.0);
        let Some((control, camera)) = &mut self.camera else { return };
        let (response, _) = self.picture.show(ui, background);
        let area = response.rect;
        control.update(ui, &response, area, camera);
        let camera = camera.clone();
        let painting = ui.painter_at(area);
        let colours = ui.visuals();
        outline::paint(&painting, area, &camera, subvolume, array, context.overlays.borders);
        let corner = area.left_bottom() + vec2(10.0, -8.0);
        let weak = colours.weak_text_color();
        painting.text(corner, Align2::LEFT_BOTTOM, HELP, FontId::proportional(12.0), weak.gamma_multiply(0.7));
        if let Some(text) = self.values().and_then(|values| sampling_note(values, subvolume)) {
            let corner = area.right_bottom() + vec2(-10.0, -8.0);
            painting.text(corner, Align2::RIGHT_BOTTOM, text, FontId::proportional(12.0), weak);
        }
        let mut error = painter.ended().map(|why| format!("no volumes can be rendered here: {why}"));
        if error.is_none() {
            error = self
                .request_picture(ui, area, camera, subvolume, style, context, painter)
                .err()
                .or_else(|| self.error.clone());
        }
        (self.is_done, self.problem) = (painter.is_done(), error.clone());
        let title = format::title(array);
        let name = match (&error, self.is_done) {
            (Some(error), _) => format!("no picture of {title}: {error}"),
            (None, true) => format!("a picture of {title} along {}", subvolume.axes.map(format::axis).join(", ")),
            (None, false) => format!("a picture of {title}, being rendered"),
        };
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &name));
        match error {
            Some(error) => message(&painting, area, &error, colours.error_fg_color),
            None if self.cells.is_none() => message(&painting, area, "loading …", weak),
            None if self.shown.as_ref().is_none_or(|(shown, _)| shown.axes != subvolume.axes) => {
                message(&painting, area, "rendering …", weak);
            }
            None => {}
        }
    }

    /// Puts the camera at its initial position for a new box.
    fn reset_camera(&mut self, extents: [i64; 3]) {
        if self.camera.is_none() || self.extents != extents {
            let mut home = Camera::overview(extents, [1.0; 3]);
            // Leave room for the names of the axes.
            let away = |axis: usize| home.focal_point[axis] + 1.3 * (home.position[axis] - home.focal_point[axis]);
            home.position = [0, 1, 2].map(away);
            self.camera = Some((CameraControl::new(home.clone()), home));
            self.extents = extents;
        }
    }

    fn request_cells(&mut self, subvolume: &Subvolume, quantity: Quantity, context: &mut PaneContext<'_>) {
        let array = context.array;
        let Some(viewed) = quantity.viewed(&array.element) else { return };
        let found = context.store.view(subvolume.request(array.array, &array.shape, viewed, MOST_VIEW_BYTES));
        self.error = found.error.clone().or(self.error.take().filter(|_| found.answer().is_none()));
        let (Some(answer), Some(view)) = (found.answer(), found.view()) else { return };
        let same = |(source, old_quantity, old_box): &(Rc<Answer>, Quantity, Subvolume)| {
            Rc::ptr_eq(source, answer) && *old_quantity == quantity && old_box == subvolume
        };
        if self.source.as_ref().is_some_and(same) {
            return;
        }
        self.source = Some((Rc::clone(answer), quantity, subvolume.clone()));
        match Values::new(view, &array.element, quantity) {
            Ok(values) if values.extents.len() == array.shape.len() => {
                (self.cells, self.error) = (Some(Arc::new(values)), None);
            }
            Ok(_) => (self.cells, self.error) = (None, Some("the view that came has other axes than the array".into())),
            Err(error) => (self.cells, self.error) = (None, Some(error)),
        }
    }

    fn receive_pictures(&mut self, ui: &Ui, subvolume: &Subvolume, array: ArrayRef, painter: &mut Painter) {
        for event in painter.events() {
            match event {
                // A late picture of another array or of other axes is dropped.
                RenderEvent::Picture { image, request }
                    if request.cells.of.array == array && request.subvolume.axes == subvolume.axes =>
                {
                    self.picture.set(ui.ctx(), image.clone());
                    self.shown = Some((request.subvolume, image));
                    self.error = None;
                }
                RenderEvent::Refused(error) => self.error = Some(error),
                RenderEvent::Picture { .. } | RenderEvent::Ended(_) => {}
            }
        }
    }

    /// Requests a picture with the current settings.
    #[allow(clippy::too_many_arguments, reason = "parts of one frame")]
    fn request_picture(
        &mut self,
        ui: &Ui,
        area: Rect,
        camera: Camera,
        subvolume: &Subvolume,
        style: &mut Style,
        context: &PaneContext<'_>,
        painter: &mut Painter,
    ) -> Result<(), String> {
        let Some(cells) = &self.cells else { return Ok(()) };
        let colouring = style.colouring(context.statistics, cells)?;
        let pixels = area.size() * ui.ctx().pixels_per_point();
        let edge = |length: f32| length.clamp(1.0, MAX_EDGE) as u32;
        let unit = OPACITY_UNIT * self.extents.into_iter().max().unwrap_or(1).max(32) as f64;
        let finest = subvolume.axes.map(|axis| cells.of.stride[axis]).into_iter().min().unwrap_or(1);
        let diagonal = self.extents.iter().map(|&extent| (extent as f64).powi(2)).sum::<f64>().sqrt();
        let settings = RenderSettings {
            size: (edge(pixels.x), edge(pixels.y)),
            step: (finest as f64 / 2.0).max(diagonal / MAX_SAMPLES),
            shading: self.lit.then(Shading::default),
            ..RenderSettings::new(camera, self.ramp.transfer(&colouring, unit))
        };
        let (cells, subvolume) = (Arc::clone(cells), subvolume.clone());
        painter.request(
            ui.ctx(),
            RenderRequest { cells, subvolume, scale: colouring.scale, look: settings, is_moving: false },
        );
        Ok(())
    }
}

/// Returns a note about the sampling if the volume does not contain all cells.
fn sampling_note(values: &Values, subvolume: &Subvolume) -> Option<String> {
    let strides = subvolume.axes.map(|axis| values.of.stride[axis]);
    strides.iter().any(|&stride| stride > 1).then(|| {
        let [across, up, deep] = strides;
        format!("one cell of every {across} × {up} × {deep}")
    })
}
