//! [`Value`] and [`AccessRange`]: bounds on an integer, and on the accessed cells of an array,
//! before a kernel runs.

use std::ops::RangeInclusive;

use naga::{BinaryOperator, MathFunction};

/// Range of integers, both ends included. The integers are absolute, or relative to the position of
/// the invocation along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval {
    /// Axis along which the integers are relative to the invocation's position; `None` if absolute.
    pub axis: Option<usize>,
    pub lo: i64,
    pub hi: i64,
}

/// Known bounds of a value of a kernel, modulo 2³².
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Any,
    /// `global_invocation_id` of the entry point.
    InvocationId,
    Scalar(Interval),
    /// Components of a vector, or elements of an array.
    Composite(Vec<Value>),
}

/// Maximum magnitude of an integer that the analysis follows. Products and sums of a few such
/// integers fit in 64 bits, and 32-bit signed integers hold them without wrapping.
const MAX_MAGNITUDE: i64 = 1 << 30;

/// Integer type of the operands of an operation whose result depends on the sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IntegerType {
    Signed,
    Unsigned,
}

impl IntegerType {
    pub(super) fn range(self) -> RangeInclusive<i64> {
        match self {
            Self::Signed => i32::MIN.into()..=i32::MAX.into(),
            Self::Unsigned => 0..=u32::MAX.into(),
        }
    }

    /// True if the type holds all integers of the interval without wrapping.
    pub(super) fn has_exactly(self, interval: Interval) -> bool {
        let range = self.range();
        interval.axis.is_none() && range.contains(&interval.lo) && range.contains(&interval.hi)
    }
}

impl Interval {
    pub(crate) fn constant(lo: i64, hi: i64) -> Self {
        Self { axis: None, lo, hi }
    }

    /// Returns the smallest interval that contains both intervals; `None` unless both are absolute
    /// or relative to the same axis.
    pub(crate) fn join(self, other: Self) -> Option<Self> {
        let (lo, hi) = (self.lo.min(other.lo), self.hi.max(other.hi));
        (self.axis == other.axis).then_some(Self { axis: self.axis, lo, hi })
    }

    fn binary(op: BinaryOperator, ty: IntegerType, left: Self, right: Self) -> Option<Self> {
        let is_exact = ty.has_exactly(left) && ty.has_exactly(right);
        let axis = match (op, left.axis, right.axis) {
            (BinaryOperator::Add, axis, None) | (BinaryOperator::Add, None, axis) => axis,
            (BinaryOperator::Subtract, axis, None) => axis,
            (BinaryOperator::Subtract, one, other) if one == other => None,
            (_, None, None) => None,
            _ => return None,
        };
        let (lo, hi) = match op {
            BinaryOperator::Add => (left.lo + right.lo, left.hi + right.hi),
            BinaryOperator::Subtract => (left.lo - right.hi, left.hi - right.lo),
            BinaryOperator::Multiply => {
                let products = [left.lo, left.hi].map(|a| [a * right.lo, a * right.hi]);
                let [[a, b], [c, d]] = products;
                (a.min(b).min(c).min(d), a.max(b).max(c).max(d))
            }
            // Rounds towards zero, as WGSL does; a divisor that may be negative or 0 is not
            // followed.
            BinaryOperator::Divide if is_exact && right.lo == right.hi && right.lo > 0 => {
                (left.lo / right.lo, left.hi / right.lo)
            }
            BinaryOperator::Modulo if is_exact && right.lo == right.hi && right.lo > 0 => {
                let max_remainder = right.lo - 1;
                (left.lo.max(-max_remainder).min(0), left.hi.min(max_remainder).max(0))
            }
            _ => return None,
        };
        (-MAX_MAGNITUDE <= lo && hi <= MAX_MAGNITUDE).then_some(Self { axis, lo, hi })
    }

    fn math(function: MathFunction, ty: IntegerType, one: Self, other: Self) -> Option<Self> {
        if !ty.has_exactly(one) || !ty.has_exactly(other) {
            return None;
        }
        match function {
            MathFunction::Min => Some(Self::constant(one.lo.min(other.lo), one.hi.min(other.hi))),
            MathFunction::Max => Some(Self::constant(one.lo.max(other.lo), one.hi.max(other.hi))),
            _ => None,
        }
    }
}

