//! Picture of a layer of cells. Only these cells are sent, to rank 0.

use zippy::{GlobalArray, Result, World};
use zippy_io::image::Image;
use zippy_lbm::{CellKind, Flow};

use crate::legend;
use crate::scene::Scene;

/// Colour of cells without fluid.
const SOLID_COLOUR: [f32; 4] = [0.45, 0.45, 0.47, 1.0];
/// Colour of NaN.
const NAN_COLOUR: [f32; 4] = [1.0, 0.0, 1.0, 1.0];
const BACKGROUND_COLOUR: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// Draws the slice of a scene and returns the picture on rank 0. Each cell is a square of as many
/// pixels as fit into the size of the scene, at least one. Across x the picture has z to the right
/// and y up, across y it has x and z, across z it has x and y. Collective.
pub(crate) fn draw(
    world: &World,
    flow: &Flow<'_>,
    values: &GlobalArray<f32, 3>,
    scene: &Scene,
) -> Result<Option<Image>> {
    let box_ranges = flow.box_ranges();
    let cells = box_ranges.each_ref().map(|axis| axis.end - axis.start);
    let axis = scene.slice.axis;
    let at = box_ranges[axis].start + scene.slice.layer(cells);
    let [x, y, z] = std::array::from_fn(|k| if k == axis { at..at + 1 } else { box_ranges[k].clone() });
    let request = || {
        let values = world.get(values.at((x.clone(), y.clone(), z.clone())))?;
        Ok((values, world.get(flow.cell_kinds().at((x, y, z)))?))
    };
    let tickets = (world.rank() == 0).then(request).transpose();
    let tickets = world.agree("fetching a layer of cells", tickets)?;
    let mut fetched = world.fence()?;
    let Some((values, kinds)) = tickets else { return Ok(None) };
    let (values, kinds) = (fetched.redeem(values)?, fetched.redeem(kinds)?);
    // Axes of the picture to the right and up, and strides of their cells in memory.
    let ([right, up], [step, row]) = match axis {
        0 => ([2, 1], [cells[1], 1]),
        1 => ([0, 2], [1, cells[0]]),
        _ => ([0, 1], [1, cells[0]]),
    };
    let colour = |column: usize, line: usize| {
        let index = column * step as usize + line * row as usize;
        match (values[index], kinds[index]) {
            (_, kind) if CellKind::is_solid_number(kind) => SOLID_COLOUR,
            (value, _) if value.is_nan() => NAN_COLOUR,
            (value, _) => {
                let [red, green, blue] = scene.look.transfer.colour_at(value.into()).map(|part| part as f32);
                [red, green, blue, 1.0]
            }
        }
    };
    Ok(Some(draw_cells([cells[right] as usize, cells[up] as usize], scene.look.size, colour)))
}

/// Draws columns and lines of cells, with line 0 at the bottom, at least as wide as a legend.
fn draw_cells([columns, lines]: [usize; 2], max_size: (u32, u32), colour: impl Fn(usize, usize) -> [f32; 4]) -> Image {
    let times = (max_size.0 as usize / columns).min(max_size.1 as usize / lines).max(1);
    let width = (columns * times).max(legend::MIN_WIDTH);
    let margin = (width - columns * times) / 2;
    let mut image = Image::new(width, lines * times);
    for (y, pixels) in image.pixels.chunks_mut(width).enumerate() {
        pixels.fill(BACKGROUND_COLOUR);
        let line = lines - 1 - y / times;
        for (column, square) in pixels[margin..margin + columns * times].chunks_mut(times).enumerate() {
            square.fill(colour(column, line));
        }
    }
    image
}
