//! Outline of a box in a picture, below everything else.

use zippy::Grid;
use zippy_io::image::Image;
use zippy_render::volume::{Camera, Crop, Look, Projection};

/// Brightness of the edges of an outline, 0 to 1.
const EDGE_BRIGHTNESS: f32 = 0.30;

/// Draws the edges of the crop box of `look` where the picture is transparent.
pub(crate) fn draw(image: &mut Image, look: &Look, grid: &Grid) {
    let Some(Crop { low, high }) = look.crop else { return };
    let corner = |index: usize| -> [f64; 3] {
        let length = |axis: usize| if index >> axis & 1 == 0 { low[axis] } else { high[axis] };
        grid.position(std::array::from_fn(|axis| length(axis) / grid.spacing[axis]))
    };
    let size = [image.width as f64, image.height as f64];
    for (from, axis) in
        (0..8).flat_map(|from| (0..3).map(move |axis| (from, axis))).filter(|(from, axis)| from >> axis & 1 == 0)
    {
        let ends = [corner(from), corner(from | 1 << axis)];
        // Steps below a pixel, so that perspective and points behind the camera need no clipping.
        let points = (0..=4 * (image.width + image.height)).map(|step| {
            let share = step as f64 / (4 * (image.width + image.height)) as f64;
            std::array::from_fn(|k| ends[0][k] + (ends[1][k] - ends[0][k]) * share)
        });
        let mut last = None;
        for pixel in points.filter_map(|point| pixel_of_point(&look.camera, size, point)) {
            if last.replace(pixel) != Some(pixel) {
                let drawn = &mut image.pixels[pixel.1 * image.width + pixel.0];
                let grey = (1.0 - drawn[3]) * EDGE_BRIGHTNESS;
                drawn.iter_mut().take(3).for_each(|part| *part += grey);
                drawn[3] = 1.0;
            }
        }
    }
}

fn pixel_of_point(camera: &Camera, [width, height]: [f64; 2], point: [f64; 3]) -> Option<(usize, usize)> {
    let forward = unit(minus(camera.focal_point, camera.position));
    let right = unit(cross(forward, camera.view_up));
    let up = cross(right, forward);
    let to = minus(point, camera.position);
    let depth = dot(to, forward);
    let half = match camera.projection {
        Projection::Perspective { vertical_fov_degrees } => depth * (vertical_fov_degrees / 2.0).to_radians().tan(),
        Projection::Parallel { half_height } => half_height,
    };
    let x = width / 2.0 + dot(to, right) / half * height / 2.0;
    let y = height / 2.0 - dot(to, up) / half * height / 2.0;
    let within = depth > 0.0 && (0.0..width).contains(&x) && (0.0..height).contains(&y);
    within.then_some((x as usize, y as usize))
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(v: [f64; 3]) -> [f64; 3] {
    let length = dot(v, v).sqrt();
    v.map(|x| x / length)
}
