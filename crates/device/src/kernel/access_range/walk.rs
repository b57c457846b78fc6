//! [`Walk`]: a function's statements in the order in which they run, with the value of each
//! expression.

use std::collections::{BTreeMap, BTreeSet};

use naga::valid::FunctionInfo;
use naga::{
    AddressSpace, BinaryOperator, Block, Expression, Function, Handle, Literal, LocalVariable, Module, ScalarKind,
    Statement, TypeInner, UnaryOperator,
};

use super::value::{AccessRange, IntegerType, Interval, Value};
use crate::kernel::parsed_module::ParsedModule;
use crate::kernel::scan::SourceScan;
use crate::kernel::signature::VarShape;

/// Greatest size, in bytes, of a zeroed array with known elements.
const MAX_ZEROED_BYTES: u32 = 512;

#[derive(Clone, Copy)]
pub(super) struct AnalyzedKernel<'a> {
    pub parsed: &'a ParsedModule,
    pub scan: &'a SourceScan,
    pub shapes: &'a [VarShape],
}

/// Progress of the analysis, shared by all functions of a kernel.
pub(super) struct Progress {
    /// AccessRange in the array of each storage variable.
    pub access_ranges: Vec<AccessRange>,
    /// Number of further calls that the analysis follows. Nested functions with several calls
    /// multiply this number.
    pub calls_left: u32,
}

impl Progress {
    /// Ends the analysis: the kernel may reach every cell of every array.
    pub(super) fn give_up(&mut self) {
        self.access_ranges.fill(AccessRange::Anywhere);
    }
}

/// One call of a function.
pub(super) struct Walk<'a> {
    pub kernel: AnalyzedKernel<'a>,
    pub function: &'a Function,
    info: &'a FunctionInfo,
    pub progress: &'a mut Progress,
    arguments: Vec<Value>,
    /// Number of times that the function passes [`Value::InvocationId`] to other functions.
    pub ids_passed: usize,
    pub values: BTreeMap<Handle<Expression>, Value>,
    pub locals: BTreeMap<Handle<LocalVariable>, Value>,
    returned: Option<Value>,
}

/// A part of a local variable.
type VariablePart = (Handle<LocalVariable>, Vec<Option<usize>>);

impl<'a> Walk<'a> {
    pub(super) fn new(
        kernel: AnalyzedKernel<'a>,
        (function, info): (&'a Function, &'a FunctionInfo),
        arguments: Vec<Value>,
        progress: &'a mut Progress,
    ) -> Self {
        let (values, locals) = (BTreeMap::new(), BTreeMap::new());
        Self { kernel, function, info, progress, arguments, ids_passed: 0, values, locals, returned: None }
    }

    /// Walks through the function and returns its result.
    pub(super) fn run(mut self) -> Value {
        self.note_direct_accesses();
        for (handle, variable) in self.function.local_variables.iter() {
            let value = variable.init.map_or_else(|| self.zero(variable.ty), |init| self.value(init));
            self.locals.insert(handle, value);
        }
        let function = self.function;
        self.block(&function.body);
        self.give_up_on_other_uses_of_ids();
        self.returned.unwrap_or(Value::Any)
    }

    /// Gives up where the function uses [`Value::InvocationId`] other than as an argument. The ids
    /// begin again in each part of a call, so such a kernel must run as a whole.
    fn give_up_on_other_uses_of_ids(&mut self) {
        let is_id = |expression: &Expression| match expression {
            Expression::FunctionArgument(number) => self.arguments[*number as usize] == Value::InvocationId,
            _ => false,
        };
        let ids = self.function.expressions.iter().filter(|(_, expression)| is_id(expression));
        let uses: usize = ids.map(|(handle, _)| self.info[handle].ref_count).sum();
        if uses != self.ids_passed {
            self.progress.give_up();
        }
    }

    /// Arrays that the function's own text names are reached anywhere: their indices are no
    /// positions.
    fn note_direct_accesses(&mut self) {
        for (_, expression) in self.function.expressions.iter() {
            let Expression::GlobalVariable(variable) = expression else { continue };
            let variable = &self.module().global_variables[*variable];
            let name = variable.name.as_deref().unwrap_or("");
            if let (AddressSpace::Storage { .. }, Some(number)) = (variable.space, self.kernel.scan.position(name)) {
                self.progress.access_ranges[number].add(None);
            }
        }
    }

