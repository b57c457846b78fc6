//! Rays of an image and their lattice of samples.
//!
//! All functions depend on camera, volume and sample distance only, never on a chunk. A ray is
//! sampled at `entry + (k + 1/2) * delta`, `k = 0, 1, ..`, from its entry into the whole volume.
//! `shaders/volume/view.wgsl` repeats this arithmetic operation by operation.

use zippy::Grid;

use super::camera::{Camera, Projection};
use super::look::{Look, MAX_CLIP_PLANES};
use crate::error::RenderError;

/// Maximum number of samples per ray in one dispatch; longer rays take several dispatches. Software
/// Vulkan silently ends the loops of an invocation after 65,535 iterations. A sample takes one
/// iteration of each of three loops; leaps and surface fragments of any ray in a subgroup count for
/// all.
pub(super) const MAX_SAMPLES: u32 = 15_000;

/// Maximum distance, in voxels, of a camera from the volume's origin along an axis; farther away,
/// single precision cannot distinguish adjacent voxels.
const MAX_CAMERA_DISTANCE: f64 = 16_777_216.0;

/// Maximum number of sample distances on a ray: f32 holds all integers up to it.
pub(super) const MAX_STEPS: f32 = 16_777_216.0;

/// Camera, volume and sample distance, prepared for ray casting. Positions are in voxels (index
/// space), directions of the camera in the volume's space. The unit of length is the smallest
/// distance of voxels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Number of pixels per row.
    pub width: u32,
    /// Number of rows.
    pub height: u32,
    /// Position of the camera in voxels.
    pub eye: [f32; 3],
    /// View direction, of length 1.
    pub forward: [f32; 3],
    /// Vector of half an image height to the right.
    pub right: [f32; 3],
    /// Vector of half an image height up.
    pub up: [f32; 3],
    /// Voxels per unit of length along each axis: 1 for the smallest spacing, less for others.
    pub per_length: [f32; 3],
    /// Unit vector in space of each axis of the volume.
    pub directions: [[f32; 3]; 3],
    /// Columns of the inverse of the matrix with columns `directions`: maps a vector in space to
    /// lengths along the axes.
    pub inverse: [[f32; 3]; 3],
    /// True if rays are parallel.
    pub parallel: bool,
    /// Distance between samples.
    pub step: f32,
    /// Number of cells along each axis: one less than voxels.
    pub cells: [i32; 3],
    /// Lower corner of the visible box, in voxels.
    pub low: [f32; 3],
    /// Upper corner of the visible box, in voxels.
    pub high: [f32; 3],
    /// Planes `[a, b, c, d]` that keep the points, in voxels, with `a x + b y + c z + d >= 0`.
    /// Unused planes keep all points.
    pub planes: [[f32; 4]; MAX_CLIP_PLANES],
    /// True if samples are shifted by a fixed function of the pixel, by up to half a step.
    pub jitter: bool,
}

/// Ray of a pixel inside the whole volume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray {
    /// Entry point, in voxels.
    pub entry: [f32; 3],
    /// Vector between consecutive samples, in voxels.
    pub delta: [f32; 3],
    /// Number of samples from entry to exit.
    pub samples: u32,
}

