//! The rays of a picture and the one lattice of samples on them.
//!
//! Everything here is a function of camera, volume and sample distance, never of a chunk. A ray is sampled at
//! `entry + (k + 1/2) * delta`, `k = 0, 1, ..`, from where it enters the whole volume; `shaders/raycast.wgsl` repeats this
//! arithmetic operation by operation.

use super::camera::{Camera, Projection};
use crate::error::RenderError;

/// The most samples that one dispatch takes along a ray: software Vulkan ends the loops of an invocation after 65,535
/// iterations without a word. Longer rays are cast in several dispatches.
pub const MAX_SAMPLES: u32 = 50_000;

/// Camera, volume and sample distance, ready for casting. Positions are in voxels (index space), lengths of steps in
/// the volume's unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// The camera's position in voxels.
    pub eye: [f32; 3],
    /// Direction of view, length 1 in the volume's unit.
    pub forward: [f32; 3],
    /// Half a picture height to the right.
    pub right: [f32; 3],
    /// Half a picture height up.
    pub up: [f32; 3],
    /// Voxels per unit of length along each axis.
    pub per_length: [f32; 3],
    /// Whether rays are parallel.
    pub parallel: bool,
    /// Distance of samples.
    pub step: f32,
    /// Cells along each axis: one less than voxels.
    pub cells: [i32; 3],
}

/// One pixel's ray inside the whole volume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray {
    /// Where it enters, in voxels.
    pub entry: [f32; 3],
    /// From one sample to the next, in voxels.
    pub delta: [f32; 3],
    /// Samples from entry to exit.
    pub samples: u32,
}

impl View {
    /// The rays of a picture of `width` x `height` pixels of a volume of `shape` voxels `spacing` apart, sampled every
    /// `step`. The camera and all lengths are in the unit of `spacing`.
    ///
    /// # Errors
    /// The camera has no direction, the picture no pixels, the volume fewer than two voxels on an axis, or the step is
    /// not positive or so small that a ray would take more than 16 million samples.
    pub fn new(
        camera: &Camera,
        (width, height): (u32, u32),
        shape: [i64; 3],
        spacing: [f64; 3],
        step: f64,
    ) -> Result<Self, RenderError> {
        if !(1..=16384).contains(&width) || !(1..=16384).contains(&height) {
            let message = format!("a picture of {width} x {height} pixels; each side must be 1 to 16384");
            return Err(RenderError::Setting(message));
        }
        if shape.iter().any(|&n| !(2..=1 << 22).contains(&n)) {
            let message = format!("{shape:?} voxels; each axis needs 2 to {} to be cut into cells", 1 << 22);
            return Err(RenderError::Volume(message));
        }
        if !spacing.iter().all(|s| s.is_finite() && *s > 0.0) {
            return Err(RenderError::Volume(format!("a spacing of {spacing:?}; every one must be positive")));
        }
        if !(step > 0.0 && step.is_finite()) {
            return Err(RenderError::Setting(format!("a sample distance of {step}; it must be positive")));
        }
        let diagonal = (0..3).map(|axis| ((shape[axis] - 1) as f64 * spacing[axis]).powi(2)).sum::<f64>().sqrt();
        if diagonal / step > f64::from(1 << 24) {
            let least = diagonal / f64::from(1 << 24);
            let message = format!("a sample distance of {step}; this volume needs at least {least:.3e}");
            return Err(RenderError::Setting(message));
        }
        let frame = camera.frame()?;
        let half = camera.half_height()?;
        let f32s = |v: [f64; 3]| v.map(|x| x as f32);
        Ok(Self {
            width,
            height,
            eye: f32s(std::array::from_fn(|axis| camera.position[axis] / spacing[axis])),
            forward: f32s(frame.forward),
            right: f32s(frame.right.map(|x| x * half)),
            up: f32s(frame.up.map(|x| x * half)),
            per_length: f32s(spacing.map(|s| 1.0 / s)),
            parallel: matches!(camera.projection, Projection::Parallel { .. }),
            step: step as f32,
            cells: shape.map(|n| (n - 1) as i32),
        })
    }

    /// An upper bound of [`Ray::samples`] over all pixels.
    pub fn most_samples(&self) -> u32 {
        let square = |axis: usize| f64::from(self.cells[axis] as f32 / self.per_length[axis]).powi(2);
        let diagonal = (square(0) + square(1) + square(2)).sqrt();
        (diagonal / f64::from(self.step)).ceil() as u32 + 2
    }

    /// The ray through the centre of pixel (column, row); row 0 is the top one.
    pub fn ray(&self, column: u32, row: u32) -> Ray {
        let x = (2 * column as i32 + 1 - self.width as i32) as f32 / self.height as f32;
        let y = (self.height as i32 - 2 * row as i32 - 1) as f32 / self.height as f32;
        let aside: [f32; 3] = std::array::from_fn(|axis| x * self.right[axis] + y * self.up[axis]);
        let bend = if self.parallel { 0.0 } else { 1.0 };
        let towards: [f32; 3] = std::array::from_fn(|axis| self.forward[axis] + bend * aside[axis]);
        let length = (towards[0] * towards[0] + towards[1] * towards[1] + towards[2] * towards[2]).sqrt();
        let direction: [f32; 3] = std::array::from_fn(|axis| towards[axis] / length * self.per_length[axis]);
        let origin: [f32; 3] =
            std::array::from_fn(|axis| self.eye[axis] + (1.0 - bend) * aside[axis] * self.per_length[axis]);
        let (mut enter, mut exit) = (0.0_f32, f32::MAX);
        for axis in 0..3 {
            // A ray along the faces of this axis crosses them far away, on the right side of everything.
            let slope = if direction[axis].abs() < 1e-20 { 1e-20 } else { direction[axis] };
            let low = (0.0 - origin[axis]) / slope;
            let high = (self.cells[axis] as f32 - origin[axis]) / slope;
            enter = enter.max(low.min(high));
            exit = exit.min(low.max(high));
        }
        let samples = ((exit - enter) / self.step + 0.5).floor().clamp(0.0, 16_777_216.0) as u32;
        Ray {
            entry: std::array::from_fn(|axis| origin[axis] + direction[axis] * enter),
            delta: direction.map(|d| d * self.step),
            samples,
        }
    }
}

impl Ray {
    /// The position of a sample in voxels.
    pub fn position(&self, sample: u32) -> [f32; 3] {
        let k = sample as f32 + 0.5;
        std::array::from_fn(|axis| self.entry[axis] + self.delta[axis] * k)
    }

    /// The cell that holds a sample. Along a ray it only ever moves in the direction of `delta`.
    pub fn cell(&self, sample: u32, cells: [i32; 3]) -> [i32; 3] {
        let position = self.position(sample);
        std::array::from_fn(|axis| (position[axis].floor() as i32).clamp(0, cells[axis] - 1))
    }

    /// The samples whose cells lie in the box of cells from `start` to `end`: contiguous, since cells move one way.
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

    /// The first sample for which a predicate holds that never ceases to hold; `samples` if there is none.
    fn first_where(&self, holds: impl Fn(u32) -> bool) -> u32 {
        let (mut low, mut high) = (0, self.samples);
        while low < high {
            let middle = low.midpoint(high);
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        low
    }
}
