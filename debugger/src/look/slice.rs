//! [`Slice`]: a plane of an array.

use zippy::debug::protocol::{ArrayRef, ViewRequest};

/// A plane of an array: two axes that are shown and an index along each of the others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slice {
    /// The axis to the right.
    pub across: usize,
    /// The axis that goes up; none of an array of one axis.
    pub up: Option<usize>,
    /// An index along every axis; those of the axes shown mean nothing.
    pub at: Vec<i64>,
}

impl Slice {
    /// Axes 0 and 1 of an array of this shape, in the middle of the others.
    pub fn new(shape: &[i64]) -> Self {
        let at = shape.iter().map(|extent| extent / 2).collect();
        Self { across: 0, up: (shape.len() > 1).then_some(1), at }
    }

    /// The three planes through a cell of an array of at least three axes: axes 0 and 1, 0 and 2, 1 and 2.
    pub fn orthogonal(at: &[i64]) -> Option<[Self; 3]> {
        let plane = |across, up| Self { across, up: Some(up), at: at.to_vec() };
        (at.len() >= 3).then(|| [plane(0, 1), plane(0, 2), plane(1, 2)])
    }

    /// The axes that are shown: across, and up if there is one.
    pub fn axes(&self) -> Vec<usize> {
        [Some(self.across), self.up].into_iter().flatten().collect()
    }

    /// Whether this axis is shown.
    pub fn shows(&self, axis: usize) -> bool {
        self.across == axis || self.up == Some(axis)
    }

    /// The axes that are not shown, rising.
    pub fn fixed(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.at.len()).filter(|&axis| !self.shows(axis))
    }

    /// Shows another axis to the right. Where that one went up, the two change places. An axis that there is not is not taken.
    pub fn set_across(&mut self, axis: usize) {
        if axis < self.at.len() {
            if self.up == Some(axis) {
                self.up = Some(self.across);
            }
            self.across = axis;
        }
    }

    /// Shows another axis upwards. Where that one went to the right, the two change places. An axis that there is not is not
    /// taken.
    pub fn set_up(&mut self, axis: usize) {
        if let Some(up) = self.up.filter(|_| axis < self.at.len()) {
            if self.across == axis {
                self.across = up;
            }
            self.up = Some(axis);
        }
    }

    /// For an array that may have got another shape: with as many axes, and within it.
    #[must_use]
    pub fn within(&self, shape: &[i64]) -> Self {
        if shape.len() != self.at.len() {
            return Self::new(shape);
        }
        let clamp = |(&at, &extent): (&i64, &i64)| at.clamp(0, (extent - 1).max(0));
        Self { at: self.at.iter().zip(shape).map(clamp).collect(), ..self.clone() }
    }

    /// How many cells the plane has across and up; one up where there is no such axis.
    pub fn extents(&self, shape: &[i64]) -> [i64; 2] {
        let along = |axis: usize| shape.get(axis).map_or(0, |&extent| extent.max(0));
        [along(self.across), self.up.map_or(1, along)]
    }

    /// The cell of the array that is this cell of the plane.
    pub fn index(&self, [across, up]: [i64; 2]) -> Vec<i64> {
        let mut index = self.at.clone();
        for (axis, at) in [(Some(self.across), across), (self.up, up)] {
            if let Some(place) = axis.and_then(|axis| index.get_mut(axis)) {
                *place = at;
            }
        }
        index
    }

    /// The cell of the plane that is this cell of the array; none where it lies in another plane.
    pub fn position(&self, index: &[i64]) -> Option<[i64; 2]> {
        let within = index.len() == self.at.len() && self.fixed().all(|axis| index[axis] == self.at[axis]);
        within.then(|| self.shadow(index))
    }

    /// Where a cell of any plane lies in this one, seen along the other axes.
    pub fn shadow(&self, index: &[i64]) -> [i64; 2] {
        let along = |axis: usize| index.get(axis).copied().unwrap_or(0);
        [along(self.across), self.up.map_or(0, along)]
    }

    /// Asks for the cells of the plane from `start` to before `end`, every `stride`th, along both axes.
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
        for (part, axis) in [Some(self.across), self.up].into_iter().enumerate() {
            let Some(axis) = axis.filter(|&axis| axis < self.at.len()) else { continue };
            (request.start[axis], request.end[axis]) = (start[part], end[part]);
            request.stride[axis] = stride[part];
        }
        request
    }
}
