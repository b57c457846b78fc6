//! Indices into arrays: of neighbours, in range and out of range.

use super::ast::{Expression, ScalarType, Type};
use super::generator::{Generator, KernelStyle};

/// Literals of `f32`; WGSL leaves bits of the first two open.
const EDGES_OF_F32: [&str; 10] = [
    "(-0.0f)",
    "1e-40f",
    "3.4028235e38f",
    "(-3.4028235e38f)",
    "1.1754944e-38f",
    "2147483648f",
    "4294967296f",
    "16777216f",
    "(-2147483648f)",
    "0.99999994f",
];

impl Generator {
    /// An index into `length` elements, or into a runtime-sized array. Constants are in range.
    pub(super) fn index(&mut self, length: Option<usize>, is_static: bool) -> Expression {
        match length {
            Some(length) if is_static || self.rng.chance(40) => {
                let index = self.rng.below(length);
                if self.rng.chance(50) {
                    Expression::literal(Type::I32, format!("{index}i"))
                } else {
                    Expression::u32(index)
                }
            }
            Some(length) => {
                let index =
                    if self.in_main && self.rng.chance(30) { self.position_index() } else { self.small_integer() };
                let index = self.without_sign(index);
                if self.rng.chance(70) {
                    // Negative and large indices stay out of range.
                    let length = match index.ty {
                        Type::I32 => Expression::literal(Type::I32, format!("{length}i")),
                        _ => Expression::u32(length),
                    };
                    return Expression::infix(index.ty.clone(), "%", index, length);
                }
                self.clamped(index, Some(length))
            }
            None if self.in_main => self.position_index(),
            None => {
                if self.rng.chance(30) {
                    return Expression::u32(self.rng.below(12));
                }
                let index = self.small_integer();
                self.clamped(index, None)
            }
        }
    }

    /// The index, as `u32` where indices must be in range.
    fn without_sign(&self, index: Expression) -> Expression {
        let is_signed = index.ty == Type::I32 && !self.unspecified_results;
        if is_signed { Expression::call(Type::U32, "u32", vec![index]) } else { index }
    }

    /// The index, or its minimum with a last index where indices must be in range.
    pub(super) fn clamped(&self, index: Expression, length: Option<usize>) -> Expression {
        if self.unspecified_results {
            return index;
        }
        let index = self.without_sign(index);
        let last = length.map_or(self.lasts[0].clone(), |length| Expression::u32(length - 1));
        Expression::call(Type::U32, "min", vec![index, last])
    }

    fn small_integer(&mut self) -> Expression {
        let ty = if self.rng.chance(70) { Type::U32 } else { Type::I32 };
        // Indices of indices end somewhere.
        let index = if self.nesting > 1 {
            self.literal(if ty == Type::U32 { ScalarType::U32 } else { ScalarType::I32 })
        } else {
            let depth = self.rng.below(2);
            self.nesting += 1;
            let index = self.expression(&ty, depth);
            self.nesting -= 1;
            index
        };
        self.at_run_time(index)
    }

    /// An index that depends on the invocation, mostly affine.
    fn position_index(&mut self) -> Expression {
        let unsigned = |name: &str| Expression::name(Type::U32, name);
        let signed = Expression::name(Type::I32, "j");
        let i = unsigned("i");
        let offset = *self.rng.pick(&[1, 1, 1, 1, 2, 2, 3, 4, 5, 8, 16, 1000]);
        let offset = if self.unspecified_results { offset } else { offset.min(16) };
        let k = Expression::u32(offset);
        let signed_k = Expression::literal(Type::I32, format!("{offset}i"));
        let infix = |operator, a, b| Expression::infix(Type::U32, operator, a, b);
        let signed_infix = |operator, a, b| Expression::infix(Type::I32, operator, a, b);
        let rare = if self.style == KernelStyle::General { 3 } else { 1 };
        let form = self.rng.weighted(&[
            (12, 0),
            (8, 1),
            (6, 2),
            (5, 3),
            (5, 4),
            (4, 5),
            (4, 6),
            (3, 7),
            (4, 8),
            (4, 9),
            (2, 10),
            (2, 11),
            (rare, 12),
            (rare, 13),
            (rare, 14),
            (rare, 15),
            (rare, 16),
            (6, 17),
            (2, 18),
            (2, 19),
            (2, 20),
            (1, 21),
            (3, 22),
        ]);
        let index = match form {
            0 => i,
            1 => infix("+", i, k),
            2 => infix("-", i, k),
            3 => signed_infix("+", signed, signed_k),
            4 => signed_infix("-", signed, signed_k),
            5 => {
                let last = self.last();
                Expression::call(Type::U32, "min", vec![infix("+", i, k), last])
            }
            6 => {
                let zero = Expression::literal(Type::I32, "0i");
                Expression::call(Type::I32, "max", vec![signed_infix("-", signed, signed_k), zero])
            }
            7 => {
                let last = Expression::call(Type::I32, "i32", vec![self.last()]);
                let zero = Expression::literal(Type::I32, "0i");
                Expression::call(Type::I32, "clamp", vec![signed_infix("+", signed, signed_k), zero, last])
            }
            8 => infix("+", i, self.width()),
            9 => infix("-", i, self.width()),
            // A neighbour in the next row; with one row `y` is 0.
            10 => {
                let row = infix(if self.rng.chance(50) { "+" } else { "-" }, unsigned("y"), Expression::u32(1));
                infix("+", infix("*", row, self.width()), unsigned("x"))
            }
            11 => {
                let width = self.width();
                let x = infix("%", infix("+", unsigned("x"), k), width.clone());
                infix("+", infix("*", unsigned("y"), width), x)
            }
            12 => infix("+", infix("*", i, Expression::u32(2)), k),
            13 => infix(if self.rng.chance(50) { "/" } else { "%" }, i, Expression::u32(self.rng.between(1, 9))),
            14 => {
                let name = *self.rng.pick(&["local", "wid.x", "lid.x", "gid.y", "lid.y", "groups.x"]);
                unsigned(name)
            }
            15 => infix("^", i, k),
            17 => {
                // A neighbour by the counter of a loop.
                let counters = self.scope.iter().map(|entry| &entry.expression);
                let counters =
                    counters.filter(|name| matches!(name.ty, Type::Scalar(ScalarType::I32 | ScalarType::U32)));
                let counters: Vec<_> = counters.filter(|name| name.to_string().starts_with('c')).cloned().collect();
                let operator = if self.rng.chance(50) { "+" } else { "-" };
                match counters.last() {
                    Some(counter) if counter.ty == Type::U32 => infix(operator, i, counter.clone()),
                    Some(counter) => signed_infix(operator, signed, counter.clone()),
                    None => infix(operator, i, k),
                }
            }
            // Words of cells, and cells of words.
            18 => infix(">>", infix("+", i, k), Expression::u32(2)),
            19 => infix(">>", infix("+", infix("*", i, Expression::u32(4)), k), Expression::u32(2)),
            20 => {
                let mask = *self.rng.pick(&[3, 7, 12, 28]);
                infix("&", infix("+", infix("*", i, Expression::u32(4)), k), Expression::u32(mask))
            }
            21 => infix("|", infix("*", i, Expression::u32(4)), Expression::u32(3)),
            22 => match self.parameter() {
                Some(parameter) => infix(if self.rng.chance(50) { "+" } else { "-" }, i, parameter),
                None => i,
            },
            _ => self.small_integer(),
        };
        // Differences, counters and other integers. The other forms are in range of ample arrays.
        let may_be_outside = matches!(form, 2 | 4 | 9 | 10 | 16 | 17 | 22);
        if may_be_outside { self.clamped(index, None) } else { index }
    }

