//! The inside of a scan: the points with values in a range.

use std::ops::Range;

use zippy::{Error, Grid, Result, World};

use super::placement::{CellWindow, Placement};
use super::rank_share::rank_share;
use super::solid_error::SolidError;
use super::solid_mask::{SolidMask, SolidMaskBuilder};
use super::solid_shape::SolidShape;
use super::voxelization_box::VoxelizationBox;
use crate::error::FlowError;

/// Receiver of a plane of voxels and its index: see [`ScanVolume::read_planes`]. Values have 64
/// bits, because 32 bits round small differences of large values to one number.
pub type PlaneReceiver<'a> = dyn FnMut(i64, &[f64]) -> Result<()> + 'a;

/// Scan as a solid: inside where the value interpolated between voxels is in a range.
pub struct ScanVolume<'a> {
    /// Voxels along each axis.
    pub shape: [i64; 3],
    /// Positions of the voxels, in the unit of the shape. A voxel is a box around its value.
    pub grid: Grid,
    /// Values above this are solid.
    pub above: f64,
    /// Values above this are not solid.
    pub below: Option<f64>,
    /// Reader that calls the receiver with each plane of a range, in order. Planes are across axis
    /// 2, and axis 0 is the fastest axis of a plane. Local; each rank requests the planes of its
    /// share.
    pub read_planes: &'a dyn Fn(Range<i64>, &mut PlaneReceiver<'_>) -> Result<()>,
}

/// Two neighbouring voxels along an axis, and the weight of the second voxel.
#[derive(Debug, Clone, Copy)]
struct VoxelPair {
    first: i64,
    second: i64,
    weight: f64,
}

/// Affine map from the centre of a cell to a voxel index.
struct CellToVoxel {
    /// Voxel index of the first cell of the window.
    first: [f64; 3],
    /// Difference of the voxel indices of neighbouring cells, for each axis of the box.
    steps: [[f64; 3]; 3],
}

/// Two planes of voxels, by index; infinite beyond the outermost planes.
#[derive(Clone, Copy)]
struct PlaneRange {
    low: f64,
    high: f64,
}

/// Samples of cells in a window. With several samples along an edge, one solid sample makes a cell
/// solid.
struct SampledWindow<'a> {
    placement: &'a Placement,
    window: &'a CellWindow,
    samples_per_edge: i64,
}

struct RankResult {
    builder: SolidMaskBuilder,
    min: f64,
    max: f64,
}

const MAX_SAMPLES_PER_EDGE: i64 = 16;

/// Rounding tolerance of voxel indices at the border of the scan.
const INDEX_TOLERANCE: f64 = 1e-9;

impl CellToVoxel {
    fn apply(&self, cell: [i64; 3]) -> [f64; 3] {
        let [x, y, z] = cell.map(|at| at as f64);
        let [along_x, along_y, along_z] = self.steps;
        std::array::from_fn(|axis| self.first[axis] + x * along_x[axis] + y * along_y[axis] + z * along_z[axis])
    }

    /// Range of cells along `axis` that may contain a cell between two planes of voxels (a cell for
    /// axis 0, a row for axis 1, a layer for axis 2), possibly with a few more cells at both ends.
    /// `first_index` is the index on axis 2 of the scan at cell 0 of `axis` and of all lower axes.
    fn cells_between_planes(&self, axis: usize, first_index: f64, planes: PlaneRange, extents: [i64; 3]) -> Range<i64> {
        let added = (0..axis).map(|lower| self.steps[lower][2] * (extents[lower] - 1) as f64);
        let (least, most) = added.fold((0.0, 0.0), |(least, most), end| (least + end.min(0.0), most + end.max(0.0)));
        let (low, high) = (planes.low - most - INDEX_TOLERANCE, planes.high - least + INDEX_TOLERANCE);
        let (step, count) = (self.steps[axis][2], extents[axis]);
        if step == 0.0 {
            return 0..if low <= first_index && first_index <= high { count } else { 0 };
        }
        let ends = [low, high].map(|end| (end - first_index) / step);
        let first = (ends[0].min(ends[1]).floor() - 1.0).clamp(0.0, count as f64);
        first as i64..(ends[0].max(ends[1]).ceil() + 2.0).clamp(first, count as f64) as i64
    }
}

