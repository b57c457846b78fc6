//! Expressions that depend only on their operands.

use naga::{BinaryOperator, Expression, Handle, Literal, RelationalFunction, TypeInner};

use super::functions::Functions;
use super::math::{self, componentwise, dot};
use super::scalar::{self, ScalarValue, multiply};
use super::value::{Types, Value};

#[derive(Clone, Copy)]
pub(super) struct Evaluator<'a, 'm> {
    pub types: Types<'m>,
    pub constants: &'a [Result<Value, String>],
    pub functions: &'a dyn Functions,
}

impl Evaluator<'_, '_> {
    pub(super) fn constant(&self, handle: Handle<Expression>) -> Result<Value, String> {
        self.constants.get(handle.index()).ok_or("a constant before its definition")?.clone()
    }

    /// Evaluates an expression; `operand` gives the values of its operands.
    pub(super) fn evaluate(
        &self,
        expression: &Expression,
        operand: &mut dyn FnMut(Handle<Expression>) -> Result<Value, String>,
    ) -> Result<Value, String> {
        let module = self.types.module;
        match *expression {
            Expression::Literal(literal) => Ok(Value::Scalar(literal_value(literal)?)),
            Expression::Constant(handle) => self.constant(module.constants[handle].init),
            Expression::Override(handle) => {
                self.constant(module.overrides[handle].init.ok_or("an override without a value")?)
            }
            Expression::ZeroValue(ty) => self.types.zero(self.types.inner(ty)),
            Expression::Compose { ty, ref components } => {
                let components = components.iter().map(|&handle| operand(handle));
                compose(self.types.inner(ty), components.collect::<Result<_, _>>()?)
            }
            Expression::Access { base, index } => operand(base)?.part(&[operand(index)?.scalar()?.as_index()?]),
            Expression::AccessIndex { base, index } => operand(base)?.part(&[index]),
            Expression::Splat { size, value } => Ok(Value::Vector(vec![operand(value)?.scalar()?; size as usize])),
            Expression::Swizzle { size, vector, pattern } => {
                let vector = operand(vector)?;
                let components = vector.components()?;
                let pattern = pattern[..size as usize].iter();
                let result = pattern.map(|&component| components.get(component as usize).copied());
                Ok(Value::Vector(result.collect::<Option<_>>().ok_or("a swizzle past the end of a vector")?))
            }
            Expression::Unary { op, expr } => match operand(expr)? {
                Value::Matrix(columns) => map_columns(&columns, |x| scalar::unary(op, x)),
                value => componentwise(&[value], |x| scalar::unary(op, x[0])),
            },
            Expression::Binary { op, left, right } => binary(op, operand(left)?, operand(right)?),
            Expression::Select { condition, accept, reject } => {
                select(&operand(condition)?, operand(accept)?, operand(reject)?)
            }
            Expression::Relational { fun, argument } => relational(fun, &operand(argument)?),
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let arguments = [Some(arg), arg1, arg2, arg3].into_iter().flatten().map(operand);
                math::evaluate(self.functions, fun, arguments.collect::<Result<_, _>>()?)
            }
            Expression::As { expr, kind, convert } => {
                let cast = |x: ScalarValue| match convert {
                    Some(width) => x.convert(naga::Scalar { kind, width }),
                    None => x.bitcast(kind),
                };
                match operand(expr)? {
                    Value::Matrix(columns) => map_columns(&columns, cast),
                    value => componentwise(&[value], |x| cast(x[0])),
                }
            }
            _ => Err(format!("{expression:?} is not supported")),
        }
    }
}

fn literal_value(literal: Literal) -> Result<ScalarValue, String> {
    Ok(match literal {
        Literal::F64(x) => ScalarValue::F64(x),
        Literal::F32(x) => ScalarValue::F32(x),
        Literal::F16(x) => ScalarValue::F16(x),
        Literal::U16(x) => ScalarValue::U16(x),
        Literal::I16(x) => ScalarValue::I16(x),
        Literal::U32(x) => ScalarValue::U32(x),
        Literal::I32(x) => ScalarValue::I32(x),
        Literal::U64(x) => ScalarValue::U64(x),
        Literal::I64(x) => ScalarValue::I64(x),
        Literal::Bool(x) => ScalarValue::Bool(x),
        Literal::AbstractInt(_) | Literal::AbstractFloat(_) => return Err("an abstract literal".into()),
    })
}

