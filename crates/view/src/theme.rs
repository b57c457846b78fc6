//! A dark theme that emphasises the picture.

use egui::{Color32, Context, CornerRadius, Stroke, Theme, vec2};

const PANEL_COLOUR: Color32 = Color32::from_rgb(24, 26, 31);
const SUNKEN_COLOUR: Color32 = Color32::from_rgb(14, 15, 18);
const ACCENT_COLOUR: Color32 = Color32::from_rgb(64, 132, 214);

/// Applies the dark theme to a context.
pub(crate) fn apply(context: &Context) {
    context.set_theme(Theme::Dark);
    context.style_mut_of(Theme::Dark, |style| {
        style.spacing.item_spacing = vec2(8.0, 6.0);
        style.spacing.slider_width = 130.0;
        let visuals = &mut style.visuals;
        visuals.panel_fill = PANEL_COLOUR;
        visuals.window_fill = PANEL_COLOUR;
        visuals.extreme_bg_color = SUNKEN_COLOUR;
        visuals.selection.bg_fill = ACCENT_COLOUR;
        visuals.selection.stroke = Stroke::new(1.5, Color32::WHITE);
        visuals.slider_trailing_fill = true;
        for part in [&mut visuals.widgets.inactive, &mut visuals.widgets.hovered, &mut visuals.widgets.active] {
            part.corner_radius = CornerRadius::same(4);
        }
        visuals.widgets.noninteractive.fg_stroke.color = Color32::from_rgb(196, 200, 208);
        visuals.widgets.inactive.fg_stroke.color = Color32::from_rgb(214, 218, 226);
    });
}
