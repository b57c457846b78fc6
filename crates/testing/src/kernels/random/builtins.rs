//! Random calls of built-in functions.

use super::ast::{Expression, ScalarType, Type};
use super::generator::Generator;

const FLOAT_CHEAP: [&str; 11] =
    ["abs", "ceil", "floor", "fract", "round", "trunc", "sign", "saturate", "sqrt", "inverseSqrt", "abs"];
const FLOAT_LIBRARY: [&str; 18] = [
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "exp2",
    "log", "log2", "degrees", "radians",
];
const INTEGER: [&str; 6] =
    ["countOneBits", "countLeadingZeros", "countTrailingZeros", "reverseBits", "firstLeadingBit", "firstTrailingBit"];

impl Generator {
    pub(super) fn number_builtin(&mut self, ty: &Type, scalar: ScalarType, depth: usize) -> Expression {
        if self.rng.chance(25)
            && let Some(call) = self.special_builtin(ty, depth)
        {
            return call;
        }
        if scalar.is_float() && !self.unspecified_results {
            return self.specified_float_builtin(ty, depth);
        }
        if scalar.is_float() { self.float_builtin(ty, scalar, depth) } else { self.integer_builtin(ty, scalar, depth) }
    }

    fn float_builtin(&mut self, ty: &Type, scalar: ScalarType, depth: usize) -> Expression {
        let element = Type::Scalar(scalar);
        match self.rng.weighted(&[
            (20, 0),
            (20, 1),
            (12, 2),
            (6, 3),
            (6, 4),
            (8, 5),
            (4, 6),
            (3, 7),
            (2, 8),
            (if ty.is_vector() { 24 } else { 8 }, 9),
            (if scalar == ScalarType::F32 { 2 } else { 0 }, 10),
        ]) {
            0 => {
                let name = *self.rng.pick(&FLOAT_CHEAP);
                self.builtin(ty.clone(), name, std::slice::from_ref(ty), depth)
            }
            1 => {
                let name = *self.rng.pick(&FLOAT_LIBRARY);
                self.builtin(ty.clone(), name, std::slice::from_ref(ty), depth)
            }
            2 => {
                let name = *self.rng.pick(&["min", "max"]);
                self.builtin(ty.clone(), name, &[ty.clone(), ty.clone()], depth)
            }
            3 => {
                let name = *self.rng.pick(&["step", "pow", "atan2"]);
                self.builtin(ty.clone(), name, &[ty.clone(), ty.clone()], depth)
            }
            4 => {
                let name = *self.rng.pick(&["clamp", "smoothstep"]);
                self.bounded(ty, name, depth)
            }
            5 => self.builtin(ty.clone(), "fma", &[ty.clone(), ty.clone(), ty.clone()], depth),
            6 => {
                let ratio = if self.rng.chance(40) { element } else { ty.clone() };
                self.builtin(ty.clone(), "mix", &[ty.clone(), ty.clone(), ratio], depth)
            }
            7 => {
                let result = self.builtin(Type::Unnamed, "modf", std::slice::from_ref(ty), depth);
                let member = *self.rng.pick(&["fract", "whole"]);
                Expression::member(ty.clone(), result, member)
            }
            8 => {
                let value = self.expression(ty, depth);
                let exponent = self.expression(&ty.with(ScalarType::I32), depth.min(1));
                let (value, exponent) = (self.at_run_time(value), self.at_run_time(exponent));
                Expression::call(ty.clone(), "ldexp", vec![value, exponent])
            }
            9 => match ty {
                Type::Vector(..) => self.vector_builtin(ty, element, depth),
                _ => {
                    let vector = Type::Vector(self.rng.between(2, 4), scalar);
                    self.reduction(ty, &vector, scalar, depth)
                }
            },
            _ => self.builtin(ty.clone(), "quantizeToF16", std::slice::from_ref(ty), depth),
        }
    }

