//! Selections for `at(…)`: ranges, single positions and `..` per axis.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::error::RegionError;
use crate::extents::Index;
use crate::region::Region;

/// Index space in which a selection is resolved.
#[derive(Debug, Clone, Copy)]
pub struct IndexSpace<'a> {
    /// Cells that `..` selects.
    pub bounds: &'a Region,
    /// Largest valid selection: the bounds, and the ghost cells if there are any.
    pub limits: &'a Region,
    /// True if positions are relative to the start of `bounds`, false if they are relative to the
    /// origin.
    pub relative: bool,
    /// Name of the array or chunk for error messages.
    pub what: &'a str,
}

/// Range of cells `[start, end)` along one axis; `None` is the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxisRange {
    start: Option<i128>,
    end: Option<i128>,
}

/// Selector of one axis: a position (keeps the axis, with extent 1), a range of any kind, or `..`.
pub trait SelectAxis {
    /// Range of selected cells.
    fn axis_range(&self) -> AxisRange;
}

impl SelectAxis for RangeFull {
    fn axis_range(&self) -> AxisRange {
        AxisRange { start: None, end: None }
    }
}

impl SelectAxis for AxisRange {
    fn axis_range(&self) -> AxisRange {
        *self
    }
}

macro_rules! select_integer {
    ($($int:ty),*) => {$(
        impl SelectAxis for $int {
            fn axis_range(&self) -> AxisRange {
                AxisRange { start: Some(*self as i128), end: Some(*self as i128 + 1) }
            }
        }
        impl SelectAxis for Range<$int> {
            fn axis_range(&self) -> AxisRange {
                AxisRange { start: Some(self.start as i128), end: Some(self.end as i128) }
            }
        }
        impl SelectAxis for RangeInclusive<$int> {
            fn axis_range(&self) -> AxisRange {
                AxisRange { start: Some(*self.start() as i128), end: Some(*self.end() as i128 + 1) }
            }
        }
        impl SelectAxis for RangeFrom<$int> {
            fn axis_range(&self) -> AxisRange {
                AxisRange { start: Some(self.start as i128), end: None }
            }
        }
        impl SelectAxis for RangeTo<$int> {
            fn axis_range(&self) -> AxisRange {
                AxisRange { start: None, end: Some(self.end as i128) }
            }
        }
        impl SelectAxis for RangeToInclusive<$int> {
            fn axis_range(&self) -> AxisRange {
                AxisRange { start: None, end: Some(self.end as i128 + 1) }
            }
        }
    )*};
}
select_integer!(i32, i64, u32, u64, usize);

