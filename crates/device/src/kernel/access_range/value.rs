//! [`Value`] and [`AccessRange`]: all that is known of an integer, and of the cells of an array,
//! before a kernel runs.

use std::ops::RangeInclusive;

use naga::{BinaryOperator, MathFunction};

/// A range of integers, both ends included, counted from 0 or from the position of the invocation
/// along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval {
    /// The axis of the position from which the numbers count.
    pub axis: Option<usize>,
    pub lo: i64,
    pub hi: i64,
}

/// A value of a kernel, up to multiples of 2³².
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Any,
    /// `global_invocation_id` of the entry point.
    InvocationId,
    Scalar(Interval),
    /// The components of a vector or the elements of an array.
    Composite(Vec<Value>),
}

/// Maximum magnitude of a followed number. Products and sums of a few such numbers fit 64 bits,
/// and 32-bit signed integers hold them without wrapping.
const MAX_MAGNITUDE: i64 = 1 << 30;

/// Integer type of the operands of an operation that depends on the sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IntegerType {
    Signed,
    Unsigned,
}

impl IntegerType {
    /// Range of the integers of the type.
    pub(super) fn range(self) -> RangeInclusive<i64> {
        match self {
            Self::Signed => i32::MIN.into()..=i32::MAX.into(),
            Self::Unsigned => 0..=u32::MAX.into(),
        }
    }

    /// True if integers of this type hold all numbers of the interval without wrapping.
    pub(super) fn has_exactly(self, interval: Interval) -> bool {
        let range = self.range();
        interval.axis.is_none() && range.contains(&interval.lo) && range.contains(&interval.hi)
    }
}

impl Interval {
    pub(crate) fn constant(lo: i64, hi: i64) -> Self {
        Self { axis: None, lo, hi }
    }

    /// The smallest interval with both; none where they count from different numbers.
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
            // Towards zero, as in WGSL; a divisor that may be negative or 0 is not followed.
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
    /// Constant number; unknown beyond the greatest followed magnitude.
    pub(super) fn constant(value: i64) -> Self {
        (-MAX_MAGNITUDE..=MAX_MAGNITUDE).contains(&value).then_some(Interval::constant(value, value)).into()
    }

    /// The value of a kernel that may be this one or another one.
    pub(super) fn join(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Scalar(one), Self::Scalar(other)) => one.join(*other).into(),
            (Self::Composite(one), Self::Composite(other)) if one.len() == other.len() => {
                Self::Composite(one.iter().zip(other).map(|(one, other)| one.join(other)).collect())
            }
            _ => Self::Any,
        }
    }

    /// Component or element `index`; any of them where the index is unknown.
    pub(super) fn part(&self, index: Option<usize>) -> Self {
        let Self::Composite(parts) = self else { return Self::Any };
        match index {
            Some(index) => parts.get(index).cloned().unwrap_or(Self::Any),
            None => parts.iter().cloned().reduce(|all, part| all.join(&part)).unwrap_or(Self::Any),
        }
    }

    /// Replaces the part at the end of a path of indices; where one is unknown, each part may be
    /// the one.
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
        Self::by_component(left, right, &|left, right| Interval::binary(op, ty, left, right))
    }

    pub(super) fn math(function: MathFunction, ty: IntegerType, one: &Self, other: &Self) -> Self {
        Self::by_component(one, other, &|one, other| Interval::math(function, ty, one, other))
    }

    /// A scalar goes with each component of a vector.
    fn by_component(left: &Self, right: &Self, of: &dyn Fn(Interval, Interval) -> Option<Interval>) -> Self {
        match (left, right) {
            (Self::Scalar(left), Self::Scalar(right)) => of(*left, *right).into(),
            (Self::Composite(left), Self::Composite(right)) if left.len() == right.len() => {
                let parts = left.iter().zip(right).map(|(left, right)| Self::by_component(left, right, of));
                Self::Composite(parts.collect())
            }
            (Self::Composite(left), right @ Self::Scalar(_)) => {
                Self::Composite(left.iter().map(|left| Self::by_component(left, right, of)).collect())
            }
            (left @ Self::Scalar(_), Self::Composite(right)) => {
                Self::Composite(right.iter().map(|right| Self::by_component(left, right, of)).collect())
            }
            _ => Self::Any,
        }
    }
}

/// Cells of one array that the invocations of a kernel reach, for each axis of the array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AccessRange {
    Nothing,
    Box(Vec<Interval>),
    Anywhere,
}

impl AccessRange {
    /// Adds the cells of another box.
    pub(crate) fn add(&mut self, other: Option<Vec<Interval>>) {
        let joined = match (&*self, other) {
            (_, None) | (Self::Anywhere, _) => None,
            (Self::Nothing, Some(other)) => Some(other),
            (Self::Box(own), Some(other)) => own.iter().zip(other).map(|(own, other)| own.join(other)).collect(),
        };
        *self = joined.map_or(Self::Anywhere, Self::Box);
    }
}