impl From<Option<Interval>> for Value {
    fn from(interval: Option<Interval>) -> Self {
        interval.map_or(Self::Any, Self::Scalar)
    }
}

impl Value {
    /// Returns a constant; unknown beyond the maximum magnitude of the analysis.
    pub(super) fn constant(value: i64) -> Self {
        (-MAX_MAGNITUDE..=MAX_MAGNITUDE).contains(&value).then_some(Interval::constant(value, value)).into()
    }

    /// Returns bounds of a value that is one of two values.
    pub(super) fn join(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Scalar(one), Self::Scalar(other)) => one.join(*other).into(),
            (Self::Composite(one), Self::Composite(other)) if one.len() == other.len() => {
                Self::Composite(one.iter().zip(other).map(|(one, other)| one.join(other)).collect())
            }
            _ => Self::Any,
        }
    }

    /// Returns the component or element `index`, or bounds of all of them if the index is unknown.
    pub(super) fn part(&self, index: Option<usize>) -> Self {
        let Self::Composite(parts) = self else { return Self::Any };
        match index {
            Some(index) => parts.get(index).cloned().unwrap_or(Self::Any),
            None => parts.iter().cloned().reduce(|all, part| all.join(&part)).unwrap_or(Self::Any),
        }
    }

    /// Replaces the part of a composite at the end of a path of indices; at an unknown index, each
    /// part may be replaced.
    pub(super) fn replace(&mut self, path: &[Option<usize>], value: &Self) {
        match (path, &mut *self) {
            ([], _) => *self = value.clone(),
            ([Some(index), rest @ ..], Self::Composite(parts)) if *index < parts.len() => {
                parts[*index].replace(rest, value);
            }
            _ => *self = Self::Any,
        }
    }

    pub(super) fn binary(op: BinaryOperator, ty: IntegerType, left: &Self, right: &Self) -> Self {
        Self::map_components(left, right, &|left, right| Interval::binary(op, ty, left, right))
    }

    pub(super) fn math(function: MathFunction, ty: IntegerType, one: &Self, other: &Self) -> Self {
        Self::map_components(one, other, &|one, other| Interval::math(function, ty, one, other))
    }

    /// Applies `of` to each pair of components. A scalar pairs with each component of a vector.
    fn map_components(left: &Self, right: &Self, of: &dyn Fn(Interval, Interval) -> Option<Interval>) -> Self {
        match (left, right) {
            (Self::Scalar(left), Self::Scalar(right)) => of(*left, *right).into(),
            (Self::Composite(left), Self::Composite(right)) if left.len() == right.len() => {
                let parts = left.iter().zip(right).map(|(left, right)| Self::map_components(left, right, of));
                Self::Composite(parts.collect())
            }
            (Self::Composite(left), right @ Self::Scalar(_)) => {
                Self::Composite(left.iter().map(|left| Self::map_components(left, right, of)).collect())
            }
            (left @ Self::Scalar(_), Self::Composite(right)) => {
                Self::Composite(right.iter().map(|right| Self::map_components(left, right, of)).collect())
            }
            _ => Self::Any,
        }
    }
}

/// Cells of one array that the invocations of a kernel access, for each axis of the array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AccessRange {
    Nothing,
    Box(Vec<Interval>),
    Anywhere,
}

impl AccessRange {
    /// Adds the cells of another box, or all cells if `other` is `None`.
    pub(crate) fn add(&mut self, other: Option<Vec<Interval>>) {
        let joined = match (&*self, other) {
            (_, None) | (Self::Anywhere, _) => None,
            (Self::Nothing, Some(other)) => Some(other),
            (Self::Box(own), Some(other)) => own.iter().zip(other).map(|(own, other)| own.join(other)).collect(),
        };
        *self = joined.map_or(Self::Anywhere, Self::Box);
    }
}
