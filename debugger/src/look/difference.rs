//! [`Differences`]: two views, number by number.

use zippy::debug::protocol::{ElementType, ScalarType, View, ViewRequest};

use super::quantity::{Part, Quantity};
use super::values::{Integers, Values, wide};

/// How two numbers are held against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Measure {
    /// The second one less the first one.
    Signed,
    /// The size of that.
    #[default]
    Absolute,
    /// That by the larger size of both: 0 to 2.
    Relative,
    /// How many numbers of the type lie between, the one end included: 0 for the same, 1 for neighbours. 0 and −0 are the
    /// same. Of lengths, those of `f64`.
    Ulp,
}

/// Where two views differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Differences {
    /// How many cells differ by their bits, all numbers of a cell that the views have.
    pub cells: u64,
    /// The first of them in the array, axis 0 fastest.
    pub first: Option<Vec<i64>>,
    /// The largest absolute difference of the numbers looked at, NaNs left out; none where there are no others.
    pub largest: Option<f64>,
    /// The largest relative one.
    pub largest_relative: Option<f64>,
    /// The largest in ULP.
    pub largest_ulp: Option<f64>,
    /// Cells where one number is NaN and the other is not.
    pub nans: u64,
    scalar: ScalarType,
    length: bool,
    one: Values,
    other: Values,
    /// The second one less the first one, of whole numbers of 64 bits.
    apart: Option<Vec<i128>>,
}

impl Differences {
    /// Two views of the same box, of arrays of the same type: of two arrays or of two steps.
    ///
    /// # Errors
    /// The boxes or types differ; what [`Values::new`] says.
    pub fn new(
        (one, one_type): (&View, &ElementType),
        (other, other_type): (&View, &ElementType),
        quantity: Quantity,
    ) -> Result<Self, String> {
        if one_type != other_type {
            return Err(format!("cells of {} and cells of {} are not compared", one_type.name, other_type.name));
        }
        let box_of = |view: &View| (view.of.start.clone(), view.of.stride.clone(), view.of.extents(), view.of.numbers);
        if box_of(one) != box_of(other) {
            return Err("the views are of different boxes, or of different numbers of their cells".into());
        }
        let numbers =
            quantity.of(one_type).ok_or_else(|| format!("cells of {} have no such numbers", one_type.name))?;
        let (scalar, length) = (numbers.scalar, matches!(quantity.part, Part::Length));
        let values = [(one, one_type), (other, other_type)].map(|(view, ty)| Values::new(view, ty, quantity));
        let [one_values, other_values] = values;
        let (one_values, other_values) = (one_values?, other_values?);
        let bytes = one.cells.len() / one_values.numbers.len().max(1);
        let pairs = one.cells.chunks_exact(bytes.max(1)).zip(other.cells.chunks_exact(bytes.max(1)));
        let (mut cells, mut first) = (0, None);
        for (place, _) in pairs.enumerate().filter(|(_, (one, other))| one != other) {
            cells += 1;
            first = first.or(Some(place));
        }
        let first = first.map(|place| one_values.index(place));
        let apart = wide(one, one_type, quantity).zip(wide(other, other_type, quantity));
        let apart = apart.map(|(one, other)| one.iter().zip(&other).map(|(one, other)| other - one).collect());
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
            apart,
        };
        let largest = |measure| found.each(measure).filter(|value| !value.is_nan()).reduce(f64::max);
        let (absolute, relative, ulp) = (Measure::Absolute, Measure::Relative, Measure::Ulp);
        let [absolute, relative, ulp] = [absolute, relative, ulp].map(largest);
        (found.largest, found.largest_relative, found.largest_ulp) = (absolute, relative, ulp);
        Ok(found)
    }

    /// Which cells were held against each other.
    pub fn of(&self) -> &ViewRequest {
        &self.one.of
    }

    /// How many they are.
    pub fn compared(&self) -> u64 {
        self.one.numbers.len() as u64
    }

    fn each(&self, measure: Measure) -> impl Iterator<Item = f64> + '_ {
        let pairs = self.one.numbers.iter().zip(&self.other.numbers).enumerate();
        let scalar = if self.length { ScalarType::F64 } else { self.scalar };
        pairs.map(move |(place, (&one, &other))| match self.apart.as_ref().and_then(|apart| apart.get(place)) {
            Some(&apart) => measure.of_whole(apart, one, other),
            None => measure.of(scalar, one, other),
        })
    }

    /// The differences as numbers of the cells, to be painted. Where both are NaN it is 0, and where one is, NaN.
    pub fn values(&self, measure: Measure) -> Values {
        Values { numbers: self.each(measure).collect(), integers: Integers::None, ..self.one.clone() }
    }
}

impl Measure {
    /// The difference of two numbers of this type.
    pub fn of(self, scalar: ScalarType, one: f64, other: f64) -> f64 {
        if one.is_nan() || other.is_nan() {
            return if one.is_nan() && other.is_nan() { 0.0 } else { f64::NAN };
        }
        // Infinities less themselves are no numbers, but the same.
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
            Self::Ulp => (ordered(scalar, other) - ordered(scalar, one)).unsigned_abs() as f64,
        }
    }

    /// The difference of two whole numbers that are so far apart, and about these.
    fn of_whole(self, apart: i128, one: f64, other: f64) -> f64 {
        let size = apart.unsigned_abs() as f64;
        match self {
            Self::Signed => apart as f64,
            Self::Absolute | Self::Ulp => size,
            Self::Relative if apart == 0 => 0.0,
            Self::Relative => size / one.abs().max(other.abs()),
        }
    }
}

/// The number's place among all numbers of its type.
fn ordered(scalar: ScalarType, value: f64) -> i128 {
    // What is below the sign bit counts away from 0 on both sides of it.
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
