use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as code, AbiParam, InstBuilder, MemFlagsData, Signature, types};

use super::Emitter;
use super::registers::scalar_type;
use crate::ir::{Binary, Compare, Convert, Definition, Function, Type, Unary};
use crate::math;

impl Emitter<'_, '_> {
    pub(crate) fn operate(
        &mut self,
        definition: &Definition,
        [to, from]: [Type; 2],
        operands: &[code::Value],
    ) -> code::Value {
        match definition {
            Definition::Unary(operation, _) => self.unary(*operation, from, operands[0]),
            Definition::Binary(operation, ..) => self.binary(*operation, from, operands[0], operands[1]),
            Definition::Compare(comparison, ..) => self.compare(*comparison, operands[0], operands[1]),
            Definition::Select { .. } => self.build.ins().select(operands[0], operands[1], operands[2]),
            Definition::Convert(conversion, _) => self.convert(*conversion, [to, from], operands[0]),
            Definition::Function(function, _) => self.call(*function, to, operands),
            other => unreachable!("{other:?} is no operation on values"),
        }
    }

    fn unary(&mut self, operation: Unary, ty: Type, a: code::Value) -> code::Value {
        let build = self.build.ins();
        match operation {
            Unary::Negate => build.ineg(a),
            Unary::Not if ty == Type::Bool => build.bxor_imm_u(a, 1),
            Unary::Not => build.bnot(a),
            Unary::CountLeadingZeros => build.clz(a),
            Unary::CountTrailingZeros => build.ctz(a),
            Unary::CountOnes => build.popcnt(a),
            Unary::ReverseBits => build.bitrev(a),
            Unary::FloatNegate => build.fneg(a),
            Unary::FloatAbs => build.fabs(a),
            Unary::Sqrt => build.sqrt(a),
            Unary::Floor => build.floor(a),
            Unary::Ceil => build.ceil(a),
            Unary::Trunc => build.trunc(a),
            Unary::Round => build.nearest(a),
            Unary::RoundToF16 => unreachable!("expanded before"),
        }
    }

    pub(crate) fn binary(&mut self, operation: Binary, ty: Type, a: code::Value, b: code::Value) -> code::Value {
        let build = self.build.ins();
        match operation {
            Binary::Add => build.iadd(a, b),
            Binary::Subtract => build.isub(a, b),
            Binary::Multiply => build.imul(a, b),
            Binary::And => build.band(a, b),
            Binary::Or => build.bor(a, b),
            Binary::Xor => build.bxor(a, b),
            Binary::ShiftLeft => build.ishl(a, b),
            Binary::SignedShiftRight => build.sshr(a, b),
            Binary::UnsignedShiftRight => build.ushr(a, b),
            Binary::SignedMin => build.smin(a, b),
            Binary::SignedMax => build.smax(a, b),
            Binary::UnsignedMin => build.umin(a, b),
            Binary::UnsignedMax => build.umax(a, b),
            Binary::FloatAdd => build.fadd(a, b),
            Binary::FloatSubtract => build.fsub(a, b),
            Binary::FloatMultiply => build.fmul(a, b),
            Binary::FloatDivide => build.fdiv(a, b),
            Binary::FloatMin => {
                let is_less = build.fcmp(FloatCC::LessThan, b, a);
                self.build.ins().select(is_less, b, a)
            }
            Binary::FloatMax => {
                let is_less = build.fcmp(FloatCC::LessThan, a, b);
                self.build.ins().select(is_less, b, a)
            }
            Binary::UnsignedDivide | Binary::UnsignedRemainder => {
                let divisor = self.divisor(ty, b, None);
                match operation {
                    Binary::UnsignedDivide => self.build.ins().udiv(a, divisor),
                    _ => self.build.ins().urem(a, divisor),
                }
            }
            Binary::SignedDivide | Binary::SignedRemainder => {
                let divisor = self.divisor(ty, b, Some(a));
                match operation {
                    Binary::SignedDivide => self.build.ins().sdiv(a, divisor),
                    _ => self.build.ins().srem(a, divisor),
                }
            }
        }
    }

