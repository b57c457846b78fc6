//! [`Layer`]: the picture of what has come, kept until something else has.

use std::rc::Rc;

use zippy::debug::protocol::{Answer, ArrayEntry, ArrayRef};
use zippy_view::egui::{Color32, ColorImage, Mesh, Painter, Rect, Shape, TextureHandle, TextureOptions, Ui, pos2};

use super::plane::on_screen;
use super::tiles::{Tile, Tiles};
use crate::app::store::Found;
use crate::look::{Colouring, Quantity, Rgba, Values, Viewport, paint};

/// What was shown last stays until there is something newer.
#[derive(Default)]
pub struct Layer {
    shown: Option<Shown>,
    texture: Option<TextureHandle>,
    painted: Option<(Colouring, Vec<Piece>)>,
    /// Why there is no picture.
    pub error: Option<String>,
}

struct Shown {
    /// What it was made of.
    from: Option<Rc<Answer>>,
    array: ArrayRef,
    quantity: Quantity,
    tiles: Tiles,
    values: Values,
}

/// A box of the plane, and where in the texture its picture is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    cells: [[i64; 2]; 2],
    uv: Rect,
}

impl Layer {
    /// What has come for these tiles, if anything.
    pub fn take(&mut self, found: &Found, array: &ArrayEntry, quantity: Quantity, tiles: &Tiles) {
        self.error.clone_from(&found.error);
        let alike = |shown: &Shown| {
            let axes = match (&shown.tiles, tiles) {
                (Tiles::One(old), Tiles::One(new)) => old.across == new.across && old.up == new.up,
                (old, new) => old == new,
            };
            axes && shown.array == array.array && shown.quantity == quantity
        };
        if self.shown.as_ref().is_some_and(|shown| !alike(shown)) {
            (self.shown, self.painted) = (None, None);
        }
        let (Some(answer), Some(view)) = (found.answer(), found.view()) else { return };
        let same =
            |shown: &Shown| shown.tiles == *tiles && shown.from.as_ref().is_some_and(|from| Rc::ptr_eq(from, answer));
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

    /// Shows these numbers.
    pub fn set(
        &mut self,
        from: Option<Rc<Answer>>,
        array: ArrayRef,
        quantity: Quantity,
        tiles: &Tiles,
        values: Values,
    ) {
        self.shown = Some(Shown { from, array, quantity, tiles: tiles.clone(), values });
        self.painted = None;
    }

    /// The numbers that are shown.
    pub fn values(&self) -> Option<&Values> {
        self.shown.as_ref().map(|shown| &shown.values)
    }

    /// Draws them.
    pub fn paint(&mut self, ui: &Ui, painter: &Painter, port: &Viewport, array: &ArrayEntry, colouring: Colouring) {
        let Some(shown) = &self.shown else { return };
        if self.painted.as_ref().is_none_or(|(before, _)| *before != colouring) {
            let most = ui.input(|input| input.max_texture_side);
            match atlas(&shown.values, &shown.tiles.all(array), &colouring, most) {
                Ok((picture, pieces)) => {
                    let image = ColorImage::from_rgba_unmultiplied([picture.width, picture.height], &picture.pixels);
                    match &mut self.texture {
                        Some(texture) => texture.set(image, TextureOptions::NEAREST),
                        none => *none = Some(ui.ctx().load_texture("slice", image, TextureOptions::NEAREST)),
                    }
                    self.painted = Some((colouring, pieces));
                }
                Err(error) => {
                    self.painted = None;
                    self.error = Some(error);
                }
            }
        }
        let (Some(texture), Some((_, pieces))) = (&self.texture, &self.painted) else { return };
        let mut mesh = Mesh::with_texture(texture.id());
        for piece in pieces {
            mesh.add_rect_with_uv(on_screen(port, piece.cells), piece.uv, Color32::WHITE);
        }
        painter.add(Shape::mesh(mesh));
    }
}

/// The pictures of all tiles in one, and where they are.
fn atlas(values: &Values, tiles: &[Tile], colouring: &Colouring, most: usize) -> Result<(Rgba, Vec<Piece>), String> {
    let pictures = tiles.iter().map(|tile| paint(values, &tile.slice, colouring)).collect::<Result<Vec<_>, _>>()?;
    let (width, height) = pictures.first().map_or((0, 0), |one| (one.width, one.height));
    if width == 0 || height == 0 {
        return Err("there are no cells".into());
    }
    let columns = (pictures.len() as f64 * height as f64 / width as f64).sqrt().ceil() as usize;
    let columns = columns.clamp(1, (most / width).max(1)).min(pictures.len());
    let rows = pictures.len().div_ceil(columns);
    if columns * width > most || rows * height > most {
        let size = format!("{} × {} pixels", columns * width, rows * height);
        return Err(format!("a picture of {size} is too large for this screen's {most}"));
    }
    let whole = Rgba::tiled(&pictures, columns, 0, [0; 3]);
    let mut pieces = Vec::new();
    for (number, tile) in tiles.iter().enumerate() {
        let (column, row) = (number % columns * width, number / columns * height);
        let corner = |x: f32, y: f32| {
            let (x, y) = (column as f32 + x * width as f32, row as f32 + y * height as f32);
            pos2(x / (columns * width) as f32, y / (rows * height) as f32)
        };
        let (cells, [right, up]) = covered(values, tile);
        pieces.push(Piece { cells, uv: Rect::from_min_max(corner(0.0, 1.0 - up), corner(right, 1.0)) });
    }
    Ok((whole, pieces))
}

/// The cells of the plane that the picture of a tile covers, and how much of it that is: of the last sampled cells less than
/// a stride may be there.
fn covered(values: &Values, tile: &Tile) -> ([[i64; 2]; 2], [f32; 2]) {
    let along = |axis: Option<usize>, side: usize| {
        let Some(axis) = axis else { return (tile.offset[side], tile.offset[side] + 1, 1.0) };
        let (start, whole) = (values.of.start[axis], values.extents[axis].saturating_mul(values.of.stride[axis]));
        let length = whole.min(tile.bounds[1][side].saturating_sub(start)).max(0);
        let share = length as f32 / whole.max(1) as f32;
        (tile.offset[side] + start, tile.offset[side] + start + length, share)
    };
    let (left, right, wide) = along(Some(tile.slice.across), 0);
    let (low, high, tall) = along(tile.slice.up, 1);
    ([[left, low], [right, high]], [wide, tall])
}

#[cfg(test)]
mod tests {
    use zippy::debug::protocol::ViewRequest;

