//! [`Viewport`]: a plane of cells on a part of the screen.

use zippy::debug::protocol::{ArrayRef, MOST_VIEW_BYTES, ViewRequest};

use super::slice::Slice;

/// The largest points of screen for a cell, and the smallest.
const SCALES: [f64; 2] = [1e-9, 512.0];
/// Boxes that are asked for begin and end at whole blocks of so many sampled cells, so that small moves ask for nothing new.
const BLOCK: i64 = 32;

/// Where a plane lies on the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewport {
    /// The part of the screen: its left and upper corner, in points.
    pub corner: [f64; 2],
    /// Its width and height, in points.
    pub size: [f64; 2],
    /// The place in the plane that is in the middle, in cells.
    pub centre: [f64; 2],
    /// Points of screen for a cell.
    pub scale: f64,
}

impl Viewport {
    /// All of a plane of so many cells, as large as fits.
    pub fn fit(corner: [f64; 2], size: [f64; 2], extents: [i64; 2]) -> Self {
        let along = |axis: usize| size[axis].max(1.0) / extents[axis].max(1) as f64;
        let scale = along(0).min(along(1)).clamp(SCALES[0], SCALES[1]);
        Self { corner, size, centre: extents.map(|extent| extent as f64 / 2.0), scale }
    }

    /// The same place in the middle, on another part of the screen.
    #[must_use]
    pub fn on(self, corner: [f64; 2], size: [f64; 2]) -> Self {
        Self { corner, size, ..self }
    }

    fn middle(&self) -> [f64; 2] {
        [0, 1].map(|axis| self.corner[axis] + self.size[axis] / 2.0)
    }

    /// Where a place of the plane is on the screen.
    pub fn to_screen(&self, plane: [f64; 2]) -> [f64; 2] {
        let middle = self.middle();
        [middle[0] + (plane[0] - self.centre[0]) * self.scale, middle[1] - (plane[1] - self.centre[1]) * self.scale]
    }

    /// Which place of the plane is there on the screen.
    pub fn to_plane(&self, screen: [f64; 2]) -> [f64; 2] {
        let middle = self.middle();
        [self.centre[0] + (screen[0] - middle[0]) / self.scale, self.centre[1] - (screen[1] - middle[1]) / self.scale]
    }

    /// The cell there on the screen, which may lie outside of every array.
    pub fn cell(&self, screen: [f64; 2]) -> [i64; 2] {
        self.to_plane(screen).map(|place| place.floor() as i64)
    }

    /// Left and upper, right and lower corner of a box of cells on the screen.
    pub fn rectangle(&self, [start, end]: [[i64; 2]; 2]) -> [[f64; 2]; 2] {
        let (low, high) = (self.to_screen(start.map(|at| at as f64)), self.to_screen(end.map(|at| at as f64)));
        [[low[0], high[1]], [high[0], low[1]]]
    }

    /// Larger by this factor, or smaller, about a point of the screen, where what is there stays.
    #[must_use]
    pub fn zoomed(self, about: [f64; 2], factor: f64) -> Self {
        let factor = if factor.is_finite() && factor > 0.0 { factor } else { 1.0 };
        let (plane, middle) = (self.to_plane(about), self.middle());
        let scale = (self.scale * factor).clamp(SCALES[0], SCALES[1]);
        let centre = [plane[0] - (about[0] - middle[0]) / scale, plane[1] + (about[1] - middle[1]) / scale];
        Self { centre, scale, ..self }
    }

    /// Moved with the pointer by so many points, but so that the middle stays within the plane.
    #[must_use]
    pub fn panned(self, by: [f64; 2], extents: [i64; 2]) -> Self {
        let by = by.map(|by| if by.is_finite() { by } else { 0.0 });
        let centre = [self.centre[0] - by[0] / self.scale, self.centre[1] + by[1] / self.scale];
        let within = |axis: usize| centre[axis].clamp(0.0, extents[axis].max(0) as f64);
        Self { centre: [within(0), within(1)], ..self }
    }

