//! [`Slice`]: a plane of an array.

use zippy_protocol::{ArrayRef, ViewRequest};

/// A plane of an array: two displayed axes, and an index along each other axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slice {
    /// Axis to the right.
    pub across: usize,
    /// Upward axis; `None` for a line.
    pub up: Option<usize>,
    /// Index along every axis. The entries of the displayed axes have no meaning.
    pub at: Vec<i64>,
}

impl Slice {
    /// Creates the plane of axes 0 and 1 in the middle of the other axes.
    pub fn new(shape: &[i64]) -> Self {
        let at = shape.iter().map(|extent| extent / 2).collect();
        Self { across: 0, up: (shape.len() > 1).then_some(1), at }
    }

    /// Returns the three planes through a cell of an array with at least three axes: axes 0 and 1,
    /// 0 and 2, 1 and 2.
    pub fn orthogonal(at: &[i64]) -> Option<[Self; 3]> {
        let plane = |across, up| Self { across, up: Some(up), at: at.to_vec() };
        (at.len() >= 3).then(|| [plane(0, 1), plane(0, 2), plane(1, 2)])
    }

    /// Returns the displayed axes: across, then up if there is one.
    pub fn axes(&self) -> Vec<usize> {
        [Some(self.across), self.up].into_iter().flatten().collect()
    }

    pub fn shows(&self, axis: usize) -> bool {
        self.across == axis || self.up == Some(axis)
    }

    /// Returns the axes that the slice does not show, in ascending order.
    pub fn fixed(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.at.len()).filter(|&axis| !self.shows(axis))
    }

    /// Sets the axis to the right. If it is the current upward axis, the two axes are swapped. An
    /// invalid axis is ignored.
    pub fn set_across(&mut self, axis: usize) {
        if axis < self.at.len() {
            if self.up == Some(axis) {
                self.up = Some(self.across);
            }
            self.across = axis;
        }
    }

    /// Sets the upward axis. If it is the current axis to the right, the two axes are swapped. An
    /// invalid axis is ignored.
    pub fn set_up(&mut self, axis: usize) {
        if let Some(up) = self.up.filter(|_| axis < self.at.len()) {
            if self.across == axis {
                self.across = up;
            }
            self.up = Some(axis);
        }
    }

    /// Adapts the slice to an array of another shape: indices are clamped, and another number of
    /// axes gives a new slice.
    #[must_use]
    pub fn within(&self, shape: &[i64]) -> Self {
        if shape.len() != self.at.len() {
            return Self::new(shape);
        }
        let clamp = |(&at, &extent): (&i64, &i64)| at.clamp(0, (extent - 1).max(0));
        Self { at: self.at.iter().zip(shape).map(clamp).collect(), ..self.clone() }
    }

    /// Returns the numbers of cells across and up; 1 up for a line.
    pub fn extents(&self, shape: &[i64]) -> [i64; 2] {
        let along = |axis: usize| shape.get(axis).map_or(0, |&extent| extent.max(0));
        [along(self.across), self.up.map_or(1, along)]
    }

    /// Returns the array index at a cell of the plane.
    pub fn index(&self, [across, up]: [i64; 2]) -> Vec<i64> {
        let mut index = self.at.clone();
        for (axis, at) in [(Some(self.across), across), (self.up, up)] {
            if let Some(entry) = axis.and_then(|axis| index.get_mut(axis)) {
                *entry = at;
            }
        }
        index
    }

    /// Returns the cell of the plane at an array index, or `None` for an index in another plane.
    pub fn position(&self, index: &[i64]) -> Option<[i64; 2]> {
        let within = index.len() == self.at.len() && self.fixed().all(|axis| index[axis] == self.at[axis]);
        within.then(|| self.shadow(index))
    }

    /// Projects an array index onto the plane along the other axes.
    pub fn shadow(&self, index: &[i64]) -> [i64; 2] {
        let along = |axis: usize| index.get(axis).copied().unwrap_or(0);
        [along(self.across), self.up.map_or(0, along)]
    }

    /// Returns the request for the cells from `start` to before `end`, with a stride along both
    /// axes.
    pub fn request(
        &self,
        array: ArrayRef,
        [start, end]: [[i64; 2]; 2],
        stride: [i64; 2],
        numbers: Option<u16>,
    ) -> ViewRequest {
        let mut request = ViewRequest {
            array,
            chunk: None,
            start: self.at.clone(),
            end: self.at.iter().map(|&at| at.saturating_add(1)).collect(),
            stride: vec![1; self.at.len()],
            numbers,
        };
        for (side, axis) in [Some(self.across), self.up].into_iter().enumerate() {
            let Some(axis) = axis.filter(|&axis| axis < self.at.len()) else { continue };
            (request.start[axis], request.end[axis]) = (start[side], end[side]);
            request.stride[axis] = stride[side];
        }
        request
    }
}
