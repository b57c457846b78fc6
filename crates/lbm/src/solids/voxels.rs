//! The inside of a scan: where its values are large enough.

use std::ops::Range;

use zippy::{Error, Grid, Result, World};

use super::bits::{Draft, Solid, share};
use super::shape::{Placement, Shape};
use crate::error::FlowError;

/// Takes a plane of voxels and its number: see [`Voxels::read`].
pub type Take<'a> = dyn FnMut(i64, &[f32]) -> Result<()> + 'a;

/// A scan, of which those points are solid where the value, interpolated between voxels, is above one number and perhaps below
/// another one.
pub struct Voxels<'a> {
    /// Voxels along each axis.
    pub shape: [i64; 3],
    /// Positions of the voxels, in the unit of the shape. A voxel is a box around its value.
    pub grid: Grid,
    /// Solid is what is above this.
    pub above: f64,
    /// And not above this.
    pub below: Option<f64>,
    /// Hands over planes across axis 2, of these numbers, one after the other in their order: axis 0 is the fastest one in
    /// each. Local; each rank asks for those of its share.
    pub read: &'a dyn Fn(Range<i64>, &mut Take) -> Result<()>,
}

/// Two voxels along an axis, and the share of the second one.
#[derive(Debug, Clone, Copy)]
struct Between {
    first: i64,
    second: i64,
    share: f64,
}

/// Indices of voxels at the middles of cells.
struct Indices {
    /// At the first cell of the share.
    first: [f64; 3],
    /// From each cell to the next along each axis of the box.
    steps: [[f64; 3]; 3],
}

/// What rounding adds to indices at the border of the scan.
const ROUNDING: f64 = 1e-9;

impl Indices {
    fn at(&self, place: [i64; 3]) -> [f64; 3] {
        let [x, y, z] = place.map(|at| at as f64);
        let [along_x, along_y, along_z] = self.steps;
        std::array::from_fn(|axis| self.first[axis] + x * along_x[axis] + y * along_y[axis] + z * along_z[axis])
    }

    /// Cells of a row along axis 0 of the box, the first at an index `from` on axis 2 of the scan, in which an index may lie
    /// between two; some more beside them.
    fn between(&self, from: f64, [low, high]: [f64; 2], count: i64) -> Range<i64> {
        let step = self.steps[0][2];
        if step == 0.0 {
            return 0..if low <= from && from <= high { count } else { 0 };
        }
        let ends = [low, high].map(|end| (end - from) / step);
        let least = (ends[0].min(ends[1]).floor() - 1.0).clamp(0.0, count as f64);
        least as i64..(ends[0].max(ends[1]).ceil() + 2.0).clamp(least, count as f64) as i64
    }
}

