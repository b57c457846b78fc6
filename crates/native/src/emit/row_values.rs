//! Values that code evaluates once per row, and the interval of a row in which the interior's
//! conditions hold.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as code, InstBuilder, types};

use super::{Emitter, LANES, Register};
use crate::interior::{Bound, IdleTail, Interior, RowCondition, RowTest};
use crate::ir::{Access, Memory, Value};
use crate::shape::Shape;

/// Row of the current group: its interior and the values at its anchor.
pub(crate) struct RowState<'a> {
    pub interior: &'a Interior,
    /// Value at the row's anchor, for each value with a shape in the row.
    at_anchor: Vec<Option<code::Value>>,
    /// Invocations from the anchor to the first of the group, as `i64`.
    pub distance: code::Value,
}

/// Inclusive interval of distances from the anchor, in invocations, as `i64`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DistanceInterval {
    pub first: code::Value,
    pub last: code::Value,
    /// True if the uniform conditions hold.
    pub holds: code::Value,
}

impl<'a> Emitter<'a, '_> {
    /// Evaluates the row's values at its anchor, the current position.
    pub(crate) fn enter_row(&mut self, interior: &'a Interior) -> RowState<'a> {
        self.registers.clear();
        let mut at_anchor = vec![None; interior.kernel.values.len()];
        for value in &interior.values {
            let scalar = self.define_scalar(*value);
            self.registers.insert(*value, Register::Scalar(scalar));
            at_anchor[value.0 as usize] = Some(scalar);
        }
        let distance = self.build.ins().iconst(types::I64, 0);
        RowState { interior, at_anchor, distance }
    }

    pub(crate) fn set_distance(&mut self, distance: code::Value) {
        if let Some(row) = &mut self.row {
            row.distance = distance;
        }
    }

    pub(crate) fn clip_to_conditions(&mut self, interior: &Interior, interval: DistanceInterval) -> DistanceInterval {
        interior.conditions.iter().fold(interval, |interval, condition| self.clip_to_condition(condition, interval))
    }

    fn clip_to_condition(&mut self, condition: &RowCondition, interval: DistanceInterval) -> DistanceInterval {
        let mut found = interval;
        match condition.test {
            RowTest::Is { value, expected } => {
                let value = self.scalar(value);
                let holds = if expected { value } else { self.build.ins().bxor_imm_u(value, 1) };
                found.holds = self.build.ins().band(interval.holds, holds);
            }
            RowTest::Within { value, is_signed, low, high } => {
                let here = self.extend_to_i64(value, is_signed);
                let (least, greatest) =
                    if is_signed { (i64::from(i32::MIN), i64::from(i32::MAX)) } else { (0, i64::from(u32::MAX)) };
                let low = self.bound_as_i64(low, is_signed, least);
                let high = self.bound_as_i64(high, is_signed, greatest);
                let [low, high] = [low, high].map(|bound| self.build.ins().isub(bound, here));
                self.clip_to_growth(value, [low, high], &mut found);
            }
            RowTest::Differs { value, other } => {
                // The values are equal after a growth of `difference` modulo 2³²: clip between two
                // equalities.
                let scalars = [value, other].map(|operand| self.scalar(operand));
                let difference = self.build.ins().isub(scalars[1], scalars[0]);
                let difference = self.build.ins().sextend(types::I64, difference);
                let is_ahead = self.build.ins().icmp_imm_s(IntCC::SignedGreaterThan, difference, 0);
                let [before, after] = [-(1 << 32), 1 << 32].map(|turn| self.build.ins().iadd_imm_s(difference, turn));
                let low = self.build.ins().select(is_ahead, before, difference);
                let high = self.build.ins().select(is_ahead, difference, after);
                let low = self.build.ins().iadd_imm_s(low, 1);
                let high = self.build.ins().iadd_imm_s(high, -1);
                self.clip_to_growth(value, [low, high], &mut found);
            }
        }
        for (value, expected) in &condition.path {
            let mut value = self.scalar(*value);
            if !expected {
                value = self.build.ins().bxor_imm_u(value, 1);
            }
            found.first = self.build.ins().select(value, found.first, interval.first);
            found.last = self.build.ins().select(value, found.last, interval.last);
            found.holds = self.build.ins().select(value, found.holds, interval.holds);
        }
        found
    }

    pub(crate) fn tail_distance(&mut self, tail: &IdleTail, end: code::Value) -> code::Value {
        let [here, bound] = [tail.value, tail.bound].map(|operand| self.extend_to_i64(operand, false));
        let begin = self.build.ins().isub(bound, here);
        // A wrapped value would again be less than the bound.
        let last = self.build.ins().iadd(here, end);
        let stays = self.build.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, last, 1 << 32);
        let mut is_idle = self.scalar(tail.condition);
        if !tail.idle {
            is_idle = self.build.ins().bxor_imm_u(is_idle, 1);
        }
        let is_idle = self.build.ins().band(is_idle, stays);
        let begin = self.build.ins().smin(begin, end);
        self.build.ins().select(is_idle, begin, end)
    }

    fn extend_to_i64(&mut self, value: Value, is_signed: bool) -> code::Value {
        let scalar = self.scalar(value);
        if is_signed {
            self.build.ins().sextend(types::I64, scalar)
        } else {
            self.build.ins().uextend(types::I64, scalar)
        }
    }

    fn bound_as_i64(&mut self, bound: Option<Bound>, is_signed: bool, otherwise: i64) -> code::Value {
        let Some(Bound { value, plus }) = bound else { return self.build.ins().iconst(types::I64, otherwise) };
        let wide = self.extend_to_i64(value, is_signed);
        if plus == 0 { wide } else { self.build.ins().iadd_imm_s(wide, plus) }
    }

    /// Clips an interval to the distances at which an affine value has grown by `low` to `high`.
    fn clip_to_growth(&mut self, value: Value, [low, high]: [code::Value; 2], interval: &mut DistanceInterval) {
        let step = match self.row_shape(value) {
            Some(Shape::Affine(step)) => step,
            _ => unreachable!("conditions are of affine values"),
        };
        let (low, high) =
            if step < 0 { (self.build.ins().ineg(high), self.build.ins().ineg(low)) } else { (low, high) };
        // Steps of conditions are powers of two: see `rules::is_tested`.
        let bits = i64::from(step.unsigned_abs().trailing_zeros());
        let (mut first, mut last) = (low, high);
        if bits > 0 {
            let rounded = self.build.ins().iadd_imm_s(low, (1 << bits) - 1);
            first = self.build.ins().sshr_imm_u(rounded, bits);
            last = self.build.ins().sshr_imm_u(high, bits);
        }
        interval.first = self.build.ins().smax(interval.first, first);
        interval.last = self.build.ins().smin(interval.last, last);
    }

    fn row_shape(&self, value: Value) -> Option<Shape> {
        self.row.as_ref().and_then(|row| row.interior.shape(value))
    }

    pub(crate) fn is_row_value(&self, value: Value) -> bool {
        self.row_shape(value).is_some()
    }

    pub(crate) fn row_value(&mut self, value: Value) -> Option<code::Value> {
        let row = self.row.as_ref()?;
        let (anchor, distance) = (row.at_anchor[value.0 as usize]?, row.distance);
        let Some(Shape::Affine(step)) = row.interior.shape(value) else { return Some(anchor) };
        let distance = self.build.ins().ireduce(types::I32, distance);
        let grown = self.build.ins().imul_imm_s(distance, i64::from(step));
        Some(self.build.ins().iadd(anchor, grown))
    }

    /// Address of a lane's scalar, if its index is affine along the row and does not wrap.
    pub(crate) fn row_address(&mut self, access: &Access, lane: usize) -> Option<code::Value> {
        let row = self.row.as_ref()?;
        let index = access.index.filter(|index| row.interior.indices.contains(index))?;
        let (Memory::Binding(binding), Shape::Affine(step)) = (access.memory, row.interior.shape(index)?) else {
            return None;
        };
        let (anchor, distance) = (row.at_anchor[index.0 as usize]?, row.distance);
        let bytes = i64::from(step) * i64::from(access.scale);
        let wide = self.build.ins().uextend(types::I64, anchor);
        let scaled = self.build.ins().imul_imm_s(wide, i64::from(access.scale));
        let fixed = self.build.ins().iadd(self.inputs.bindings[binding][0], scaled);
        let offset = i64::from(access.offset) + lane as i64 * bytes;
        let moved = if bytes > 0 && bytes.count_ones() == 1 {
            self.build.ins().ishl_imm_u(distance, i64::from(bytes.trailing_zeros()))
        } else {
            self.build.ins().imul_imm_s(distance, bytes)
        };
        let address = self.build.ins().iadd(fixed, moved);
        Some(if offset == 0 { address } else { self.build.ins().iadd_imm_s(address, offset) })
    }

    /// True for a load that Cranelift may hoist out of the loop over groups: the kernel does not
    /// write its memory.
    pub(crate) fn is_row_invariant_load(&self, access: &Access) -> bool {
        let (Some(row), Memory::Binding(binding), Some(index)) = (&self.row, access.memory, access.index) else {
            return false;
        };
        let is_inside = row.interior.indices.contains(&index) && !row.interior.conditional.contains(&(binding, index));
        !self.kernel.bindings[binding].writable && access.guard.is_none() && is_inside
    }

    /// Rounds the start of an interval up to a whole number of groups from the row's start.
    pub(crate) fn align_begin(&mut self, interval: &mut DistanceInterval, row_begin: code::Value) {
        let within = self.build.ins().isub(interval.first, row_begin);
        let within = self.build.ins().iadd_imm_s(within, LANES as i64 - 1);
        let groups = self.build.ins().band_imm_s(within, -(LANES as i64));
        interval.first = self.build.ins().iadd(row_begin, groups);
    }
}
