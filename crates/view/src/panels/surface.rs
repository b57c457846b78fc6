//! Panels of the isosurface: isovalue and material.

use egui::accesskit::Role;
use egui::{Color32, Sense, Slider, Stroke, Ui, WidgetInfo, vec2};
use zippy_render::volume::{Colouring, Distribution, Material};

use crate::distribution;

const PLOT_HEIGHT: f32 = 70.0;

/// Shows the isovalue on a logarithmic histogram of the values, with a slider below. A click or
/// drag on the histogram moves the isovalue. Returns true after a change.
pub fn isovalue(ui: &mut Ui, values: &Distribution, isovalue: &mut f64) -> bool {
    let before = *isovalue;
    let range = [values.min, if values.max > values.min { values.max } else { values.min + 1.0 }];
    let size = vec2(ui.available_width().max(80.0), PLOT_HEIGHT);
    let (area, plot) = ui.allocate_exact_size(size, Sense::click_and_drag());
    plot.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, "distribution; drag to move the isovalue"));
    if let Some(pointer) = plot.interact_pointer_pos() {
        let share = f64::from((pointer.x - area.left()) / area.width()).clamp(0.0, 1.0);
        *isovalue = range[0] + share * (range[1] - range[0]);
    }
    let visuals = ui.visuals();
    let painter = ui.painter().with_clip_rect(area.intersect(ui.clip_rect()));
    painter.rect_filled(area, 2.0, visuals.extreme_bg_color);
    distribution::paint(values, &painter, area, range, true, visuals.weak_text_color().gamma_multiply(0.55));
    let x = area.left() + ((*isovalue - range[0]) / (range[1] - range[0])) as f32 * area.width();
    painter.vline(x, area.y_range(), Stroke::new(2.0, Color32::from_rgb(250, 200, 90)));
    ui.add(Slider::new(isovalue, range[0]..=range[1]).text("isovalue"));
    *isovalue != before
}

/// Shows the colour and the opacity of a surface. A colour map stays unchanged. Returns true after
/// a change.
pub fn material(ui: &mut Ui, material: &mut Material) -> bool {
    let before = material.clone();
    if let Colouring::Plain(colour) = &mut material.colour {
        let mut bytes = colour.map(|part| (part.clamp(0.0, 1.0) * 255.0).round() as u8);
        ui.horizontal(|ui| {
            if ui.color_edit_button_srgb(&mut bytes).on_hover_text("Colour of the surface").changed() {
                *colour = bytes.map(|byte| f64::from(byte) / 255.0);
            }
            ui.label("colour");
        });
    }
    ui.add(Slider::new(&mut material.opacity, 0.0..=1.0).text("opacity"));
    *material != before
}