    /// The box of those cells within `bounds` that are seen, whole or in part. Empty, with ends at its starts, where none is.
    pub fn seen(&self, [low, high]: [[i64; 2]; 2]) -> [[i64; 2]; 2] {
        let first = self.to_plane([self.corner[0], self.corner[1] + self.size[1]]);
        let last = self.to_plane([self.corner[0] + self.size[0], self.corner[1]]);
        let start = [0, 1].map(|axis| (first[axis].floor() as i64).clamp(low[axis], high[axis].max(low[axis])));
        let end = [0, 1].map(|axis| (last[axis].ceil() as i64).clamp(start[axis], high[axis].max(start[axis])));
        [start, end]
    }

    /// From one cell that is drawn to the next, so that there is about one a pixel: a power of two.
    pub fn stride(&self, pixels_per_point: f64) -> i64 {
        let cells_per_pixel = 1.0 / (self.scale * pixels_per_point.max(f64::MIN_POSITIVE));
        let mut stride = 1_i64;
        while stride < 1 << 60 && (stride * 2) as f64 <= cells_per_pixel {
            stride *= 2;
        }
        stride
    }

    /// The box of cells to ask for, and its stride along both axes: what is seen within `bounds`, made larger to whole blocks,
    /// of about one cell a pixel and at most [`MOST_VIEW_BYTES`] bytes of cells of `cell_bytes` each; none where nothing is
    /// seen. `depth` boxes like it are asked for together: 1 for a slice.
    pub fn wanted(
        &self,
        bounds: [[i64; 2]; 2],
        pixels_per_point: f64,
        cell_bytes: usize,
        depth: i64,
    ) -> Option<([[i64; 2]; 2], i64)> {
        let [start, end] = self.seen(bounds);
        if start[0] >= end[0] || start[1] >= end[1] {
            return None;
        }
        let mut stride = self.stride(pixels_per_point);
        loop {
            let blocks = |block: i64| {
                let down = |axis: usize| start[axis].div_euclid(block).saturating_mul(block).max(bounds[0][axis]);
                let up = |axis: usize| {
                    let whole = end[axis].div_euclid(block) + i64::from(end[axis].rem_euclid(block) > 0);
                    whole.saturating_mul(block).min(bounds[1][axis])
                };
                [[down(0), down(1)], [up(0), up(1)]]
            };
            let cells = |[start, end]: [[i64; 2]; 2]| {
                [0, 1].map(|axis| ((end[axis] - start[axis]) as f64 / stride as f64).ceil()).iter().product::<f64>()
            };
            let most = MOST_VIEW_BYTES as f64 / (cell_bytes.max(1) as f64 * depth.max(1) as f64);
            // With whole blocks where they fit, else without, before what is seen is made coarser.
            let found = [BLOCK, 1].map(|many| blocks(stride.saturating_mul(many))).into_iter();
            if let Some(found) = found.into_iter().find(|&found| cells(found) <= most) {
                return Some((found, stride));
            }
            let covered = (0..2).all(|axis| stride >= end[axis] - start[axis]);
            if covered || stride >= 1 << 60 {
                return Some((blocks(stride), stride));
            }
            stride *= 2;
        }
    }

    /// What to ask for, of a slice of an array of this shape, whose cells (or whose `numbers` that are wanted) have
    /// `cell_bytes` bytes. None where nothing of it is seen.
    pub fn request(
        &self,
        slice: &Slice,
        array: ArrayRef,
        shape: &[i64],
        pixels_per_point: f64,
        (numbers, cell_bytes): (Option<u16>, usize),
    ) -> Option<ViewRequest> {
        let bounds = [[0, 0], slice.extents(shape)];
        let (cells, stride) = self.wanted(bounds, pixels_per_point, cell_bytes, 1)?;
        let up = if slice.up.is_some() { stride } else { 1 };
        Some(slice.request(array, cells, [stride, up], numbers))
    }
}