    /// A function with lower and upper bounds. Constant bounds in the wrong order are an error, so
    /// the bounds are not constant.
    fn bounded(&mut self, ty: &Type, name: &str, depth: usize) -> Expression {
        let mut operands: Vec<_> = (0..3).map(|_| self.expression(ty, depth.min(2))).collect();
        let bound = if name == "clamp" { 1 } else { 0 };
        operands[bound] = self.at_run_time(operands[bound].clone());
        Expression::call(ty.clone(), name, operands)
    }

    fn vector_builtin(&mut self, ty: &Type, element: Type, depth: usize) -> Expression {
        let depth = depth.min(2);
        let names: &[_] = match ty {
            Type::Vector(3, _) => &["cross", "cross", "normalize", "reflect", "refract", "faceForward"],
            _ => &["normalize", "reflect", "refract", "faceForward"],
        };
        let name = *self.rng.pick(names);
        let operands = match name {
            "normalize" => vec![ty.clone()],
            "cross" | "reflect" => vec![ty.clone(); 2],
            "refract" => vec![ty.clone(), ty.clone(), element],
            _ => vec![ty.clone(); 3],
        };
        self.builtin(ty.clone(), name, &operands, depth)
    }

    fn reduction(&mut self, ty: &Type, vector: &Type, scalar: ScalarType, depth: usize) -> Expression {
        match self.rng.below(6) {
            0 | 1 => self.builtin(ty.clone(), "dot", &[vector.clone(), vector.clone()], depth),
            2 => self.builtin(ty.clone(), "length", std::slice::from_ref(vector), depth),
            3 => self.builtin(ty.clone(), "distance", &[vector.clone(), vector.clone()], depth),
            4 => {
                let columns = self.rng.between(2, 4);
                let matrix = Type::Matrix { columns, rows: columns, scalar };
                self.builtin(ty.clone(), "determinant", &[matrix], depth)
            }
            _ => self.builtin(ty.clone(), "length", std::slice::from_ref(ty), depth),
        }
    }

    fn integer_builtin(&mut self, ty: &Type, scalar: ScalarType, depth: usize) -> Expression {
        let wide = matches!(scalar, ScalarType::I64 | ScalarType::U64);
        let narrow = if wide { 0 } else { 1 };
        match self.rng.weighted(&[
            (8, 0),
            (12, 1),
            (5, 2),
            (if scalar.is_signed() { 4 } else { 0 }, 3),
            (10 * narrow, 4),
            (3 * narrow, 5),
            (3 * narrow, 6),
            (4, 7),
        ]) {
            0 if scalar.is_signed() && !self.unspecified_results => {
                // Lavapipe of Mesa 22.3 takes `abs` of the least integer for positive.
                let operand = self.expression(ty, depth);
                let operand = self.at_run_time(operand);
                let one = Expression::call(ty.clone(), ty.to_string(), vec![Expression::literal(Type::I32, "1i")]);
                Expression::call(ty.clone(), "abs", vec![Expression::infix(ty.clone(), "|", operand, one)])
            }
            0 => self.builtin(ty.clone(), "abs", std::slice::from_ref(ty), depth),
            1 => {
                let name = *self.rng.pick(&["min", "max"]);
                self.builtin(ty.clone(), name, &[ty.clone(), ty.clone()], depth)
            }
            2 => self.bounded(ty, "clamp", depth),
            3 => self.builtin(ty.clone(), "sign", std::slice::from_ref(ty), depth),
            4 => {
                let name = *self.rng.pick(&INTEGER);
                self.builtin(ty.clone(), name, std::slice::from_ref(ty), depth)
            }
            5 | 6 => {
                let inserts = self.rng.chance(50);
                let mut operands = vec![self.expression(ty, depth)];
                if inserts {
                    operands.push(self.expression(ty, depth));
                }
                for _ in 0..2 {
                    let operand = self.expression(&Type::U32, depth.min(1));
                    operands.push(self.at_run_time(operand));
                }
                Expression::call(ty.clone(), if inserts { "insertBits" } else { "extractBits" }, operands)
            }
            _ if !ty.is_vector() => {
                let vector = Type::Vector(self.rng.between(2, 4), scalar);
                self.builtin(ty.clone(), "dot", &[vector.clone(), vector], depth)
            }
            _ => self.leaf(ty),
        }
    }

