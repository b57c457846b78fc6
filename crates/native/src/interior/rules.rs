//! Rules that infer the shape of a value along a row, with the assumptions of each rule.

use std::collections::HashSet;

use crate::ir::{Binary, Builtin, Compare, Convert, Definition, Kernel, Memory, Type, Unary, Value};
use crate::shape::Shape;

use super::{Bound, RowTest};

/// Inferred form of a value, under assumptions.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Rule {
    /// The value has a shape.
    Shaped(Shape, Vec<RowTest>),
    /// The value equals another value.
    Copy(Value, Vec<RowTest>),
    /// The value is a constant bool.
    Known(bool, Vec<RowTest>),
    /// The value is the quotient of an affine dividend and a uniform divisor.
    Quotient(Value, Value),
    /// The value may differ in any way between invocations.
    Free,
}

/// Maximum constant that counts as a lower bound of positions.
pub(super) const LOW: u64 = 8;

/// Rules for values of a kernel, after the replacement of operands.
pub(super) struct Rules<'a> {
    pub kernel: &'a Kernel,
    pub shapes: &'a [Option<Shape>],
    /// Values that guard accesses.
    pub guards: &'a HashSet<Value>,
    /// True if every invocation evaluates the value.
    pub is_certain: bool,
    /// True if the shape of an operand depends on assumed conditions.
    pub is_assumed: bool,
}

impl Rule {
    /// True if the rule holds under conditions.
    pub(super) fn has_tests(&self) -> bool {
        match self {
            Self::Shaped(_, tests) | Self::Copy(_, tests) | Self::Known(_, tests) => !tests.is_empty(),
            Self::Quotient(..) => true,
            Self::Free => false,
        }
    }
}

