//! Operations on vectors of lanes, lane by lane without a 128-bit vector instruction.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as code, InstBuilder, MemFlagsData, types};

use super::registers::{lanes_per_vector, vector_type};
use super::scalar::{ConditionCode, condition_code};
use super::{Emitter, Register};
use crate::ir::{Binary, Compare, Convert, Definition, Type, Unary, Value};
use crate::shape::Shape;

impl Emitter<'_, '_> {
    pub(crate) fn define_lanes(&mut self, value: Value) -> Register {
        let ty = self.kernel.ty(value);
        let definition = self.kernel.definition(value).clone();
        if let Definition::Load(access) = &definition {
            let loaded = self.load_lanes(value, access);
            return Register::Lanes(match ty {
                Type::Bool => {
                    let zero = self.no_lanes();
                    let pairs = loaded.iter().zip(&zero.0);
                    pairs.map(|(one, zero)| self.build.ins().icmp(IntCC::NotEqual, *one, *zero)).collect()
                }
                _ => loaded,
            });
        }
        let mut operands = Vec::new();
        definition.for_each_operand(|operand| operands.push(operand));
        let from = operands.first().map_or(ty, |operand| self.operand_type(&definition, *operand));
        let lanes = self.vector_operation(&definition, [ty, from], &operands);
        Register::Lanes(lanes.unwrap_or_else(|| self.lane_by_lane(&definition, [ty, from], &operands)))
    }

    fn lane_by_lane(&mut self, definition: &Definition, types: [Type; 2], operands: &[Value]) -> Vec<code::Value> {
        let mut results = Vec::with_capacity(self.lanes);
        for lane in 0..self.lanes {
            let operands: Vec<_> = operands.iter().map(|operand| self.lane(*operand, lane)).collect();
            results.push(self.operate(definition, types, &operands));
        }
        self.pack_lanes(types[0], &results)
    }

    fn vector_operation(
        &mut self,
        definition: &Definition,
        [to, from]: [Type; 2],
        operands: &[Value],
    ) -> Option<Vec<code::Value>> {
        match definition {
            Definition::Unary(operation, a) => self.vector_unary(*operation, from, *a),
            Definition::Binary(operation, a, b) => self.vector_binary(*operation, from, *a, *b),
            Definition::Compare(comparison, a, b) => self.vector_compare(*comparison, from, *a, *b),
            Definition::Select { condition, accept, reject } => {
                let values = [*accept, *reject].map(|operand| self.vectors(operand));
                if self.shapes.of(*condition) == Shape::Uniform {
                    let condition = self.scalar(*condition);
                    let pairs = values[0].iter().zip(&values[1]);
                    return Some(pairs.map(|(a, b)| self.build.ins().select(condition, *a, *b)).collect());
                }
                let mask = self.vectors(*condition);
                let is_zero = |value: Value| *self.kernel.definition(value) == Definition::Constant(0);
                match (is_zero(*accept), is_zero(*reject)) {
                    (_, true) => Some(self.keep_where(to, &mask, &values[0], true)),
                    (true, _) => Some(self.keep_where(to, &mask, &values[1], false)),
                    _ => Some(self.blend(to, &mask, &values[0], &values[1])),
                }
            }
            Definition::Convert(conversion, a) => self.vector_convert(*conversion, [to, from], *a),
            _ => {
                debug_assert!(!operands.is_empty());
                None
            }
        }
    }

    fn map(&mut self, a: Value, f: impl Fn(&mut Self, code::Value) -> code::Value) -> Option<Vec<code::Value>> {
        Some(self.vectors(a).into_iter().map(|operand| f(self, operand)).collect())
    }

    fn zip(
        &mut self,
        [a, b]: [Value; 2],
        f: impl Fn(&mut Self, code::Value, code::Value) -> code::Value,
    ) -> Option<Vec<code::Value>> {
        let [a, b] = [a, b].map(|operand| self.vectors(operand));
        Some(a.into_iter().zip(b).map(|(a, b)| f(self, a, b)).collect())
    }

