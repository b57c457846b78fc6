//! Random expressions of a given type.

use super::ast::{Expression, Form, ScalarType, Type};
use super::generator::{Generator, KernelStyle};

impl Generator {
    pub(super) fn expression(&mut self, ty: &Type, depth: usize) -> Expression {
        if depth == 0 || self.rng.chance(12) {
            return self.leaf(ty);
        }
        if self.rng.chance(6)
            && let Some(call) = self.user_call(ty, depth)
        {
            return call;
        }
        match ty {
            Type::Scalar(ScalarType::Bool) => self.condition(depth),
            Type::Vector(_, ScalarType::Bool) => self.bool_vector(ty, depth),
            Type::Scalar(_) | Type::Vector(..) => self.number(ty, depth),
            Type::Matrix { .. } => self.matrix(ty, depth),
            Type::Array(..) | Type::Struct(_) if self.rng.chance(50) => self.constructor(ty, depth - 1),
            _ => self.leaf(ty),
        }
    }

    pub(super) fn leaf(&mut self, ty: &Type) -> Expression {
        if self.rng.chance(80)
            && let Some(expression) = self.readable(ty)
        {
            return expression;
        }
        match ty {
            Type::Scalar(scalar) => self.literal(*scalar),
            // naga writes invalid SPIR-V for a constant vector with `vec2<f32>()` as a part.
            Type::Vector(..) if self.rng.chance(80) || !self.unspecified_results => self.constructor(ty, 0),
            _ if self.rng.chance(30) => self.constructor(ty, 0),
            _ => Expression::zero(ty),
        }
    }

    fn constructor(&mut self, ty: &Type, depth: usize) -> Expression {
        let parts = match ty {
            Type::Scalar(_) => return self.expression(ty, depth),
            Type::Vector(size, scalar) => match (size, self.rng.below(6)) {
                (_, 0) => vec![Type::Scalar(*scalar)],
                (4, 1) => vec![Type::Vector(2, *scalar); 2],
                (3 | 4, 2) => vec![Type::Vector(size - 1, *scalar), Type::Scalar(*scalar)],
                (3 | 4, 3) => vec![Type::Scalar(*scalar), Type::Vector(size - 1, *scalar)],
                _ => vec![Type::Scalar(*scalar); *size],
            },
            Type::Matrix { columns, rows, scalar } => {
                if self.rng.chance(30) {
                    vec![Type::Scalar(*scalar); columns * rows]
                } else {
                    vec![Type::Vector(*rows, *scalar); *columns]
                }
            }
            Type::Array(base, Some(length)) => vec![base.as_ref().clone(); *length],
            Type::Struct(index) => {
                self.program.structs[*index].members.iter().map(|(_, member)| member.clone()).collect()
            }
            _ => return Expression::zero(ty),
        };
        // Large constructors of large expressions grow quickly.
        let depth = if parts.len() > 4 { 0 } else { depth };
        let operands = parts.iter().map(|part| self.expression(part, depth)).collect();
        Expression::call(ty.clone(), ty.to_string(), operands)
    }

    fn user_call(&mut self, ty: &Type, depth: usize) -> Option<Expression> {
        if self.calls == 0 || self.loops > 1 {
            return None;
        }
        let functions = self.program.functions.iter();
        let functions =
            functions.filter(|function| function.result.as_ref() == Some(ty) && function.name.starts_with("fun"));
        let functions: Vec<_> = functions.cloned().collect();
        if functions.is_empty() {
            return None;
        }
        let function = self.rng.pick(&functions).clone();
        self.calls = self.calls.saturating_sub(1);
        let operands = self.arguments(&function.parameters, depth)?;
        Some(Expression { ty: ty.clone(), form: Form::UserCall(function.name), operands })
    }

    /// Arguments of a call; pointers refer to different variables, `None` where there are none.
    pub(super) fn arguments(&mut self, parameters: &[(String, Type)], depth: usize) -> Option<Vec<Expression>> {
        let mut used: Vec<String> = Vec::new();
        let mut arguments = Vec::new();
        for (_, ty) in parameters {
            let Type::Pointer(space, base) = ty else {
                arguments.push(self.expression(ty, depth.min(1)));
                continue;
            };
            let scope = if *space == "private" { &self.globals } else { &self.scope };
            let variables = scope.iter().filter_map(|entry| match &entry.expression.form {
                Form::Name(name) if entry.is_mutable && entry.expression.ty == **base && !name.starts_with('(') => {
                    Some(name.clone())
                }
                _ => None,
            });
            let variables: Vec<_> = variables.filter(|name| !used.contains(name)).collect();
            if variables.is_empty() {
                return None;
            }
            let name = self.rng.pick(&variables).clone();
            arguments.push(Expression::name(ty.clone(), format!("&{name}")));
            used.push(name);
        }
        Some(arguments)
    }

