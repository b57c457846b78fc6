//! What a picture shows, and how: plain values, which a window changes and ranks tell each other.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use zippy::{Error, Result};
use zippy_lbm::Flow;
use zippy_lbm::cases::Case;
use zippy_render::volume::{Camera, Crop, Look, Projection, TransferFunction};

/// What of the flow a picture shows.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shown {
    Speed,
    Vorticity,
    /// The Q-criterion
    Q,
    Density,
}

impl Shown {
    #[cfg_attr(not(feature = "view"), allow(dead_code))]
    pub const ALL: [Self; 4] = [Self::Speed, Self::Vorticity, Self::Q, Self::Density];

    pub fn name(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Vorticity => "vorticity",
            Self::Q => "q-criterion",
            Self::Density => "density-1",
        }
    }

    /// What colours its isosurfaces: on those of speed there would be one colour.
    pub fn beside(self) -> Self {
        if self == Self::Speed { Self::Vorticity } else { Self::Speed }
    }

    /// The values of a case that are worth colours.
    pub fn range(self, case: &Case) -> [f64; 2] {
        let (u, turn) = (case.speed, case.speed / case.length);
        match self {
            Self::Speed => [0.0, 1.5 * u],
            Self::Vorticity => [0.0, 6.0 * turn],
            Self::Q => [0.0, 4.0 * turn * turn],
            Self::Density => [-1.5 * u * u, 1.5 * u * u],
        }
    }
}

/// How it is shown. Flows in the plane are slices.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// Rays through all of it
    Volume,
    /// Where it has one value, coloured by the speed, or where that is shown by the vorticity
    Surface,
    /// A layer of cells across an axis
    Slice,
}

/// A layer of the box's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// The axis across which it lies.
    pub axis: usize,
    /// Which one; `None`: the middle.
    pub cell: Option<i64>,
}

/// Names of axes.
pub const AXES: [&str; 3] = ["x", "y", "z"];

impl Slice {
    /// Reads `z`, or `z=40`.
    pub fn read(text: &str) -> std::result::Result<Self, String> {
        let (name, cell) = text.split_once('=').map_or((text, None), |(name, cell)| (name, Some(cell)));
        let axis = AXES.iter().position(|axis| *axis == name.trim());
        let axis = axis.ok_or_else(|| format!("{name:?} is no axis: x, y or z, as in z or z=40"))?;
        let number = |cell: &str| cell.trim().parse().ok().filter(|cell| *cell >= 0);
        let cell = cell.map(|cell| number(cell).ok_or(format!("{cell:?} is no cell: a number from 0 on, as in z=40")));
        Ok(Self { axis, cell: cell.transpose()? })
    }

    /// The layer in a box of so many cells.
    pub fn layer(self, cells: [i64; 3]) -> i64 {
        self.cell.unwrap_or(cells[self.axis] / 2)
    }
}

/// A picture to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    pub shown: Shown,
    pub way: Way,
    /// Camera and size, and the transfer function, whose colours slices have, too.
    pub look: Look,
    /// Where a surface is; `None`: where there is something to see.
    pub iso: Option<f64>,
    pub slice: Slice,
    /// From the first colour to the last one.
    pub range: [f64; 2],
    /// The same of the colours on surfaces.
    pub beside: [f64; 2],
}

impl Scene {
    /// What a case's pictures are like where nothing else is wanted.
    pub fn of(case: &Case, flow: &Flow, shown: Shown, size: (u32, u32)) -> Self {
        let (range, inside) = (shown.range(case), flow.inside());
        let crop = Crop {
            low: inside.each_ref().map(|axis| axis.start as f64),
            high: inside.each_ref().map(|axis| (axis.end - 1) as f64),
        };
        let aspect = f64::from(size.0) / f64::from(size.1);
        let whole = flow.grid().bounds_between(crop.low, crop.high);
        let look = Look::new(camera(whole, aspect), transfer(range, case.length));
        Self {
            shown,
            way: if flow.problem().velocities().axes() == 2 { Way::Slice } else { Way::Volume },
            look: Look { size, crop: Some(crop), ..look },
            iso: None,
            slice: Slice { axis: 2, cell: None },
            range,
            beside: shown.beside().range(case),
        }
    }