impl ScanVolume<'_> {
    fn check(&self) -> std::result::Result<(), FlowError> {
        if let Some(&voxels) = self.shape.iter().find(|&&n| n < 1) {
            return Err(SolidError::NoVoxels { voxels }.into());
        }
        self.grid.check().map_err(|error| SolidError::InvalidGrid { message: error.to_string() })?;
        if !self.above.is_finite() {
            return Err(FlowError::InvalidNumber {
                quantity: "the value above which a scan is solid",
                value: self.above,
                requirement: "finite",
            });
        }
        match self.below {
            Some(below) if below.is_nan() || below <= self.above => {
                Err(SolidError::InvalidThresholds { above: self.above, below }.into())
            }
            _ => Ok(()),
        }
    }

    /// Neighbouring voxels of an index along an axis; the outermost voxel for an index outside of
    /// the scan.
    fn voxel_pair(&self, axis: usize, index: f64) -> VoxelPair {
        let last = self.shape[axis] - 1;
        let index = index.clamp(0.0, last as f64);
        let first = (index.floor() as i64).min(last);
        let weight = index - first as f64;
        VoxelPair { first, second: if weight > 0.0 { (first + 1).min(last) } else { first }, weight }
    }

    /// Map from samples to voxel indices. It takes the centre of the placement to the centre of the
    /// scan: the origin of the grid has no influence.
    fn cell_to_voxel(&self, sampled: &SampledWindow<'_>) -> CellToVoxel {
        let SampledWindow { placement, window, samples_per_edge } = sampled;
        let samples = *samples_per_edge as f64;
        let inverse = self.grid.inverse();
        let scale = placement.scale * samples;
        let step = |row: usize, axis: usize| inverse[row][axis] / self.grid.spacing[axis] / scale;
        let steps: [[f64; 3]; 3] = std::array::from_fn(|row| std::array::from_fn(|axis| step(row, axis)));
        // The first sample of a cell is half a sample from its lower faces.
        let first_sample = 0.5 / samples - 0.5;
        let from_centre = |row: usize| {
            let cells = window.start[row] as f64 - placement.centre[row] + window.offset[row] + first_sample;
            cells * samples
        };
        let first = std::array::from_fn(|axis| {
            let offset: f64 = (0..3).map(|row| from_centre(row) * steps[row][axis]).sum();
            (self.shape[axis] - 1) as f64 / 2.0 + offset
        });
        CellToVoxel { first, steps }
    }

    fn voxels_across_cell(&self, placement: &Placement) -> f64 {
        self.grid.spacing.iter().fold(0.0, |most: f64, spacing| most.max(1.0 / (spacing * placement.scale)))
    }

    fn contains_index(&self, index: [f64; 3]) -> bool {
        let is_within = |axis: usize| index[axis] >= -0.5 && index[axis] <= self.shape[axis] as f64 - 0.5;
        (0..3).all(is_within)
    }

    /// Planes of voxels around the samples from `low` to `high`, both inclusive.
    fn planes_around(&self, cell_to_voxel: &CellToVoxel, [low, high]: [[i64; 3]; 2]) -> Range<i64> {
        let corner = |corner: usize| {
            let cell = std::array::from_fn(|axis| if corner >> axis & 1 == 1 { high[axis] } else { low[axis] });
            self.voxel_pair(2, cell_to_voxel.apply(cell)[2])
        };
        let corners = (0..8).map(corner);
        let (first, end) =
            corners.fold((i64::MAX, 0), |(first, end), pair| (pair.first.min(first), end.max(pair.second + 1)));
        first..end
    }

    fn classify_layers(&self, layers: Range<i64>, sampled: &SampledWindow<'_>) -> Result<RankResult> {
        let SampledWindow { window, samples_per_edge: samples, .. } = *sampled;
        let builder = SolidMaskBuilder::new(window.start, window.extents)?;
        let mut result = RankResult { builder, min: f64::INFINITY, max: f64::NEG_INFINITY };
        if layers.is_empty() {
            return Ok(result);
        }
        let cell_to_voxel = self.cell_to_voxel(sampled);
        let layers = layers.start * samples..layers.end * samples;
        let extents = window.extents.map(|cells| cells * samples);
        let (plane_size, last) = ((self.shape[0] * self.shape[1]) as usize, self.shape[2] - 1);
        let corners = [[0, 0, layers.start], [extents[0] - 1, extents[1] - 1, layers.end - 1]];
        let planes = self.planes_around(&cell_to_voxel, corners);
        let mut next = planes.start;
        let mut previous: Vec<f64> = Vec::new();
        (self.read_planes)(planes.clone(), &mut |plane, voxels| {
            if plane != next || voxels.len() != plane_size {
                let found = format!("plane {plane} of {} voxels", voxels.len());
                return Err(Error::program(format!("the scan gave {found} instead of plane {next} of {plane_size}")));
            }
            next += 1;
            // Samples outside of the outermost planes belong to these planes.
            let range = PlaneRange {
                low: if plane == 0 { f64::NEG_INFINITY } else { (plane - 1) as f64 },
                high: if plane == last { f64::INFINITY } else { plane as f64 },
            };
            let between = |axis: usize, cell: [i64; 3]| {
                cell_to_voxel.cells_between_planes(axis, cell_to_voxel.apply(cell)[2], range, extents)
            };
            let in_share = |z: &i64| layers.contains(z);
            let rows = between(2, [0; 3]).filter(in_share).flat_map(|z| between(1, [0, 0, z]).map(move |y| (z, y)));
            for (z, y) in rows {
                for x in between(0, [0, y, z]) {
                    let index = cell_to_voxel.apply([x, y, z]);
                    let depth = self.voxel_pair(2, index[2]);
                    if depth.second != plane || !self.contains_index(index) {
                        continue;
                    }
                    let lower = if depth.first < plane { &previous[..] } else { voxels };
                    let in_plane = [0, 1].map(|axis| self.voxel_pair(axis, index[axis]));
                    let value = self.interpolate([lower, voxels], depth.weight, in_plane);
                    (result.min, result.max) = (result.min.min(value), result.max.max(value));
                    if value > self.above && self.below.is_none_or(|below| value <= below) {
                        result.builder.set([x, y, z].map(|sample| sample / samples));
                    }
                }
            }
            previous.clear();
            previous.extend_from_slice(voxels);
            Ok(())
        })?;
        if next != planes.end {
            return Err(Error::program(format!("the scan gave no plane {next} of {planes:?}")));
        }
        Ok(result)
    }

    /// Interpolates between eight voxels: four of each plane, with the weight of the second plane.
    fn interpolate(&self, planes: [&[f64]; 2], weight: f64, [column, row]: [VoxelPair; 2]) -> f64 {
        let mix = |a: f64, b: f64, weight: f64| a * (1.0 - weight) + b * weight;
        let at = |plane: &[f64], y: i64, x: i64| plane[(y * self.shape[0] + x) as usize];
        let line = |plane: &[f64], y: i64| mix(at(plane, y, column.first), at(plane, y, column.second), column.weight);
        let [lower, upper] = planes.map(|plane| mix(line(plane, row.first), line(plane, row.second), row.weight));
        mix(lower, upper, weight)
    }
}