    fn condition(&mut self, depth: usize) -> Expression {
        let d = depth - 1;
        match self.rng.weighted(&[
            (12, 0),
            (4, 1),
            (3, 2),
            (2, 3),
            (2, 4),
            (1, 5),
            (if self.in_main { 4 } else { 0 }, 6),
            (if self.in_main { 4 } else { 0 }, 7),
        ]) {
            0 => {
                let operand = Type::Scalar(self.random_number());
                let operator = *self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
                self.infix(Type::BOOL, operator, &operand, &operand, d)
            }
            1 => {
                let operator = *self.rng.pick(&["&&", "||", "&", "|"]);
                self.infix(Type::BOOL, operator, &Type::BOOL, &Type::BOOL, d)
            }
            2 => self.prefix(&Type::BOOL, "!", d),
            3 => {
                let vector = Type::Vector(self.rng.between(2, 4), ScalarType::Bool);
                let name = *self.rng.pick(&["all", "any"]);
                self.builtin(Type::BOOL, name, &[vector], d)
            }
            4 => {
                let scalar = self.random_number();
                self.builtin(Type::BOOL, "bool", &[Type::Scalar(scalar)], d)
            }
            5 => self.builtin(Type::BOOL, "select", &[Type::BOOL, Type::BOOL, Type::BOOL], d),
            // A parameter alone, or the position in a row.
            7 => {
                let parameter = self.parameter().filter(|_| self.rng.chance(50));
                let left = parameter.unwrap_or_else(|| {
                    let width = self.width();
                    Expression::infix(Type::U32, "%", Expression::name(Type::U32, "x"), width)
                });
                let operator = *self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
                Expression::infix(Type::BOOL, operator, left, self.literal(ScalarType::U32))
            }
            // Parity of a coordinate.
            _ => {
                let name = *self.rng.pick(&["i", "x", "y", "local"]);
                let divisor = self.rng.between(2, 3);
                let i = Expression::name(Type::U32, name);
                let rest = Expression::infix(Type::U32, "%", i, Expression::u32(divisor));
                Expression::infix(Type::BOOL, "==", rest, Expression::u32(self.rng.below(2)))
            }
        }
    }

    fn bool_vector(&mut self, ty: &Type, depth: usize) -> Expression {
        let d = depth - 1;
        match self.rng.below(8) {
            0 => self.prefix(ty, "!", d),
            1 => {
                let operator = *self.rng.pick(&["&", "|"]);
                self.infix(ty.clone(), operator, ty, ty, d)
            }
            2 => self.constructor(ty, d),
            _ => {
                let operand = ty.with(self.random_number());
                let operator = *self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
                self.infix(ty.clone(), operator, &operand, &operand, d)
            }
        }
    }

