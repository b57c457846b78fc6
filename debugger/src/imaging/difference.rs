//! [`Differences`]: comparison of two views, cell by cell.

use zippy_protocol::{Difference, ElementType, ScalarType, View, ViewRequest};

use super::quantity::{Quantity, VectorPart};
use super::values::{Integers, Values, cell_index, wide};

/// Measure of the difference of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Measure {
    /// Second number minus first number.
    Signed,
    /// Absolute value of the signed difference.
    #[default]
    Absolute,
    /// Absolute difference divided by the larger magnitude: 0 to 2.
    Relative,
    /// Distance in the ordered list of the type's values: 0 for equal numbers, 1 for neighbours. 0
    /// and −0 are equal. Vector lengths are `f64` values.
    Ulp,
}

/// Differences of two views.
#[derive(Debug, Clone, PartialEq)]
pub struct Differences {
    /// Number of cells with different bits. All numbers of a cell that the views contain are
    /// compared.
    pub cells: u64,
    /// Array index of the first different cell, with axis 0 fastest.
    pub first: Option<Vec<i64>>,
    /// Largest absolute difference of the quantity, without NaNs. `None` if every difference is
    /// NaN.
    pub largest: Option<f64>,
    /// Largest relative difference.
    pub largest_relative: Option<f64>,
    /// Largest difference in ULP.
    pub largest_ulp: Option<f64>,
    /// Number of cells with a NaN in exactly one view.
    pub nans: u64,
    scalar: ScalarType,
    length: bool,
    one: Values,
    other: Values,
    /// Second number minus first number, for 64-bit integers.
    signed_differences: Option<Vec<i128>>,
}

/// A view, and the type of the elements of its array.
#[derive(Debug, Clone, Copy)]
pub struct TypedView<'a> {
    pub view: &'a View,
    pub element: &'a ElementType,
}

/// Compares the bits of the cells of two views of the same box, of `cell_bytes` bytes each.
pub fn differing_cells(one: &View, other: &View, cell_bytes: usize) -> Difference {
    let pairs = one.cells.chunks_exact(cell_bytes.max(1)).zip(other.cells.chunks_exact(cell_bytes.max(1)));
    let mut differing = pairs.enumerate().filter(|(_, (one, other))| one != other).map(|(position, _)| position);
    let first = differing.next();
    let extents = one.of.extents().unwrap_or_default();
    Difference {
        cells: first.map_or(0, |_| 1 + differing.count() as u64),
        first: first.map(|position| cell_index(&one.of, &extents, position)),
    }
}

impl Differences {
    /// Compares two views of the same box: of two arrays of the same type, or of two steps of an
    /// array.
    ///
    /// # Errors
    /// The boxes or types differ, or [`Values::new`] fails.
    pub fn new(one: TypedView<'_>, other: TypedView<'_>, quantity: Quantity) -> Result<Self, String> {
        let (TypedView { view: one, element: one_type }, TypedView { view: other, element: other_type }) = (one, other);
        if one_type != other_type {
            return Err(format!("cells of {} and cells of {} are not compared", one_type.name, other_type.name));
        }
        let box_of = |view: &View| (view.of.start.clone(), view.of.stride.clone(), view.of.extents(), view.of.numbers);
        if box_of(one) != box_of(other) {
            return Err("the views are of different boxes, or of different numbers of their cells".into());
        }
        let numbers =
            quantity.of(one_type).ok_or_else(|| format!("cells of {} have no such numbers", one_type.name))?;
        let (scalar, length) = (numbers.scalar, matches!(quantity.part, VectorPart::Length));
        let values = [(one, one_type), (other, other_type)].map(|(view, ty)| Values::new(view, ty, quantity));
        let [one_values, other_values] = values;
        let (one_values, other_values) = (one_values?, other_values?);
        let bytes = one.cells.len() / one_values.numbers.len().max(1);
        let Difference { cells, first } = differing_cells(one, other, bytes);
        let signed_differences = wide(one, one_type, quantity).zip(wide(other, other_type, quantity));
        let signed_differences =
            signed_differences.map(|(one, other)| one.iter().zip(&other).map(|(one, other)| other - one).collect());
        let nans = one_values.numbers.iter().zip(&other_values.numbers).filter(|(a, b)| a.is_nan() != b.is_nan());
        let nans = nans.count() as u64;
        let mut found = Self {
            cells,
            first,
            largest: None,
            largest_relative: None,
            largest_ulp: None,
            nans,
            scalar,
            length,
            one: one_values,
            other: other_values,
            signed_differences,
        };
        let largest = |measure| found.measured_differences(measure).filter(|value| !value.is_nan()).reduce(f64::max);
        let (absolute, relative, ulp) = (Measure::Absolute, Measure::Relative, Measure::Ulp);
        let [absolute, relative, ulp] = [absolute, relative, ulp].map(largest);
        (found.largest, found.largest_relative, found.largest_ulp) = (absolute, relative, ulp);
        Ok(found)
    }

