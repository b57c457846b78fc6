//! Points, and bounding boxes.

use zippy::element::Element;

use crate::sort_key::SortKey;

/// Point in 2 or 3 dimensions: `[f32; 2]`, or `[f32; 4]` with three coordinates and a number that
/// moves with the point but is ignored by trees.
pub trait Point: Element + sealed::Sealed {
    /// Number of coordinates.
    const DIMENSIONS: usize;
    #[doc(hidden)]
    fn to_parts(self) -> [f32; 4];
    #[doc(hidden)]
    fn from_parts(parts: [f32; 4]) -> Self;

    /// Returns the position of the point. In 2 dimensions the third coordinate is 0.
    fn position(self) -> Position {
        let [x, y, z, _] = self.to_parts();
        [x, y, z]
    }
}

/// Position of a point. In 2 dimensions the third coordinate is 0.
pub type Position = [f32; 3];

mod sealed {
    pub trait Sealed {}
    impl Sealed for [f32; 2] {}
    impl Sealed for [f32; 4] {}
}

impl Point for [f32; 2] {
    const DIMENSIONS: usize = 2;

    fn to_parts(self) -> [f32; 4] {
        [self[0], self[1], 0.0, 0.0]
    }

    fn from_parts([x, y, ..]: [f32; 4]) -> Self {
        [x, y]
    }
}

impl Point for [f32; 4] {
    const DIMENSIONS: usize = 3;

    fn to_parts(self) -> [f32; 4] {
        self
    }

    fn from_parts(parts: [f32; 4]) -> Self {
        parts
    }
}

/// Point with its index, during the construction of a tree: one type for all kinds of points, so
/// that the code is compiled once.
#[derive(Clone, Copy, zippy::Element)]
#[repr(C)]
pub(super) struct IndexedPoint {
    x: f32,
    y: f32,
    z: f32,
    /// The fourth number of the point, which is not a coordinate.
    w: f32,
    /// Words of the index in the vector from which the tree is built.
    low: u32,
    high: u32,
}

impl IndexedPoint {
    pub(super) fn new([x, y, z, w]: [f32; 4], index: u64) -> Self {
        Self { x, y, z, w, low: index as u32, high: (index >> 32) as u32 }
    }

    pub(super) fn parts(&self) -> [f32; 4] {
        [self.x, self.y, self.z, self.w]
    }

    pub(super) fn index(&self) -> [u32; 2] {
        [self.low, self.high]
    }

    /// Returns the position of the point with −0 replaced by +0.
    pub(super) fn position(&self) -> Position {
        [self.x, self.y, self.z].map(|x| x + 0.0)
    }
}

/// Converts a coordinate to an integer with the same order.
pub(super) fn ordered(coordinate: f32) -> u32 {
    f32::ORDER.ordered(coordinate.to_bits())
}

/// Returns the squared distance of two points: the sum of the squared differences, axis 0 first,
/// each operation rounded to `f32`.
pub(super) fn squared_distance(a: &Position, b: &Position) -> f32 {
    sum_of_squares([0, 1, 2].map(|axis| a[axis] - b[axis]))
}

fn sum_of_squares([x, y, z]: [f32; 3]) -> f32 {
    x * x + y * y + z * z
}

/// Bounding box of points, its boundary included. Without points, the box begins at ∞ and ends at
/// −∞.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Lower corner.
    pub low: Position,
    /// Upper corner.
    pub high: Position,
}

impl Bounds {
    /// Bounding box of no points.
    pub const NONE: Self = Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };

    /// Returns the bounding box of points.
    pub fn of(points: impl IntoIterator<Item = Position>) -> Self {
        points.into_iter().fold(Self::NONE, |all, point| all.with(&Self { low: point, high: point }))
    }

    /// True if the box contains no points.
    pub fn is_empty(&self) -> bool {
        self.low[0] > self.high[0]
    }

    /// Returns the bounding box of two boxes.
    pub fn with(&self, other: &Self) -> Self {
        Self {
            low: [0, 1, 2].map(|axis| self.low[axis].min(other.low[axis])),
            high: [0, 1, 2].map(|axis| self.high[axis].max(other.high[axis])),
        }
    }

    /// Returns the axis with the largest extent (the lowest such axis).
    pub fn widest(&self) -> usize {
        let width = |axis: usize| self.high[axis] - self.low[axis];
        (1..3).fold(0, |widest, axis| if width(axis) > width(widest) { axis } else { widest })
    }

    /// Returns the squared distance from a point to the closest point of the box, rounded like a
    /// distance between points. Therefore it never exceeds the distance to a point in the box.
    pub fn squared_distance(&self, to: &Position) -> f32 {
        sum_of_squares([0, 1, 2].map(|axis| (self.low[axis] - to[axis]).max(to[axis] - self.high[axis]).max(0.0)))
    }

    /// True if the boxes intersect.
    pub fn meets(&self, other: &Self) -> bool {
        (0..3).all(|axis| self.low[axis] <= other.high[axis] && other.low[axis] <= self.high[axis])
    }
}