impl Rules<'_> {
    pub(super) fn shape(&self, value: Value) -> Option<Shape> {
        self.shapes[value.0 as usize]
    }

    fn is_uniform(&self, value: Value) -> bool {
        self.shape(value) == Some(Shape::Uniform)
    }

    fn constant(&self, value: Value) -> Option<u64> {
        match self.kernel.definition(value) {
            Definition::Constant(bits) => Some(*bits),
            _ => None,
        }
    }

    /// Step of a 32-bit value along the row, 0 for a uniform value; `None` for other values.
    fn step(&self, value: Value) -> Option<i32> {
        match self.shape(value) {
            Some(Shape::Affine(step)) => Some(step),
            Some(Shape::Uniform) => Some(0),
            _ => None,
        }
    }

    pub(super) fn apply(&self, value: Value) -> Rule {
        let definition = self.kernel.definition(value);
        let mut is_uniform = true;
        definition.for_each_operand(|operand| is_uniform &= self.is_uniform(operand));
        match definition {
            Definition::Builtin(Builtin::GlobalId(0) | Builtin::LocalId(0) | Builtin::LocalIndex) => affine(1),
            Definition::Load(access) => {
                let Memory::Binding(binding) = access.memory else { return Rule::Free };
                let is_fixed = access.guard.is_none() && access.index.is_none();
                // The row evaluates the value before the conditions.
                let is_readable = !self.kernel.bindings[binding].writable && !self.is_assumed;
                let moves = is_readable && (self.is_certain || is_fixed);
                if is_uniform && moves { affine(0) } else { Rule::Free }
            }
            Definition::Get(_) | Definition::Result => Rule::Free,
            Definition::Function(..) if !self.is_certain => Rule::Free,
            Definition::Binary(operation @ (Binary::And | Binary::Or), a, b) if self.kernel.ty(value) == Type::Bool => {
                self.logical(*operation, *a, *b)
            }
            Definition::Unary(Unary::Not, a) if self.kernel.ty(value) == Type::Bool => match self.constant(*a) {
                Some(bit) => Rule::Known(bit == 0, Vec::new()),
                None if is_uniform => affine(0),
                None => Rule::Free,
            },
            Definition::Select { condition, accept, reject } => self.select(*condition, *accept, *reject),
            _ if is_uniform => affine(0),
            Definition::Unary(Unary::Negate, a) => self.step(*a).map_or(Rule::Free, |a| affine(a.wrapping_neg())),
            Definition::Convert(Convert::Bits, a) if [value, *a].map(|one| self.kernel.ty(one)) == [Type::I32; 2] => {
                Rule::Copy(*a, Vec::new())
            }
            Definition::Binary(operation, a, b) if self.kernel.ty(value) == Type::I32 => {
                self.binary(value, *operation, *a, *b)
            }
            Definition::Compare(comparison, a, b) if self.kernel.ty(*a) == Type::I32 => {
                self.compare(value, *comparison, *a, *b)
            }
            _ => Rule::Free,
        }
    }

    fn logical(&self, operation: Binary, a: Value, b: Value) -> Rule {
        // False decides `and`, true decides `or`.
        let deciding = u64::from(operation == Binary::Or);
        match (self.constant(a), self.constant(b)) {
            (Some(bit), _) | (_, Some(bit)) if bit == deciding => Rule::Known(bit == 1, Vec::new()),
            (Some(_), _) => Rule::Copy(b, Vec::new()),
            (_, Some(_)) => Rule::Copy(a, Vec::new()),
            _ if self.is_uniform(a) && self.is_uniform(b) => affine(0),
            _ => Rule::Free,
        }
    }

    fn select(&self, condition: Value, accept: Value, reject: Value) -> Rule {
        if let Some(bit) = self.constant(condition) {
            return Rule::Copy(if bit == 1 { accept } else { reject }, Vec::new());
        }
        if !self.is_uniform(condition) {
            return Rule::Free;
        }
        let holds = |expected| vec![RowTest::Is { value: condition, expected }];
        match (self.shape(accept), self.shape(reject)) {
            (Some(a), Some(b)) if a == b => Rule::Shaped(a, Vec::new()),
            // Otherwise rows that do not reach the value would lose their interior.
            (Some(Shape::Affine(_)), Some(Shape::Uniform)) if self.is_certain => Rule::Copy(accept, holds(true)),
            (Some(Shape::Uniform), Some(Shape::Affine(_))) if self.is_certain => Rule::Copy(reject, holds(false)),
            _ => Rule::Free,
        }
    }

    fn binary(&self, value: Value, operation: Binary, a: Value, b: Value) -> Rule {
        let (Some(step_a), Some(step_b)) = (self.step(a), self.step(b)) else { return Rule::Free };
        let factor = |value: Value| self.constant(value).map(|bits| bits as u32 as i32);
        let bound = |value: Value| Some(Bound { value, plus: 0 });
        match operation {
            Binary::Add => affine(step_a.wrapping_add(step_b)),
            Binary::Subtract => affine(step_a.wrapping_sub(step_b)),
            Binary::Multiply => match (factor(a), factor(b)) {
                (_, Some(factor)) => affine(step_a.wrapping_mul(factor)),
                (Some(factor), _) => affine(step_b.wrapping_mul(factor)),
                _ => Rule::Free,
            },
            Binary::ShiftLeft => match factor(b) {
                Some(amount) => affine(step_a.wrapping_shl(amount as u32)),
                None => Rule::Free,
            },
            Binary::SignedMin | Binary::SignedMax | Binary::UnsignedMin | Binary::UnsignedMax => {
                let (kept, other) = match (step_a, step_b) {
                    (0, _) => (b, a),
                    (_, 0) => (a, b),
                    _ => return Rule::Free,
                };
                let is_signed = matches!(operation, Binary::SignedMin | Binary::SignedMax);
                let (low, high) = match operation {
                    Binary::SignedMin | Binary::UnsignedMin => (None, bound(other)),
                    _ => (bound(other), None),
                };
                self.within(kept, is_signed, low, high).map_or(Rule::Free, |test| Rule::Copy(kept, vec![test]))
            }
            Binary::UnsignedRemainder if step_a == 1 && step_b == 0 && self.constant(b).is_none() => {
                Rule::Shaped(Shape::Affine(1), self.same_quotient(value, a, b))
            }
            Binary::UnsignedDivide if step_a == 1 && step_b == 0 && self.constant(b).is_none() => Rule::Quotient(a, b),
            _ => Rule::Free,
        }
    }

    /// Assumptions that dividend and remainder grow together, so that the quotient is uniform.
    pub(super) fn same_quotient(&self, remainder: Value, dividend: Value, divisor: Value) -> Vec<RowTest> {
        let last = Bound { value: divisor, plus: -1 };
        let within = |value, high| RowTest::Within { value, is_signed: false, low: None, high };
        vec![within(dividend, None), within(remainder, Some(last))]
    }

    /// Assumption that an affine value stays between two bounds; `None` for steps without interval.
    fn within(&self, value: Value, is_signed: bool, low: Option<Bound>, high: Option<Bound>) -> Option<RowTest> {
        match self.shape(value) {
            Some(Shape::Affine(step)) if is_tested(step) => Some(RowTest::Within { value, is_signed, low, high }),
            _ => None,
        }
    }

    fn compare(&self, value: Value, comparison: Compare, a: Value, b: Value) -> Rule {
        let (Some(step_a), Some(step_b)) = (self.step(a), self.step(b)) else { return Rule::Free };
        let is_exact = matches!(comparison, Compare::Equal | Compare::NotEqual);
        if is_exact {
            return match (step_a, step_b) {
                (a, b) if a == b => affine(0),
                (step, 0) if is_tested(step) => self.differing(comparison, a, b),
                (0, step) if is_tested(step) => self.differing(comparison, b, a),
                _ => Rule::Free,
            };
        }
        let is_signed = matches!(comparison, Compare::SignedLess | Compare::SignedLessEqual);
        let is_strict = matches!(comparison, Compare::SignedLess | Compare::UnsignedLess);
        let bound = |value, plus| Some(Bound { value, plus });
        // Assume a position above a small constant, and below any other bound.
        let is_low = |bound| !self.guards.contains(&value) && self.constant(bound).is_some_and(|bits| bits <= LOW);
        let (test, result) = match (step_a, step_b) {
            (_, 0) if is_low(b) => (self.within(a, is_signed, bound(b, i64::from(!is_strict)), None), false),
            (_, 0) => (self.within(a, is_signed, None, bound(b, -i64::from(is_strict))), true),
            (0, _) if is_low(a) => (self.within(b, is_signed, bound(a, i64::from(is_strict)), None), true),
            (0, _) => (self.within(b, is_signed, None, bound(a, -i64::from(!is_strict))), false),
            _ => (None, false),
        };
        test.map_or(Rule::Free, |test| Rule::Known(result, vec![test]))
    }

    fn differing(&self, comparison: Compare, value: Value, other: Value) -> Rule {
        Rule::Known(comparison == Compare::NotEqual, vec![RowTest::Differs { value, other }])
    }
}

fn affine(step: i32) -> Rule {
    Rule::Shaped(if step == 0 { Shape::Uniform } else { Shape::Affine(step) }, Vec::new())
}

/// True for steps with intervals: positive and negative powers of two.
pub(super) fn is_tested(step: i32) -> bool {
    step.unsigned_abs().is_power_of_two()
}