    /// Divisor that cannot trap: 1 for a zero divisor, and for a signed quotient that overflows.
    fn divisor(&mut self, ty: Type, b: code::Value, signed: Option<code::Value>) -> code::Value {
        let int = scalar_type(ty);
        let mut is_bad = self.build.ins().icmp_imm_s(IntCC::Equal, b, 0);
        if let Some(a) = signed {
            let least = if ty == Type::I64 { i64::MIN } else { i64::from(i32::MIN) };
            let least = self.build.ins().iconst(int, if ty == Type::I64 { least } else { least & 0xffff_ffff });
            let is_least = self.build.ins().icmp(IntCC::Equal, a, least);
            let is_minus_one = self.build.ins().icmp_imm_s(IntCC::Equal, b, -1);
            let overflows = self.build.ins().band(is_least, is_minus_one);
            is_bad = self.build.ins().bor(is_bad, overflows);
        }
        let one = self.build.ins().iconst(int, 1);
        self.build.ins().select(is_bad, one, b)
    }

    pub(crate) fn compare(&mut self, comparison: Compare, a: code::Value, b: code::Value) -> code::Value {
        match condition_code(comparison) {
            ConditionCode::Integer(condition) => self.build.ins().icmp(condition, a, b),
            ConditionCode::Float(condition) => self.build.ins().fcmp(condition, a, b),
        }
    }

    fn convert(&mut self, conversion: Convert, [to, from]: [Type; 2], a: code::Value) -> code::Value {
        let ty = scalar_type(to);
        let build = self.build.ins();
        match conversion {
            Convert::Bits if scalar_type(from) == ty => a,
            Convert::Bits => build.bitcast(ty, MemFlagsData::new(), a),
            Convert::Narrow => build.ireduce(ty, a),
            Convert::SignedWiden => build.sextend(ty, a),
            Convert::UnsignedWiden | Convert::BoolToInteger => build.uextend(ty, a),
            Convert::FloatToSigned => build.fcvt_to_sint_sat(ty, a),
            Convert::FloatToUnsigned => build.fcvt_to_uint_sat(ty, a),
            Convert::SignedToFloat => build.fcvt_from_sint(ty, a),
            Convert::UnsignedToFloat => build.fcvt_from_uint(ty, a),
            Convert::FloatToFloat if to == from => a,
            Convert::FloatToFloat if to == Type::F64 => build.fpromote(ty, a),
            Convert::FloatToFloat => build.fdemote(ty, a),
        }
    }

    fn call(&mut self, function: Function, ty: Type, operands: &[code::Value]) -> code::Value {
        let call = math::call_of(function, ty).expect("functions are of floats");
        let mut signature = Signature::new(self.build.func.signature.call_conv);
        signature.params = vec![AbiParam::new(scalar_type(ty)); operands.len()];
        signature.returns = vec![AbiParam::new(scalar_type(ty))];
        let signature = self.build.import_signature(signature);
        let address = self.build.ins().iconst(types::I64, call.address.expose_provenance() as i64);
        let call = self.build.ins().call_indirect(signature, address, operands);
        self.build.inst_results(call)[0]
    }
}

pub(super) enum ConditionCode {
    Integer(IntCC),
    Float(FloatCC),
}

pub(super) fn condition_code(comparison: Compare) -> ConditionCode {
    match comparison {
        Compare::Equal => ConditionCode::Integer(IntCC::Equal),
        Compare::NotEqual => ConditionCode::Integer(IntCC::NotEqual),
        Compare::SignedLess => ConditionCode::Integer(IntCC::SignedLessThan),
        Compare::SignedLessEqual => ConditionCode::Integer(IntCC::SignedLessThanOrEqual),
        Compare::UnsignedLess => ConditionCode::Integer(IntCC::UnsignedLessThan),
        Compare::UnsignedLessEqual => ConditionCode::Integer(IntCC::UnsignedLessThanOrEqual),
        Compare::FloatEqual => ConditionCode::Float(FloatCC::Equal),
        Compare::FloatNotEqual => ConditionCode::Float(FloatCC::NotEqual),
        Compare::FloatLess => ConditionCode::Float(FloatCC::LessThan),
        Compare::FloatLessEqual => ConditionCode::Float(FloatCC::LessThanOrEqual),
    }
}