    fn vector_unary(&mut self, operation: Unary, ty: Type, a: Value) -> Option<Vec<code::Value>> {
        let _ = ty;
        match operation {
            Unary::Negate => self.map(a, |this, a| this.build.ins().ineg(a)),
            Unary::Not => self.map(a, |this, a| this.build.ins().bnot(a)),
            Unary::FloatNegate => self.map(a, |this, a| this.build.ins().fneg(a)),
            Unary::FloatAbs => self.map(a, |this, a| this.build.ins().fabs(a)),
            Unary::Sqrt => self.map(a, |this, a| this.build.ins().sqrt(a)),
            Unary::Floor => self.map(a, |this, a| this.build.ins().floor(a)),
            Unary::Ceil => self.map(a, |this, a| this.build.ins().ceil(a)),
            Unary::Trunc => self.map(a, |this, a| this.build.ins().trunc(a)),
            Unary::Round => self.map(a, |this, a| this.build.ins().nearest(a)),
            Unary::CountLeadingZeros
            | Unary::CountTrailingZeros
            | Unary::CountOnes
            | Unary::ReverseBits
            | Unary::RoundToF16 => None,
        }
    }

    fn vector_binary(&mut self, operation: Binary, ty: Type, a: Value, b: Value) -> Option<Vec<code::Value>> {
        let both = [a, b];
        let is_wide = ty == Type::I64;
        match operation {
            Binary::Add => self.zip(both, |this, a, b| this.build.ins().iadd(a, b)),
            Binary::Subtract => self.zip(both, |this, a, b| this.build.ins().isub(a, b)),
            Binary::Multiply => self.zip(both, |this, a, b| this.build.ins().imul(a, b)),
            Binary::And => self.zip(both, |this, a, b| this.build.ins().band(a, b)),
            Binary::Or => self.zip(both, |this, a, b| this.build.ins().bor(a, b)),
            Binary::Xor => self.zip(both, |this, a, b| this.build.ins().bxor(a, b)),
            Binary::FloatAdd => self.zip(both, |this, a, b| this.build.ins().fadd(a, b)),
            Binary::FloatSubtract => self.zip(both, |this, a, b| this.build.ins().fsub(a, b)),
            Binary::FloatMultiply => self.zip(both, |this, a, b| this.build.ins().fmul(a, b)),
            Binary::FloatDivide => self.zip(both, |this, a, b| this.build.ins().fdiv(a, b)),
            Binary::FloatMin => self.zip(both, |this, a, b| this.vector_choice(FloatCC::LessThan, [b, a], [b, a])),
            Binary::FloatMax => self.zip(both, |this, a, b| this.vector_choice(FloatCC::LessThan, [a, b], [b, a])),
            Binary::SignedMin if !is_wide => self.zip(both, |this, a, b| this.build.ins().smin(a, b)),
            Binary::SignedMax if !is_wide => self.zip(both, |this, a, b| this.build.ins().smax(a, b)),
            Binary::UnsignedMin if !is_wide => self.zip(both, |this, a, b| this.build.ins().umin(a, b)),
            Binary::UnsignedMax if !is_wide => self.zip(both, |this, a, b| this.build.ins().umax(a, b)),
            Binary::ShiftLeft | Binary::SignedShiftRight | Binary::UnsignedShiftRight
                if self.shapes.of(b) == Shape::Uniform =>
            {
                let amount = self.scalar(b);
                let vectors = self.vectors(a);
                let shifted = vectors.into_iter().map(|operand| match operation {
                    Binary::ShiftLeft => self.build.ins().ishl(operand, amount),
                    Binary::SignedShiftRight => self.build.ins().sshr(operand, amount),
                    _ => self.build.ins().ushr(operand, amount),
                });
                Some(shifted.collect())
            }
            _ => None,
        }
    }

    /// Selects `accept` for a true comparison of floats, else `reject`.
    fn vector_choice(
        &mut self,
        condition: FloatCC,
        [a, b]: [code::Value; 2],
        [accept, reject]: [code::Value; 2],
    ) -> code::Value {
        let mask = self.build.ins().fcmp(condition, a, b);
        let ty = self.build.func.dfg.value_type(accept);
        let mask = self.build.ins().bitcast(ty, little_endian(), mask);
        self.build.ins().bitselect(mask, accept, reject)
    }

    fn vector_compare(&mut self, comparison: Compare, from: Type, a: Value, b: Value) -> Option<Vec<code::Value>> {
        if from == Type::I64 && !matches!(comparison, Compare::Equal | Compare::NotEqual) {
            return None;
        }
        let masks = self.zip([a, b], |this, a, b| match condition_code(comparison) {
            ConditionCode::Integer(condition) => this.build.ins().icmp(condition, a, b),
            ConditionCode::Float(condition) => this.build.ins().fcmp(condition, a, b),
        })?;
        Some(if from.bytes() == 8 { self.narrow_masks(&masks) } else { masks })
    }

