//! [`Mosaic`]: slices of an array side by side.

use zippy::debug::protocol::{ArrayRef, ViewRequest};

use super::slice::Slice;

/// Larger extents are not looked at.
const MOST_EXTENT: i64 = 1 << 40;
/// More tiles are not shown.
const MOST_TILES: i64 = 1 << 16;

/// Slices along an axis, in reading order from the upper left tile on. Its plane has the tiles with a gap between them.
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
    /// The slices parallel to `slice` along an axis that it does not show: all of them, or every so-manyth so that they are at
    /// most `most`, in as many columns as make the whole about `aspect` times as wide as high. None where the slice shows this
    /// axis, or the array has none, no cell, or more along an axis than there can be.
    pub fn new(slice: &Slice, axis: usize, shape: &[i64], most: i64, aspect: f64) -> Option<Self> {
        if axis >= shape.len() || slice.at.len() != shape.len() || slice.shows(axis) {
            return None;
        }
        if shape.iter().any(|extent| !(1..=MOST_EXTENT).contains(extent)) {
            return None;
        }
        let most = most.clamp(1, MOST_TILES);
        let tile = slice.extents(shape);
        let step = shape[axis] / most + i64::from(shape[axis] % most > 0);
        let count = shape[axis] / step + i64::from(shape[axis] % step > 0);
        let gap = (tile[0].max(tile[1]) / 32).max(1);
        let whole = [tile[0] + gap, tile[1] + gap].map(|extent| extent as f64);
        let columns = (aspect.clamp(1e-3, 1e3) * count as f64 * whole[1] / whole[0]).sqrt().round();
        let columns = (columns as i64).clamp(1, count);
        Some(Self { slice: slice.clone(), axis, tile, first: 0, step, count, columns, gap })
    }

    /// A slice that all of them are parallel to.
    pub fn parallel(&self) -> &Slice {
        &self.slice
    }

    /// The axis along which the slices lie.
    pub fn axis(&self) -> usize {
        self.axis
    }

    /// How many tiles there are.
    pub fn count(&self) -> i64 {
        self.count
    }

    /// Columns and rows of tiles.
    pub fn grid(&self) -> [i64; 2] {
        [self.columns, (self.count - 1) / self.columns + 1]
    }

    /// How many cells the whole has across and up, gaps included.
    pub fn extents(&self) -> [i64; 2] {
        let grid = self.grid();
        [0, 1].map(|axis| grid[axis] * (self.tile[axis] + self.gap) - self.gap)
    }

    /// The slice that a tile shows; none where there is no such tile.
    pub fn slice(&self, tile: i64) -> Option<Slice> {
        let mut slice = self.slice.clone();
        slice.at[self.axis] = self.index_of(tile)?;
        Some(slice)
    }

    /// The index along the axis that a tile shows.
    pub fn index_of(&self, tile: i64) -> Option<i64> {
        (0..self.count).contains(&tile).then(|| self.first + tile * self.step)
    }

    /// The tile that shows this index along the axis; none where it is left out.
    pub fn tile_of(&self, index: i64) -> Option<i64> {
        let tile = (index - self.first).div_euclid(self.step);
        (self.index_of(tile) == Some(index)).then_some(tile)
    }

    /// The first cell of the plane that a tile covers, and the first behind it.
    pub fn box_of(&self, tile: i64) -> [[i64; 2]; 2] {
        let (column, row) = (tile % self.columns, tile / self.columns);
        let start = [column * (self.tile[0] + self.gap), (self.grid()[1] - 1 - row) * (self.tile[1] + self.gap)];
        [start, [start[0] + self.tile[0], start[1] + self.tile[1]]]
    }

    /// The cell of the array at a cell of the plane; none in gaps and where there is no tile.
    pub fn index(&self, at: [i64; 2]) -> Option<Vec<i64>> {
        let whole = [0, 1].map(|axis| self.tile[axis] + self.gap);
        let (column, row) = (at[0].div_euclid(whole[0]), self.grid()[1] - 1 - at[1].div_euclid(whole[1]));
        let inside = [0, 1].map(|axis| at[axis].rem_euclid(whole[axis]));
        let grid = self.grid();
        let there = (0..grid[0]).contains(&column) && (0..grid[1]).contains(&row);
        if !there || inside[0] >= self.tile[0] || inside[1] >= self.tile[1] {
            return None;
        }
        Some(self.slice(row * self.columns + column)?.index(inside))
    }

    /// The cell of the plane that is this cell of the array; none where its slice is left out.
    pub fn position(&self, index: &[i64]) -> Option<[i64; 2]> {
        let tile = self.tile_of(*index.get(self.axis)?)?;
        let inside = self.slice(tile)?.position(index)?;
        let [start, _] = self.box_of(tile);
        Some([start[0] + inside[0], start[1] + inside[1]])
    }

    /// Asks for the cells of all tiles, every `stride`th across and up.
    pub fn request(&self, array: ArrayRef, stride: i64, numbers: Option<u16>) -> ViewRequest {
        let up = if self.slice.up.is_some() { stride } else { 1 };
        let mut request = self.slice.request(array, [[0, 0], self.tile], [stride, up], numbers);
        request.start[self.axis] = self.first;
        request.end[self.axis] = self.first + (self.count - 1) * self.step + 1;
        request.stride[self.axis] = self.step;
        request
    }
}