    fn number(&mut self, ty: &Type, depth: usize) -> Expression {
        let d = depth - 1;
        let vector = ty.is_vector();
        let scalar = ty.scalar().unwrap_or(ScalarType::F32);
        let general = self.style == KernelStyle::General;
        let specified_float = scalar.is_float() && !self.unspecified_results;
        match self.rng.weighted(&[
            (40, 0),
            (if !specified_float && (scalar.is_signed() || scalar.is_integer()) { 5 } else { 0 }, 1),
            (if general { 26 } else { 16 }, 2),
            (10, 3),
            (8, 4),
            (if vector { 10 } else { 0 }, 5),
            (if vector { 6 } else { 0 }, 6),
            (if vector && scalar.is_float() && !specified_float { 5 } else { 0 }, 7),
            (if !vector && general { 3 } else { 0 }, 8),
        ]) {
            0 if specified_float => self.exact_arithmetic(ty, d),
            0 => self.arithmetic(ty, scalar, d),
            1 if scalar.is_integer() && (!scalar.is_signed() || self.rng.chance(40)) => self.prefix(ty, "~", d),
            1 => self.prefix(ty, "-", d),
            2 => self.number_builtin(ty, scalar, d),
            3 => {
                let condition = if vector && self.rng.chance(50) { ty.with(ScalarType::Bool) } else { Type::BOOL };
                self.builtin(ty.clone(), "select", &[ty.clone(), ty.clone(), condition], d)
            }
            4 => self.conversion(ty, scalar, d),
            5 => self.constructor(ty, d),
            6 => {
                let Type::Vector(size, _) = *ty else { return self.leaf(ty) };
                let source = self.rng.between(2, 4);
                let operand = self.expression(&Type::Vector(source, scalar), d);
                let pattern: String = (0..size).map(|_| *self.rng.pick(&['x', 'y', 'z', 'w'][..source])).collect();
                Expression::member(ty.clone(), self.at_run_time_if_swizzled(operand), pattern)
            }
            7 => {
                let Type::Vector(size, _) = *ty else { return self.leaf(ty) };
                let other = self.rng.between(2, 4);
                if self.rng.chance(50) {
                    let matrix = Type::Matrix { columns: other, rows: size, scalar };
                    self.infix(ty.clone(), "*", &matrix, &Type::Vector(other, scalar), d)
                } else {
                    let matrix = Type::Matrix { columns: size, rows: other, scalar };
                    self.infix(ty.clone(), "*", &Type::Vector(other, scalar), &matrix, d)
                }
            }
            _ => {
                let size = self.rng.between(2, 4);
                let vector = self.constructor(&Type::Vector(size, scalar), d);
                let index = self.index(Some(size), false);
                Expression::index(ty.clone(), self.at_run_time_if_swizzled(vector), index)
            }
        }
    }

    /// Constants have no components before their evaluation at run time.
    fn at_run_time_if_swizzled(&mut self, operand: Expression) -> Expression {
        if operand.is_constant() { self.at_run_time(operand) } else { operand }
    }

    fn arithmetic(&mut self, ty: &Type, scalar: ScalarType, depth: usize) -> Expression {
        let integer = if scalar.is_integer() { 1 } else { 0 };
        let operator = self.rng.weighted(&[
            (10, "+"),
            (9, "-"),
            (10, "*"),
            (5 - 2 * integer, "/"),
            (2, "%"),
            (3 * integer, "&"),
            (2 * integer, "|"),
            (3 * integer, "^"),
            (2 * integer, "<<"),
            (2 * integer, ">>"),
        ]);
        let shift = matches!(operator, "<<" | ">>");
        let mixed = matches!(operator, "+" | "-" | "*" | "/" | "%") && ty.is_vector() && self.rng.chance(25);
        let element = Type::Scalar(scalar);
        let (left, right) = match (mixed, shift) {
            (true, _) if self.rng.chance(50) => (element, ty.clone()),
            (true, _) => (ty.clone(), element),
            (_, true) => (ty.clone(), ty.with(ScalarType::U32)),
            _ => (ty.clone(), ty.clone()),
        };
        let left = self.expression(&left, depth);
        let divides = scalar.is_integer() && matches!(operator, "/" | "%");
        let right = match &right {
            // A constant operand must not be an error.
            Type::Scalar(kind) if (divides || shift) && self.rng.chance(50) => {
                let suffix = match kind {
                    ScalarType::I32 => "i",
                    ScalarType::U32 => "u",
                    ScalarType::I64 => "li",
                    _ => "lu",
                };
                Expression::literal(right.clone(), format!("{}{suffix}", self.rng.between(1, 9)))
            }
            _ => {
                let operand = self.expression(&right, depth);
                if divides || shift { self.wholly_at_run_time(operand) } else { operand }
            }
        };
        let left = if right.is_constant() { self.at_run_time(left) } else { left };
        Expression::infix(ty.clone(), operator, left, right)
    }

    /// The expression, or a sum where the front end knows a component.
    pub(super) fn wholly_at_run_time(&mut self, operand: Expression) -> Expression {
        let operand = self.at_run_time(operand);
        let ty = operand.ty.clone();
        if !ty.is_vector() {
            return operand;
        }
        let term = Expression::zero(&Type::Scalar(ty.scalar().unwrap_or(ScalarType::U32)));
        let term = self.at_run_time(term);
        Expression::infix(ty, "+", operand, term)
    }