impl Voxels<'_> {
    /// # Errors
    /// What cannot be.
    fn check(&self) -> std::result::Result<(), FlowError> {
        if let Some(&n) = self.shape.iter().find(|&&n| n < 1) {
            return Err(FlowError::Solid(format!("the scan has {n} voxels along an axis; it must have 1 at least")));
        }
        self.grid.check().map_err(|error| FlowError::Solid(format!("the grid of the scan: {error}")))?;
        if !self.above.is_finite() {
            return Err(FlowError::Number {
                what: "the value above which a scan is solid",
                value: self.above,
                wanted: "finite",
            });
        }
        match self.below {
            Some(below) if below.is_nan() || below <= self.above => Err(FlowError::Solid(format!(
                "solid is what is above {} and not above {below}: the second number must be larger than the first",
                self.above
            ))),
            _ => Ok(()),
        }
    }

    /// The voxels around an index along an axis; beyond the outermost middles the value is that there.
    fn between(&self, axis: usize, at: f64) -> Between {
        let last = self.shape[axis] - 1;
        let at = at.clamp(0.0, last as f64);
        let first = (at.floor() as i64).min(last);
        let share = at - first as f64;
        Between { first, second: if share > 0.0 { (first + 1).min(last) } else { first }, share }
    }

    /// Indices from a cell on. The middle of the scan is that of its box, wherever it stands.
    fn indices(&self, placement: &Placement, start: [i64; 3]) -> Indices {
        let inverse = self.grid.inverse();
        let step = |row: usize, axis: usize| inverse[row][axis] / self.grid.spacing[axis] / placement.scale;
        let steps: [[f64; 3]; 3] = std::array::from_fn(|row| std::array::from_fn(|axis| step(row, axis)));
        let from_middle = |row: usize| start[row] as f64 - placement.middle[row];
        let first = std::array::from_fn(|axis| {
            let offset: f64 = (0..3).map(|row| from_middle(row) * steps[row][axis]).sum();
            (self.shape[axis] - 1) as f64 / 2.0 + offset
        });
        Indices { first, steps }
    }

    /// Whether an index lies in the box of a voxel.
    fn holds(&self, index: [f64; 3]) -> bool {
        (0..3).all(|axis| index[axis] >= -0.5 - ROUNDING && index[axis] <= self.shape[axis] as f64 - 0.5 + ROUNDING)
    }

    /// The planes of voxels between which cells of a box lie.
    fn planes(&self, indices: &Indices, [low, high]: [[i64; 3]; 2]) -> Range<i64> {
        let corner = |corner: usize| {
            let place = std::array::from_fn(|axis| if corner >> axis & 1 == 1 { high[axis] } else { low[axis] });
            self.between(2, indices.at(place)[2])
        };
        let corners = (0..8).map(corner);
        let ends = corners.fold((i64::MAX, 0), |(first, end), at| (at.first.min(first), end.max(at.second + 1)));
        ends.0..ends.1
    }

    /// The share of this rank, with the least and the greatest value there.
    fn own(
        &self,
        layers: Range<i64>,
        placement: &Placement,
        [start, count]: [[i64; 3]; 2],
    ) -> Result<(Draft, [f64; 2])> {
        let mut draft = Draft::new(start, count)?;
        let mut values = [f64::INFINITY, f64::NEG_INFINITY];
        if layers.is_empty() {
            return Ok((draft, values));
        }
        let indices = self.indices(placement, start);
        let (size, last) = ((self.shape[0] * self.shape[1]) as usize, self.shape[2] - 1);
        let ends = [[0, 0, layers.start], [count[0] - 1, count[1] - 1, layers.end - 1]];
        let wanted = self.planes(&indices, ends);
        let mut next = wanted.start;
        let mut before: Vec<f32> = Vec::new();
        (self.read)(wanted.clone(), &mut |plane, voxels| {
            if plane != next || voxels.len() != size {
                let found = format!("plane {plane} of {} voxels", voxels.len());
                return Err(Error::program(format!("the scan gave {found} instead of plane {next} of {size}")));
            }
            next += 1;
            // Cells between this plane and the one before it, and those beyond the outermost ones.
            let low = if plane == 0 { f64::NEG_INFINITY } else { (plane - 1) as f64 };
            let high = if plane == last { f64::INFINITY } else { plane as f64 };
            for (z, y) in layers.clone().flat_map(|z| (0..count[1]).map(move |y| (z, y))) {
                for x in indices.between(indices.at([0, y, z])[2], [low, high], count[0]) {
                    let index = indices.at([x, y, z]);
                    let depth = self.between(2, index[2]);
                    if depth.second != plane || !self.holds(index) {
                        continue;
                    }
                    let lower = if depth.first < plane { &before[..] } else { voxels };
                    let value =
                        self.value([lower, voxels], depth.share, [0, 1].map(|axis| self.between(axis, index[axis])));
                    values = [values[0].min(value), values[1].max(value)];
                    if value > self.above && self.below.is_none_or(|below| value <= below) {
                        draft.set([x, y, z]);
                    }
                }
            }
            before.clear();
            before.extend_from_slice(voxels);
            Ok(())
        })?;
        match next == wanted.end {
            true => Ok((draft, values)),
            false => Err(Error::program(format!("the scan gave no plane {next} of {wanted:?}"))),
        }
    }

    /// The value between two planes, at a share of the second one.
    fn value(&self, planes: [&[f32]; 2], share: f64, [column, row]: [Between; 2]) -> f64 {
        let mix = |one: f64, other: f64, share: f64| one * (1.0 - share) + other * share;
        let at = |plane: &[f32], y: i64, x: i64| f64::from(plane[(y * self.shape[0] + x) as usize]);
        let line = |plane: &[f32], y: i64| mix(at(plane, y, column.first), at(plane, y, column.second), column.share);
        let [lower, upper] = planes.map(|plane| mix(line(plane, row.first), line(plane, row.second), row.share));
        mix(lower, upper, share)
    }
}

impl Shape for Voxels<'_> {
    fn bounds(&self) -> [[f64; 3]; 2] {
        self.grid.bounds_between([-0.5; 3], self.shape.map(|n| n as f64 - 0.5))
    }

    fn solid(&self, world: &World, placement: &Placement, extents: [i64; 3]) -> Result<Solid> {
        self.check()?;
        let cells = placement.cells(&self.bounds(), extents)?;
        let own = self.own(share(world, cells[1][2]), placement, cells);
        let (draft, mut values) = world.agree("reading a scan", own)?;
        let solid = draft.shared(world)?;
        values[0] = -values[0];
        world.group().all_reduce(&mut values, |one, other| *one = one.max(*other))?;
        match solid.cells() {
            0 => Err(FlowError::Solid(format!(
                "no cell of the scan is solid: its values are from {} to {} there, and solid is what is above {}{}",
                -values[0],
                values[1],
                self.above,
                self.below.map_or(String::new(), |below| format!(" and not above {below}"))
            ))
            .into()),
            _ => Ok(solid),
        }
    }
}
