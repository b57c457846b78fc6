//! [`Subvolume`]: a box along three axes of an array, for volume rendering.

use zippy_protocol::{ArrayRef, ScalarValue, ViewRequest};
use zippy_render::volume::FAR;

use super::norm::Scale;
use super::quantity::ViewedNumbers;
use super::slice::Slice;
use super::values::Values;

/// Maximum magnitude of a position. Larger positions are clamped, so that differences stay exact
/// enough in `f32`.
const MAX_POSITION: f64 = 1e6;

/// Three axes of an array with all their cells, and an index along each other axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subvolume {
    /// Axes across, up and deep.
    pub axes: [usize; 3],
    /// Index along every axis. The entries of the three axes have no meaning.
    pub at: Vec<i64>,
}

impl Subvolume {
    /// Creates the box of the two axes of a slice and a third axis. `None` if the slice shows that
    /// axis or is a line.
    pub fn new(slice: &Slice, deep: usize) -> Option<Self> {
        let up = slice.up.filter(|_| deep < slice.at.len() && !slice.shows(deep))?;
        Some(Self { axes: [slice.across, up, deep], at: slice.at.clone() })
    }

    /// Returns the numbers of cells along the three axes.
    pub fn extents(&self, shape: &[i64]) -> [i64; 3] {
        self.axes.map(|axis| shape.get(axis).map_or(0, |&extent| extent.max(0)))
    }

    /// Returns the request for all cells of the box.
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

    /// Returns the request for the box with at most `most` bytes. The strides give all axes similar
    /// numbers of cells, so that no axis has more cells than necessary.
    pub fn request(&self, array: ArrayRef, shape: &[i64], viewed: ViewedNumbers, most: usize) -> ViewRequest {
        let strided = |cells: i64| {
            let mut request = ViewRequest { numbers: viewed.numbers, ..self.whole(array, shape) };
            for (axis, extent) in self.axes.into_iter().zip(self.extents(shape)) {
                request.stride[axis] = (extent / cells + i64::from(extent % cells > 0)).max(1);
            }
            request
        };
        let fits = |cells: &i64| strided(*cells).bytes(viewed.bytes).is_some_and(|bytes| bytes <= most);
        let (mut low, mut high) = (1, self.extents(shape).into_iter().max().unwrap_or(1).max(1));
        while low < high {
            let middle = low + (high - low + 1) / 2;
            if fits(&middle) { low = middle } else { high = middle - 1 }
        }
        strided(low)
    }
}

/// Positions of a box's cells in a range, as a volume.
#[derive(Debug, Clone, PartialEq)]
pub struct Voxels {
    /// Number of cells along each axis, at least 2. A single cell along an axis is doubled.
    pub shape: [i64; 3],
    /// Distance between neighbours, in cells of the array.
    pub spacing: [f64; 3],
    /// Positions: 0 at the lower end of the range, 1 at the upper end. Numbers without a position,
    /// such as NaN, are far below 0.
    pub positions: Vec<f32>,
}

impl Voxels {
    /// Converts a view of the box.
    ///
    /// # Errors
    /// The view has other axes or no cells.
    pub fn new(values: &Values, subvolume: &Subvolume, scale: &Scale) -> Result<Self, String> {
        let axes = values.extents.len();
        let is_of_box = (0..axes).all(|axis| subvolume.axes.contains(&axis) || values.extents[axis] == 1);
        if subvolume.at.len() != axes || subvolume.axes.iter().any(|&axis| axis >= axes) || !is_of_box {
            return Err("the view that came is not of this box".into());
        }
        let mut strides = vec![1_usize; axes];
        for axis in 1..axes {
            strides[axis] = strides[axis - 1] * values.extents[axis - 1].max(0) as usize;
        }
        let cells = subvolume.axes.map(|axis| values.extents[axis].max(0) as usize);
        if cells.contains(&0) {
            return Err("there are no cells".into());
        }
        let shape = cells.map(|cells| cells.max(2));
        let strides = [0, 1, 2].map(|side| if cells[side] < 2 { 0 } else { strides[subvolume.axes[side]] });
        let position = |value: ScalarValue| match scale.position(value) {
            Some(position) => position.clamp(-MAX_POSITION, MAX_POSITION) as f32,
            None => -FAR as f32,
        };
        let mut positions = Vec::with_capacity(shape.iter().product());
        for deep in 0..shape[2] {
            for up in 0..shape[1] {
                let first = deep * strides[2] + up * strides[1];
                let row = (0..shape[0]).map(|across| values.scalar(first + across * strides[0]));
                positions.extend(row.map(|value| position(value.unwrap_or(ScalarValue::Float(f64::NAN)))));
            }
        }
        let spacing = subvolume.axes.map(|axis| values.of.stride[axis] as f64);
        Ok(Self { shape: shape.map(|cells| cells as i64), spacing, positions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imaging::{Integers, Norm};

    const ARRAY: ArrayRef = ArrayRef { rank: None, number: 0 };

    fn subvolume(axes: [usize; 3], count: usize) -> Subvolume {
        Subvolume { axes, at: vec![1; count] }
    }

    #[test]
    fn request_of_thin_box_keeps_all_cells_along_thin_axes() {
        let of = subvolume([0, 2, 1], 4).request(
            ARRAY,
            &[1000, 3, 500, 7],
            ViewedNumbers { numbers: Some(0), bytes: 4 },
            4 << 20,
        );
        assert_eq!((of.start, of.end), (vec![0, 0, 0, 1], vec![1000, 3, 500, 2]));
        assert_eq!(of.stride, [2, 1, 1, 1], "500 x 3 x 500 cells of 4 bytes are less than 4 MiB");
        for shape in [[1, 1, 1], [512, 512, 512], [1 << 40, 2, 3], [7, 100_000, 100_000]] {
            let request =
                subvolume([0, 1, 2], 3).request(ARRAY, &shape, ViewedNumbers { numbers: None, bytes: 12 }, 1 << 20);
            let bytes = request.bytes(12).unwrap();
            assert!(
                bytes <= 1 << 20 && bytes * 8 >= (1 << 18).min(12 * shape.iter().product::<i64>() as usize),
                "{bytes}"
            );
        }
    }

    #[test]
    fn voxels_have_order_of_subvolume_axes_and_nan_is_far_below() {
        let request = ViewRequest { stride: vec![2, 1, 3], ..subvolume([0, 1, 2], 3).whole(ARRAY, &[4, 1, 7]) };
        let mut numbers: Vec<f64> = (0..6).map(f64::from).collect();
        (numbers[4], numbers[5]) = (f64::NAN, f64::INFINITY);
        let values = Values { of: request, step: 1, extents: vec![2, 1, 3], numbers, integers: Integers::None };
        let scale = Scale::new(Norm::Linear, (1.0, 3.0)).unwrap();
        let found = Voxels::new(&values, &subvolume([2, 0, 1], 3), &scale).unwrap();
        assert_eq!((found.shape, found.spacing), ([3, 2, 2], [3.0, 2.0, 1.0]));
        let far = -FAR as f32;
        // Across is axis 2 and up is axis 0. The single cell along axis 1 is doubled.
        let layer = [-0.5, 0.5, far, 0.0, 1.0, far];
        assert_eq!(found.positions, [layer, layer].concat());
        assert!(Voxels::new(&values, &subvolume([0, 1, 2], 4), &scale).is_err());
    }
}