    /// Returns the box of compared cells.
    pub fn of(&self) -> &ViewRequest {
        &self.one.of
    }

    /// Returns the number of compared cells.
    pub fn compared(&self) -> u64 {
        self.one.numbers.len() as u64
    }

    fn measured_differences(&self, measure: Measure) -> impl Iterator<Item = f64> + '_ {
        let pairs = self.one.numbers.iter().zip(&self.other.numbers).enumerate();
        let scalar = if self.length { ScalarType::F64 } else { self.scalar };
        pairs.map(move |(position, (&one, &other))| {
            match self.signed_differences.as_ref().and_then(|differences| differences.get(position)) {
                Some(&difference) => measure.of_integers(difference, one, other),
                None => measure.of(scalar, one, other),
            }
        })
    }

    /// Returns the differences as values of the cells, for painting. Two NaNs have the difference
    /// 0; one NaN has the difference NaN.
    pub fn values(&self, measure: Measure) -> Values {
        Values { numbers: self.measured_differences(measure).collect(), integers: Integers::None, ..self.one.clone() }
    }
}

impl Measure {
    /// Returns the difference of two numbers of a scalar type.
    pub fn of(self, scalar: ScalarType, one: f64, other: f64) -> f64 {
        if one.is_nan() || other.is_nan() {
            return if one.is_nan() && other.is_nan() { 0.0 } else { f64::NAN };
        }
        // The difference of two equal infinities would be NaN.
        if one == other {
            return 0.0;
        }
        match self {
            Self::Signed => other - one,
            Self::Absolute => (other - one).abs(),
            Self::Relative if one.is_infinite() || other.is_infinite() => f64::INFINITY,
            Self::Relative => {
                let size = one.abs().max(other.abs());
                (other / size - one / size).abs()
            }
            Self::Ulp => (position_in_type(scalar, other) - position_in_type(scalar, one)).unsigned_abs() as f64,
        }
    }

    /// Returns the measure for two integers with the given signed difference. `one` and `other` are
    /// their approximate values.
    fn of_integers(self, difference: i128, one: f64, other: f64) -> f64 {
        let size = difference.unsigned_abs() as f64;
        match self {
            Self::Signed => difference as f64,
            Self::Absolute | Self::Ulp => size,
            Self::Relative if difference == 0 => 0.0,
            Self::Relative => size / one.abs().max(other.abs()),
        }
    }
}

/// Returns the position of a number in the ascending list of all values of its type.
fn position_in_type(scalar: ScalarType, value: f64) -> i128 {
    // The bits below the sign bit count away from 0 in both directions.
    let signed = |bits: u64, sign: u32| {
        let size = i128::from(bits & !(1 << sign));
        if bits >> sign == 0 { size } else { -size }
    };
    match scalar {
        ScalarType::F16 => signed(u64::from(half::f16::from_f64(value).to_bits()), 15),
        ScalarType::F32 => signed(u64::from((value as f32).to_bits()), 31),
        ScalarType::F64 => signed(value.to_bits(), 63),
        _ => value as i128,
    }
}