fn compose(ty: &TypeInner, components: Vec<Value>) -> Result<Value, String> {
    match *ty {
        TypeInner::Vector { .. } => {
            let scalars = components.iter().map(Value::components).collect::<Result<Vec<_>, _>>()?;
            Ok(Value::Vector(scalars.concat()))
        }
        TypeInner::Matrix { rows, .. } => {
            let scalars = components.iter().map(Value::components).collect::<Result<Vec<_>, _>>()?;
            Ok(Value::Matrix(scalars.concat().chunks(rows as usize).map(<[_]>::to_vec).collect()))
        }
        TypeInner::Array { .. } | TypeInner::Struct { .. } => Ok(Value::Composite(components)),
        _ => Err(format!("no composition of {ty:?}")),
    }
}

fn map_columns(
    columns: &[Vec<ScalarValue>],
    mut f: impl FnMut(ScalarValue) -> Result<ScalarValue, String>,
) -> Result<Value, String> {
    let columns = columns.iter().map(|column| column.iter().map(|&x| f(x)).collect());
    columns.collect::<Result<_, _>>().map(Value::Matrix)
}

fn binary(operator: BinaryOperator, left: Value, right: Value) -> Result<Value, String> {
    let product = operator == BinaryOperator::Multiply;
    match (left, right) {
        (Value::Matrix(a), Value::Matrix(b)) if product => {
            let columns = b.iter().map(|column| transform(&a, column));
            columns.collect::<Result<_, _>>().map(Value::Matrix)
        }
        (Value::Matrix(a), Value::Vector(b)) if product => transform(&a, &b).map(Value::Vector),
        (Value::Vector(a), Value::Matrix(b)) if product => {
            b.iter().map(|column| dot(&a, column)).collect::<Result<_, _>>().map(Value::Vector)
        }
        (Value::Matrix(a), Value::Scalar(b)) if product => map_columns(&a, |x| multiply(x, b)),
        (Value::Scalar(a), Value::Matrix(b)) if product => map_columns(&b, |x| multiply(a, x)),
        (Value::Matrix(a), Value::Matrix(b)) => {
            let columns = a.iter().zip(&b);
            let columns =
                columns.map(|(a, b)| a.iter().zip(b).map(|(&a, &b)| scalar::binary(operator, a, b)).collect());
            columns.collect::<Result<_, _>>().map(Value::Matrix)
        }
        (left, right) => componentwise(&[left, right], |x| scalar::binary(operator, x[0], x[1])),
    }
}

/// Product of a matrix and a column vector, summed from the first column to the last.
fn transform(matrix: &[Vec<ScalarValue>], vector: &[ScalarValue]) -> Result<Vec<ScalarValue>, String> {
    let rows = 0..matrix[0].len();
    rows.map(|row| dot(&matrix.iter().map(|column| column[row]).collect::<Vec<_>>(), vector)).collect()
}

fn select(condition: &Value, accept: Value, reject: Value) -> Result<Value, String> {
    match condition {
        Value::Scalar(condition) => Ok(if condition.as_bool()? { accept } else { reject }),
        _ => componentwise(&[condition.clone(), accept, reject], |x| Ok(if x[0].as_bool()? { x[1] } else { x[2] })),
    }
}

fn relational(function: RelationalFunction, argument: &Value) -> Result<Value, String> {
    let components = argument.components()?;
    let bools = || components.iter().map(|x| x.as_bool()).collect::<Result<Vec<_>, _>>();
    Ok(Value::Scalar(ScalarValue::Bool(match function {
        RelationalFunction::All => bools()?.into_iter().all(|x| x),
        RelationalFunction::Any => bools()?.into_iter().any(|x| x),
        RelationalFunction::IsNan => {
            return componentwise(std::slice::from_ref(argument), |x| Ok(ScalarValue::Bool(x[0].is_nan())));
        }
        RelationalFunction::IsInf => {
            return componentwise(std::slice::from_ref(argument), |x| {
                let double = x[0].convert(naga::Scalar::F64)?;
                Ok(ScalarValue::Bool(matches!(double, ScalarValue::F64(x) if x.is_infinite())))
            });
        }
    })))
}
