//! A layer of cells as a picture: only these cells travel, to rank 0.

use zippy::{GlobalArray, Result, World};
use zippy_io::image::Image;
use zippy_lbm::Flow;

use crate::legend;
use crate::scene::Scene;

/// Cells without fluid.
const SOLID: [f32; 4] = [0.45, 0.45, 0.47, 1.0];
/// What is no number.
const WRONG: [f32; 4] = [1.0, 0.0, 1.0, 1.0];
const BEHIND: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// The layer of a scene's values, each cell a square of as many pixels as fit into the scene's size, one at least; across x
/// with z to the right and y up, across y with x and z, across z with x and y. On rank 0. Collective.
pub fn layer(world: &World, flow: &Flow, values: &GlobalArray<f32, 3>, scene: &Scene) -> Result<Option<Image>> {
    let inside = flow.inside();
    let cells = inside.each_ref().map(|axis| axis.end - axis.start);
    let axis = scene.slice.axis;
    let at = inside[axis].start + scene.slice.layer(cells);
    let [x, y, z] = std::array::from_fn(|one| if one == axis { at..at + 1 } else { inside[one].clone() });
    let wanted = || {
        let values = world.get(values.at((x.clone(), y.clone(), z.clone())))?;
        Ok((values, world.get(flow.cells().at((x, y, z)))?))
    };
    let wanted = (world.rank() == 0).then(wanted).transpose();
    let wanted = world.agree("asking for a layer of cells", wanted)?;
    let mut fetched = world.fence()?;
    let Some((values, kinds)) = wanted else { return Ok(None) };
    let (values, kinds) = (fetched.redeem(values)?, fetched.redeem(kinds)?);
    // What goes right, and what goes up, and how far apart their cells are in memory.
    let ([right, up], [step, row]) = match axis {
        0 => ([2, 1], [cells[1], 1]),
        1 => ([0, 2], [1, cells[0]]),
        _ => ([0, 1], [1, cells[0]]),
    };
    let of = |column: usize, line: usize| {
        let number = column * step as usize + line * row as usize;
        match (values[number], kinds[number]) {
            (_, 1 | 2) => SOLID,
            (value, _) if value.is_nan() => WRONG,
            (value, _) => {
                let [red, green, blue] = scene.look.transfer.colour_at(value.into()).map(|part| part as f32);
                [red, green, blue, 1.0]
            }
        }
    };
    Ok(Some(enlarged([cells[right] as usize, cells[up] as usize], scene.look.size, of)))
}

/// A picture of columns and lines, which count upwards, at least as wide as a legend.
fn enlarged([columns, lines]: [usize; 2], most: (u32, u32), of: impl Fn(usize, usize) -> [f32; 4]) -> Image {
    let times = (most.0 as usize / columns).min(most.1 as usize / lines).max(1);
    let width = (columns * times).max(legend::WIDTH);
    let margin = (width - columns * times) / 2;
    let mut image = Image::new(width, lines * times);
    for (y, pixels) in image.pixels.chunks_mut(width).enumerate() {
        pixels.fill(BEHIND);
        let line = lines - 1 - y / times;
        for (column, square) in pixels[margin..margin + columns * times].chunks_mut(times).enumerate() {
            square.fill(of(column, line));
        }
    }
    image
}