impl View {
    /// Rays of an image of `width` x `height` pixels of a volume of `shape` voxels on a grid,
    /// sampled every `step`. Camera positions and all lengths are in the space and unit of the
    /// grid.
    ///
    /// # Errors
    /// - As [`check_volume`](Self::check_volume).
    /// - A camera without a direction, too far away, or with a too narrow or too wide image.
    /// - An image without pixels.
    /// - A step that is not positive, or so small that a ray takes more than 16 million samples.
    pub fn new(
        camera: &Camera,
        (width, height): (u32, u32),
        shape: [i64; 3],
        grid: impl Into<Grid>,
        step: f64,
    ) -> Result<Self, RenderError> {
        let grid = grid.into();
        if !(1..=16384).contains(&width) || !(1..=16384).contains(&height) {
            let message = format!("a picture of {width} x {height} pixels; each side must be 1 to 16384");
            return Err(RenderError::Setting(message));
        }
        Self::check_volume(shape, grid)?;
        let spacing = grid.spacing;
        let unit = smallest(spacing);
        if !(step > 0.0 && step.is_finite()) {
            return Err(RenderError::Setting(format!("a sample distance of {step}; it must be positive")));
        }
        let diagonal = diagonal(&grid.directions, |axis| (shape[axis] - 1) as f64 * (spacing[axis] / unit));
        if diagonal / (step / unit) > f64::from(MAX_STEPS) {
            let least = diagonal / f64::from(MAX_STEPS) * unit;
            let message = format!("a sample distance of {step}; this volume needs at least {least:.3e}");
            return Err(RenderError::Setting(message));
        }
        let frame = camera.frame()?;
        let parallel = matches!(camera.projection, Projection::Parallel { .. });
        let half = if parallel { camera.half_height()? / unit } else { camera.half_height()? };
        if !(1e-9..=1e15).contains(&half) {
            let message = format!("{:?}; the picture is too narrow or too wide for this volume", camera.projection);
            return Err(RenderError::Camera(message));
        }
        let eye = grid.index(camera.position);
        if let Some(far) = eye.iter().find(|at| at.abs() > MAX_CAMERA_DISTANCE) {
            let message = format!(
                "it is {:.3e} voxels away along an axis; f32 resolves at most {MAX_CAMERA_DISTANCE:e}",
                far.abs()
            );
            return Err(RenderError::Camera(message));
        }
        let f32s = |v: [f64; 3]| v.map(|x| x as f32);
        Ok(Self {
            width,
            height,
            eye: f32s(eye),
            forward: f32s(frame.forward),
            right: f32s(frame.right.map(|x| x * half)),
            up: f32s(frame.up.map(|x| x * half)),
            per_length: f32s(spacing.map(|s| unit / s)),
            directions: grid.directions.map(f32s),
            inverse: grid.inverse().map(f32s),
            parallel,
            // The smallest step that is certain to yield no sample.
            step: (step / unit).min(4.0 * diagonal) as f32,
            cells: shape.map(|n| (n - 1) as i32),
            low: [0.0; 3],
            high: shape.map(|n| (n - 1) as f32),
            planes: [[0.0, 0.0, 0.0, 1.0]; MAX_CLIP_PLANES],
            jitter: false,
        })
    }

    /// Checks that a volume can be rendered with any camera.
    ///
    /// # Errors
    /// - Fewer than two voxels on an axis, or more than 4,194,304.
    /// - A grid that [`Grid::check`] rejects.
    /// - A spacing outside of 1e-100 to 1e100, or more than 1e9 times that of another axis.
    pub fn check_volume(shape: [i64; 3], grid: impl Into<Grid>) -> Result<(), RenderError> {
        let grid = grid.into();
        let spacing = grid.spacing;
        let wrong = |message: String| Err(RenderError::Volume(message));
        grid.check().map_err(|error| RenderError::Volume(error.to_string()))?;
        if shape.iter().any(|&n| !(2..=1 << 22).contains(&n)) {
            return wrong(format!("{shape:?} voxels; each axis needs 2 to {} to be cut into cells", 1 << 22));
        }
        if !spacing.iter().all(|s| (1e-100..=1e100).contains(s)) {
            return wrong(format!("a spacing of {spacing:?}; every one must be positive, from 1e-100 to 1e100"));
        }
        if spacing.iter().any(|s| *s > 1e9 * smallest(spacing)) {
            return wrong(format!("a spacing of {spacing:?}; none may be more than 1e9 times another"));
        }
        Ok(())
    }

