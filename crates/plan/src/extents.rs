//! [`Index`]: integer tuple of 1 to 7 axes, for positions, extents, strides and widths.
//!
//! The number of axes is a run-time value in all code except the typed arrays, so that plans,
//! layouts and transfers are compiled once. Axis 0 is the fastest in memory.

use std::fmt;
use std::ops::{Add, Deref, DerefMut, Sub};

/// Maximum number of axes of an array.
pub const MAX_AXES: usize = 7;

/// Tuple of one `i64` per axis, 1 to [`MAX_AXES`] axes, without heap memory. Dereferences to a
/// slice of its axes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Index {
    axes: u8,
    values: [i64; MAX_AXES],
}

impl Index {
    /// Creates a tuple from its values.
    ///
    /// # Panics
    /// If `values` has more than [`MAX_AXES`] values. Callers check user input.
    #[inline]
    pub fn new(values: &[i64]) -> Self {
        assert!(values.len() <= MAX_AXES, "{} axes, at most {MAX_AXES}", values.len());
        // Unused axes are zero, for equality and hashes.
        let mut out = [0; MAX_AXES];
        out[..values.len()].copy_from_slice(values);
        Self { axes: values.len() as u8, values: out }
    }

    /// Tuple with the same value on all axes.
    #[inline]
    pub fn splat(axes: usize, value: i64) -> Self {
        Self::new(&[value; MAX_AXES][..axes])
    }

    /// Tuple of zeros.
    #[inline]
    pub fn zeros(axes: usize) -> Self {
        Self::splat(axes, 0)
    }

    /// Number of axes.
    #[inline]
    pub fn axes(&self) -> usize {
        self.axes as usize
    }

    /// Tuple with the value `f(axis)` on each axis.
    pub fn from_fn(axes: usize, f: impl FnMut(usize) -> i64) -> Self {
        let mut f = f;
        let mut out = Self::zeros(axes);
        for (axis, value) in out.iter_mut().enumerate() {
            *value = f(axis);
        }
        out
    }

    /// Product of all axes, as a number of cells. `None` for a negative axis or an overflow of 63
    /// bits.
    #[inline]
    pub fn product(&self) -> Option<u64> {
        if self.contains(&0) && self.iter().all(|&n| n >= 0) {
            return Some(0);
        }
        self.iter().try_fold(1_i64, |product, &n| if n < 0 { None } else { product.checked_mul(n) }).map(|n| n as u64)
    }

    /// Strides, in cells, of a dense box with these extents.
    pub fn dense_strides(&self) -> Self {
        let mut stride = 1;
        Self::from_fn(self.axes(), |axis| {
            let axis_stride = stride;
            stride *= self[axis].max(1);
            axis_stride
        })
    }

    /// Dot product, such as the linear offset of a position from strides.
    #[inline]
    pub fn dot(&self, other: &Self) -> i64 {
        self.iter().zip(other.iter()).map(|(a, b)| a * b).sum()
    }
}

impl Deref for Index {
    type Target = [i64];
    #[inline]
    fn deref(&self) -> &[i64] {
        &self.values[..self.axes as usize]
    }
}

impl DerefMut for Index {
    #[inline]
    fn deref_mut(&mut self) -> &mut [i64] {
        &mut self.values[..self.axes as usize]
    }
}

impl<const D: usize> From<[i64; D]> for Index {
    fn from(values: [i64; D]) -> Self {
        Self::new(&values)
    }
}

impl Add for Index {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        debug_assert_eq!(self.axes, other.axes);
        Self::from_fn(self.axes(), |axis| self[axis] + other[axis])
    }
}

impl Sub for Index {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        debug_assert_eq!(self.axes, other.axes);
        Self::from_fn(self.axes(), |axis| self[axis] - other[axis])
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (axis, value) in self.iter().enumerate() {
            write!(f, "{}{value}", if axis == 0 { "" } else { " x " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn product_of_negative_or_overflowing_axes_is_none() {
        assert_eq!(Index::from([3, 4, 5]).product(), Some(60));
        assert_eq!(Index::from([3, 0, i64::MAX]).product(), Some(0));
        assert_eq!(Index::from([3, -1]).product(), None);
        assert_eq!(Index::from([0, -1]).product(), None);
        assert_eq!(Index::from([i64::MAX, 2]).product(), None);
    }

    #[test]
    fn dense_strides_have_axis_zero_fastest() {
        assert_eq!(Index::from([3, 4, 5]).dense_strides(), Index::from([1, 3, 12]));
        assert_eq!(Index::from([2, 1, 2]).dot(&Index::from([1, 3, 12])), 29);
    }
}
