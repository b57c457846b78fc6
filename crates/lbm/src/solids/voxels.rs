//! The inside of a scan: where its values are large enough.

use std::ops::Range;

use zippy::{Error, Grid, Result, World};

use super::bits::{Draft, Solid, share};
use super::room::{Room, cut_off};
use super::shape::{Placement, Shape, Window};
use crate::error::FlowError;

/// Takes a plane of voxels and its number: see [`Voxels::read`]. Values are floats of 64 bits,
/// which keep differences that those of 32 bits round to one number.
pub type Take<'a> = dyn FnMut(i64, &[f64]) -> Result<()> + 'a;

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

/// Two neighbouring voxels along an axis, and the share of the second one.
#[derive(Debug, Clone, Copy)]
struct Neighbours {
    first: i64,
    second: i64,
    share: f64,
}

/// Affine map from the middle of a cell to the voxel index there.
struct CellToVoxel {
    /// Voxel index at the first cell of the share.
    first: [f64; 3],
    /// Difference of the voxel indices of neighbouring cells, for each axis of the box.
    steps: [[f64; 3]; 3],
}

/// Samples along an edge of a cell that is solid where any of them is.
const MOST_SAMPLES: i64 = 16;

/// Tolerance of voxel indices at the border of the scan, for rounding errors.
const INDEX_TOLERANCE: f64 = 1e-9;

impl CellToVoxel {
    /// The voxel index at a cell of the share.
    fn apply(&self, cell: [i64; 3]) -> [f64; 3] {
        let [x, y, z] = cell.map(|at| at as f64);
        let [along_x, along_y, along_z] = self.steps;
        std::array::from_fn(|axis| self.first[axis] + x * along_x[axis] + y * along_y[axis] + z * along_z[axis])
    }