/// Selector of `D` axes: an array of ranges of one kind, a tuple of different kinds, `..` for all
/// cells, a [`Region`], or for one axis a single range.
pub trait Select<const D: usize> {
    /// Selected region in this index space.
    ///
    /// # Errors
    /// [`RegionError`] for ranges that run backwards, exceed the limits or overflow.
    fn region(&self, space: &IndexSpace<'_>) -> Result<Region, RegionError>;
}

fn resolve<const D: usize>(ranges: [AxisRange; D], space: &IndexSpace<'_>) -> Result<Region, RegionError> {
    let bounds = space.bounds;
    if bounds.axes() != D {
        return Err(RegionError::Axes { given: D, expected: bounds.axes() });
    }
    let (mut start, mut end) = (Index::zeros(D), Index::zeros(D));
    for axis in 0..D {
        let origin = if space.relative { bounds.start[axis] as i128 } else { 0 };
        let clamp = |value: i128| value.clamp(i64::MIN as i128, i64::MAX as i128) as i64;
        start[axis] = ranges[axis].start.map_or(bounds.start[axis], |s| clamp(s + origin));
        end[axis] = ranges[axis].end.map_or(bounds.end[axis], |e| clamp(e + origin));
    }
    checked_region(start, end, space)
}

fn checked_region(start: Index, end: Index, space: &IndexSpace<'_>) -> Result<Region, RegionError> {
    for axis in 0..start.axes() {
        if end[axis] < start[axis] {
            return Err(RegionError::Backwards { start, end, axis });
        }
    }
    for axis in 0..start.axes() {
        let limits = space.limits;
        if start[axis] < limits.start[axis] || end[axis] > limits.end[axis] {
            return Err(RegionError::OutOfRange {
                start,
                end,
                what: space.what.to_string(),
                bound_start: limits.start,
                bound_end: limits.end,
                axis,
            });
        }
    }
    Region::new(&start, &end)
}

impl<const D: usize> Select<D> for RangeFull {
    fn region(&self, space: &IndexSpace<'_>) -> Result<Region, RegionError> {
        resolve::<D>([AxisRange { start: None, end: None }; D], space)
    }
}

impl<const D: usize, S: SelectAxis> Select<D> for [S; D] {
    fn region(&self, space: &IndexSpace<'_>) -> Result<Region, RegionError> {
        resolve::<D>(std::array::from_fn(|axis| self[axis].axis_range()), space)
    }
}

macro_rules! select_one_axis {
    ($($range:ty),*) => {$(
        impl Select<1> for $range {
            fn region(&self, space: &IndexSpace<'_>) -> Result<Region, RegionError> {
                resolve([self.axis_range()], space)
            }
        }
    )*};
}
macro_rules! select_one_axis_of {
    ($($int:ty),*) => {
        select_one_axis!($($int, Range<$int>, RangeInclusive<$int>, RangeFrom<$int>, RangeTo<$int>),*);
    };
}
select_one_axis_of!(i32, i64, u32, u64, usize);

impl<const D: usize> Select<D> for Region {
    fn region(&self, space: &IndexSpace<'_>) -> Result<Region, RegionError> {
        // The fields of a region are public, so `start` and `end` may differ in their number of
        // axes.
        if let Some(given) = [self.start.axes(), self.end.axes()].into_iter().find(|&axes| axes != D) {
            return Err(RegionError::Axes { given, expected: D });
        }
        let origin = if space.relative { space.bounds.start } else { Index::zeros(D) };
        let add = |p: &Index| Index::from_fn(D, |axis| p[axis].saturating_add(origin[axis]));
        checked_region(add(&self.start), add(&self.end), space)
    }
}

impl<const D: usize> Select<D> for &Region {
    fn region(&self, space: &IndexSpace<'_>) -> Result<Region, RegionError> {
        <Region as Select<D>>::region(self, space)
    }
}

macro_rules! select_tuple {
    ($count:literal: $($name:ident $position:tt),*) => {
        impl<$($name: SelectAxis),*> Select<$count> for ($($name,)*) {
            fn region(&self, space: &IndexSpace<'_>) -> Result<Region, RegionError> {
                resolve([$(self.$position.axis_range()),*], space)
            }
        }
    };
}
select_tuple!(1: A 0);
select_tuple!(2: A 0, B 1);
select_tuple!(3: A 0, B 1, C 2);
select_tuple!(4: A 0, B 1, C 2, E 3);
select_tuple!(5: A 0, B 1, C 2, E 3, F 4);
select_tuple!(6: A 0, B 1, C 2, E 3, F 4, G 5);
select_tuple!(7: A 0, B 1, C 2, E 3, F 4, G 5, H 6);

/// Converts an index to an array of fixed length.
pub(crate) fn to_array<const D: usize>(index: &Index) -> [i64; D] {
    std::array::from_fn(|axis| index[axis])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds() -> Region {
        Region::new(&[10, 20], &[18, 26]).unwrap()
    }

    fn select(selection: impl Select<2>, relative: bool) -> Result<Region, RegionError> {
        selection.region(&IndexSpace { bounds: &bounds(), limits: &bounds(), relative, what: "array \"a\"" })
    }

    #[test]
    fn tuple_of_different_ranges_selects_their_region() {
        let region = select((1..=2, ..3_usize), true).unwrap();
        assert_eq!((region.start, region.end), (Index::from([11, 20]), Index::from([13, 23])));
        let region = select((12_i64.., 25), false).unwrap();
        assert_eq!((region.start, region.end), (Index::from([12, 25]), Index::from([18, 26])));
        assert_eq!(select(.., true).unwrap(), bounds());
        assert_eq!(select([0..8, 0..6], true).unwrap(), bounds());
    }

    #[test]
    fn invalid_selection_returns_error_with_axis() {
        assert!(matches!(select((.., 0..7), true), Err(RegionError::OutOfRange { axis: 1, .. })));
        assert!(matches!(select((-1..2, ..), true), Err(RegionError::OutOfRange { axis: 0, .. })));
        #[expect(clippy::reversed_empty_ranges, reason = "that is the mistake under test")]
        let backwards = select((5..2, ..), true);
        assert!(matches!(backwards, Err(RegionError::Backwards { axis: 0, .. })));
        assert!(matches!(
            select((u64::MAX.., ..), true),
            Err(RegionError::Backwards { .. } | RegionError::OutOfRange { .. })
        ));
        assert!(matches!(select((0..=u64::MAX, ..), true), Err(RegionError::OutOfRange { .. })));
        let lame = Region { start: [0, 0].into(), end: [1].into() };
        assert_eq!(select(lame, true), Err(RegionError::Axes { given: 1, expected: 2 }));
    }
}
