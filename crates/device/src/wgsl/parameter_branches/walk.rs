//! [`Walk`]: data-flow analysis of a function's statements in execution order.

use std::collections::{BTreeMap, BTreeSet};

use naga::{AddressSpace, Block, Expression, Function, GlobalVariable, Handle, LocalVariable, Module, Statement};

use super::dependence::{COUNTER, Dependence, UNIFORM, VARYING, join_dependences};

/// A variable whose dependence is tracked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Variable {
    Local(Handle<LocalVariable>),
    Private(Handle<GlobalVariable>),
    /// Variable of the caller, by the index of the pointer argument.
    Argument(u32),
}

pub(super) type Privates = BTreeMap<Handle<GlobalVariable>, Dependence>;

/// Analysis of one call of a function.
pub(super) struct Walk<'a> {
    pub module: &'a Module,
    text: &'a str,
    pub function: &'a Function,
    arguments: Vec<Dependence>,
    values: BTreeMap<Handle<Expression>, Dependence>,
    locals: BTreeMap<Variable, Dependence>,
    privates: &'a mut Privates,
    returned: Option<Dependence>,
    found: &'a mut BTreeSet<String>,
}

pub(super) enum Target {
    Uniform,
    Variable(Variable),
    Other,
}

/// Stores of a loop to each variable; each entry is the step of a counter, or `None` for other
/// stores.
#[derive(Default)]
pub(super) struct Changes {
    pub stores: BTreeMap<Variable, Vec<Option<Handle<Expression>>>>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        module: &'a Module,
        text: &'a str,
        function: &'a Function,
        arguments: Vec<Dependence>,
        privates: &'a mut Privates,
        found: &'a mut BTreeSet<String>,
    ) -> Self {
        let pointed = (0..).zip(&arguments).map(|(number, &value)| (Variable::Argument(number), value));
        let (values, locals) = (BTreeMap::new(), pointed.collect());
        Self { module, text, function, arguments, values, locals, privates, returned: None, found }
    }

    pub(super) fn run(mut self) -> Dependence {
        for (handle, variable) in self.function.local_variables.iter() {
            let init = variable.init.map_or(Dependence::default(), |init| self.value(init));
            self.locals.insert(Variable::Local(handle), init);
        }
        let function = self.function;
        self.block(&function.body, false);
        self.returned.unwrap_or_default()
    }

    /// Returns the dependence of a value at the time of its evaluation.
    fn value(&self, handle: Handle<Expression>) -> Dependence {
        self.values.get(&handle).copied().unwrap_or_else(|| self.compute(handle))
    }

    fn compute(&self, handle: Handle<Expression>) -> Dependence {
        let all = |parts: &[Handle<Expression>]| {
            parts.iter().fold(Dependence::default(), |sum, &part| sum | self.value(part))
        };
        match self.function.expressions[handle] {
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::Override(_)
            | Expression::ZeroValue(_)
            | Expression::GlobalVariable(_)
            | Expression::LocalVariable(_) => Dependence::default(),
            Expression::FunctionArgument(number) => self.arguments[number as usize],
            Expression::Compose { ref components, .. } => all(components),
            Expression::Access { base, index } => all(&[base, index]),
            Expression::AccessIndex { base, .. } => all(&[base]),
            Expression::Splat { value, .. } => all(&[value]),
            Expression::Swizzle { vector, .. } => all(&[vector]),
            Expression::Unary { expr, .. } => all(&[expr]),
            Expression::Binary { left, right, .. } => all(&[left, right]),
            Expression::Select { condition, accept, reject } => all(&[condition, accept, reject]),
            Expression::Relational { argument, .. } => all(&[argument]),
            Expression::Math { arg, arg1, arg2, arg3, .. } => {
                let more: Vec<_> = [Some(arg), arg1, arg2, arg3].into_iter().flatten().collect();
                all(&more)
            }
            Expression::As { expr, .. } => all(&[expr]),
            Expression::Load { pointer } => self.load(pointer),
            _ => VARYING,
        }
    }

    fn load(&self, pointer: Handle<Expression>) -> Dependence {
        let (target, at_constant) = self.target(pointer);
        match target {
            _ if !at_constant => VARYING,
            Target::Uniform => UNIFORM,
            Target::Variable(variable) => self.variable(variable),
            Target::Other => VARYING,
        }
    }

    fn variable(&self, variable: Variable) -> Dependence {
        let found = match variable {
            Variable::Local(_) | Variable::Argument(_) => self.locals.get(&variable),
            Variable::Private(handle) => self.privates.get(&handle),
        };
        found.copied().unwrap_or_default()
    }

    fn set(&mut self, variable: Variable, value: Dependence) {
        match variable {
            Variable::Local(_) | Variable::Argument(_) => self.locals.insert(variable, value),
            Variable::Private(handle) => self.privates.insert(handle, value),
        };
    }

    /// Returns the variable that a pointer refers to, and true if all indices on the path are
    /// constant.
    pub(super) fn target(&self, mut pointer: Handle<Expression>) -> (Target, bool) {
        let mut at_constant = true;
        loop {
            pointer = match self.function.expressions[pointer] {
                Expression::Access { base, index } => {
                    at_constant &= self.value(index) == Dependence::default();
                    base
                }
                Expression::AccessIndex { base, .. } => base,
                Expression::LocalVariable(handle) => return (Target::Variable(Variable::Local(handle)), at_constant),
                Expression::FunctionArgument(number) => {
                    return (Target::Variable(Variable::Argument(number)), at_constant);
                }
                Expression::GlobalVariable(handle) => {
                    let target = match self.module.global_variables[handle].space {
                        AddressSpace::Uniform => Target::Uniform,
                        AddressSpace::Private => Target::Variable(Variable::Private(handle)),
                        _ => Target::Other,
                    };
                    return (target, at_constant);
                }
                _ => return (Target::Other, at_constant),
            };
        }
    }

    fn check(&mut self, condition: Handle<Expression>, ends_loop: bool) -> Dependence {
        let value = self.value(condition);
        if value.on_uniform && !value.on_varying && (ends_loop || !value.on_counter) {
            let name = self.function.name.as_deref().unwrap_or("an entry point");
            let span = self.function.expressions.get_span(condition);
            let line = span.location(self.text).line_number;
            let words = span.to_range().and_then(|range| self.text.get(range)).unwrap_or("a condition");
            self.found.insert(format!("`{words}` in {name}, line {line}"));
        }
        value
    }

    /// Analyses a block; true if control reaches its end.
    fn block(&mut self, block: &Block, of_loop: bool) -> bool {
        block.iter().all(|statement| self.statement(statement, of_loop))
    }

    fn statement(&mut self, statement: &Statement, of_loop: bool) -> bool {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    let value = self.compute(handle);
                    self.values.insert(handle, value);
                }
            }
            Statement::Block(block) => return self.block(block, of_loop),
            Statement::If { condition, accept, reject } => {
                let ends_loop = of_loop && (leaves_loop(accept) || leaves_loop(reject));
                let value = self.check(*condition, ends_loop);
                if ends_loop && value == COUNTER {
                    self.treat_counters_as_constants();
                }
                return self.branches(value, &[accept, reject]);
            }
            Statement::Switch { selector, cases } => {
                let value = self.check(*selector, false);
                let blocks: Vec<_> = cases.iter().map(|case| &case.body).collect();
                // A `break` leaves the switch, so the code after it may see the stores of any case.
                self.branches(value, &blocks);
                let mut changes = Changes::default();
                blocks.iter().for_each(|block| self.collect_changes(block, &mut changes));
                changes.stores.into_keys().for_each(|variable| self.set(variable, VARYING));
            }
            Statement::Loop { body, continuing, break_if } => self.analyze_loop(body, continuing, *break_if),
            Statement::Break | Statement::Continue | Statement::Kill => return false,
            Statement::Return { value } => {
                let value = value.map_or(Dependence::default(), |value| self.value(value));
                // With several returns, the result depends on the branches before them.
                self.returned = Some(self.returned.map_or(value, |_| VARYING));
                return false;
            }
            Statement::Store { pointer, value } => self.store(*pointer, *value),
            Statement::Call { function, arguments, result } => self.call(*function, arguments, *result),
            _ => {}
        }
        true
    }

    fn store(&mut self, pointer: Handle<Expression>, value: Handle<Expression>) {
        let (Target::Variable(variable), at_constant) = self.target(pointer) else { return };
        let is_whole = matches!(
            self.function.expressions[pointer],
            Expression::LocalVariable(_) | Expression::GlobalVariable(_) | Expression::FunctionArgument(_)
        );
        let value = match (is_whole, at_constant) {
            (true, _) => self.value(value),
            (false, true) => self.variable(variable) | self.value(value),
            (false, false) => VARYING,
        };
        self.set(variable, value);
    }

    fn call(
        &mut self,
        function: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) {
        let passed = |&argument: &Handle<Expression>| match self.function.expressions[argument] {
            Expression::LocalVariable(_) | Expression::GlobalVariable(_) => self.load(argument),
            _ => self.value(argument),
        };
        let values = arguments.iter().map(passed).collect();
        let function = &self.module.functions[function];
        let called = Walk::new(self.module, self.text, function, values, self.privates, self.found);
        let mut changes = Changes::default();
        called.collect_changes(&function.body, &mut changes);
        let returned = called.run();
        for (number, &argument) in (0..).zip(arguments) {
            let is_changed = changes.stores.contains_key(&Variable::Argument(number));
            if let (true, (Target::Variable(variable), _)) = (is_changed, self.target(argument)) {
                self.set(variable, VARYING);
            }
        }
        if let Some(result) = result {
            self.values.insert(result, returned);
        }
    }

    /// Treats the counters of a loop with a constant number of iterations as constants: drivers
    /// unroll it.
    fn treat_counters_as_constants(&mut self) {
        let values = self.locals.values_mut().chain(self.privates.values_mut());
        values.filter(|value| **value == COUNTER).for_each(|value| *value = Dependence::default());
    }

    /// Analyses alternative blocks. A variable that differs at their ends also depends on the
    /// condition.
    fn branches(&mut self, condition: Dependence, blocks: &[&Block]) -> bool {
        let before = (self.locals.clone(), self.privates.clone());
        let mut ends = Vec::new();
        for block in blocks {
            (self.locals, *self.privates) = before.clone();
            if self.block(block, false) {
                ends.push((self.locals.clone(), self.privates.clone()));
            }
        }
        let may_pass = !ends.is_empty();
        let differs = if condition == Dependence::default() { condition } else { VARYING };
        let mut ends = ends.into_iter();
        (self.locals, *self.privates) = ends.next().unwrap_or(before);
        for (locals, privates) in ends {
            join_dependences(&mut self.locals, &locals, differs);
            join_dependences(self.privates, &privates, differs);
        }
        may_pass
    }

    fn analyze_loop(&mut self, body: &Block, continuing: &Block, break_if: Option<Handle<Expression>>) {
        let mut changes = Changes::default();
        for block in [body, continuing] {
            self.collect_changes(block, &mut changes);
        }
        // Counters of enclosing loops vary inside this loop.
        for value in self.locals.values_mut().chain(self.privates.values_mut()) {
            value.on_varying |= value.on_counter;
        }
        for (&variable, steps) in &changes.stores {
            let counter = match steps[..] {
                [Some(step)] => Dependence { on_counter: true, ..self.value(step) },
                _ => VARYING,
            };
            self.set(variable, self.variable(variable) | counter);
        }
        self.block(body, true);
        self.block(continuing, false);
        if let Some(condition) = break_if {
            self.check(condition, true);
        }
        changes.stores.into_keys().for_each(|variable| self.set(variable, VARYING));
    }
}

/// True if the last statement of a block leaves the enclosing loop.
fn leaves_loop(block: &Block) -> bool {
    match block.iter().last() {
        Some(Statement::Break | Statement::Return { .. }) => true,
        Some(Statement::Block(block)) => leaves_loop(block),
        _ => false,
    }
}
