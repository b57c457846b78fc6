//! [`Walk`]: a function's statements in the order in which they run, with the value of each
//! expression.

use std::collections::{BTreeMap, BTreeSet};

use naga::{
    AddressSpace, BinaryOperator, Block, Expression, Function, Handle, Literal, LocalVariable, Module, ScalarKind,
    Statement, TypeInner, UnaryOperator,
};

use super::value::{Interval, Reach, Value};
use crate::kernel::helpers::HELPERS;
use crate::kernel::scan::SourceScan;
use crate::kernel::signature::VarShape;

/// One call of a function.
pub struct Walk<'a> {
    module: &'a Module,
    pub function: &'a Function,
    scan: &'a SourceScan,
    shapes: &'a [VarShape],
    reach: &'a mut [Reach],
    arguments: Vec<Value>,
    values: BTreeMap<Handle<Expression>, Value>,
    pub locals: BTreeMap<Handle<LocalVariable>, Value>,
    returned: Option<Value>,
}

/// A part of a local variable.
type Part = (Handle<LocalVariable>, Vec<Option<usize>>);

impl<'a> Walk<'a> {
    pub fn of_entry(
        module: &'a Module,
        function: &'a Function,
        scan: &'a SourceScan,
        shapes: &'a [VarShape],
        reach: &'a mut [Reach],
    ) -> Self {
        let arguments = vec![Value::Any; function.arguments.len()];
        let (values, locals) = (BTreeMap::new(), BTreeMap::new());
        Self { module, function, scan, shapes, reach, arguments, values, locals, returned: None }
    }

    /// Walks through the function and returns its result.
    pub fn run(mut self) -> Value {
        self.note_direct_accesses();
        for (handle, variable) in self.function.local_variables.iter() {
            let value = variable.init.map_or_else(|| self.zero(variable.ty), |init| self.value(init));
            self.locals.insert(handle, value);
        }
        let function = self.function;
        self.block(&function.body);
        self.returned.unwrap_or(Value::Any)
    }

    /// Arrays that the function's own text names are reached anywhere: their indices are no
    /// positions.
    fn note_direct_accesses(&mut self) {
        for (_, expression) in self.function.expressions.iter() {
            let Expression::GlobalVariable(variable) = expression else { continue };
            let variable = &self.module.global_variables[*variable];
            let name = variable.name.as_deref().unwrap_or("");
            if let (AddressSpace::Storage { .. }, Some(number)) = (variable.space, self.scan.position(name)) {
                self.reach[number].add(None);
            }
        }
    }

    /// The value of an expression as it was when it was computed.
    pub fn value(&self, handle: Handle<Expression>) -> Value {
        self.values.get(&handle).cloned().unwrap_or_else(|| self.compute(handle))
    }

