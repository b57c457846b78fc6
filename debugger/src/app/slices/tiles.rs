//! [`Tiles`]: the slices on a plane of the screen.

use zippy_protocol::{ArrayEntry, MOST_VIEW_BYTES, ViewRequest};

use crate::imaging::{Mosaic, Quantity, Slice, ViewedNumbers, Viewport, box_in_plane};

/// Slices that a plane of the screen shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tiles {
    /// A slice of an array.
    Slice(Slice),
    /// A slice of a chunk with its ghost cells.
    Chunk(Slice, u64),
    /// Several slices in a grid.
    Mosaic(Mosaic),
}

/// A slice at a position of the plane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tile {
    pub slice: Slice,
    /// Difference between the coordinates of the plane and those of the slice.
    pub offset: [i64; 2],
    /// Bounds of the slice in its own coordinates: first cell, and cell after the last one.
    pub bounds: [[i64; 2]; 2],
}

impl Tiles {
    /// Returns the bounds of the plane: first cell, and cell after the last one. `None` if the
    /// slice does not cut the chunk.
    pub(super) fn bounds(&self, array: &ArrayEntry) -> Option<[[i64; 2]; 2]> {
        match self {
            Self::Slice(slice) => Some([[0, 0], slice.extents(&array.shape)]),
            Self::Chunk(slice, chunk) => {
                let chunk = array.chunks.get(usize::try_from(*chunk).ok()?)?;
                let [before, after] = &array.ghosts;
                box_in_plane(slice, chunk, [before, after])
            }
            Self::Mosaic(mosaic) => Some([[0, 0], mosaic.extents()]),
        }
    }

    pub(super) fn axes(&self) -> [Option<usize>; 2] {
        let slice = match self {
            Self::Slice(slice) | Self::Chunk(slice, _) => slice,
            Self::Mosaic(mosaic) => mosaic.parallel(),
        };
        [Some(slice.across), slice.up]
    }

    /// Returns all slices that have cells.
    pub(super) fn all(&self, array: &ArrayEntry) -> Vec<Tile> {
        match self {
            Self::Slice(slice) | Self::Chunk(slice, _) => {
                let bounds = self.bounds(array).into_iter();
                bounds.map(|bounds| Tile { slice: slice.clone(), offset: [0, 0], bounds }).collect()
            }
            Self::Mosaic(mosaic) => {
                let tile = |number: i64| {
                    let [start, end] = mosaic.box_of(number);
                    let bounds = [[0, 0], [end[0] - start[0], end[1] - start[1]]];
                    Some(Tile { slice: mosaic.slice(number)?, offset: start, bounds })
                };
                (0..mosaic.count()).filter_map(tile).collect()
            }
        }
    }

    /// Returns the chunk whose cells and ghost cells the plane shows, if any.
    pub(super) fn chunk(&self) -> Option<u64> {
        match self {
            Self::Chunk(_, chunk) => Some(*chunk),
            _ => None,
        }
    }

    /// Returns the array index at a cell of the plane, or `None` outside of the array.
    pub(super) fn index(&self, array: &ArrayEntry, at: [i64; 2]) -> Option<Vec<i64>> {
        let [low, high] = self.bounds(array)?;
        if (0..2).any(|axis| at[axis] < low[axis] || at[axis] >= high[axis]) {
            return None;
        }
        match self {
            Self::Slice(slice) | Self::Chunk(slice, _) => Some(slice.index(at)),
            Self::Mosaic(mosaic) => mosaic.index(at),
        }
    }

    /// Returns the cell of the plane at an array index.
    pub(super) fn position(&self, index: &[i64]) -> Option<[i64; 2]> {
        match self {
            Self::Slice(slice) | Self::Chunk(slice, _) => slice.position(index),
            Self::Mosaic(mosaic) => mosaic.position(index),
        }
    }

    /// Returns the request for the visible cells.
    pub(super) fn request(
        &self,
        array: &ArrayEntry,
        port: &Viewport,
        pixels_per_point: f64,
        quantity: Quantity,
    ) -> Option<ViewRequest> {
        let viewed = quantity.viewed(&array.element)?;
        let ViewedNumbers { numbers: wanted, bytes } = viewed;
        match self {
            Self::Slice(slice) => port.request(slice, array.array, &array.shape, pixels_per_point, viewed),
            Self::Chunk(slice, chunk) => {
                let (cells, stride) = port.wanted(self.bounds(array)?, pixels_per_point, bytes, 1)?;
                let up = if slice.up.is_some() { stride } else { 1 };
                let request = slice.request(array.array, cells, [stride, up], wanted);
                Some(ViewRequest { chunk: Some(*chunk), ..request })
            }
            Self::Mosaic(mosaic) => {
                let mut stride = port.stride(pixels_per_point);
                loop {
                    let request = mosaic.request(array.array, stride, wanted);
                    let fits = request.bytes(bytes).is_some_and(|bytes| bytes <= MOST_VIEW_BYTES);
                    if fits || stride >= 1 << 60 {
                        return Some(request);
                    }
                    stride *= 2;
                }
            }
        }
    }
}
