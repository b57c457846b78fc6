//! [`Subvolume`]: a box along three axes of an array, and its cells as a volume.

use zippy::debug::protocol::{ArrayRef, ScalarValue, ViewRequest};
use zippy_render::volume::FAR;

use super::norm::Scale;
use super::slice::Slice;
use super::values::Values;

/// Places further out than this are as far as this: differences of them stay exact enough in `f32`.
const FURTHEST: f64 = 1e6;

/// Three axes of an array, all of their cells, and an index along each of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subvolume {
    /// Across, up and deep.
    pub axes: [usize; 3],
    /// An index along every axis; those of the axes shown mean nothing.
    pub at: Vec<i64>,
}

impl Subvolume {
    /// The axes of a slice, and one more. None where the slice shows that one, or has one axis only.
    pub fn new(slice: &Slice, deep: usize) -> Option<Self> {
        let up = slice.up.filter(|_| deep < slice.at.len() && !slice.shows(deep))?;
        Some(Self { axes: [slice.across, up, deep], at: slice.at.clone() })
    }

    /// Cells along the three axes of an array of this shape.
    pub fn extents(&self, shape: &[i64]) -> [i64; 3] {
        self.axes.map(|axis| shape.get(axis).map_or(0, |&extent| extent.max(0)))
    }

    /// Asks for all cells of it.
    pub fn whole(&self, array: ArrayRef, shape: &[i64]) -> ViewRequest {
        let mut request = ViewRequest {
            array,
            chunk: None,
            start: self.at.clone(),
            end: self.at.iter().map(|at| at.saturating_add(1)).collect(),
            stride: vec![1; self.at.len()],
            numbers: None,
        };
        for (axis, extent) in self.axes.into_iter().zip(self.extents(shape)) {
            (request.start[axis], request.end[axis]) = (0, extent);
        }
        request
    }

    /// Asks for as many of its cells, `bytes` each, as are at most `most` bytes: along each axis every so-manyth, so that no axis
    /// has more of them than need be.
    pub fn request(
        &self,
        array: ArrayRef,
        shape: &[i64],
        (numbers, bytes): (Option<u16>, usize),
        most: usize,
    ) -> ViewRequest {
        let strided = |cells: i64| {
            let mut request = ViewRequest { numbers, ..self.whole(array, shape) };
            for (axis, extent) in self.axes.into_iter().zip(self.extents(shape)) {
                request.stride[axis] = (extent / cells + i64::from(extent % cells > 0)).max(1);
            }
            request
        };
        let fits = |cells: &i64| strided(*cells).bytes(bytes).is_some_and(|bytes| bytes <= most);
        let (mut low, mut high) = (1, self.extents(shape).into_iter().max().unwrap_or(1).max(1));
        while low < high {
            let middle = low + (high - low + 1) / 2;
            if fits(&middle) { low = middle } else { high = middle - 1 }
        }
        strided(low)
    }
}

/// What of a range the cells of a box are, as a volume.
#[derive(Debug, Clone, PartialEq)]
pub struct Voxels {
    /// At least two along each axis: an axis of one cell has it twice.
    pub shape: [i64; 3],
    /// From one to the next, in cells of the array.
    pub spacing: [f64; 3],
    /// 0 at the lower end of the range, 1 at the upper one; far below where there is no finite number, or none that the norm has
    /// a place for.
    pub places: Vec<f32>,
}

impl Voxels {
    /// The cells of a view of a box.
    ///
    /// # Errors
    /// The view is of other axes, or has no cells.
    pub fn new(values: &Values, subvolume: &Subvolume, scale: &Scale) -> Result<Self, String> {
        let axes = values.extents.len();
        let alone = (0..axes).all(|axis| subvolume.axes.contains(&axis) || values.extents[axis] == 1);
        if subvolume.at.len() != axes || subvolume.axes.iter().any(|&axis| axis >= axes) || !alone {
            return Err("the view that came is not of this box".into());
        }
        let mut steps = vec![1_usize; axes];
        for axis in 1..axes {
            steps[axis] = steps[axis - 1] * values.extents[axis - 1].max(0) as usize;
        }
        let cells = subvolume.axes.map(|axis| values.extents[axis].max(0) as usize);
        if cells.contains(&0) {
            return Err("there are no cells".into());
        }
        let shape = cells.map(|cells| cells.max(2));
        let steps = [0, 1, 2].map(|side| if cells[side] < 2 { 0 } else { steps[subvolume.axes[side]] });
        let place = |value: ScalarValue| match scale.place(value) {
            Some(place) => place.clamp(-FURTHEST, FURTHEST) as f32,
            None => -FAR as f32,
        };
        let mut places = Vec::with_capacity(shape.iter().product());
        for deep in 0..shape[2] {
            for up in 0..shape[1] {
                let first = deep * steps[2] + up * steps[1];
                let row = (0..shape[0]).map(|across| values.scalar(first + across * steps[0]));
                places.extend(row.map(|value| place(value.unwrap_or(ScalarValue::Float(f64::NAN)))));
            }
        }
        let spacing = subvolume.axes.map(|axis| values.of.stride[axis] as f64);
        Ok(Self { shape: shape.map(|cells| cells as i64), spacing, places })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::{Integers, Norm};

    const ARRAY: ArrayRef = ArrayRef { rank: None, number: 0 };

    fn subvolume(axes: [usize; 3], count: usize) -> Subvolume {
        Subvolume { axes, at: vec![1; count] }
    }

    #[test]
    fn thin_axes_keep_their_cells() {
        let of = subvolume([0, 2, 1], 4).request(ARRAY, &[1000, 3, 500, 7], (Some(0), 4), 4 << 20);
        assert_eq!((of.start, of.end), (vec![0, 0, 0, 1], vec![1000, 3, 500, 2]));
        assert_eq!(of.stride, [2, 1, 1, 1], "500 x 3 x 500 cells of 4 bytes are less than 4 MiB");
        for shape in [[1, 1, 1], [512, 512, 512], [1 << 40, 2, 3], [7, 100_000, 100_000]] {
            let request = subvolume([0, 1, 2], 3).request(ARRAY, &shape, (None, 12), 1 << 20);
            let bytes = request.bytes(12).unwrap();
            assert!(
                bytes <= 1 << 20 && bytes * 8 >= (1 << 18).min(12 * shape.iter().product::<i64>() as usize),
                "{bytes}"
            );
        }
    }

    #[test]
    fn voxels_stand_in_the_order_of_their_axes_and_nan_is_far_below() {
        let request = ViewRequest { stride: vec![2, 1, 3], ..subvolume([0, 1, 2], 3).whole(ARRAY, &[4, 1, 7]) };
        let mut numbers: Vec<f64> = (0..6).map(f64::from).collect();
        (numbers[4], numbers[5]) = (f64::NAN, f64::INFINITY);
        let values = Values { of: request, step: 1, extents: vec![2, 1, 3], numbers, integers: Integers::None };
        let scale = Scale::new(Norm::Linear, (1.0, 3.0)).unwrap();
        let found = Voxels::new(&values, &subvolume([2, 0, 1], 3), &scale).unwrap();
        assert_eq!((found.shape, found.spacing), ([3, 2, 2], [3.0, 2.0, 1.0]));
        let far = -FAR as f32;
        // Across goes axis 2, up goes axis 0, and the one cell along axis 1 is there twice.
        let layer = [-0.5, 0.5, far, 0.0, 1.0, far];
        assert_eq!(found.places, [layer, layer].concat());
        assert!(Voxels::new(&values, &subvolume([0, 1, 2], 4), &scale).is_err());
    }
}
