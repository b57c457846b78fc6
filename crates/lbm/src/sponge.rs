//! Sponge layers: a raised viscosity near open sides, where flows of low viscosity are unstable.

use crate::problem::Problem;
use crate::side::Side;

/// Least 3 ν in the layers next to an open side; lower values are unstable at a speed of 0.1 and
/// with walls next to the side.
const MIN_VISCOUS_TIME: f64 = 0.06;
/// Layers next to a side with the full least viscosity.
const FULL_LAYERS: i64 = 4;
/// Ratio of the least viscosities of neighbouring layers further inside.
const DECAY: f64 = 0.8;

/// Limit of the number of layers for viscosities near 0.
const MAX_DECAYING_LAYERS: f64 = 1e6;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sponge {
    pub axis: usize,
    /// True for an open side, below and above.
    pub is_open: [bool; 2],
    /// Extent of the box along the axis.
    pub cells: i64,
}

impl Problem {
    /// Sponge layers of a problem with open sides and a low viscosity.
    pub(crate) fn sponge(&self) -> Option<Sponge> {
        let axis = (0..3).find(|&axis| self.sides[axis].iter().any(Side::is_open))?;
        let is_open = self.sides[axis].each_ref().map(Side::is_open);
        (self.sponge_layers() > 0).then(|| Sponge { axis, is_open, cells: self.extents[axis] })
    }

    /// Number of layers of cells at each open side with a raised viscosity for stability: 0.02 next
    /// to the side, and less further inside. 0 without open sides, and for a viscosity of at least
    /// 0.02.
    pub fn sponge_layers(&self) -> i64 {
        let ratio = 3.0 * self.viscosity / MIN_VISCOUS_TIME;
        if self.has_open_sides() && ratio < 1.0 {
            FULL_LAYERS + (ratio.ln() / DECAY.ln()).min(MAX_DECAYING_LAYERS) as i64
        } else {
            0
        }
    }
}

/// WGSL expressions of the layer of a cell, for one cell or for the two cells of a word.
pub(crate) struct LayerExpression {
    /// Coordinate of the cell along the axis, from the first cell of the box.
    pub layer: String,
    /// WGSL type of coordinates.
    pub int: &'static str,
    /// WGSL type of rates.
    pub float: &'static str,
}

impl Sponge {
    pub(crate) fn open_side_count(&self) -> i64 {
        self.is_open.iter().filter(|is_open| **is_open).count() as i64
    }

    /// WGSL that declares the relaxation rates `rate_plus` and `rate_minus` and the magic number
    /// `magic` of a layer.
    pub(crate) fn wgsl_rates(&self, expression: &LayerExpression, is_bgk: bool) -> String {
        let LayerExpression { layer, int, float } = expression;
        let last = self.cells - 1;
        let distance = match self.is_open {
            [true, true] => format!("min(layer, {last} - layer)"),
            [true, false] => "layer".to_owned(),
            [false, _] => format!("{last} - layer"),
        };
        let magic = if is_bgk { "viscous_time * viscous_time" } else { "parameters.magic" };
        format!(
            "    let layer = {layer};
    let depth = {float}(max({distance} - {full_layers}, {int}(0)));
    let viscous_time = max({float}(1.0 / parameters.rate_plus - 0.5), {MIN_VISCOUS_TIME:?} * exp2({decay:?} * depth));
    let rate_plus = 1.0 / (viscous_time + 0.5);
    let magic = {magic};
    let rate_minus = 1.0 / (magic / viscous_time + 0.5);
",
            full_layers = FULL_LAYERS - 1,
            decay = DECAY.log2() as f32,
        )
    }
}
