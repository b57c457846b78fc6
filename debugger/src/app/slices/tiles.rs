//! [`Tiles`]: the slices that a plane on the screen is made of.

use zippy::debug::protocol::{ArrayEntry, MOST_VIEW_BYTES, ViewRequest};

use crate::look::{Mosaic, Quantity, Slice, Viewport, box_in_plane};

/// What a plane shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tiles {
    /// A slice of an array.
    One(Slice),
    /// What a slice cuts of a chunk with its ghost cells.
    Chunk(Slice, u64),
    /// Slices side by side.
    Many(Mosaic),
}

/// A slice on a plane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    pub slice: Slice,
    /// From the slice's own coordinates to those of the plane.
    pub offset: [i64; 2],
    /// What there is of it, in its own coordinates: first cell, and behind the last one.
    pub bounds: [[i64; 2]; 2],
}

impl Tiles {
    /// The cells of the plane: the first, and behind the last one. None where the chunk is not cut.
    pub fn bounds(&self, array: &ArrayEntry) -> Option<[[i64; 2]; 2]> {
        match self {
            Self::One(slice) => Some([[0, 0], slice.extents(&array.shape)]),
            Self::Chunk(slice, chunk) => {
                let chunk = array.chunks.get(usize::try_from(*chunk).ok()?)?;
                let [before, behind] = &array.ghosts;
                box_in_plane(slice, chunk, [before, behind])
            }
            Self::Many(mosaic) => Some([[0, 0], mosaic.extents()]),
        }
    }

    /// The axes across and up.
    pub fn axes(&self) -> [Option<usize>; 2] {
        let slice = match self {
            Self::One(slice) | Self::Chunk(slice, _) => slice,
            Self::Many(mosaic) => mosaic.parallel(),
        };
        [Some(slice.across), slice.up]
    }

    /// All slices with cells.
    pub fn all(&self, array: &ArrayEntry) -> Vec<Tile> {
        match self {
            Self::One(slice) | Self::Chunk(slice, _) => {
                let bounds = self.bounds(array).into_iter();
                bounds.map(|bounds| Tile { slice: slice.clone(), offset: [0, 0], bounds }).collect()
            }
            Self::Many(mosaic) => {
                let tile = |number: i64| {
                    let [start, end] = mosaic.box_of(number);
                    let bounds = [[0, 0], [end[0] - start[0], end[1] - start[1]]];
                    Some(Tile { slice: mosaic.slice(number)?, offset: start, bounds })
                };
                (0..mosaic.count()).filter_map(tile).collect()
            }
        }
    }

    /// The chunk whose cells and ghost cells are shown, where it is one.
    pub fn chunk(&self) -> Option<u64> {
        match self {
            Self::Chunk(_, chunk) => Some(*chunk),
            _ => None,
        }
    }

    /// The cell of the array at a cell of the plane; none outside.
    pub fn index(&self, array: &ArrayEntry, at: [i64; 2]) -> Option<Vec<i64>> {
        let [low, high] = self.bounds(array)?;
        if (0..2).any(|axis| at[axis] < low[axis] || at[axis] >= high[axis]) {
            return None;
        }
        match self {
            Self::One(slice) | Self::Chunk(slice, _) => Some(slice.index(at)),
            Self::Many(mosaic) => mosaic.index(at),
        }
    }

    /// The cell of the plane that is this cell of the array.
    pub fn position(&self, index: &[i64]) -> Option<[i64; 2]> {
        match self {
            Self::One(slice) | Self::Chunk(slice, _) => slice.position(index),
            Self::Many(mosaic) => mosaic.position(index),
        }
    }

    /// Asks for what is seen of it.
    pub fn request(
        &self,
        array: &ArrayEntry,
        port: &Viewport,
        pixels_per_point: f64,
        quantity: Quantity,
    ) -> Option<ViewRequest> {
        let bytes = quantity.of(&array.element)?.bytes();
        let wanted = Some(quantity.numbers);
        match self {
            Self::One(slice) => port.request(slice, array.array, &array.shape, pixels_per_point, (wanted, bytes)),
            Self::Chunk(slice, chunk) => {
                let (cells, stride) = port.wanted(self.bounds(array)?, pixels_per_point, bytes, 1)?;
                let up = if slice.up.is_some() { stride } else { 1 };
                let request = slice.request(array.array, cells, [stride, up], wanted);
                Some(ViewRequest { chunk: Some(*chunk), ..request })
            }
            Self::Many(mosaic) => {
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
