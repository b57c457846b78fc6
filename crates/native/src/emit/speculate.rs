//! Tests of the assumptions under which values have simple shapes.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as code, InstBuilder, types};

use super::{Emitter, LANES};
use crate::ir::{Binary, Compare, Definition, Type, Value};
use crate::shape::{Shape, Speculation};

impl Emitter<'_, '_> {
    /// Generates a test of an assumption. After a failure, the group runs again lane by lane.
    pub(crate) fn require(&mut self, condition: code::Value) {
        let Some(rerun) = self.scalar_rerun else { return };
        let next = self.build.create_block();
        self.branch_unless(condition, rerun, next);
        self.build.seal_block(next);
        self.build.switch_to_block(next);
    }

    pub(crate) fn speculate(&mut self, value: Value, speculation: Speculation) -> code::Value {
        match (self.kernel.definition(value).clone(), speculation) {
            (Definition::Compare(comparison, a, b), Speculation::Inside) => {
                let reach = i64::from(self.shapes.covers_next_word(value));
                self.holds_at_ends(comparison, a, b, reach)
            }
            (Definition::Compare(comparison, a, b), _) => match comparison {
                Compare::Equal | Compare::NotEqual => self.differs_in_all_lanes(comparison, a, b),
                _ => self.same_result(comparison, a, b),
            },
            (Definition::Select { condition, accept, reject }, _) => {
                let condition = self.scalar(condition);
                if speculation == Speculation::Accept {
                    self.require(condition);
                    return self.scalar(accept);
                }
                let is_false = self.build.ins().bxor_imm_u(condition, 1);
                self.require(is_false);
                self.scalar(reject)
            }
            (Definition::Binary(operation, a, b), Speculation::SameQuotient) => {
                let [dividend, divisor] = [a, b].map(|operand| self.scalar(operand));
                let rest = self.binary(Binary::UnsignedRemainder, Type::I32, dividend, divisor);
                let last = self.build.ins().iadd_imm_s(rest, LANES as i64 - 1);
                let is_within = self.build.ins().icmp(IntCC::UnsignedLessThan, last, divisor);
                let grows = self.build.ins().icmp(IntCC::UnsignedLessThanOrEqual, rest, last);
                let end = self.build.ins().iadd_imm_s(dividend, LANES as i64 - 1);
                let stays = self.build.ins().icmp(IntCC::UnsignedLessThanOrEqual, dividend, end);
                let holds = self.build.ins().band(is_within, grows);
                let holds = self.build.ins().band(holds, stays);
                self.require(holds);
                match operation {
                    Binary::UnsignedRemainder => rest,
                    _ => self.binary(operation, Type::I32, dividend, divisor),
                }
            }
            (Definition::Binary(operation, a, b), Speculation::NoWrap) => {
                if let Some(no_wrap) = self.does_not_wrap(a, operation == Binary::SignedShiftRight) {
                    self.require(no_wrap);
                }
                let [a, b] = [a, b].map(|operand| self.scalar(operand));
                self.binary(operation, Type::I32, a, b)
            }
            (Definition::Binary(operation, a, b), _) => {
                let (kept, other) = if speculation == Speculation::First { (a, b) } else { (b, a) };
                let comparison = match operation {
                    Binary::SignedMin => IntCC::SignedLessThanOrEqual,
                    Binary::SignedMax => IntCC::SignedGreaterThanOrEqual,
                    Binary::UnsignedMin => IntCC::UnsignedLessThanOrEqual,
                    _ => IntCC::UnsignedGreaterThanOrEqual,
                };
                let is_signed = matches!(operation, Binary::SignedMin | Binary::SignedMax);
                let [first, last] = self.end_lanes(kept);
                let bound = self.scalar(other);
                let holds = [first, last].map(|end| self.build.ins().icmp(comparison, end, bound));
                let mut holds = self.build.ins().band(holds[0], holds[1]);
                if let Some(no_wrap) = self.does_not_wrap(kept, is_signed) {
                    holds = self.build.ins().band(holds, no_wrap);
                }
                self.require(holds);
                first
            }
            (other, _) => unreachable!("{other:?} has no assumption"),
        }
    }

    /// First and last lane of an affine or uniform value.
    fn end_lanes(&mut self, value: Value) -> [code::Value; 2] {
        if let Some(ends) = self.ends.get(&value) {
            return *ends;
        }
        let first = self.scalar(value);
        match self.shapes.of(value) {
            Shape::Affine(step) => {
                let span = i64::from(step.wrapping_mul(LANES as i32 - 1));
                [first, self.build.ins().iadd_imm_s(first, span)]
            }
            _ => [first, first],
        }
    }

