//! Built-in mathematical functions, by the definitions of the WGSL specification.

mod float;
mod integer;
mod packing;

use std::rc::Rc;

use naga::{Expression, Handle, MathFunction, Scalar, TypeInner};

use super::arithmetic::{is_float, is_half};
use super::{Lowering, Unsupported};
use crate::ir::{Function, Unary, Value};

struct Arguments {
    values: Vec<Rc<[Value]>>,
    /// Scalar type of the computation: `f32` for `f16`.
    compute: Scalar,
}

impl Arguments {
    fn all(&self, argument: usize) -> &[Value] {
        self.values.get(argument).map_or(&[], |values| values)
    }
}

impl<'m> Lowering<'m> {
    pub(super) fn math(
        &mut self,
        function: MathFunction,
        arguments: &[Handle<Expression>],
    ) -> Result<Rc<[Value]>, Unsupported> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let argument = self.values(*argument)?;
            if argument.is_empty() {
                return self.invalid("an empty argument");
            }
            values.push(argument);
        }
        let Some(first) = arguments.first().copied() else { return self.invalid("a function without arguments") };
        if values.len() < arity(function) {
            return self.invalid("a missing argument");
        }
        let scalar = self.scalar_of(first)?;
        let compute = if is_half(scalar) { Scalar::F32 } else { scalar };
        let arguments = Arguments { values, compute };
        let results = self.compute(function, &arguments, self.type_of(first));
        // The exponent of `frexp` is an integer of 32 bits.
        Ok(results
            .into_iter()
            .map(|value| {
                if is_half(scalar) && self.builder.ty(value) == crate::ir::Type::F32 {
                    self.builder.rounded(scalar, value)
                } else {
                    value
                }
            })
            .collect())
    }

    fn compute(&mut self, function: MathFunction, arguments: &Arguments, first: &TypeInner) -> Vec<Value> {
        use MathFunction as M;
        let scalar = arguments.compute;
        let builder = &mut self.builder;
        match function {
            M::Transpose => match first {
                TypeInner::Matrix { rows, .. } => Self::transpose(*rows, arguments.all(0)).to_vec(),
                _ => arguments.all(0).to_vec(),
            },
            M::Determinant => vec![builder.determinant(scalar, matrix_size(first), arguments.all(0))],
            M::Inverse => builder.inverse(scalar, matrix_size(first), arguments.all(0)).to_vec(),
            M::Dot
            | M::Outer
            | M::Cross
            | M::Distance
            | M::Length
            | M::Normalize
            | M::FaceForward
            | M::Reflect
            | M::Refract => builder.vector_function(function, scalar, &arguments.values),
            M::Modf => builder.modf(scalar, arguments.all(0)),
            M::Frexp => builder.frexp(arguments.all(0)),
            M::Pack4x8snorm
            | M::Pack4x8unorm
            | M::Pack2x16snorm
            | M::Pack2x16unorm
            | M::Pack2x16float
            | M::Pack4xI8
            | M::Pack4xU8
            | M::Pack4xI8Clamp
            | M::Pack4xU8Clamp => vec![builder.pack(function, arguments.all(0))],
            M::Unpack4x8snorm
            | M::Unpack4x8unorm
            | M::Unpack2x16snorm
            | M::Unpack2x16unorm
            | M::Unpack2x16float
            | M::Unpack4xI8
            | M::Unpack4xU8 => builder.unpack(function, arguments.all(0)[0]),
            M::Dot4I8Packed | M::Dot4U8Packed => {
                vec![builder.dot_packed(function == M::Dot4I8Packed, arguments.all(0)[0], arguments.all(1)[0])]
            }
            _ => {
                let count = arguments.values.iter().map(|values| values.len()).max().unwrap_or(0);
                let mut results = Vec::with_capacity(count);
                for index in 0..count {
                    let operands: Vec<_> =
                        arguments.values.iter().map(|values| values[index.min(values.len() - 1)]).collect();
                    results.push(builder.scalar_function(function, scalar, &operands));
                }
                results
            }
        }
    }
}

fn matrix_size(inner: &TypeInner) -> usize {
    match inner {
        TypeInner::Matrix { columns, .. } => *columns as usize,
        _ => 1,
    }
}

fn arity(function: MathFunction) -> usize {
    use MathFunction as M;
    match function {
        M::InsertBits => 4,
        M::Clamp | M::FaceForward | M::Refract | M::Fma | M::Mix | M::SmoothStep | M::ExtractBits => 3,
        M::Min
        | M::Max
        | M::Atan2
        | M::Ldexp
        | M::Pow
        | M::Dot
        | M::Dot4I8Packed
        | M::Dot4U8Packed
        | M::Outer
        | M::Cross
        | M::Distance
        | M::Reflect
        | M::Step => 2,
        _ => 1,
    }
}

impl super::builder::Builder {
    fn scalar_function(&mut self, function: MathFunction, scalar: Scalar, operands: &[Value]) -> Value {
        use MathFunction as M;
        let a = operands[0];
        match function {
            M::Abs if is_float(scalar) => self.unary(Unary::FloatAbs, a),
            M::Abs => self.absolute(scalar, a),
            M::Sign => self.sign(scalar, a),
            M::Min => self.min(scalar, a, operands[1]),
            M::Max => self.max(scalar, a, operands[1]),
            M::Clamp => self.clamp(scalar, a, operands[1], operands[2]),
            M::Ceil => self.unary(Unary::Ceil, a),
            M::Floor => self.unary(Unary::Floor, a),
            M::Round => self.unary(Unary::Round, a),
            M::Trunc => self.unary(Unary::Trunc, a),
            M::Sqrt => self.unary(Unary::Sqrt, a),
            M::QuantizeToF16 => self.unary(Unary::RoundToF16, a),
            M::CountTrailingZeros => self.unary(Unary::CountTrailingZeros, a),
            M::CountLeadingZeros => self.unary(Unary::CountLeadingZeros, a),
            M::CountOneBits => self.unary(Unary::CountOnes, a),
            M::ReverseBits => self.unary(Unary::ReverseBits, a),
            M::FirstTrailingBit => self.first_trailing_bit(a),
            M::FirstLeadingBit => self.first_leading_bit(scalar, a),
            M::ExtractBits => self.extract_bits(scalar, a, operands[1], operands[2]),
            M::InsertBits => self.insert_bits(a, operands[1], operands[2], operands[3]),
            M::Ldexp => self.ldexp(a, operands[1]),
            _ => match transcendental(function) {
                Some(function) => self.function(function, operands),
                None => self.float_function(function, scalar, operands),
            },
        }
    }
}

fn transcendental(function: MathFunction) -> Option<Function> {
    use MathFunction as M;
    Some(match function {
        M::Cos => Function::Cos,
        M::Cosh => Function::Cosh,
        M::Sin => Function::Sin,
        M::Sinh => Function::Sinh,
        M::Tan => Function::Tan,
        M::Tanh => Function::Tanh,
        M::Acos => Function::Acos,
        M::Asin => Function::Asin,
        M::Atan => Function::Atan,
        M::Atan2 => Function::Atan2,
        M::Asinh => Function::Asinh,
        M::Acosh => Function::Acosh,
        M::Atanh => Function::Atanh,
        M::Exp => Function::Exp,
        M::Exp2 => Function::Exp2,
        M::Log => Function::Log,
        M::Log2 => Function::Log2,
        M::Pow => Function::Pow,
        M::Fma => Function::Fma,
        _ => return None,
    })
}
