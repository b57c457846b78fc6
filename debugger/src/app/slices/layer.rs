//! [`Layer`]: texture of the latest values, rebuilt only when the values or colours change.

use std::rc::Rc;

use zippy_protocol::{Answer, ArrayEntry, ArrayRef};
use zippy_view::egui::{Color32, ColorImage, Mesh, Painter, Rect, Shape, TextureHandle, TextureOptions, Ui, pos2};

use super::plane::on_screen;
use super::tiles::{Tile, Tiles};
use crate::app::store::CachedAnswer;
use crate::imaging::{Colouring, Quantity, Rgba, Values, Viewport, paint};

/// The latest values and their texture. They stay until newer values arrive.
#[derive(Default)]
pub(super) struct Layer {
    shown: Option<Shown>,
    texture: Option<TextureHandle>,
    painted: Option<(Colouring, Vec<AtlasTile>)>,
    pub error: Option<String>,
}

struct Shown {
    /// Answer that the values come from.
    answer: Option<Rc<Answer>>,
    array: ArrayRef,
    quantity: Quantity,
    tiles: Tiles,
    values: Values,
}

/// A box of cells of the plane, and the part of the texture that shows them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct AtlasTile {
    cells: [[i64; 2]; 2],
    uv: Rect,
}

impl Layer {
    /// Replaces the values with those of a new answer, if there is one. Drops values of other axes
    /// or of another quantity.
    pub(super) fn take(&mut self, found: &CachedAnswer, array: &ArrayEntry, quantity: Quantity, tiles: &Tiles) {
        self.error.clone_from(&found.error);
        let is_compatible = |shown: &Shown| {
            let axes = match (&shown.tiles, tiles) {
                (Tiles::Slice(old), Tiles::Slice(new)) => old.across == new.across && old.up == new.up,
                (old, new) => old == new,
            };
            axes && shown.array == array.array && shown.quantity == quantity
        };
        if self.shown.as_ref().is_some_and(|shown| !is_compatible(shown)) {
            (self.shown, self.painted) = (None, None);
        }
        let (Some(answer), Some(view)) = (found.answer(), found.view()) else { return };
        let same =
            |shown: &Shown| shown.tiles == *tiles && shown.answer.as_ref().is_some_and(|old| Rc::ptr_eq(old, answer));
        if self.shown.as_ref().is_some_and(same) {
            return;
        }
        match Values::new(view, &array.element, quantity) {
            Ok(values) if values.extents.len() == array.shape.len() => {
                self.set(Some(Rc::clone(answer)), array.array, quantity, tiles, values);
            }
            Ok(_) => self.error = Some("the view that came has other axes than the array".into()),
            Err(error) => self.error = Some(error),
        }
    }

    pub(super) fn set(
        &mut self,
        answer: Option<Rc<Answer>>,
        array: ArrayRef,
        quantity: Quantity,
        tiles: &Tiles,
        values: Values,
    ) {
        self.shown = Some(Shown { answer, array, quantity, tiles: tiles.clone(), values });
        self.painted = None;
    }

    pub(super) fn values(&self) -> Option<&Values> {
        self.shown.as_ref().map(|shown| &shown.values)
    }

    /// Draws the values. The texture is rebuilt if the values or the colours have changed.
    pub(super) fn paint(
        &mut self,
        ui: &Ui,
        painter: &Painter,
        port: &Viewport,
        array: &ArrayEntry,
        colouring: Colouring,
    ) {
        let Some(shown) = &self.shown else { return };
        if self.painted.as_ref().is_none_or(|(before, _)| *before != colouring) {
            let max_side = ui.input(|input| input.max_texture_side);
            match atlas(&shown.values, &shown.tiles.all(array), &colouring, max_side) {
                Ok((picture, tiles_in_atlas)) => {
                    let image = ColorImage::from_rgba_unmultiplied([picture.width, picture.height], &picture.pixels);
                    match &mut self.texture {
                        Some(texture) => texture.set(image, TextureOptions::NEAREST),
                        texture => *texture = Some(ui.ctx().load_texture("slice", image, TextureOptions::NEAREST)),
                    }
                    self.painted = Some((colouring, tiles_in_atlas));
                }
                Err(error) => {
                    self.painted = None;
                    self.error = Some(error);
                }
            }
        }
        let (Some(texture), Some((_, tiles_in_atlas))) = (&self.texture, &self.painted) else { return };
        let mut mesh = Mesh::with_texture(texture.id());
        for atlas_tile in tiles_in_atlas {
            mesh.add_rect_with_uv(on_screen(port, atlas_tile.cells), atlas_tile.uv, Color32::WHITE);
        }
        painter.add(Shape::mesh(mesh));
    }
}