    fn conversion(&mut self, ty: &Type, scalar: ScalarType, depth: usize) -> Expression {
        let other = self.random_scalar();
        let specified_float = scalar.is_float() && !self.unspecified_results;
        if specified_float {
            return self.exact_conversion(ty, depth);
        }
        if self.rng.chance(20) && matches!(scalar, ScalarType::I32 | ScalarType::U32 | ScalarType::F32) {
            let from = *self.rng.pick(&[ScalarType::I32, ScalarType::U32, ScalarType::F32]);
            let mut operand = self.expression(&ty.with(from), depth);
            operand = self.at_run_time(operand);
            if from == ScalarType::F32 {
                operand = self.without_nan(operand);
            }
            return Expression::call(ty.clone(), format!("bitcast<{ty}>"), vec![operand]);
        }
        if other == scalar {
            return self.leaf(ty);
        }
        self.builtin(ty.clone(), &ty.to_string(), &[ty.with(other)], depth)
    }

    /// Replaces NaN of `f32` by a number: bits of a NaN are not fixed.
    pub(super) fn without_nan(&mut self, operand: Expression) -> Expression {
        let ty = operand.ty.clone();
        let name = format!("quiet_{}", ty.to_string().replace(['<', '>'], ""));
        let x = Expression::name(ty.clone(), "x");
        let is_nan = Expression::infix(ty.with(ScalarType::Bool), "!=", x.clone(), x.clone());
        let half = Expression::literal(Type::F32, "0.5f");
        let number = match &ty {
            Type::Vector(..) => Expression::call(ty.clone(), ty.to_string(), vec![half]),
            _ => half,
        };
        let value = Expression::call(ty.clone(), "select", vec![x, number, is_nan]);
        self.add_function(&name, vec![("x".into(), ty.clone())], ty.clone(), value);
        Expression { ty, form: Form::UserCall(name), operands: vec![operand] }
    }

    fn matrix(&mut self, ty: &Type, depth: usize) -> Expression {
        let Type::Matrix { columns, rows, scalar } = *ty else { return self.leaf(ty) };
        let d = depth - 1;
        let element = Type::Scalar(scalar);
        match self.rng.between(if self.unspecified_results { 0 } else { 5 }, 7) {
            0 => self.infix(ty.clone(), "+", ty, ty, d),
            1 => self.infix(ty.clone(), "-", ty, ty, d),
            2 => self.infix(ty.clone(), "*", ty, &element, d),
            3 => self.infix(ty.clone(), "*", &element, ty, d),
            4 => {
                let inner = self.rng.between(2, 4);
                let left = Type::Matrix { columns: inner, rows, scalar };
                let right = Type::Matrix { columns, rows: inner, scalar };
                self.infix(ty.clone(), "*", &left, &right, d.min(1))
            }
            5 => {
                let operand = Type::Matrix { columns: rows, rows: columns, scalar };
                self.builtin(ty.clone(), "transpose", &[operand], d)
            }
            _ => self.constructor(ty, d),
        }
    }

    pub(super) fn infix(
        &mut self,
        ty: Type,
        operator: &'static str,
        left: &Type,
        right: &Type,
        depth: usize,
    ) -> Expression {
        let left = self.expression(left, depth);
        let right = self.expression(right, depth);
        // The front end evaluates constants, and returns an error where they overflow.
        let left = if right.is_constant() { self.at_run_time(left) } else { left };
        Expression::infix(ty, operator, left, right)
    }

    fn prefix(&mut self, ty: &Type, operator: &'static str, depth: usize) -> Expression {
        let operand = self.expression(ty, depth);
        let operand = self.at_run_time(operand);
        Expression::prefix(ty.clone(), operator, operand)
    }

    /// Call of a built-in function with at least one operand that is not constant.
    pub(super) fn builtin(&mut self, ty: Type, name: &str, operands: &[Type], depth: usize) -> Expression {
        let depth = if operands.len() > 2 { depth.min(2) } else { depth };
        let mut operands: Vec<_> = operands.iter().map(|operand| self.expression(operand, depth)).collect();
        if operands.iter().all(Expression::is_constant)
            && let Some(first) = operands.first_mut()
        {
            *first = self.at_run_time(first.clone());
        }
        Expression::call(ty, name, operands)
    }
}