    fn narrow_masks(&mut self, masks: &[code::Value]) -> Vec<code::Value> {
        let pairs = masks.chunks(2).map(|pair| {
            let bytes: Vec<u8> = (0..4).flat_map(|lane| (0..4).map(move |byte| 8 * lane + byte)).collect();
            let [a, b] =
                [pair[0], pair[1]].map(|operand| self.build.ins().bitcast(types::I8X16, little_endian(), operand));
            let order = self.build.func.dfg.immediates.push(bytes.into());
            let narrow = self.build.ins().shuffle(a, b, order);
            self.build.ins().bitcast(types::I32X4, little_endian(), narrow)
        });
        pairs.collect()
    }

    pub(crate) fn masks_of(&mut self, ty: Type, masks: &[code::Value]) -> Vec<code::Value> {
        if lanes_per_vector(ty) == 4 {
            return masks.to_vec();
        }
        let wide =
            masks.iter().flat_map(|mask| [self.build.ins().swiden_low(*mask), self.build.ins().swiden_high(*mask)]);
        wide.collect()
    }

    /// Zeroes values: in the lanes outside of a mask if `has`, else in the lanes of the mask.
    fn keep_where(&mut self, ty: Type, mask: &[code::Value], values: &[code::Value], has: bool) -> Vec<code::Value> {
        let masks = self.masks_of(ty, mask);
        let kept = masks.iter().zip(values).map(|(mask, value)| {
            let vector = vector_type(ty);
            let mask = if self.build.func.dfg.value_type(*mask) == vector {
                *mask
            } else {
                self.build.ins().bitcast(vector, little_endian(), *mask)
            };
            if has { self.build.ins().band(*value, mask) } else { self.build.ins().band_not(*value, mask) }
        });
        kept.collect()
    }

    /// Selects `accept` in the lanes of a mask, `reject` in the others.
    pub(crate) fn blend(
        &mut self,
        ty: Type,
        mask: &[code::Value],
        accept: &[code::Value],
        reject: &[code::Value],
    ) -> Vec<code::Value> {
        let vector = vector_type(ty);
        let masks = self.masks_of(ty, mask);
        let blended = masks.iter().zip(accept).zip(reject).map(|((mask, accept), reject)| {
            let mask = if self.build.func.dfg.value_type(*mask) == vector {
                *mask
            } else {
                self.build.ins().bitcast(vector, little_endian(), *mask)
            };
            self.build.ins().bitselect(mask, *accept, *reject)
        });
        blended.collect()
    }

    fn vector_convert(&mut self, conversion: Convert, [to, from]: [Type; 2], a: Value) -> Option<Vec<code::Value>> {
        let vector = vector_type(to);
        let is_same_width = to.bytes() == from.bytes();
        match conversion {
            Convert::Bits if vector == vector_type(from) => Some(self.vectors(a)),
            Convert::Bits => self.map(a, |this, a| this.build.ins().bitcast(vector, little_endian(), a)),
            Convert::BoolToInteger if to == Type::I32 => self.map(a, |this, a| this.build.ins().ineg(a)),
            Convert::SignedToFloat if is_same_width && to == Type::F32 => {
                self.map(a, |this, a| this.build.ins().fcvt_from_sint(vector, a))
            }
            Convert::UnsignedToFloat if is_same_width && to == Type::F32 => {
                self.map(a, |this, a| this.build.ins().fcvt_from_uint(vector, a))
            }
            Convert::FloatToSigned if is_same_width && from == Type::F32 => {
                self.map(a, |this, a| this.build.ins().fcvt_to_sint_sat(vector, a))
            }
            Convert::FloatToUnsigned if is_same_width && from == Type::F32 => {
                self.map(a, |this, a| this.build.ins().fcvt_to_uint_sat(vector, a))
            }
            Convert::FloatToFloat if to == from => Some(self.vectors(a)),
            _ => None,
        }
    }
}

/// Order of lanes in casts between vectors.
pub(super) fn little_endian() -> MemFlagsData {
    MemFlagsData::new().with_endianness(code::Endianness::Little)
}
