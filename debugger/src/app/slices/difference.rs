//! [`Difference`]: the picture of what differs in a slice.

use zippy::debug::protocol::ArrayEntry;
use zippy_view::egui::{Ui, Vec2};

use super::layer::Layer;
use super::overlay::message;
use super::plane::Plane;
use super::tiles::Tiles;
use crate::app::words;
use crate::look::{ColourMap, Colouring, Norm, Quantity, Range, Scale, Slice, Values};

/// Differences as a picture of their own.
#[derive(Default)]
pub struct Difference {
    plane: Plane,
    layer: Layer,
    shown: Option<(Tiles, Result<Colouring, String>)>,
}

impl Difference {
    /// Shows these differences of cells of a slice from now on, coloured about 0.
    pub fn set(&mut self, array: &ArrayEntry, slice: &Slice, quantity: Quantity, values: Values) {
        // What was kept is of the slice that was seen then.
        let mut slice = slice.clone();
        let fixed: Vec<usize> = slice.fixed().collect();
        for axis in fixed {
            slice.at[axis] = values.of.start[axis];
        }
        let tiles = Tiles::One(slice);
        self.shown = Some((tiles.clone(), colouring(&values)));
        self.layer.set(None, array.array, quantity, &tiles, values);
    }

    /// Shows them.
    pub fn show(&mut self, ui: &mut Ui, size: Vec2, array: &ArrayEntry) {
        let Some((tiles, colouring)) = &self.shown else { return };
        let bounds = tiles.bounds(array).unwrap_or_default();
        let name = format!("differences of {}", words::title(array));
        let done = self.plane.show(ui, size, bounds, &name);
        let painter = ui.painter_at(done.response.rect);
        match colouring {
            Ok(colouring) => self.layer.paint(ui, &painter, &done.port, array, *colouring),
            Err(error) => message(&painter, done.response.rect, error, ui.visuals().error_fg_color),
        }
        let index = done.cell.and_then(|cell| tiles.index(array, cell));
        if let Some((index, value)) = index.and_then(|index| {
            let value = self.layer.values()?.near(&index)?;
            Some((index, value))
        }) {
            done.response.on_hover_text_at_pointer(format!("{} {}", words::place(&index), words::short(value)));
        }
    }
}

fn colouring(values: &Values) -> Result<Colouring, String> {
    let ends = Range::Symmetric.of(values.scalars(), Norm::Linear).map(|(low, high)| (low.to_f64(), high.to_f64()));
    // Where nothing differs, everything has the colour of 0.
    let ends = ends.filter(|ends| ends.1 > 0.0).unwrap_or((-1.0, 1.0));
    let below = values.numbers.iter().any(|value| *value < 0.0);
    let (map, ends) = match below {
        true => ("blue-red", ends),
        false => ("magma", (0.0, ends.1)),
    };
    let map = ColourMap::named(map).unwrap_or_else(|_| ColourMap::first());
    Ok(Colouring { map, scale: Scale::new(Norm::Linear, ends)? })
}
