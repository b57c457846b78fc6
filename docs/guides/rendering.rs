//! Guide "Rendering": a volume in the light, and a slice of it.

use std::path::Path;

use zippy::{Error, Layout, Split, World};
use zippy_io::image::Image;
use zippy_io::png;
use zippy_render::volume::{Camera, Look, RendererOptions, Shading, TransferFunction, VolumeRenderer};

use crate::slice;

/// Voxels along each axis.
const SIDE: i64 = 64;

pub fn main() -> zippy::Result<()> {
    zippy::run(|world| {
        let picture = program(world, Path::new("."), 400)?;
        let written = picture.map_or(Ok(()), |image| png::write("rendering.png", &image, png::Style::default()));
        world.agree("writing a picture", written.map_err(Error::from))
    })
}

/// Writes a slice into `folder`. Returns a picture of the volume, `pixels` pixels a side, on rank
/// 0.
pub fn program(world: &World, folder: &Path, pixels: u32) -> zippy::Result<Option<Image>> {
    // A field of any origin: here waves around a ball.
    let field = world.array::<f32, 3>("field", &Layout::new([SIDE; 3]).split_all(Split::Auto))?;
    field.fill_with(density)?;

    // A slice, from any array.
    slice::save(world, field.at((.., .., SIDE / 2)), folder.join("slice.png"))?;

    // Values below 0.4 are transparent, larger ones blue to white.
    let transfer = TransferFunction {
        opacity: vec![[0.4, 0.0], [0.45, 0.5], [1.0, 0.9]],
        colour: vec![[0.4, 0.2, 0.45, 0.9], [0.6, 0.95, 0.6, 0.2], [0.8, 1.0, 0.95, 0.85]],
        unit_distance: 1.0,
    };
    let camera = Camera::overview(field.shape(), [1.0; 3]);
    let look =
        Look { size: (pixels, pixels), step: 0.5, shading: Some(Shading::default()), ..Look::new(camera, transfer) };
    let renderer = VolumeRenderer::new(world, &field, [1.0; 3], RendererOptions::default())?;
    let frame = renderer.render(&look)?;

    assert_eq!(frame.image.is_some(), world.rank() == 0, "rank 0 gets the picture");
    if let Some(image) = &frame.image {
        let opaque = image.pixels.iter().filter(|pixel| pixel[3] > 0.5).count();
        assert!(opaque > image.pixels.len() / 10, "the ball covers a part of the picture");
        assert_eq!(image.pixels[0], [0.0; 4], "and not its corner");
    }
    Ok(frame.image)
}

/// 1 in the middle, 0 far away.
fn density(voxel: [i64; 3]) -> f32 {
    let [x, y, z] = voxel.map(|i| 2.0 * (i as f32 + 0.5) / SIDE as f32 - 1.0);
    let radius = (x * x + y * y + z * z).sqrt();
    let [x, y, z] = [x, y, z].map(|length| 7.0 * length);
    let gyroid = x.sin() * y.cos() + y.sin() * z.cos() + z.sin() * x.cos();
    (1.3 - 1.2 * radius + 0.3 * gyroid).clamp(0.0, 1.0)
}