    /// Rays of a look at a volume, cut by its clip planes and its crop box. Samples begin at the
    /// entry into the remaining volume, so that cuts are as smooth as the faces of the volume.
    ///
    /// # Errors
    /// Those of [`Look::check`] and [`new`](Self::new); for integrated transfer functions also
    /// steps of more than two voxels along an axis of the array.
    pub fn of(look: &Look, shape: [i64; 3], grid: impl Into<Grid>) -> Result<Self, RenderError> {
        let grid = grid.into();
        let spacing = grid.spacing;
        Self::check_volume(shape, grid)?;
        look.check()?;
        let mut view = Self::new(&look.camera, look.size, shape, grid, look.step)?;
        let least = smallest(spacing);
        // With a margin for the rounding of directions.
        let most = 2.0 * thinnest(&grid);
        if look.preintegrated && look.step > (1.0 + 1e-9) * most {
            let message = format!(
                "a sample distance of {} with pre-integration; segments are integrated up to two voxels along each axis of \
                 the array, {most}",
                look.step
            );
            return Err(RenderError::Setting(message));
        }
        if let Some(crop) = look.crop {
            let voxel =
                |p: [f64; 3], axis: usize| (p[axis] / spacing[axis]).clamp(0.0, (shape[axis] - 1) as f64) as f32;
            view.low = std::array::from_fn(|axis| voxel(crop.low, axis));
            view.high = std::array::from_fn(|axis| voxel(crop.high, axis));
        }
        for (plane, clip) in view.planes.iter_mut().zip(&look.clip) {
            let along = |vector: [f64; 3]| (0..3).map(|row| clip.normal[row] * vector[row]).sum::<f64>();
            let normal: [f64; 3] = std::array::from_fn(|axis| along(grid.directions[axis]) * (spacing[axis] / least));
            let length = normal.iter().fold(0.0_f64, |most, part| most.max(part.abs()));
            // Far planes cut all or nothing, independent of their exact offset.
            let offset = ((along(grid.origin) - clip.offset) / least / length).clamp(-1e30, 1e30);
            *plane = [normal[0] / length, normal[1] / length, normal[2] / length, offset].map(|part| part as f32);
        }
        view.jitter = look.jitter;
        Ok(view)
    }

    /// Converts a vector in space to voxels.
    pub fn to_voxels(&self, vector: [f32; 3]) -> [f32; 3] {
        let along = product(&self.inverse, vector);
        std::array::from_fn(|axis| along[axis] * self.per_length[axis])
    }

    /// Direction of parallel rays, in voxels: bit-identical to that of the rays.
    pub(super) fn parallel_direction(&self) -> [f32; 3] {
        self.direction(self.forward)
    }

    /// Normalises a non-zero vector in space and converts it to voxels.
    fn direction(&self, [x, y, z]: [f32; 3]) -> [f32; 3] {
        let length = (x * x + y * y + z * z).sqrt();
        self.to_voxels([x, y, z].map(|part| part / length))
    }

    /// Converts a vector in voxels to space.
    pub fn to_space(&self, vector: [f32; 3]) -> [f32; 3] {
        product(&self.directions, std::array::from_fn(|axis| vector[axis] / self.per_length[axis]))
    }

    /// Converts a gradient per voxel to one per unit of length along the axes of space.
    pub fn gradient_in_space(&self, gradient: [f32; 3]) -> [f32; 3] {
        let along: [f32; 3] = std::array::from_fn(|axis| gradient[axis] * self.per_length[axis]);
        self.inverse.map(|column| column[0] * along[0] + column[1] * along[1] + column[2] * along[2])
    }

    /// Ray through the centre of pixel (column, row); row 0 is the top one.
    pub fn ray(&self, column: u32, row: u32) -> Ray {
        let x = (2 * column as i32 + 1 - self.width as i32) as f32 / self.height as f32;
        let y = (self.height as i32 - 2 * row as i32 - 1) as f32 / self.height as f32;
        let aside: [f32; 3] = std::array::from_fn(|axis| x * self.right[axis] + y * self.up[axis]);
        let bend = if self.parallel { 0.0 } else { 1.0 };
        let towards: [f32; 3] = std::array::from_fn(|axis| self.forward[axis] + bend * aside[axis]);
        let direction = self.direction(towards);
        let offset = self.to_voxels(aside.map(|part| (1.0 - bend) * part));
        let origin: [f32; 3] = std::array::from_fn(|axis| self.eye[axis] + offset[axis]);
        let (mut enter, mut exit) = (0.0_f32, f32::MAX);
        for axis in 0..3 {
            // A ray parallel to the faces of this axis crosses them far away, on the correct side.
            let slope = if direction[axis].abs() < 1e-20 { 1e-20 } else { direction[axis] };
            let low = (self.low[axis] - origin[axis]) / slope;
            let high = (self.high[axis] - origin[axis]) / slope;
            enter = enter.max(low.min(high));
            exit = exit.min(low.max(high));
        }
        for [a, b, c, d] in self.planes {
            let along = a * direction[0] + b * direction[1] + c * direction[2];
            let slope = if along.abs() < 1e-20 { 1e-20 } else { along };
            let crossing = -(a * origin[0] + b * origin[1] + c * origin[2] + d) / slope;
            enter = if slope > 0.0 { enter.max(crossing) } else { enter };
            exit = if slope > 0.0 { exit } else { exit.min(crossing) };
        }
        let samples = ((exit - enter) / self.step + 0.5).floor().clamp(0.0, MAX_STEPS) as u32;
        let delta = direction.map(|d| d * self.step);
        let shift = if self.jitter { shift_of(column, row) } else { 0.0 };
        let entry = std::array::from_fn(|axis| origin[axis] + direction[axis] * enter + delta[axis] * shift);
        Ray { entry, delta, samples }
    }
}