    /// Range of cells along `axis` that may contain a cell between two planes of voxels: a cell for axis 0, a
    /// row for axis 1, a layer for axis 2.
    ///
    /// * `first_index`: index on axis 2 of the scan at cell 0 of `axis` and of all lower axes.
    /// * `low`, `high`: indices of the planes.
    /// * `count`: number of cells along each axis.
    ///
    /// The range may have a few more cells at both ends.
    fn cells_between_planes(
        &self,
        axis: usize,
        first_index: f64,
        [low, high]: [f64; 2],
        count: [i64; 3],
    ) -> Range<i64> {
        // Lower axes add to the index.
        let added = (0..axis).map(|lower| self.steps[lower][2] * (count[lower] - 1) as f64);
        let (least, most) = added.fold((0.0, 0.0), |(least, most), end| (least + end.min(0.0), most + end.max(0.0)));
        let (low, high) = (low - most - INDEX_TOLERANCE, high - least + INDEX_TOLERANCE);
        let (step, count) = (self.steps[axis][2], count[axis]);
        if step == 0.0 {
            return 0..if low <= first_index && first_index <= high { count } else { 0 };
        }
        let ends = [low, high].map(|end| (end - first_index) / step);
        let first = (ends[0].min(ends[1]).floor() - 1.0).clamp(0.0, count as f64);
        first as i64..(ends[0].max(ends[1]).ceil() + 2.0).clamp(first, count as f64) as i64
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

    /// The neighbouring voxels of an index along an axis. An index outside of the scan has the
    /// outermost voxel.
    fn neighbours(&self, axis: usize, index: f64) -> Neighbours {
        let last = self.shape[axis] - 1;
        let index = index.clamp(0.0, last as f64);
        let first = (index.floor() as i64).min(last);
        let share = index - first as f64;
        Neighbours { first, second: if share > 0.0 { (first + 1).min(last) } else { first }, share }
    }

    /// The map from the samples of a share to voxel indices. It takes the middle of the placement
    /// to the middle of the scan: the origin of the grid has no influence.
    fn cell_to_voxel(&self, placement: &Placement, window: &Window, samples: i64) -> CellToVoxel {
        let inverse = self.grid.inverse();
        let scale = placement.scale * samples as f64;
        let step = |row: usize, axis: usize| inverse[row][axis] / self.grid.spacing[axis] / scale;
        let steps: [[f64; 3]; 3] = std::array::from_fn(|row| std::array::from_fn(|axis| step(row, axis)));
        // The first sample of a cell is half a sample from its lower faces.
        let first_sample = 0.5 / samples as f64 - 0.5;
        let from_middle = |row: usize| {
            let cells = window.start[row] as f64 - placement.middle[row] + window.offset[row] + first_sample;
            cells * samples as f64
        };
        let first = std::array::from_fn(|axis| {
            let offset: f64 = (0..3).map(|row| from_middle(row) * steps[row][axis]).sum();
            (self.shape[axis] - 1) as f64 / 2.0 + offset
        });
        CellToVoxel { first, steps }
    }

    /// The most voxels that a cell is across, along any axis of the scan.
    fn voxels_across(&self, placement: &Placement) -> f64 {
        self.grid.spacing.iter().fold(0.0, |most: f64, spacing| most.max(1.0 / (spacing * placement.scale)))
    }

    /// Whether an index lies in the box of a voxel.
    fn contains(&self, index: [f64; 3]) -> bool {
        let is_within = |axis: usize| index[axis] >= -0.5 && index[axis] <= self.shape[axis] as f64 - 0.5;
        (0..3).all(is_within)
    }

    /// The planes of voxels that surround the cells from `low` to `high`, both included.
    fn planes_around(&self, cell_to_voxel: &CellToVoxel, [low, high]: [[i64; 3]; 2]) -> Range<i64> {
        let corner = |corner: usize| {
            let cell = std::array::from_fn(|axis| if corner >> axis & 1 == 1 { high[axis] } else { low[axis] });
            self.neighbours(2, cell_to_voxel.apply(cell)[2])
        };
        let corners = (0..8).map(corner);
        let (first, end) =
            corners.fold((i64::MAX, 0), |(first, end), at| (at.first.min(first), end.max(at.second + 1)));
        first..end
    }

    /// The solid cells in the share of this rank, with the least and the greatest value there. A
    /// cell is solid where any of its samples is.
    fn own(
        &self,
        layers: Range<i64>,
        placement: &Placement,
        window: &Window,
        samples: i64,
    ) -> Result<(Draft, [f64; 2])> {
        let mut draft = Draft::new(window.start, window.count)?;
        let mut values = [f64::INFINITY, f64::NEG_INFINITY];
        if layers.is_empty() {
            return Ok((draft, values));
        }
        let cell_to_voxel = self.cell_to_voxel(placement, window, samples);
        let layers = layers.start * samples..layers.end * samples;
        let count = window.count.map(|cells| cells * samples);
        let (size, last) = ((self.shape[0] * self.shape[1]) as usize, self.shape[2] - 1);
        let corners = [[0, 0, layers.start], [count[0] - 1, count[1] - 1, layers.end - 1]];
        let wanted = self.planes_around(&cell_to_voxel, corners);
        let mut next = wanted.start;
        let mut before: Vec<f64> = Vec::new();
        (self.read)(wanted.clone(), &mut |plane, voxels| {
            if plane != next || voxels.len() != size {
                let found = format!("plane {plane} of {} voxels", voxels.len());
                return Err(Error::program(format!("the scan gave {found} instead of plane {next} of {size}")));
            }
            next += 1;
            // Cells outside of the outermost planes belong to these planes.
            let low = if plane == 0 { f64::NEG_INFINITY } else { (plane - 1) as f64 };
            let high = if plane == last { f64::INFINITY } else { plane as f64 };
            let between = |axis: usize, cell: [i64; 3]| {
                cell_to_voxel.cells_between_planes(axis, cell_to_voxel.apply(cell)[2], [low, high], count)
            };
            let in_share = |z: &i64| layers.contains(z);
            let rows = between(2, [0; 3]).filter(in_share).flat_map(|z| between(1, [0, 0, z]).map(move |y| (z, y)));
            for (z, y) in rows {
                for x in between(0, [0, y, z]) {
                    let index = cell_to_voxel.apply([x, y, z]);
                    let depth = self.neighbours(2, index[2]);
                    if depth.second != plane || !self.contains(index) {
                        continue;
                    }
                    let lower = if depth.first < plane { &before[..] } else { voxels };
                    let in_plane = [0, 1].map(|axis| self.neighbours(axis, index[axis]));
                    let value = self.interpolate([lower, voxels], depth.share, in_plane);
                    values = [values[0].min(value), values[1].max(value)];
                    if value > self.above && self.below.is_none_or(|below| value <= below) {
                        draft.set([x, y, z].map(|sample| sample / samples));
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

    /// Interpolates between eight voxels: four of each plane, with a share of the second plane.
    fn interpolate(&self, planes: [&[f64]; 2], share: f64, [column, row]: [Neighbours; 2]) -> f64 {
        let mix = |one: f64, other: f64, share: f64| one * (1.0 - share) + other * share;
        let at = |plane: &[f64], y: i64, x: i64| plane[(y * self.shape[0] + x) as usize];
        let line = |plane: &[f64], y: i64| mix(at(plane, y, column.first), at(plane, y, column.second), column.share);
        let [lower, upper] = planes.map(|plane| mix(line(plane, row.first), line(plane, row.second), row.share));
        mix(lower, upper, share)
    }
}

impl Shape for Voxels<'_> {
    fn bounds(&self) -> [[f64; 3]; 2] {
        self.grid.bounds_between([-0.5; 3], self.shape.map(|n| n as f64 - 0.5))
    }

    fn solid(&self, world: &World, placement: &Placement, room: &Room) -> Result<Solid> {
        self.check()?;
        // Its middle is in the middle of the placement, wherever its origin is.
        let [low, high] = self.bounds();
        let largest = (0..3).map(|axis| 0.5 * (high[axis] - low[axis])).fold(0.0, f64::max);
        let window = placement.window(&[low, high], room, largest)?;
        let across = self.voxels_across(placement);
        let samples = if room.thicken { (across.ceil() as i64).clamp(2, MOST_SAMPLES) } else { 1 };
        let own = self.own(share(world, window.count[2]), placement, &window, samples);
        let (draft, mut values) = world.agree("reading a scan", own)?;
        let solid = draft.shared(world)?;
        values[0] = -values[0];
        world.group().all_reduce(&mut values, |one, other| *one = one.max(*other))?;
        match solid.cells() {
            0 if values[1] == f64::NEG_INFINITY => {
                let wrong = "no cell of the scan is solid: it has no finite values there";
                Err(FlowError::Solid(wrong.into()).into())
            }
            0 => Err(FlowError::Solid(format!(
                "no cell of the scan is solid: its values are from {} to {} there, and solid is what is above {}{}",
                -values[0],
                values[1],
                self.above,
                self.below.map_or(String::new(), |below| format!(" and not above {below}"))
            ))
            .into()),
            _ => {
                let warnings = cut_off(room, placement.reach(&self.bounds()));
                Ok(solid.placed_in(room, warnings, None))
            }
        }
    }
}