    pub(super) fn parameter(&mut self) -> Option<Expression> {
        let mut entries = self.globals.iter();
        let entry = entries.find(|entry| entry.expression.to_string().starts_with("params"))?.clone();
        Some(self.reach(entry.expression.clone(), &Type::U32, &entry))
    }

    /// Cells of a row, never zero.
    pub(super) fn width(&mut self) -> Expression {
        let widths = self.widths.clone();
        self.rng.pick(&widths).clone()
    }

    /// Highest index of all invocations or of an array.
    fn last(&mut self) -> Expression {
        let lasts = self.lasts.clone();
        self.rng.pick(&lasts).clone()
    }

    /// A literal of a type. Constant expressions of literals are not free of errors.
    pub(super) fn literal(&mut self, scalar: ScalarType) -> Expression {
        let small = self.rng.below(10);
        let edge = self.rng.chance(25);
        let text = match scalar {
            ScalarType::Bool => ["false", "true"][small % 2].to_string(),
            ScalarType::I32 if edge => {
                (*self.rng.pick(&["i32(-2147483648)", "2147483647i", "(-1i)", "32i", "31i", "33i", "65536i"])).into()
            }
            ScalarType::U32 if edge => {
                (*self.rng.pick(&["4294967295u", "2147483648u", "31u", "32u", "33u", "65535u", "0x01020380u"])).into()
            }
            ScalarType::I64 if edge => (*self.rng.pick(&[
                "(-9223372036854775807li)",
                "9223372036854775807li",
                "(-1li)",
                "64li",
                "4294967296li",
                "(-4294967297li)",
            ]))
            .into(),
            ScalarType::U64 if edge => {
                (*self.rng.pick(&["18446744073709551615lu", "9223372036854775808lu", "63lu", "64lu", "4294967296lu"]))
                    .into()
            }
            ScalarType::F32 if edge => {
                (*self.rng.pick(&EDGES_OF_F32[if self.unspecified_results { 0 } else { 2 }..])).into()
            }
            ScalarType::F64 if edge => {
                (*self.rng.pick(&["(-0.0lf)", "1e300lf", "1e-310lf", "9223372036854775808lf", "0.1lf", "1e39lf"]))
                    .into()
            }
            ScalarType::F16 if edge => {
                (*self.rng.pick(&["(-0.0h)", "65504.0h", "0.00006h", "(-65504.0h)", "2048.0h", "0.0000001h"])).into()
            }
            ScalarType::I32 => format!("{}i", small),
            ScalarType::U32 => format!("{}u", small),
            ScalarType::I64 => format!("{}li", small),
            ScalarType::U64 => format!("{}lu", small),
            ScalarType::F32 | ScalarType::F64 | ScalarType::F16 => {
                let number = ["0.0", "1.0", "2.0", "0.5", "0.25", "3.0", "1.5", "2.5", "0.125", "4.0"][small];
                let number = if self.rng.chance(20) { format!("{number}625") } else { number.to_string() };
                let suffix = match scalar {
                    ScalarType::F32 => "f",
                    ScalarType::F64 => "lf",
                    _ => "h",
                };
                let is_negative = self.rng.chance(20) && (self.unspecified_results || number != "0.0");
                if is_negative { format!("(-{number}{suffix})") } else { format!("{number}{suffix}") }
            }
        };
        let text = if scalar.is_integer() && scalar.is_signed() && !edge && self.rng.chance(20) {
            format!("(-{text})")
        } else {
            text
        };
        Expression::literal(Type::Scalar(scalar), text)
    }
}
