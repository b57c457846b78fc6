//! Description of a picture as plain data, which the window edits and rank 0 broadcasts.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use zippy::{Error, Result};
use zippy_lbm::Flow;
use zippy_lbm::cases::Case;
use zippy_render::volume::{Camera, Crop, Look, Projection, TransferFunction};

/// Quantity of the flow in a picture.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ShownQuantity {
    Speed,
    Vorticity,
    /// The Q-criterion
    Q,
    Density,
}

impl ShownQuantity {
    #[cfg_attr(not(feature = "view"), allow(dead_code, reason = "for the window"))]
    pub(crate) const ALL: [Self; 4] = [Self::Speed, Self::Vorticity, Self::Q, Self::Density];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Vorticity => "vorticity",
            Self::Q => "q-criterion",
            Self::Density => "density-1",
        }
    }

    /// Quantity that colours its isosurfaces. Isosurfaces of speed have the colours of vorticity,
    /// because their speed is constant.
    pub(crate) fn surface_quantity(self) -> Self {
        if self == Self::Speed { Self::Vorticity } else { Self::Speed }
    }

    /// Values of the first and the last colour for a case.
    pub(crate) fn range(self, case: &Case) -> [f64; 2] {
        let (u, turn) = (case.speed, case.speed / case.length);
        match self {
            Self::Speed => [0.0, 1.5 * u],
            Self::Vorticity => [0.0, 6.0 * turn],
            Self::Q => [0.0, 4.0 * turn * turn],
            Self::Density => [-1.5 * u * u, 1.5 * u * u],
        }
    }
}

/// Drawing mode. Flows in the plane are slices.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum DrawMode {
    /// Volume rendering
    Volume,
    /// Isosurface, coloured by the speed, or by the vorticity for an isosurface of the speed
    Surface,
    /// A layer of cells across an axis
    Slice,
}

/// A layer of cells of the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Slice {
    /// Axis across the layer.
    pub axis: usize,
    /// Index of the layer; `None`: the middle.
    pub cell: Option<i64>,
}

/// Names of the three axes.
pub(crate) const AXES: [&str; 3] = ["x", "y", "z"];

impl Slice {
    /// Parses `z` or `z=40`.
    pub(crate) fn parse(text: &str) -> std::result::Result<Self, String> {
        let (name, cell) = text.split_once('=').map_or((text, None), |(name, cell)| (name, Some(cell)));
        let axis = AXES.iter().position(|axis| *axis == name.trim());
        let axis = axis.ok_or_else(|| format!("{name:?} is not an axis: x, y or z, as in z or z=40"))?;
        let number = |cell: &str| cell.trim().parse().ok().filter(|cell| *cell >= 0);
        let cell = cell
            .map(|cell| number(cell).ok_or(format!("{cell:?} is not a cell: an integer of at least 0, as in z=40")));
        Ok(Self { axis, cell: cell.transpose()? })
    }

    /// Index of the layer in a box of `cells` cells.
    pub(crate) fn layer(self, cells: [i64; 3]) -> i64 {
        self.cell.unwrap_or(cells[self.axis] / 2)
    }
}

/// Description of a picture of the flow: quantity, drawing mode, look and colours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scene {
    pub quantity: ShownQuantity,
    pub mode: DrawMode,
    /// Camera, size and transfer function. Slices use the colours of the transfer function.
    pub look: Look,
    /// Isovalue; `None`: a value that gives a visible surface.
    pub iso: Option<f64>,
    pub slice: Slice,
    /// Values of the first and the last colour.
    pub range: [f64; 2],
    /// Values of the first and the last colour of surfaces.
    pub surface_range: [f64; 2],
}

impl Scene {
    /// Default scene of a case.
    pub(crate) fn new(case: &Case, flow: &Flow<'_>, quantity: ShownQuantity, size: (u32, u32)) -> Self {
        let (range, box_ranges) = (quantity.range(case), flow.box_ranges());
        let crop = Crop {
            low: box_ranges.each_ref().map(|axis| axis.start as f64),
            high: box_ranges.each_ref().map(|axis| (axis.end - 1) as f64),
        };
        let aspect = f64::from(size.0) / f64::from(size.1);
        let bounds = flow.grid().bounds_between(crop.low, crop.high);
        let look = Look::new(camera_of_box(bounds, aspect), transfer_function(range, case.length));
        Self {
            quantity,
            mode: if flow.problem().velocity_set().axes() == 2 { DrawMode::Slice } else { DrawMode::Volume },
            look: Look { size, crop: Some(crop), ..look },
            iso: None,
            slice: Slice { axis: 2, cell: None },
            range,
            surface_range: quantity.surface_quantity().range(case),
        }
    }

