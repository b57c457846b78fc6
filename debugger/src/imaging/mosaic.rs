//! [`Mosaic`]: slices of an array in a grid of tiles.

use zippy_protocol::{ArrayRef, ViewRequest};

use super::slice::Slice;

/// Maximum supported extent of an array along an axis, in cells.
const MAX_EXTENT: i64 = 1 << 40;
/// Maximum supported number of tiles of a mosaic.
const MAX_TILES: i64 = 1 << 16;

/// Slices along an axis, in reading order from the upper left tile. The plane of the mosaic
/// contains the tiles with gaps between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mosaic {
    slice: Slice,
    axis: usize,
    tile: [i64; 2],
    first: i64,
    step: i64,
    count: i64,
    columns: i64,
    gap: i64,
}

impl Mosaic {
    /// Creates a mosaic of slices parallel to `slice` along `axis`. It has at most `most` tiles:
    /// all slices, or slices at a constant step. The number of columns makes the ratio of width to
    /// height about `aspect`.
    ///
    /// Returns `None` if the slice shows `axis`, or if the array has no such axis, no cell, or too
    /// large an extent.
    pub fn new(slice: &Slice, axis: usize, shape: &[i64], most: i64, aspect: f64) -> Option<Self> {
        if axis >= shape.len() || slice.at.len() != shape.len() || slice.shows(axis) {
            return None;
        }
        if shape.iter().any(|extent| !(1..=MAX_EXTENT).contains(extent)) {
            return None;
        }
        let most = most.clamp(1, MAX_TILES);
        let tile = slice.extents(shape);
        let step = shape[axis] / most + i64::from(shape[axis] % most > 0);
        let count = shape[axis] / step + i64::from(shape[axis] % step > 0);
        let gap = (tile[0].max(tile[1]) / 32).max(1);
        let pitch = [tile[0] + gap, tile[1] + gap].map(|extent| extent as f64);
        let columns = (aspect.clamp(1e-3, 1e3) * count as f64 * pitch[1] / pitch[0]).sqrt().round();
        let columns = (columns as i64).clamp(1, count);
        Some(Self { slice: slice.clone(), axis, tile, first: 0, step, count, columns, gap })
    }

    /// Returns a slice that is parallel to all tiles.
    pub fn parallel(&self) -> &Slice {
        &self.slice
    }

    /// Returns the axis along which the slices lie.
    pub fn axis(&self) -> usize {
        self.axis
    }

    pub fn count(&self) -> i64 {
        self.count
    }

    /// Returns the numbers of columns and rows of tiles.
    pub fn grid(&self) -> [i64; 2] {
        [self.columns, (self.count - 1) / self.columns + 1]
    }

    /// Returns the numbers of cells of the plane across and up, with gaps.
    pub fn extents(&self) -> [i64; 2] {
        let grid = self.grid();
        [0, 1].map(|axis| grid[axis] * (self.tile[axis] + self.gap) - self.gap)
    }

    /// Returns the slice of a tile, or `None` if there is no such tile.
    pub fn slice(&self, tile: i64) -> Option<Slice> {
        let mut slice = self.slice.clone();
        slice.at[self.axis] = self.index_of(tile)?;
        Some(slice)
    }

    /// Returns a tile's index along the axis.
    pub fn index_of(&self, tile: i64) -> Option<i64> {
        (0..self.count).contains(&tile).then(|| self.first + tile * self.step)
    }

    /// Returns the tile of an index along the axis, or `None` if the mosaic skips the index.
    pub fn tile_of(&self, index: i64) -> Option<i64> {
        let tile = (index - self.first).div_euclid(self.step);
        (self.index_of(tile) == Some(index)).then_some(tile)
    }

    /// Returns the first cell of the plane in a tile, and the first cell after the tile.
    pub fn box_of(&self, tile: i64) -> [[i64; 2]; 2] {
        let (column, row) = (tile % self.columns, tile / self.columns);
        let start = [column * (self.tile[0] + self.gap), (self.grid()[1] - 1 - row) * (self.tile[1] + self.gap)];
        [start, [start[0] + self.tile[0], start[1] + self.tile[1]]]
    }

    /// Returns the array index at a cell of the plane. `None` in gaps and outside of all tiles.
    pub fn index(&self, at: [i64; 2]) -> Option<Vec<i64>> {
        let pitch = [0, 1].map(|axis| self.tile[axis] + self.gap);
        let (column, row) = (at[0].div_euclid(pitch[0]), self.grid()[1] - 1 - at[1].div_euclid(pitch[1]));
        let in_tile = [0, 1].map(|axis| at[axis].rem_euclid(pitch[axis]));
        let grid = self.grid();
        let is_tile = (0..grid[0]).contains(&column) && (0..grid[1]).contains(&row);
        if !is_tile || in_tile[0] >= self.tile[0] || in_tile[1] >= self.tile[1] {
            return None;
        }
        Some(self.slice(row * self.columns + column)?.index(in_tile))
    }

    /// Returns the cell of the plane at an array index. `None` if the mosaic skips its slice.
    pub fn position(&self, index: &[i64]) -> Option<[i64; 2]> {
        let tile = self.tile_of(*index.get(self.axis)?)?;
        let in_tile = self.slice(tile)?.position(index)?;
        let [start, _] = self.box_of(tile);
        Some([start[0] + in_tile[0], start[1] + in_tile[1]])
    }

    /// Returns the request for the cells of all tiles, with a stride across and up.
    pub fn request(&self, array: ArrayRef, stride: i64, numbers: Option<u16>) -> ViewRequest {
        let up = if self.slice.up.is_some() { stride } else { 1 };
        let mut request = self.slice.request(array, [[0, 0], self.tile], [stride, up], numbers);
        request.start[self.axis] = self.first;
        request.end[self.axis] = self.first + (self.count - 1) * self.step + 1;
        request.stride[self.axis] = self.step;
        request
    }
}
