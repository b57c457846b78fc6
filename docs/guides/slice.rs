//! Guide "Rendering": a picture of two axes of an array.

use std::iter::repeat_n;
use std::path::Path;

use zippy::array::GlobalSection;
use zippy::{Error, World};
use zippy_io::image::Image;
use zippy_io::png;

/// Pixels along each side of a cell.
const ZOOM: usize = 4;

/// Writes a plane of numbers as a picture: x to the right, y up, black for the smallest number,
/// white for the largest. Collective; rank 0 writes.
pub fn save<const D: usize>(world: &World, plane: GlobalSection<f32, D>, path: impl AsRef<Path>) -> zippy::Result<()> {
    let region = plane.region()?;
    let sides: Vec<usize> = region.extents().iter().map(|&cells| cells as usize).filter(|&cells| cells > 1).collect();
    let &[width, height] = &sides[..] else { return Err(Error::program("a picture needs two axes")) };
    let range = world.extremes(plane.clone())?.ok_or_else(|| Error::program("a picture needs numbers"))?;
    let shade = |value: f32| (value - range.min) / (range.max - range.min).max(f32::MIN_POSITIVE);

    // Gets are one-sided: rank 0 alone requests the cells. All ranks take part in the fence.
    let ticket = if world.rank() == 0 { Some(world.get(plane)?) } else { None };
    let mut fetched = world.fence()?;
    let Some(ticket) = ticket else { return world.agree("writing a picture", Ok(())) };
    let cells = fetched.redeem(ticket)?;
    let rows = cells.chunks(width).rev().flat_map(|row| repeat_n(row, ZOOM));
    let pixels = rows.flatten().flat_map(|&value| repeat_n(colour(shade(value)), ZOOM)).collect();
    let image = Image { width: ZOOM * width, height: ZOOM * height, pixels };
    let written = png::write(path, &image, png::Style::default());
    world.agree("writing a picture", written.map_err(Error::from))
}

/// Black, red, yellow, white for 0 to 1.
fn colour(shade: f32) -> [f32; 4] {
    [3.0 * shade, 3.0 * shade - 1.0, 3.0 * shade - 2.0, 1.0].map(|part| part.clamp(0.0, 1.0))
}