    /// # Errors
    /// What cannot be drawn of a flow in a box of so many cells, and what could.
    pub fn check(&self, cells: [i64; 3], axes: usize) -> Result<()> {
        let Slice { axis, cell } = self.slice;
        let wrong = match (self.way, cell) {
            (Way::Volume | Way::Surface, _) if axes == 2 => {
                "a flow in the plane is drawn as a slice; volumes and surfaces are those of flows in space".into()
            }
            (Way::Slice, _) if axes == 2 && axis != 2 => "a flow in the plane is its own slice, across z".into(),
            (Way::Slice, Some(cell)) if !(0..cells[axis]).contains(&cell) => {
                format!("a slice at {}={cell}: the box has cells 0 to {} there", AXES[axis], cells[axis] - 1)
            }
            _ => return Ok(()),
        };
        Err(Error::program(wrong))
    }

    /// An isovalue in its range that usually shows something.
    pub fn suggested(&self) -> f64 {
        let part = match self.shown {
            Shown::Speed => 0.5,
            Shown::Vorticity => 0.15,
            Shown::Q => 0.03,
            Shown::Density => 0.3,
        };
        let low = self.range[0].max(0.0);
        low + part * (self.range[1] - low)
    }

    /// Other values from the first colour to the last one, and a transfer function for them.
    pub fn spread(&mut self, range: [f64; 2], length: f64) {
        self.range = range;
        self.look.transfer = transfer(range, length);
    }
}

/// From dark blue over green to yellow, as bright as the value is large.
const SCALE: [[f64; 3]; 5] =
    [[0.267, 0.005, 0.329], [0.230, 0.322, 0.546], [0.128, 0.567, 0.551], [0.369, 0.789, 0.383], [0.993, 0.906, 0.144]];

/// The scale over a range of values.
pub fn scale([low, high]: [f64; 2]) -> Vec<[f64; 4]> {
    let last = (SCALE.len() - 1) as f64;
    let at = |number: usize| low + (high - low) * number as f64 / last;
    SCALE.iter().enumerate().map(|(number, &[red, green, blue])| [at(number), red, green, blue]).collect()
}

/// Nothing where the value is low; what is high shows through a length of the case.
fn transfer(range: [f64; 2], length: f64) -> TransferFunction {
    let at = |share: f64| range[0] + (range[1] - range[0]) * share;
    TransferFunction {
        opacity: vec![[at(0.1), 0.0], [at(0.5), 0.25], [at(1.0), 0.8]],
        colour: scale(range),
        unit_distance: length / 4.0,
    }
}

/// From where a box is seen whole: x to the right, y up, z towards the viewer, who stands somewhat to the right and above.
fn camera([low, high]: [[f64; 3]; 2], aspect: f64) -> Camera {
    /// Of the picture's height and width; the rest is a margin.
    const FILLED: f64 = 0.94;
    const FOV: f64 = 30.0;
    let middle: [f64; 3] = std::array::from_fn(|axis| (low[axis] + high[axis]) / 2.0);
    let (turned, raised) = (25.0_f64.to_radians(), 20.0_f64.to_radians());
    let back = [turned.sin() * raised.cos(), raised.sin(), turned.cos() * raised.cos()];
    let right = [turned.cos(), 0.0, -turned.sin()];
    let up = [-turned.sin() * raised.sin(), raised.cos(), -turned.cos() * raised.sin()];
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let slope = (FOV / 2.0).to_radians().tan() * FILLED;
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
        projection: Projection::Perspective { vertical_fov_degrees: FOV },
    }
}
