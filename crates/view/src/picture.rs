//! [`Picture`]: a rendered picture on the screen.

use egui::{Color32, ColorImage, Context, Rect, Response, Sense, TextureHandle, TextureOptions, Ui, Vec2};
use zippy_io::image::Image;

/// The latest picture, scaled to the available space.
#[derive(Default)]
pub struct Picture {
    texture: Option<TextureHandle>,
}

/// Converts a premultiplied picture to 8 bits, rounded to nearest. May be called on any thread,
/// before [`Picture::set`].
pub fn colour_image(image: &Image) -> ColorImage {
    let byte = |part: f32| (part.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    let pixel = |&[r, g, b, a]: &[f32; 4]| Color32::from_rgba_premultiplied(byte(r), byte(g), byte(b), byte(a));
    ColorImage::new([image.width, image.height], image.pixels.iter().map(pixel).collect())
}

impl Picture {
    /// Sets the picture.
    pub fn set(&mut self, context: &Context, image: ColorImage) {
        let options = TextureOptions::LINEAR;
        match &mut self.texture {
            Some(texture) => texture.set(image, options),
            texture => *texture = Some(context.load_texture("picture", image, options)),
        }
    }

    /// Returns true before the first picture.
    pub fn is_empty(&self) -> bool {
        self.texture.is_none()
    }

    /// Fills the remaining space of `ui` with the background and the scaled picture in its centre.
    /// Returns the response of the whole space, and the rectangle of the picture.
    pub fn show(&self, ui: &mut Ui, background: [f32; 3]) -> (Response, Rect) {
        let (area, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
        let [red, green, blue] = background.map(|part| (part.clamp(0.0, 1.0) * 255.0 + 0.5) as u8);
        ui.painter().rect_filled(area, 0.0, Color32::from_rgb(red, green, blue));
        let Some(texture) = &self.texture else { return (response, area) };
        let rect = Rect::from_center_size(area.center(), fit_size(texture.size_vec2(), area.size()));
        let whole = Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
        ui.painter().image(texture.id(), rect, whole, Color32::WHITE);
        (response, rect)
    }
}

/// Returns the largest size within `most` with the aspect ratio of `size`.
fn fit_size(size: Vec2, most: Vec2) -> Vec2 {
    size * (most.x / size.x.max(1.0)).min(most.y / size.y.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_keep_their_shape() {
        assert_eq!(fit_size(Vec2::new(40.0, 20.0), Vec2::new(100.0, 100.0)), Vec2::new(100.0, 50.0));
        assert_eq!(fit_size(Vec2::new(40.0, 20.0), Vec2::new(100.0, 10.0)), Vec2::new(20.0, 10.0));
    }

    #[test]
    fn pixels_are_rounded_and_keep_their_positions() {
        let mut image = Image::new(2, 2);
        image.pixels[1] = [0.5, 0.25, 0.0, 0.75];
        image.pixels[2] = [2.0, -1.0, 0.002, 1.0];
        let shown = colour_image(&image);
        assert_eq!(shown.size, [2, 2]);
        let expected = [[0, 0, 0, 0], [128, 64, 0, 191], [255, 0, 1, 255], [0, 0, 0, 0]];
        assert_eq!(shown.pixels.iter().map(|pixel| pixel.to_array()).collect::<Vec<_>>(), expected);
    }
}