impl SolidShape for ScanVolume<'_> {
    fn bounds(&self) -> [[f64; 3]; 2] {
        self.grid.bounds_between([-0.5; 3], self.shape.map(|n| n as f64 - 0.5))
    }

    fn voxelize(&self, world: &World, placement: &Placement, voxelization_box: &VoxelizationBox) -> Result<SolidMask> {
        self.check()?;
        // Relative to the centre of the scan, which the placement positions.
        let [low, high] = self.bounds();
        let largest = (0..3).map(|axis| 0.5 * (high[axis] - low[axis])).fold(0.0, f64::max);
        let window = placement.window(&[low, high], voxelization_box, largest)?;
        let samples_per_edge = if voxelization_box.thicken {
            (self.voxels_across_cell(placement).ceil() as i64).clamp(2, MAX_SAMPLES_PER_EDGE)
        } else {
            1
        };
        let sampled = SampledWindow { placement, window: &window, samples_per_edge };
        let classified = self.classify_layers(rank_share(world, window.extents[2]), &sampled);
        let RankResult { builder, min, max } = world.agree("reading a scan", classified)?;
        let solid = builder.merge_ranks(world)?;
        let mut extremes = [-min, max];
        world.group().all_reduce(&mut extremes, |most, other| *most = most.max(*other))?;
        let [min, max] = [-extremes[0], extremes[1]];
        if solid.solid_cells() > 0 {
            let warnings = voxelization_box.cut_warnings(placement.bounds_in_cells(&self.bounds()));
            return Ok(solid.placed_in(voxelization_box, warnings, None));
        }
        let error = if max == f64::NEG_INFINITY {
            SolidError::NoFiniteValues
        } else {
            SolidError::NoValueInRange { min, max, above: self.above, below: self.below }
        };
        Err(error.into())
    }
}