    /// Checks that the scene fits a flow of `axes` dimensions in a box of `cells` cells.
    ///
    /// # Errors
    /// A mode or a slice that the flow does not have.
    pub(crate) fn check(&self, cells: [i64; 3], axes: usize) -> Result<()> {
        let Slice { axis, cell } = self.slice;
        let wrong = match (self.mode, cell) {
            (DrawMode::Volume | DrawMode::Surface, _) if axes == 2 => {
                "a flow in the plane is drawn as a slice; volumes and surfaces need a flow in space".into()
            }
            (DrawMode::Slice, _) if axes == 2 && axis != 2 => "a flow in the plane is its own slice, across z".into(),
            (DrawMode::Slice, Some(cell)) if !(0..cells[axis]).contains(&cell) => {
                format!("a slice at {}={cell}: the box has cells 0 to {} on this axis", AXES[axis], cells[axis] - 1)
            }
            _ => return Ok(()),
        };
        Err(Error::program(wrong))
    }

    /// An isovalue in the range that usually gives a visible surface.
    pub(crate) fn suggested_isovalue(&self) -> f64 {
        let part = match self.quantity {
            ShownQuantity::Speed => 0.5,
            ShownQuantity::Vorticity => 0.15,
            ShownQuantity::Q => 0.03,
            ShownQuantity::Density => 0.3,
        };
        let low = self.range[0].max(0.0);
        low + part * (self.range[1] - low)
    }

    /// Sets the values of the first and the last colour, and a transfer function for them.
    pub(crate) fn set_range(&mut self, range: [f64; 2], length: f64) {
        self.range = range;
        self.look.transfer = transfer_function(range, length);
    }
}

/// Colour scale from dark blue over green to yellow; brightness increases with the value.
const COLOUR_SCALE: [[f64; 3]; 5] =
    [[0.267, 0.005, 0.329], [0.230, 0.322, 0.546], [0.128, 0.567, 0.551], [0.369, 0.789, 0.383], [0.993, 0.906, 0.144]];

/// Colour points of the scale over a range of values.
pub(crate) fn scale([low, high]: [f64; 2]) -> Vec<[f64; 4]> {
    let last = (COLOUR_SCALE.len() - 1) as f64;
    let value = |index: usize| low + (high - low) * index as f64 / last;
    COLOUR_SCALE.iter().enumerate().map(|(index, &[red, green, blue])| [value(index), red, green, blue]).collect()
}

/// Transfer function of a range: low values are transparent, high values are translucent over a
/// length of the case.
fn transfer_function(range: [f64; 2], length: f64) -> TransferFunction {
    let at = |share: f64| range[0] + (range[1] - range[0]) * share;
    TransferFunction {
        opacity: vec![[at(0.1), 0.0], [at(0.5), 0.25], [at(1.0), 0.8]],
        colour: scale(range),
        unit_distance: length / 4.0,
    }
}

/// Camera that shows a box whole: x to the right, y up, z towards the camera, from slightly right
/// and above.
fn camera_of_box([low, high]: [[f64; 3]; 2], aspect: f64) -> Camera {
    /// Share of the picture that the box may fill; the rest is a margin.
    const BOX_FRACTION_OF_PICTURE: f64 = 0.94;
    const FIELD_OF_VIEW_DEGREES: f64 = 30.0;
    let middle: [f64; 3] = std::array::from_fn(|axis| (low[axis] + high[axis]) / 2.0);
    let (turned, raised) = (25.0_f64.to_radians(), 20.0_f64.to_radians());
    let back = [turned.sin() * raised.cos(), raised.sin(), turned.cos() * raised.cos()];
    let right = [turned.cos(), 0.0, -turned.sin()];
    let up = [-turned.sin() * raised.sin(), raised.cos(), -turned.cos() * raised.sin()];
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let slope = (FIELD_OF_VIEW_DEGREES / 2.0).to_radians().tan() * BOX_FRACTION_OF_PICTURE;
    let needed = (0..8).map(|corner| {
        let at: [f64; 3] = std::array::from_fn(|axis| {
            if corner >> axis & 1 == 0 { low[axis] - middle[axis] } else { high[axis] - middle[axis] }
        });
        dot(at, back) + (dot(at, up).abs() / slope).max(dot(at, right).abs() / (slope * aspect))
    });
    let distance = needed.fold(1.0, f64::max);
    Camera {
        position: std::array::from_fn(|axis| middle[axis] + back[axis] * distance),
        focal_point: middle,
        view_up: [0.0, 1.0, 0.0],
        projection: Projection::Perspective { vertical_fov_degrees: FIELD_OF_VIEW_DEGREES },
    }
}
