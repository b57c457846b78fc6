//! Values that are evaluated once a row, and the interval of a row in which conditions hold.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as code, InstBuilder, types};

use super::{Emitter, LANES, Register};
use crate::interior::{Bound, Condition, Interior, Tail, Test};
use crate::ir::{Access, Memory, Value};
use crate::shape::Shape;

/// The interior of a row, in which a group is.
pub struct InRow<'a> {
    pub interior: &'a Interior,
    /// Each value with a shape in the row, as it is at the row's anchor.
    at_anchor: Vec<Option<code::Value>>,
    /// Invocations from the anchor to the first of the group, as `i64`.
    pub distance: code::Value,
}

/// Distances from the anchor at which all conditions hold, as `i64`, inclusive.
#[derive(Debug, Clone, Copy)]
pub struct Interval {
    pub first: code::Value,
    pub last: code::Value,
    /// The conditions that are the same in the row hold.
    pub holds: code::Value,
}

impl<'a> Emitter<'a, '_> {
    /// Evaluates the row at its anchor, which is the emitter's position.
    pub fn enter_row(&mut self, interior: &'a Interior) -> InRow<'a> {
        self.registers.clear();
        let mut at_anchor = vec![None; interior.kernel.values.len()];
        for value in &interior.values {
            let scalar = self.define_scalar(*value);
            self.registers.insert(*value, Register::Scalar(scalar));
            at_anchor[value.0 as usize] = Some(scalar);
        }
        let distance = self.build.ins().iconst(types::I64, 0);
        InRow { interior, at_anchor, distance }
    }

    /// Moves the group in its row.
    pub fn set_distance(&mut self, distance: code::Value) {
        if let Some(row) = &mut self.row {
            row.distance = distance;
        }
    }

    /// Shrinks an interval to the one in which all conditions hold.
    pub fn hold_conditions(&mut self, interior: &Interior, interval: Interval) -> Interval {
        interior.conditions.iter().fold(interval, |interval, condition| self.hold(condition, interval))
    }

    fn hold(&mut self, condition: &Condition, interval: Interval) -> Interval {
        let mut found = interval;
        match condition.test {
            Test::Is { value, expected } => {
                let value = self.scalar(value);
                let holds = if expected { value } else { self.build.ins().bxor_imm_u(value, 1) };
                found.holds = self.build.ins().band(interval.holds, holds);
            }
            Test::Within { value, is_signed, low, high } => {
                let here = self.extended(value, is_signed);
                let (least, greatest) = match is_signed {
                    true => (i64::from(i32::MIN), i64::from(i32::MAX)),
                    false => (0, i64::from(u32::MAX)),
                };
                let low = self.bound(low, is_signed, least);
                let high = self.bound(high, is_signed, greatest);
                let [low, high] = [low, high].map(|bound| self.build.ins().isub(bound, here));
                self.grow_within(value, [low, high], &mut found);
            }
            Test::Differs { value, other } => {
                // Differences, modulo 2³², that the value has not yet grown by.
                let [here, there] = [value, other].map(|one| self.scalar(one));
                let left = self.build.ins().isub(there, here);
                let left = self.build.ins().sextend(types::I64, left);
                let is_ahead = self.build.ins().icmp_imm_s(IntCC::SignedGreaterThan, left, 0);
                let [before, after] = [-(1 << 32), 1 << 32].map(|turn| self.build.ins().iadd_imm_s(left, turn));
                let low = self.build.ins().select(is_ahead, before, left);
                let high = self.build.ins().select(is_ahead, left, after);
                let low = self.build.ins().iadd_imm_s(low, 1);
                let high = self.build.ins().iadd_imm_s(high, -1);
                self.grow_within(value, [low, high], &mut found);
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

    /// Distance from the anchor at which the tail of the row begins, if it is before `end`.
    pub fn tail(&mut self, tail: &Tail, end: code::Value) -> code::Value {
        let [here, bound] = [tail.value, tail.bound].map(|one| self.extended(one, false));
        let begin = self.build.ins().isub(bound, here);
        // The value must not wrap in the tail.
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

    fn extended(&mut self, value: Value, is_signed: bool) -> code::Value {
        let scalar = self.scalar(value);
        match is_signed {
            true => self.build.ins().sextend(types::I64, scalar),
            false => self.build.ins().uextend(types::I64, scalar),
        }
    }

    fn bound(&mut self, bound: Option<Bound>, is_signed: bool, otherwise: i64) -> code::Value {
        let Some(Bound { value, plus }) = bound else { return self.build.ins().iconst(types::I64, otherwise) };
        let wide = self.extended(value, is_signed);
        if plus == 0 { wide } else { self.build.ins().iadd_imm_s(wide, plus) }
    }

    /// Shrinks an interval to the distances at which a value has grown by `low` to `high`.
    fn grow_within(&mut self, value: Value, [low, high]: [code::Value; 2], interval: &mut Interval) {
        let step = match self.row_shape(value) {
            Some(Shape::Affine(step)) => step,
            _ => unreachable!("conditions are of affine values"),
        };
        let (low, high) = match step < 0 {
            true => (self.build.ins().ineg(high), self.build.ins().ineg(low)),
            false => (low, high),
        };
        // The size of the step is a power of two.
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

    /// True for a value that follows from its row.
    pub fn is_of_row(&self, value: Value) -> bool {
        self.row_shape(value).is_some()
    }

    /// A value that is the same in the row, or the first lane of one that grows along it.
    pub fn of_row(&mut self, value: Value) -> Option<code::Value> {
        let row = self.row.as_ref()?;
        let (anchor, distance) = (row.at_anchor[value.0 as usize]?, row.distance);
        let Some(Shape::Affine(step)) = row.interior.shape(value) else { return Some(anchor) };
        let distance = self.build.ins().ireduce(types::I32, distance);
        let grown = self.build.ins().imul_imm_s(distance, i64::from(step));
        Some(self.build.ins().iadd(anchor, grown))
    }

    /// Address of a lane's scalar, where its index grows along the row without wrapping.
    pub fn row_address(&mut self, access: &Access, lane: usize) -> Option<code::Value> {
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
        let moved = match bytes > 0 && bytes.count_ones() == 1 {
            true => self.build.ins().ishl_imm_u(distance, i64::from(bytes.trailing_zeros())),
            false => self.build.ins().imul_imm_s(distance, bytes),
        };
        let address = self.build.ins().iadd(fixed, moved);
        Some(if offset == 0 { address } else { self.build.ins().iadd_imm_s(address, offset) })
    }

    /// True for a load that the row's groups can evaluate at any place: no kernel writes its memory.
    pub fn is_fixed_in_row(&self, access: &Access) -> bool {
        let (Some(row), Memory::Binding(binding), Some(index)) = (&self.row, access.memory, access.index) else {
            return false;
        };
        let is_inside = row.interior.indices.contains(&index) && !row.interior.conditional.contains(&(binding, index));
        !self.kernel.bindings[binding].writable && access.guard.is_none() && is_inside
    }

    /// Rounds the begin of an interval up, to whole groups from the row's begin.
    pub fn align(&mut self, interval: &mut Interval, row_begin: code::Value) {
        let within = self.build.ins().isub(interval.first, row_begin);
        let within = self.build.ins().iadd_imm_s(within, LANES as i64 - 1);
        let groups = self.build.ins().band_imm_s(within, -(LANES as i64));
        interval.first = self.build.ins().iadd(row_begin, groups);
    }
}