    fn compute(&self, handle: Handle<Expression>) -> Value {
        match &self.function.expressions[handle] {
            Expression::Literal(literal) => of_literal(*literal),
            Expression::Constant(constant) => self.global(self.module.constants[*constant].init),
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
                Value::binary(BinaryOperator::Subtract, &Value::constant(0), &self.value(*expr))
            }
            Expression::Binary { op, left, right } => Value::binary(*op, &self.value(*left), &self.value(*right)),
            Expression::Select { accept, reject, .. } => self.value(*accept).join(&self.value(*reject)),
            Expression::Math { fun, arg, arg1: Some(arg1), arg2: None, .. } => {
                Value::math(*fun, &self.value(*arg), &self.value(*arg1))
            }
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
        match &self.module.global_expressions[handle] {
            Expression::Literal(literal) => of_literal(*literal),
            Expression::Constant(constant) => self.global(self.module.constants[*constant].init),
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
        let is_vector = matches!(self.module.types[ty].inner, TypeInner::Vector { .. });
        let flat = |part| match part {
            Value::Composite(parts) if is_vector => parts,
            // A vector that is unknown has an unknown number of components.
            part => vec![part],
        };
        let parts: Vec<_> = parts.collect();
        match self.module.types[ty].inner {
            TypeInner::Vector { size, .. } if parts.len() < size as usize && parts.contains(&Value::Any) => Value::Any,
            _ => Value::Composite(parts.into_iter().flat_map(flat).collect()),
        }
    }

    fn zero(&self, ty: Handle<naga::Type>) -> Value {
        match self.module.types[ty].inner {
            TypeInner::Scalar(scalar) if is_integer(scalar) => Value::constant(0),
            TypeInner::Vector { size, scalar } if is_integer(scalar) => {
                Value::Composite(vec![Value::constant(0); size as usize])
            }
            TypeInner::Array { base, size: naga::ArraySize::Constant(count), .. } if count.get() <= 64 => {
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
    pub fn part(&self, mut pointer: Handle<Expression>) -> Option<Part> {
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
                blocks.iter().for_each(|block| self.block(block));
                self.forget(&blocks, &BTreeMap::new());
            }
            Statement::Loop { body, continuing, .. } => {
                let blocks = [body, continuing];
                self.forget(&blocks, &self.counters(body, continuing));
                blocks.iter().for_each(|block| self.block(block));
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

    fn call(
        &mut self,
        function: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) {
        let called = &self.module.functions[function];
        let name = called.name.as_deref().unwrap_or("");
        let returned = match self.helper(name) {
            Some((number, helper)) => self.call_helper(number, helper, arguments),
            None => {
                let passed = arguments.iter().map(|&argument| match self.part(argument) {
                    // A pointer.
                    Some(_) => Value::Any,
                    None => self.value(argument),
                });
                let passed = passed.collect();
                let Self { module, scan, shapes, .. } = *self;
                let mut walk = Walk::of_entry(module, called, scan, shapes, self.reach);
                walk.arguments = passed;
                walk.run()
            }
        };
        for &argument in arguments {
            if let Some((variable, _)) = self.part(argument) {
                self.locals.insert(variable, Value::Any);
            }
        }
        if let Some(result) = result {
            self.values.insert(result, returned);
        }
    }

    /// The array and the ending of a helper's name.
    fn helper<'n>(&self, name: &'n str) -> Option<(usize, &'n str)> {
        self.scan.storage.iter().enumerate().find_map(|(number, var)| {
            let ending = name.strip_prefix(var.name.as_str())?.strip_prefix('_')?;
            HELPERS.contains(&ending).then_some((number, ending))
        })
    }

    fn call_helper(&mut self, number: usize, helper: &str, arguments: &[Handle<Expression>]) -> Value {
        let shape = self.shapes[number];
        match helper {
            "position" => {
                let along = |axis| Value::Scalar(Interval { axis: Some(axis), lo: 0, hi: 0 });
                return if shape.axes == 1 { along(0) } else { Value::Composite((0..shape.axes).map(along).collect()) };
            }
            "load" | "store" | "store_word" => {
                let mut cells = self.cells(arguments[0]);
                if let (Some(cells), Some(packed)) = (&mut cells, shape.packed) {
                    // All cells of the words.
                    let others = 4 / packed.bytes() as i64 - 1;
                    cells[0] = Interval { lo: cells[0].lo - others, hi: cells[0].hi + others, ..cells[0] };
                }
                self.reach[number].add(cells);
            }
            "index" => self.reach[number].add(None),
            _ => {}
        }
        Value::Any
    }

    /// The interval along each axis of a position.
    fn cells(&self, position: Handle<Expression>) -> Option<Vec<Interval>> {
        let of = |value: &Value| match value {
            Value::Scalar(interval) => Some(*interval),
            _ => None,
        };
        match self.value(position) {
            Value::Composite(parts) => parts.iter().map(of).collect(),
            scalar => of(&scalar).map(|interval| vec![interval]),
        }
    }
}

fn of_literal(literal: Literal) -> Value {
    match literal {
        Literal::I32(value) => Value::constant(value.into()),
        Literal::U32(value) if value < 1 << 30 => Value::constant(value.into()),
        _ => Value::Any,
    }
}

fn is_integer(scalar: naga::Scalar) -> bool {
    matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint) && scalar.width == 4
}
