//! [`Difference`]: picture of the differences in a slice.

use zippy_protocol::ArrayEntry;
use zippy_view::egui::{Ui, Vec2};

use super::layer::Layer;
use super::overlay::message;
use super::plane::Plane;
use super::tiles::Tiles;
use crate::app::format;
use crate::imaging::{ColourMap, Colouring, Norm, Quantity, Range, Scale, Slice, Values};

/// Picture of the differences of two views, with its own zoom.
#[derive(Default)]
pub(crate) struct Difference {
    plane: Plane,
    layer: Layer,
    shown: Option<(Tiles, Result<Colouring, String>)>,
}

impl Difference {
    /// Sets the differences of the cells of a slice. The colours are symmetric about 0.
    pub(crate) fn set(&mut self, array: &ArrayEntry, slice: &Slice, quantity: Quantity, values: Values) {
        // The values may be of an earlier slice: use their indices.
        let mut slice = slice.clone();
        let fixed: Vec<usize> = slice.fixed().collect();
        for axis in fixed {
            slice.at[axis] = values.of.start[axis];
        }
        let tiles = Tiles::Slice(slice);
        self.shown = Some((tiles.clone(), colouring(&values)));
        self.layer.set(None, array.array, quantity, &tiles, values);
    }

    /// Draws the picture, and the difference under the pointer.
    pub(crate) fn show(&mut self, ui: &mut Ui, size: Vec2, array: &ArrayEntry) {
        let Some((tiles, colouring)) = &self.shown else { return };
        let bounds = tiles.bounds(array).unwrap_or_default();
        let name = format!("differences of {}", format::title(array));
        let plane = self.plane.show(ui, size, bounds, &name);
        let painter = ui.painter_at(plane.response.rect);
        match colouring {
            Ok(colouring) => self.layer.paint(ui, &painter, &plane.port, array, *colouring),
            Err(error) => message(&painter, plane.response.rect, error, ui.visuals().error_fg_color),
        }
        let index = plane.cell.and_then(|cell| tiles.index(array, cell));
        if let Some((index, value)) = index.and_then(|index| {
            let value = self.layer.values()?.near(&index)?;
            Some((index, value))
        }) {
            plane.response.on_hover_text_at_pointer(format!("{} {}", format::index(&index), format::short(value)));
        }
    }
}

fn colouring(values: &Values) -> Result<Colouring, String> {
    let ends = Range::Symmetric.of(values.scalars(), Norm::Linear).map(|(low, high)| (low.to_f64(), high.to_f64()));
    // Without differences, all cells have the colour of 0.
    let ends = ends.filter(|ends| ends.1 > 0.0).unwrap_or((-1.0, 1.0));
    let has_negative = values.numbers.iter().any(|value| *value < 0.0);
    let (map, ends) = if has_negative { ("blue-red", ends) } else { ("magma", (0.0, ends.1)) };
    let map = ColourMap::named(map).unwrap_or_else(|_| ColourMap::first());
    Ok(Colouring { map, scale: Scale::new(Norm::Linear, ends)? })
}