/// Packs the pictures of all tiles into one picture of at most `max_side` pixels per edge.
fn atlas(
    values: &Values,
    tiles: &[Tile],
    colouring: &Colouring,
    max_side: usize,
) -> Result<(Rgba, Vec<AtlasTile>), String> {
    let pictures = tiles.iter().map(|tile| paint(values, &tile.slice, colouring)).collect::<Result<Vec<_>, _>>()?;
    let (width, height) = pictures.first().map_or((0, 0), |picture| (picture.width, picture.height));
    if width == 0 || height == 0 {
        return Err("there are no cells".into());
    }
    let columns = (pictures.len() as f64 * height as f64 / width as f64).sqrt().ceil() as usize;
    let columns = columns.clamp(1, (max_side / width).max(1)).min(pictures.len());
    let rows = pictures.len().div_ceil(columns);
    if columns * width > max_side || rows * height > max_side {
        let size = format!("{} × {} pixels", columns * width, rows * height);
        return Err(format!("a picture of {size} is too large for this screen's {max_side}"));
    }
    let atlas = Rgba::tiled(&pictures, columns, 0, [0; 3]);
    let mut tiles_in_atlas = Vec::new();
    for (number, tile) in tiles.iter().enumerate() {
        let (column, row) = (number % columns * width, number / columns * height);
        let corner = |x: f32, y: f32| {
            let (x, y) = (column as f32 + x * width as f32, row as f32 + y * height as f32);
            pos2(x / (columns * width) as f32, y / (rows * height) as f32)
        };
        let (cells, [right, up]) = covered_cells(values, tile);
        tiles_in_atlas.push(AtlasTile { cells, uv: Rect::from_min_max(corner(0.0, 1.0 - up), corner(right, 1.0)) });
    }
    Ok((atlas, tiles_in_atlas))
}

/// Returns the cells of the plane that a tile's picture covers, and the fraction of the picture
/// that they fill along both axes. The last sampled cell may represent less than a stride of cells.
fn covered_cells(values: &Values, tile: &Tile) -> ([[i64; 2]; 2], [f32; 2]) {
    let along = |axis: Option<usize>, side: usize| {
        let Some(axis) = axis else { return (tile.offset[side], tile.offset[side] + 1, 1.0) };
        let (start, length_of_samples) =
            (values.of.start[axis], values.extents[axis].saturating_mul(values.of.stride[axis]));
        let length = length_of_samples.min(tile.bounds[1][side].saturating_sub(start)).max(0);
        let share = length as f32 / length_of_samples.max(1) as f32;
        (tile.offset[side] + start, tile.offset[side] + start + length, share)
    };
    let (left, right, wide) = along(Some(tile.slice.across), 0);
    let (low, high, tall) = along(tile.slice.up, 1);
    ([[left, low], [right, high]], [wide, tall])
}

#[cfg(test)]
mod tests {
    use zippy_protocol::ViewRequest;

    use super::*;
    use crate::imaging::{ColourMap, Integers, Mosaic, Norm, Scale, Slice};

    /// Returns a view of a 5 × 3 × 4 array, with every second cell along the first two axes. Each
    /// value is the position of its cell in the view.
    fn coarse_view() -> Values {
        let of = ViewRequest {
            array: ArrayRef { rank: None, number: 0 },
            chunk: None,
            start: vec![0; 3],
            end: vec![5, 3, 4],
            stride: vec![2, 2, 1],
            numbers: Some(0),
        };
        Values {
            of,
            step: 1,
            extents: vec![3, 2, 4],
            numbers: (0..24).map(f64::from).collect(),
            integers: Integers::None,
        }
    }

    #[test]
    fn tiles_of_a_coarse_view_have_their_own_pictures_and_end_at_the_array() {
        let slice = Slice { across: 0, up: Some(1), at: vec![0; 3] };
        let mosaic = Mosaic::new(&slice, 2, &[5, 3, 4], 4, 1.0).unwrap();
        let tile = |number: i64| {
            let [start, _] = mosaic.box_of(number);
            Tile { slice: mosaic.slice(number).unwrap(), offset: start, bounds: [[0, 0], [5, 3]] }
        };
        let tiles: Vec<Tile> = (0..4).map(tile).collect();
        let scale = Scale::new(Norm::Linear, (0.0, 23.0)).unwrap();
        let colouring = Colouring { map: ColourMap::first(), scale };
        let (picture, tiles_in_atlas) = atlas(&coarse_view(), &tiles, &colouring, 64).unwrap();
        for (number, atlas_tile) in tiles_in_atlas.iter().enumerate() {
            assert_eq!(atlas_tile.cells, mosaic.box_of(number as i64), "of the tile, without its gap");
            // The lower left sample of tile z is 6 z; the upper right sample is 5 more.
            let at = |x: f32, y: f32| {
                let (x, y) = (x * picture.width as f32, y * picture.height as f32);
                picture.get(x as usize, y as usize).map(|[red, green, blue, _]| [red, green, blue])
            };
            let (low, first) = (atlas_tile.uv.left_bottom(), 6.0 * number as f64);
            let half = 0.5 / picture.width as f32;
            assert_eq!(at(low.x + half, low.y - 0.5 / picture.height as f32), Some(colouring.of(first)));
            let high = atlas_tile.uv.right_top();
            assert_eq!(at(high.x - half / 4.0, high.y + 1e-3), Some(colouring.of(first + 5.0)));
        }
        // Three samples stand for five cells instead of six, and two samples for three cells
        // instead of four.
        let size = tiles_in_atlas[0].uv.size() * zippy_view::egui::vec2(picture.width as f32, picture.height as f32);
        assert!((size.x - 2.5).abs() < 1e-4 && (size.y - 1.5).abs() < 1e-4, "{size:?}");
        assert!(atlas(&coarse_view(), &tiles, &colouring, 2).is_err());
    }
}