/// Product of a matrix, given by its columns, and a vector; equivalent to
/// `shaders/volume/view.wgsl`.
fn product([a, b, c]: &[[f32; 3]; 3], [x, y, z]: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|row| a[row] * x + b[row] * y + c[row] * z)
}

/// Longest diagonal of a box of these extents along the axes of a grid.
pub(super) fn diagonal(directions: &[[f64; 3]; 3], extents: impl Fn(usize) -> f64) -> f64 {
    let square = |signs: [f64; 3]| {
        let along = |row: usize| (0..3).map(|axis| directions[axis][row] * (signs[axis] * extents(axis))).sum::<f64>();
        (0..3).map(|row| along(row).powi(2)).sum::<f64>()
    };
    let diagonals = [[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]];
    diagonals.map(square).into_iter().fold(0.0, f64::max).sqrt()
}

/// Smallest distance of voxels: the unit of length.
fn smallest(spacing: [f64; 3]) -> f64 {
    spacing.iter().fold(f64::INFINITY, |least, &s| least.min(s))
}

/// Smallest distance between opposite faces of a cell.
fn thinnest(grid: &Grid) -> f64 {
    let inverse = grid.inverse();
    let per_length = |axis: usize| inverse.iter().map(|column| column[axis].powi(2)).sum::<f64>().sqrt();
    (0..3).map(|axis| grid.spacing[axis] / per_length(axis)).fold(f64::INFINITY, f64::min)
}

/// Pseudo-random number from -1/2 up to 1/2 that depends on the pixel only, in integer arithmetic.
fn shift_of(column: u32, row: u32) -> f32 {
    let mut h = column.wrapping_mul(0x9e37_79b1) ^ row.wrapping_mul(0x85eb_ca77);
    h = (h ^ (h >> 15)).wrapping_mul(0x2c1b_3c6d);
    h = (h ^ (h >> 12)).wrapping_mul(0x297a_2d39);
    ((h ^ (h >> 15)) >> 8) as f32 / 16_777_216.0 - 0.5
}

impl Ray {
    /// Position of a sample in voxels.
    pub fn position(&self, sample: u32) -> [f32; 3] {
        self.at(sample as f32 + 0.5)
    }

    /// Position after a number of steps from the entry, in voxels.
    pub fn at(&self, steps: f32) -> [f32; 3] {
        std::array::from_fn(|axis| self.entry[axis] + self.delta[axis] * steps)
    }

    /// Cell that holds a sample. Along a ray it only moves in the direction of `delta`.
    pub fn cell(&self, sample: u32, cells: [i32; 3]) -> [i32; 3] {
        let position = self.position(sample);
        std::array::from_fn(|axis| (position[axis].floor() as i32).clamp(0, cells[axis] - 1))
    }

    /// Samples whose cells lie in the box from `start` to `end`: a contiguous range, because cells
    /// move in one direction.
    pub fn samples_in(&self, cells: [i32; 3], start: [i32; 3], end: [i32; 3]) -> std::ops::Range<u32> {
        let entered = |sample: u32| {
            let cell = self.cell(sample, cells);
            (0..3).all(|a| if self.delta[a] >= 0.0 { cell[a] >= start[a] } else { cell[a] < end[a] })
        };
        let left = |sample: u32| {
            let cell = self.cell(sample, cells);
            (0..3).any(|a| if self.delta[a] >= 0.0 { cell[a] >= end[a] } else { cell[a] < start[a] })
        };
        let first = self.first_where(entered);
        first..self.first_where(left).max(first)
    }

    /// First sample for which a monotonic predicate holds; `samples` if there is none.
    fn first_where(&self, holds: impl Fn(u32) -> bool) -> u32 {
        let (mut low, mut high) = (0, self.samples);
        while low < high {
            let middle = low.midpoint(high);
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        low
    }
}
