//! Voxel layout as declared by a header, and format-independent checks.

use std::path::Path;

use zippy_plan::extents::Index;
use zippy_plan::region::Region;

use crate::IoError;
use crate::scalar::ScalarKind;

/// Maximum number of components; a tensor has 9.
pub(crate) const MOST_COMPONENTS: i64 = 16;

/// Value in a header, and its offset.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Stated<T> {
    pub value: T,
    pub at: u64,
}

impl<T> Stated<T> {
    pub(crate) fn new(value: T, at: u64) -> Self {
        Self { value, at }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub kind: ScalarKind,
    pub big_endian: bool,
    pub components: Stated<i64>,
    /// Voxels along each axis, axis 0 fastest.
    pub sizes: Stated<Vec<i64>>,
    pub most_axes: usize,
    /// Distance between neighbouring voxels along each axis; `None` if the header has none.
    pub spacing: Option<Stated<Vec<f64>>>,
    /// Position of the first voxel; `None` if the header has none.
    pub origin: Option<Stated<Vec<f64>>>,
    /// Direction of each axis, in the space of the file; `None` if the header has none.
    pub directions: Option<Vec<Vec<f64>>>,
    /// Slope and intercept that convert stored numbers to values.
    pub rescale: Option<(f64, f64)>,
    /// Interpretations of contradictions in the header, for users of the file.
    pub notes: Vec<String>,
}

impl Claim {
    /// Layout with one number per voxel, at distances of 1.
    pub(crate) fn plain(kind: ScalarKind, big_endian: bool, sizes: Stated<Vec<i64>>) -> Self {
        Self {
            kind,
            big_endian,
            components: Stated::new(1, sizes.at),
            sizes,
            most_axes: 3,
            spacing: None,
            origin: None,
            directions: None,
            rescale: None,
            notes: Vec::new(),
        }
    }

    /// Makes spacings positive, with notes: a negative spacing reverses its axis, as in ITK and
    /// VTK, and 0 becomes 1.
    pub(crate) fn make_spacing_positive(&mut self) {
        let Some(Stated { value: spacing, .. }) = &mut self.spacing else { return };
        if let Some(directions) = make_spacings_positive(spacing, self.directions.as_deref(), &mut self.notes) {
            self.directions = Some(directions);
        }
    }

    pub(crate) fn check(mut self, path: &Path) -> Result<VoxelLayout, IoError> {
        self.make_spacing_positive();
        let (sizes, at) = (self.sizes.value, self.sizes.at);
        if !(1..=self.most_axes).contains(&sizes.len()) {
            let message = format!("{} axes; 1 to {} axes of voxels are read", sizes.len(), self.most_axes);
            return Err(IoError::unsupported(path, at, message));
        }
        if let Some(bad) = sizes.iter().find(|&&size| size < 1) {
            return Err(IoError::malformed(
                path,
                at,
                format!("a size of {bad}; every axis must have at least 1 voxel"),
            ));
        }
        if !(1..=MOST_COMPONENTS).contains(&self.components.value) {
            let message = format!("{} components per voxel; 1 to {MOST_COMPONENTS} are read", self.components.value);
            return Err(IoError::malformed(path, self.components.at, message));
        }
        let voxel = self.kind.bytes() as i64 * self.components.value;
        if sizes.iter().try_fold(voxel, |product, &size| product.checked_mul(size)).is_none() {
            let message = format!("sizes {sizes:?} of {} are more bytes than fit 63 bits", self.kind);
            return Err(IoError::malformed(path, at, message));
        }
        let spacing = match self.spacing {
            None => vec![1.0; sizes.len()],
            Some(spacing) => {
                for (axis, value) in spacing.value.iter().enumerate() {
                    if !(value.is_finite() && *value > 0.0) {
                        let message = format!("a spacing of {value} on axis {axis}; it must be a positive number");
                        return Err(IoError::malformed(path, spacing.at, message));
                    }
                }
                spacing.value
            }
        };
        if let Some(Stated { value, at }) = &self.origin
            && value.iter().any(|v| !v.is_finite())
        {
            return Err(IoError::malformed(path, *at, format!("an origin of {value:?}; it must be finite")));
        }
        Ok(VoxelLayout {
            kind: self.kind,
            big_endian: self.big_endian,
            components: self.components.value as u64,
            shape: Index::new(&sizes),
            spacing,
            origin: self.origin.map(|origin| origin.value),
            directions: self.directions.filter(|axes| axes.iter().flatten().all(|part| part.is_finite())),
            rescale: self.rescale,
            notes: self.notes,
        })
    }
}

/// Makes spacings positive as [`Claim::make_spacing_positive`]; returns the new directions if an
/// axis is reversed.
pub(crate) fn make_spacings_positive(
    spacing: &mut [f64],
    directions: Option<&[Vec<f64>]>,
    notes: &mut Vec<String>,
) -> Option<Vec<Vec<f64>>> {
    let axes = spacing.len();
    let along = |axis: usize| (0..axes).map(|row| f64::from(u8::from(row == axis))).collect();
    let mut new: Vec<Vec<f64>> = directions.map_or_else(|| (0..axes).map(along).collect(), <[Vec<f64>]>::to_vec);
    let mut is_reversed = false;
    for (axis, length) in spacing.iter_mut().enumerate().filter(|(_, length)| length.is_finite()) {
        if *length == 0.0 {
            notes.push(format!("axis {axis} has a spacing of 0; 1 is taken"));
            *length = 1.0;
        } else if *length < 0.0 {
            notes.push(format!(
                "axis {axis} has a spacing of {length}: the axis points the other way, with a spacing of {}",
                -*length
            ));
            *length = -*length;
            new.get_mut(axis).into_iter().flatten().for_each(|part| *part = 0.0 - *part);
            is_reversed = true;
        }
    }
    is_reversed.then_some(new)
}

/// Checked voxel layout, axis 0 fastest; the size in bytes fits 63 bits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VoxelLayout {
    pub kind: ScalarKind,
    pub big_endian: bool,
    /// Numbers per voxel, adjacent in the file.
    pub components: u64,
    pub shape: Index,
    /// One positive number per axis.
    pub spacing: Vec<f64>,
    pub origin: Option<Vec<f64>>,
    pub directions: Option<Vec<Vec<f64>>>,
    pub rescale: Option<(f64, f64)>,
    /// Notes for users of the file.
    pub notes: Vec<String>,
}

impl VoxelLayout {
    pub(crate) fn voxel_bytes(&self) -> u64 {
        self.kind.bytes() * self.components
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.shape.iter().map(|&n| n as u64).product::<u64>() * self.voxel_bytes()
    }

    pub(crate) fn whole(&self) -> Region {
        Region::whole(self.shape)
    }

    /// Box of numbers for a box of voxels: the components become axis 0.
    pub(crate) fn numbers(&self, voxels: &Region) -> Region {
        let with = |first: i64, index: &Index| {
            Index::from_fn(index.axes() + 1, |axis| if axis == 0 { first } else { index[axis - 1] })
        };
        Region::between(with(0, &voxels.start), with(self.components as i64, &voxels.end))
    }
}
