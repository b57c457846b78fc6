//! [`Walk`]: evaluation of a function's statements in execution order, with bounds of each
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

/// Maximum size, in bytes, of a zeroed array whose elements the analysis follows.
const MAX_ZEROED_BYTES: u32 = 512;

#[derive(Clone, Copy)]
pub(super) struct AnalyzedKernel<'a> {
    pub parsed: &'a ParsedModule,
    pub scan: &'a SourceScan,
    pub shapes: &'a [VarShape],
}

/// Progress of the analysis, shared by all functions of a kernel.
pub(super) struct Progress {
    /// Access range in the array of each storage variable.
    pub access_ranges: Vec<AccessRange>,
    /// Number of function calls that the analysis may still follow. Nested functions with several
    /// calls multiply the number of calls.
    pub calls_left: u32,
}

impl Progress {
    /// Ends the analysis: the kernel may access every cell of every array.
    pub(super) fn give_up(&mut self) {
        self.access_ranges.fill(AccessRange::Anywhere);
    }
}

/// Analysis of one call of a function.
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

/// Local variable, and the path of indices to a part of it; `None` is an unknown index.
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

    pub(super) fn run(mut self) -> Value {
        self.note_direct_accesses();
        for (handle, variable) in self.function.local_variables.iter() {
            let value = variable.init.map_or_else(|| self.zero_value(variable.ty), |init| self.value(init));
            self.locals.insert(handle, value);
        }
        let function = self.function;
        self.analyze_block(&function.body);
        self.give_up_on_other_uses_of_ids();
        self.returned.unwrap_or(Value::Any)
    }

    /// Gives up if the function uses [`Value::InvocationId`] other than as an argument. The ids
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

    /// Records arrays that the function accesses without helpers as accessed anywhere: their
    /// indices are not positions.
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

    pub(super) fn integer_type(&self, handle: Handle<Expression>) -> Option<IntegerType> {
        match self.info[handle].ty.inner_with(&self.module().types).scalar_kind()? {
            ScalarKind::Sint => Some(IntegerType::Signed),
            ScalarKind::Uint => Some(IntegerType::Unsigned),
            _ => None,
        }
    }

    /// Returns the value of an expression at the time of its evaluation.
    pub(super) fn value(&self, handle: Handle<Expression>) -> Value {
        self.values.get(&handle).cloned().unwrap_or_else(|| self.compute(handle))
    }

    fn compute(&self, handle: Handle<Expression>) -> Value {
        match &self.function.expressions[handle] {
            Expression::Literal(literal) => literal_value(*literal),
            Expression::Constant(constant) => self.global_constant(self.module().constants[*constant].init),
            Expression::ZeroValue(ty) => self.zero_value(*ty),
            Expression::Compose { ty, components } => {
                self.compose_value(*ty, components.iter().map(|&part| self.value(part)))
            }
            Expression::Splat { size, value } => Value::Composite(vec![self.value(*value); *size as usize]),
            Expression::FunctionArgument(number) => self.arguments[*number as usize].clone(),
            Expression::Access { base, index } => self.value(*base).part(self.constant_index(*index)),
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

    fn global_constant(&self, handle: Handle<Expression>) -> Value {
        match &self.module().global_expressions[handle] {
            Expression::Literal(literal) => literal_value(*literal),
            Expression::Constant(constant) => self.global_constant(self.module().constants[*constant].init),
            Expression::ZeroValue(ty) => self.zero_value(*ty),
            Expression::Compose { ty, components } => {
                self.compose_value(*ty, components.iter().map(|&part| self.global_constant(part)))
            }
            Expression::Splat { size, value } => Value::Composite(vec![self.global_constant(*value); *size as usize]),
            _ => Value::Any,
        }
    }

    /// Composes a value from `parts`. A vector may be composed of vectors.
    fn compose_value(&self, ty: Handle<naga::Type>, parts: impl Iterator<Item = Value>) -> Value {
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

    fn zero_value(&self, ty: Handle<naga::Type>) -> Value {
        match self.module().types[ty].inner {
            TypeInner::Scalar(scalar) if is_integer(scalar) => Value::constant(0),
            TypeInner::Vector { size, scalar } if is_integer(scalar) => {
                Value::Composite(vec![Value::constant(0); size as usize])
            }
            TypeInner::Array { base, size: naga::ArraySize::Constant(count), stride }
                if count.get().saturating_mul(stride) <= MAX_ZEROED_BYTES =>
            {
                Value::Composite(vec![self.zero_value(base); count.get() as usize])
            }
            _ => Value::Any,
        }
    }

    /// Returns the value of an expression as an index, if it is a single known integer.
    fn constant_index(&self, handle: Handle<Expression>) -> Option<usize> {
        match self.value(handle) {
            Value::Scalar(Interval { axis: None, lo, hi }) if lo == hi => usize::try_from(lo).ok(),
            _ => None,
        }
    }

    /// Returns the part of a local variable that a pointer refers to.
    pub(super) fn part(&self, mut pointer: Handle<Expression>) -> Option<VariablePart> {
        let mut path = Vec::new();
        loop {
            pointer = match self.function.expressions[pointer] {
                Expression::Access { base, index } => {
                    path.push(self.constant_index(index));
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

    fn analyze_block(&mut self, block: &Block) {
        block.iter().for_each(|statement| self.analyze_statement(statement));
    }

    fn analyze_statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    let value = self.compute(handle);
                    self.values.insert(handle, value);
                }
            }
            Statement::Block(block) => self.analyze_block(block),
            Statement::If { accept, reject, .. } => self.analyze_branches(&[accept, reject]),
            Statement::Switch { cases, .. } => {
                // A case may fall through to the next, so each case begins with the variables that
                // any case leaves.
                let blocks: Vec<_> = cases.iter().map(|case| &case.body).collect();
                self.forget_stored_variables(&blocks, &BTreeMap::new());
                let before = self.locals.clone();
                for block in &blocks {
                    self.locals.clone_from(&before);
                    self.analyze_block(block);
                }
                self.forget_stored_variables(&blocks, &BTreeMap::new());
            }
            Statement::Loop { body, continuing, .. } => {
                let blocks = [body, continuing];
                self.forget_stored_variables(&blocks, &self.find_counters(body, continuing));
                self.analyze_block(body);
                // The body may end at any `continue`, so its stores are unknown. Counters have no
                // store in the body.
                self.forget_stored_variables(&[body], &BTreeMap::new());
                self.analyze_block(continuing);
                self.forget_stored_variables(&blocks, &BTreeMap::new());
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

    fn analyze_branches(&mut self, blocks: &[&Block]) {
        let before = self.locals.clone();
        let mut after: Option<BTreeMap<_, Value>> = None;
        for block in blocks {
            self.locals.clone_from(&before);
            self.analyze_block(block);
            let own = std::mem::take(&mut self.locals);
            after = Some(match after {
                None => own,
                Some(other) => own.iter().map(|(&key, value)| (key, value.join(&other[&key]))).collect(),
            });
        }
        self.locals = after.unwrap_or(before);
    }

    /// Sets each variable that the blocks store to its interval in `known`, otherwise to an unknown
    /// value.
    fn forget_stored_variables(&mut self, blocks: &[&Block], known: &BTreeMap<Handle<LocalVariable>, Interval>) {
        let mut stored = BTreeSet::new();
        blocks.iter().for_each(|block| self.collect_stored_variables(block, &mut stored));
        for variable in stored {
            self.locals.insert(variable, known.get(&variable).copied().into());
        }
    }
}

fn literal_value(literal: Literal) -> Value {
    match literal {
        Literal::I32(value) => Value::constant(value.into()),
        Literal::U32(value) => Value::constant(value.into()),
        _ => Value::Any,
    }
}

fn is_integer(scalar: naga::Scalar) -> bool {
    matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint) && scalar.width == 4
}