    use super::*;
    use crate::look::{ColourMap, Integers, Mosaic, Norm, Scale, Slice};

    /// A view of a 5 × 3 × 4 array whose values are their places, every second cell along the first two axes.
    fn coarse() -> Values {
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
    fn every_tile_has_its_own_picture_and_ends_where_the_array_does() {
        let slice = Slice { across: 0, up: Some(1), at: vec![0; 3] };
        let mosaic = Mosaic::new(&slice, 2, &[5, 3, 4], 4, 1.0).unwrap();
        let tile = |number: i64| {
            let [start, _] = mosaic.box_of(number);
            Tile { slice: mosaic.slice(number).unwrap(), offset: start, bounds: [[0, 0], [5, 3]] }
        };
        let tiles: Vec<Tile> = (0..4).map(tile).collect();
        let scale = Scale::new(Norm::Linear, (0.0, 23.0)).unwrap();
        let colouring = Colouring { map: ColourMap::first(), scale };
        let (whole, pieces) = atlas(&coarse(), &tiles, &colouring, 64).unwrap();
        for (number, piece) in pieces.iter().enumerate() {
            assert_eq!(piece.cells, mosaic.box_of(number as i64), "of the tile, without its gap");
            // The lower left sample of tile z is 6 z, the upper right one 5 more.
            let at = |x: f32, y: f32| {
                let (x, y) = (x * whole.width as f32, y * whole.height as f32);
                whole.get(x as usize, y as usize).map(|[red, green, blue, _]| [red, green, blue])
            };
            let (low, first) = (piece.uv.left_bottom(), 6.0 * number as f64);
            let half = 0.5 / whole.width as f32;
            assert_eq!(at(low.x + half, low.y - 0.5 / whole.height as f32), Some(colouring.of(first)));
            let high = piece.uv.right_top();
            assert_eq!(at(high.x - half / 4.0, high.y + 1e-3), Some(colouring.of(first + 5.0)));
        }
        // Five of six cells that three samples stand for, and three of four.
        let size = pieces[0].uv.size() * zippy_view::egui::vec2(whole.width as f32, whole.height as f32);
        assert!((size.x - 2.5).abs() < 1e-4 && (size.y - 1.5).abs() < 1e-4, "{size:?}");
        assert!(atlas(&coarse(), &tiles, &colouring, 2).is_err());
    }
}
