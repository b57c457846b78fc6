//! [`Viewport`]: a plane of cells on a part of the screen.

use zippy_protocol::{ArrayRef, MOST_VIEW_BYTES, ViewRequest};

use super::quantity::ViewedNumbers;
use super::slice::Slice;

/// Minimum and maximum size of a cell on the screen, in points.
const CELL_SIZE_LIMITS: [f64; 2] = [1e-9, 512.0];
/// Requested boxes begin and end at multiples of this number of sampled cells, so that short moves
/// need no new request.
const BLOCK_CELLS: i64 = 32;

/// Position and zoom of a plane on the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewport {
    /// Upper left corner of the screen area, in points.
    pub corner: [f64; 2],
    /// Width and height of the screen area, in points.
    pub size: [f64; 2],
    /// Plane coordinates of the centre, in cells.
    pub centre: [f64; 2],
    /// Size of a cell on the screen, in points.
    pub scale: f64,
}

impl Viewport {
    /// Fits a plane of `extents` cells to a screen area.
    pub fn fit(corner: [f64; 2], size: [f64; 2], extents: [i64; 2]) -> Self {
        let along = |axis: usize| size[axis].max(1.0) / extents[axis].max(1) as f64;
        let scale = along(0).min(along(1)).clamp(CELL_SIZE_LIMITS[0], CELL_SIZE_LIMITS[1]);
        Self { corner, size, centre: extents.map(|extent| extent as f64 / 2.0), scale }
    }

    /// Returns a viewport with the same centre and zoom on another screen area.
    #[must_use]
    pub fn on(self, corner: [f64; 2], size: [f64; 2]) -> Self {
        Self { corner, size, ..self }
    }

    fn area_centre(&self) -> [f64; 2] {
        [0, 1].map(|axis| self.corner[axis] + self.size[axis] / 2.0)
    }

    /// Returns the screen coordinates of a point of the plane.
    pub fn to_screen(&self, plane: [f64; 2]) -> [f64; 2] {
        let middle = self.area_centre();
        [middle[0] + (plane[0] - self.centre[0]) * self.scale, middle[1] - (plane[1] - self.centre[1]) * self.scale]
    }

    /// Returns the plane coordinates of a point of the screen.
    pub fn to_plane(&self, screen: [f64; 2]) -> [f64; 2] {
        let middle = self.area_centre();
        [self.centre[0] + (screen[0] - middle[0]) / self.scale, self.centre[1] - (screen[1] - middle[1]) / self.scale]
    }

    /// Returns the cell at a point of the screen. It may be outside of every array.
    pub fn cell(&self, screen: [f64; 2]) -> [i64; 2] {
        self.to_plane(screen).map(|at| at.floor() as i64)
    }

    /// Returns the upper left and the lower right corner of a box of cells on the screen.
    pub fn rectangle(&self, [start, end]: [[i64; 2]; 2]) -> [[f64; 2]; 2] {
        let (low, high) = (self.to_screen(start.map(|at| at as f64)), self.to_screen(end.map(|at| at as f64)));
        [[low[0], high[1]], [high[0], low[1]]]
    }

    /// Zooms by a factor about a point of the screen, which stays fixed.
    #[must_use]
    pub fn zoomed(self, about: [f64; 2], factor: f64) -> Self {
        let factor = if factor.is_finite() && factor > 0.0 { factor } else { 1.0 };
        let (plane, middle) = (self.to_plane(about), self.area_centre());
        let scale = (self.scale * factor).clamp(CELL_SIZE_LIMITS[0], CELL_SIZE_LIMITS[1]);
        let centre = [plane[0] - (about[0] - middle[0]) / scale, plane[1] + (about[1] - middle[1]) / scale];
        Self { centre, scale, ..self }
    }

    /// Moves the plane with the pointer by `by` points. The centre stays within the plane.
    #[must_use]
    pub fn panned(self, by: [f64; 2], extents: [i64; 2]) -> Self {
        let by = by.map(|by| if by.is_finite() { by } else { 0.0 });
        let centre = [self.centre[0] - by[0] / self.scale, self.centre[1] + by[1] / self.scale];
        let within = |axis: usize| centre[axis].clamp(0.0, extents[axis].max(0) as f64);
        Self { centre: [within(0), within(1)], ..self }
    }

    /// Returns the box of the visible cells in `bounds`. If no cell is visible, the box is empty:
    /// its ends equal its starts.
    pub fn seen(&self, [low, high]: [[i64; 2]; 2]) -> [[i64; 2]; 2] {
        let first = self.to_plane([self.corner[0], self.corner[1] + self.size[1]]);
        let last = self.to_plane([self.corner[0] + self.size[0], self.corner[1]]);
        let start = [0, 1].map(|axis| (first[axis].floor() as i64).clamp(low[axis], high[axis].max(low[axis])));
        let end = [0, 1].map(|axis| (last[axis].ceil() as i64).clamp(start[axis], high[axis].max(start[axis])));
        [start, end]
    }

    /// Returns the distance between drawn cells: a power of two that gives about one cell per
    /// pixel.
    pub fn stride(&self, pixels_per_point: f64) -> i64 {
        let cells_per_pixel = 1.0 / (self.scale * pixels_per_point.max(f64::MIN_POSITIVE));
        let mut stride = 1_i64;
        while stride < 1 << 60 && (stride * 2) as f64 <= cells_per_pixel {
            stride *= 2;
        }
        stride
    }

    /// Returns the box to request and its stride along both axes, or `None` if no cell is visible.
    ///
    /// The box contains the visible cells in `bounds`, extended to whole blocks. The stride gives
    /// about one cell per pixel, and at most [`MOST_VIEW_BYTES`] bytes in `depth` boxes of cells of
    /// `cell_bytes` each. `depth` is 1 for a slice.
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
                    let blocks = end[axis].div_euclid(block) + i64::from(end[axis].rem_euclid(block) > 0);
                    blocks.saturating_mul(block).min(bounds[1][axis])
                };
                [[down(0), down(1)], [up(0), up(1)]]
            };
            let cells = |[start, end]: [[i64; 2]; 2]| {
                [0, 1].map(|axis| ((end[axis] - start[axis]) as f64 / stride as f64).ceil()).iter().product::<f64>()
            };
            let most = MOST_VIEW_BYTES as f64 / (cell_bytes.max(1) as f64 * depth.max(1) as f64);
            // Prefer whole blocks, then no blocks, then a larger stride.
            let found = [BLOCK_CELLS, 1].map(|many| blocks(stride.saturating_mul(many))).into_iter();
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

    /// Returns the request for the visible cells of a slice of an array with this shape, or `None`
    /// if no cell is visible.
    pub fn request(
        &self,
        slice: &Slice,
        array: ArrayRef,
        shape: &[i64],
        pixels_per_point: f64,
        viewed: ViewedNumbers,
    ) -> Option<ViewRequest> {
        let bounds = [[0, 0], slice.extents(shape)];
        let (cells, stride) = self.wanted(bounds, pixels_per_point, viewed.bytes, 1)?;
        let up = if slice.up.is_some() { stride } else { 1 };
        Some(slice.request(array, cells, [stride, up], viewed.numbers))
    }
}