    /// True if an affine value does not wrap between the first and the last lane; `None` for
    /// uniform values.
    fn does_not_wrap(&mut self, value: Value, is_signed: bool) -> Option<code::Value> {
        let [first, last] = self.end_lanes(value);
        let step = match self.shapes.of(value) {
            Shape::Affine(step) => step,
            Shape::Varying => 1,
            Shape::Uniform => return None,
        };
        if step.checked_mul(LANES as i32 - 1).is_none() {
            return Some(self.build.ins().iconst(types::I8, 0));
        }
        let condition = match (is_signed, step > 0) {
            (true, true) => IntCC::SignedLessThanOrEqual,
            (true, false) => IntCC::SignedGreaterThanOrEqual,
            (false, true) => IntCC::UnsignedLessThanOrEqual,
            (false, false) => IntCC::UnsignedGreaterThanOrEqual,
        };
        Some(self.build.ins().icmp(condition, first, last))
    }

    /// Generates a comparison for equal results in the first and the last lane, and so in all
    /// lanes.
    fn same_result(&mut self, comparison: Compare, a: Value, b: Value) -> code::Value {
        let is_signed = matches!(comparison, Compare::SignedLess | Compare::SignedLessEqual);
        let [a_ends, b_ends] = [a, b].map(|operand| self.end_lanes(operand));
        let first = self.compare(comparison, a_ends[0], b_ends[0]);
        let last = self.compare(comparison, a_ends[1], b_ends[1]);
        let mut holds = self.build.ins().icmp(IntCC::Equal, first, last);
        for value in [a, b] {
            if let Some(no_wrap) = self.does_not_wrap(value, is_signed) {
                holds = self.build.ins().band(holds, no_wrap);
            }
        }
        self.require(holds);
        first
    }

    /// Generates a comparison that holds in the first and the last lane of an affine value, and so
    /// in all lanes. With a `reach`, it also holds for the last lane of a growing unsigned value
    /// plus `reach`.
    fn holds_at_ends(&mut self, comparison: Compare, a: Value, b: Value, reach: i64) -> code::Value {
        let is_signed = matches!(comparison, Compare::SignedLess | Compare::SignedLessEqual);
        if reach != 0 {
            let [first, last] = self.end_lanes(a);
            let bound = self.scalar(b);
            let end = self.build.ins().iadd_imm_s(last, reach);
            let is_inside = self.compare(comparison, end, bound);
            let no_wrap = self.build.ins().icmp(IntCC::UnsignedLessThanOrEqual, first, end);
            let holds = self.build.ins().band(is_inside, no_wrap);
            self.require(holds);
            return self.build.ins().iconst(types::I8, 1);
        }
        let [first, last] = self.end_lanes(a);
        let bound = self.scalar(b);
        let falls = matches!(self.shapes.of(a), Shape::Affine(step) if step < 0);
        // Without wrapping, the comparison holds in all lanes if it holds for the greatest.
        let greatest = if falls { first } else { last };
        let mut holds = self.compare(comparison, greatest, bound);
        if let Some(no_wrap) = self.does_not_wrap(a, is_signed) {
            holds = self.build.ins().band(holds, no_wrap);
        }
        self.require(holds);
        self.build.ins().iconst(types::I8, 1)
    }

    /// Generates the first and the last lane of an ordered varying value, and the test of its
    /// order.
    pub(crate) fn define_ends(&mut self, value: Value) {
        let Definition::Binary(operation, a, b) = *self.kernel.definition(value) else { return };
        if self.shapes.speculations.get(&value) == Some(&Speculation::NoWrap)
            && let Some(no_wrap) = self.does_not_wrap(a, operation == Binary::SignedShiftRight)
        {
            self.require(no_wrap);
        }
        let [a, b] = [a, b].map(|operand| self.end_lanes(operand));
        let ends = [0, 1].map(|end| self.binary(operation, Type::I32, a[end], b[end]));
        self.ends.insert(value, ends);
    }

    fn differs_in_all_lanes(&mut self, comparison: Compare, a: Value, b: Value) -> code::Value {
        let step = |shape| match shape {
            Shape::Affine(step) => step,
            _ => 0,
        };
        // An affine difference has no zero if its first value exceeds its span.
        let step = step(self.shapes.of(b)).wrapping_sub(step(self.shapes.of(a)));
        let [first_a, first_b] = [a, b].map(|operand| self.scalar(operand));
        let difference =
            if step < 0 { self.build.ins().isub(first_b, first_a) } else { self.build.ins().isub(first_a, first_b) };
        let holds = match step.unsigned_abs().checked_mul(LANES as u32 - 1) {
            Some(span) if step != 0 => {
                let span = self.build.ins().iconst(types::I32, i64::from(span));
                self.build.ins().icmp(IntCC::UnsignedGreaterThan, difference, span)
            }
            _ => self.build.ins().iconst(types::I8, 0),
        };
        self.require(holds);
        self.build.ins().iconst(types::I8, i64::from(comparison == Compare::NotEqual))
    }
}