    fn module(&self) -> &'a Module {
        &self.kernel.parsed.module
    }

    /// Integer type of an expression that is an integer or a vector of integers.
    pub(super) fn integer_type(&self, handle: Handle<Expression>) -> Option<IntegerType> {
        match self.info[handle].ty.inner_with(&self.module().types).scalar_kind()? {
            ScalarKind::Sint => Some(IntegerType::Signed),
            ScalarKind::Uint => Some(IntegerType::Unsigned),
            _ => None,
        }
    }

    /// The value of an expression as it was when it was computed.
    pub(super) fn value(&self, handle: Handle<Expression>) -> Value {
        self.values.get(&handle).cloned().unwrap_or_else(|| self.compute(handle))
    }

    fn compute(&self, handle: Handle<Expression>) -> Value {
        match &self.function.expressions[handle] {
            Expression::Literal(literal) => of_literal(*literal),
            Expression::Constant(constant) => self.global(self.module().constants[*constant].init),
            Expression::ZeroValue(ty) => self.zero(*ty),
            Expression::Compose { ty, components } => {
                self.compose(*ty, components.iter().map(|&part| self.value(part)))
            }
            Expression::Splat { size, value } => Value::Composite(vec![self.value(*value); *size as usize]),
            Expression::FunctionArgument(number) => self.arguments[*number as usize].clone(),
            Expression::Access { base, index } => self.value(*base).part(self.index(*index)),
            Expression::AccessIndex { base, index } => self.value(*base).part(Some(*index as usize)),
            Expression::Swizzle { size, vector, pattern } => {
                let vector = self.value(*vector);
                let parts = pattern[..*size as usize].iter().map(|part| vector.part(Some(*part as usize)));
                Value::Composite(parts.collect())
            }
            Expression::Unary { op: UnaryOperator::Negate, expr } => {
                let Some(ty) = self.integer_type(*expr) else { return Value::Any };
                Value::binary(BinaryOperator::Subtract, ty, &Value::constant(0), &self.value(*expr))
            }
            Expression::Binary { op, left, right } => match self.integer_type(*left) {
                Some(ty) => Value::binary(*op, ty, &self.value(*left), &self.value(*right)),
                None => Value::Any,
            },
            Expression::Select { accept, reject, .. } => self.value(*accept).join(&self.value(*reject)),
            Expression::Math { fun, arg, arg1: Some(arg1), arg2: None, .. } => match self.integer_type(*arg) {
                Some(ty) => Value::math(*fun, ty, &self.value(*arg), &self.value(*arg1)),
                None => Value::Any,
            },
            // Between integers of 32 bits the number stays the same up to multiples of 2³².
            Expression::As { expr, kind: ScalarKind::Sint | ScalarKind::Uint, convert: None | Some(4) } => {
                self.value(*expr)
            }
            Expression::Load { pointer } => match self.part(*pointer) {
                Some((variable, path)) => {
                    let whole = self.locals.get(&variable).cloned().unwrap_or(Value::Any);
                    path.into_iter().fold(whole, |value, index| value.part(index))
                }
                None => Value::Any,
            },
            _ => Value::Any,
        }
    }

    /// The value of a constant expression of the module.
    fn global(&self, handle: Handle<Expression>) -> Value {
        match &self.module().global_expressions[handle] {
            Expression::Literal(literal) => of_literal(*literal),
            Expression::Constant(constant) => self.global(self.module().constants[*constant].init),
            Expression::ZeroValue(ty) => self.zero(*ty),
            Expression::Compose { ty, components } => {
                self.compose(*ty, components.iter().map(|&part| self.global(part)))
            }
            Expression::Splat { size, value } => Value::Composite(vec![self.global(*value); *size as usize]),
            _ => Value::Any,
        }
    }

    /// A vector may be composed of vectors.
    fn compose(&self, ty: Handle<naga::Type>, parts: impl Iterator<Item = Value>) -> Value {
        let is_vector = matches!(self.module().types[ty].inner, TypeInner::Vector { .. });
        let flat = |part| match part {
            Value::Composite(parts) if is_vector => parts,
            // A vector that is unknown has an unknown number of components.
            part => vec![part],
        };
        let parts: Vec<_> = parts.collect();
        match self.module().types[ty].inner {
            TypeInner::Vector { size, .. } if parts.len() < size as usize && parts.contains(&Value::Any) => Value::Any,
            _ => Value::Composite(parts.into_iter().flat_map(flat).collect()),
        }
    }

    fn zero(&self, ty: Handle<naga::Type>) -> Value {
        match self.module().types[ty].inner {
            TypeInner::Scalar(scalar) if is_integer(scalar) => Value::constant(0),
            TypeInner::Vector { size, scalar } if is_integer(scalar) => {
                Value::Composite(vec![Value::constant(0); size as usize])
            }
            TypeInner::Array { base, size: naga::ArraySize::Constant(count), stride }
                if count.get().saturating_mul(stride) <= MAX_ZEROED_BYTES =>
            {
                Value::Composite(vec![self.zero(base); count.get() as usize])
            }
            _ => Value::Any,
        }
    }

    /// The index that a value is, where it is a single number.
    fn index(&self, handle: Handle<Expression>) -> Option<usize> {
        match self.value(handle) {
            Value::Scalar(Interval { axis: None, lo, hi }) if lo == hi => usize::try_from(lo).ok(),
            _ => None,
        }
    }

    /// The part of a local variable that a pointer leads to.
    pub(super) fn part(&self, mut pointer: Handle<Expression>) -> Option<VariablePart> {
        let mut path = Vec::new();
        loop {
            pointer = match self.function.expressions[pointer] {
                Expression::Access { base, index } => {
                    path.push(self.index(index));
                    base
                }
                Expression::AccessIndex { base, index } => {
                    path.push(Some(index as usize));
                    base
                }
                Expression::LocalVariable(variable) => {
                    path.reverse();
                    return Some((variable, path));
                }
                _ => return None,
            };
        }
    }

    fn block(&mut self, block: &Block) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    let value = self.compute(handle);
                    self.values.insert(handle, value);
                }
            }
            Statement::Block(block) => self.block(block),
            Statement::If { accept, reject, .. } => self.branches(&[accept, reject]),
            Statement::Switch { cases, .. } => {
                // One case may fall through to the next, so that each begins with all that the
                // others leave.
                let blocks: Vec<_> = cases.iter().map(|case| &case.body).collect();
                self.forget(&blocks, &BTreeMap::new());
                let before = self.locals.clone();
                for block in &blocks {
                    self.locals.clone_from(&before);
                    self.block(block);
                }
                self.forget(&blocks, &BTreeMap::new());
            }
            Statement::Loop { body, continuing, .. } => {
                let blocks = [body, continuing];
                self.forget(&blocks, &self.counters(body, continuing));
                self.block(body);
                // The body may end at any `continue`, so its stores are unknown. Counters have no
                // store in the body.
                self.forget(&[body], &BTreeMap::new());
                self.block(continuing);
                self.forget(&blocks, &BTreeMap::new());
            }
            Statement::Return { value: Some(value) } => {
                let value = self.value(*value);
                self.returned = Some(self.returned.take().map_or(value.clone(), |other| other.join(&value)));
            }
            Statement::Store { pointer, value } => {
                if let Some((variable, path)) = self.part(*pointer) {
                    let value = self.value(*value);
                    self.locals.entry(variable).or_insert(Value::Any).replace(&path, &value);
                }
            }
            Statement::Call { function, arguments, result } => self.call(*function, arguments, *result),
            _ => {}
        }
    }

    fn branches(&mut self, blocks: &[&Block]) {
        let before = self.locals.clone();
        let mut after: Option<BTreeMap<_, Value>> = None;
        for block in blocks {
            self.locals.clone_from(&before);
            self.block(block);
            let own = std::mem::take(&mut self.locals);
            after = Some(match after {
                None => own,
                Some(other) => own.iter().map(|(&key, value)| (key, value.join(&other[&key]))).collect(),
            });
        }
        self.locals = after.unwrap_or(before);
    }

    /// Gives each variable that the blocks store to its known value, else none.
    fn forget(&mut self, blocks: &[&Block], known: &BTreeMap<Handle<LocalVariable>, Interval>) {
        let mut stored = BTreeSet::new();
        blocks.iter().for_each(|block| self.stored(block, &mut stored));
        for variable in stored {
            self.locals.insert(variable, known.get(&variable).copied().into());
        }
    }
}

fn of_literal(literal: Literal) -> Value {
    match literal {
        Literal::I32(value) => Value::constant(value.into()),
        Literal::U32(value) => Value::constant(value.into()),
        _ => Value::Any,
    }
}

fn is_integer(scalar: naga::Scalar) -> bool {
    matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint) && scalar.width == 4
}
