//! Sponge layers: more viscosity near open sides, next to which a flow of low viscosity is
//! unstable.

use crate::problem::{Problem, is_open};

/// 3 ν of the layers next to an open side, at least. With a speed of 0.1 and walls next to the
/// side, less is unstable.
const LEAST: f64 = 0.06;
/// Layers next to a side that have the same least viscosity.
const LAYERS: i64 = 4;
/// Ratio of the least viscosities of a layer and of the layer before it, further from the side.
const RATIO: f64 = 0.8;

/// Axis of the open sides near which the viscosity is raised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sponge {
    pub axis: usize,
    /// Whether the sides below and above are open.
    pub open: [bool; 2],
    /// Extent of the box along the axis.
    pub cells: i64,
}

impl Problem {
    /// The sponge layers, if the problem has open sides and a viscosity that needs them.
    pub(crate) fn sponge(&self) -> Option<Sponge> {
        let axis = (0..3).find(|&axis| self.sides[axis].iter().any(is_open))?;
        let open = self.sides[axis].each_ref().map(is_open);
        (self.sponge_layers() > 0).then(|| Sponge { axis, open, cells: self.extents[axis] })
    }

    /// Number of layers of cells at each open side in which the viscosity is raised, to 0.02 next
    /// to the side and less further away, so that the flow stays stable. 0 without open sides and
    /// for a viscosity of 0.02 and above.
    pub fn sponge_layers(&self) -> i64 {
        let ratio = 3.0 * self.viscosity / LEAST;
        match self.sides.iter().flatten().any(is_open) && ratio < 1.0 {
            // A viscosity of nearly nothing needs as many layers as there are.
            true => LAYERS + (ratio.ln() / RATIO.ln()).min(1e6) as i64,
            false => 0,
        }
    }
}

impl Sponge {
    /// WGSL that replaces the relaxation rates by those of the cells in `layer`: their number along
    /// the axis from the first cell of the box, a scalar or a vector of two.
    pub fn rates(&self, layer: &str, [int, float]: [&str; 2], is_bgk: bool) -> String {
        let last = self.cells - 1;
        let distance = match self.open {
            [true, true] => format!("min(layer, {last} - layer)"),
            [true, false] => "layer".to_owned(),
            [false, _] => format!("{last} - layer"),
        };
        let magic = if is_bgk { "lag * lag" } else { "parameters.magic" };
        format!(
            "    let layer = {layer};
    let reach = {float}(max({distance} - {depth}, {int}(0)));
    let lag = max({float}(1.0 / parameters.plus - 0.5), {LEAST:?} * exp2({fall:?} * reach));
    let plus = 1.0 / (lag + 0.5);
    let magic = {magic};
    let minus = 1.0 / (magic / lag + 0.5);
",
            depth = LAYERS - 1,
            fall = RATIO.log2() as f32,
        )
    }
}