    /// Packing, unpacking and other functions with results of another type than their operands.
    fn special_builtin(&mut self, ty: &Type, depth: usize) -> Option<Expression> {
        let f32x4 = Type::Vector(4, ScalarType::F32);
        let f32x2 = Type::Vector(2, ScalarType::F32);
        let with_floats = self.unspecified_results;
        Some(match ty {
            Type::Scalar(ScalarType::U32) => match self.rng.between(if with_floats { 0 } else { 5 }, 9) {
                0 => self.builtin(ty.clone(), "pack4x8snorm", &[f32x4], depth),
                1 => self.builtin(ty.clone(), "pack4x8unorm", &[f32x4], depth),
                2 => self.builtin(ty.clone(), "pack2x16snorm", &[f32x2], depth),
                3 => self.builtin(ty.clone(), "pack2x16unorm", &[f32x2], depth),
                4 => {
                    let operand = self.expression(&f32x2, depth);
                    let operand = self.at_run_time(operand);
                    let operand = self.without_nan(operand);
                    Expression::call(ty.clone(), "pack2x16float", vec![operand])
                }
                5 | 6 => {
                    let name = *self.rng.pick(&["pack4xI8", "pack4xI8Clamp"]);
                    self.builtin(ty.clone(), name, &[Type::Vector(4, ScalarType::I32)], depth)
                }
                7 | 8 => {
                    let name = *self.rng.pick(&["pack4xU8", "pack4xU8Clamp"]);
                    self.builtin(ty.clone(), name, &[Type::Vector(4, ScalarType::U32)], depth)
                }
                _ => self.builtin(ty.clone(), "dot4U8Packed", &[Type::U32, Type::U32], depth),
            },
            Type::Scalar(ScalarType::I32) if self.rng.chance(50) => {
                self.builtin(ty.clone(), "dot4I8Packed", &[Type::U32, Type::U32], depth)
            }
            Type::Scalar(scalar) | Type::Vector(2 | 3, scalar) if !with_floats && *scalar != ScalarType::U32 => {
                return None;
            }
            // The exponent has the width of the float in naga.
            Type::Scalar(ScalarType::I32 | ScalarType::I64)
            | Type::Vector(2 | 3, ScalarType::I32 | ScalarType::I64) => {
                let wide = ty.scalar() == Some(ScalarType::I64);
                let has_double = self.scalars.iter().any(|(_, scalar)| *scalar == ScalarType::F64);
                if wide && !has_double {
                    return None;
                }
                let operand = ty.with(if wide { ScalarType::F64 } else { ScalarType::F32 });
                let result = self.builtin(Type::Unnamed, "frexp", &[operand], depth);
                Expression::member(ty.clone(), result, "exp")
            }
            Type::Vector(_, ScalarType::F32) if !with_floats => return None,
            Type::Vector(4, ScalarType::F32) => {
                let name = *self.rng.pick(&["unpack4x8snorm", "unpack4x8unorm"]);
                self.builtin(ty.clone(), name, &[Type::U32], depth)
            }
            Type::Vector(2, ScalarType::F32) => {
                let name = *self.rng.pick(&["unpack2x16snorm", "unpack2x16unorm", "unpack2x16float"]);
                self.builtin(ty.clone(), name, &[Type::U32], depth)
            }
            Type::Vector(4, ScalarType::I32) => self.builtin(ty.clone(), "unpack4xI8", &[Type::U32], depth),
            Type::Vector(4, ScalarType::U32) => self.builtin(ty.clone(), "unpack4xU8", &[Type::U32], depth),
            Type::Scalar(scalar) | Type::Vector(_, scalar) if scalar.is_float() && self.rng.chance(25) => {
                let result = self.builtin(Type::Unnamed, "frexp", std::slice::from_ref(ty), depth);
                Expression::member(ty.clone(), result, "fract")
            }
            _ => return None,
        })
    }
}
