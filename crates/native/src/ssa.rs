//! Conversion to single-assignment form: results of blocks and `if`, and parameters of loops,
//! replace variables.

use std::collections::{BTreeSet, HashMap};

use crate::ir::{Definition, Kernel, Label, Merge, Statement, Type, Value, Variable};

/// Converts a kernel with variables to single-assignment form.
pub fn convert(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    let mut pass = SsaConversion { kernel, replaced: HashMap::new(), targets: HashMap::new(), zeros: HashMap::new() };
    let mut current = HashMap::new();
    let body = pass.body(body, &mut current);
    kernel.body = body;
    kernel.variables.clear();
}

/// Value of each variable at a statement; a variable without an entry is zero.
type Current = HashMap<Variable, Value>;

struct SsaConversion<'k> {
    kernel: &'k mut Kernel,
    /// Value of the variable that each `Get` reads.
    replaced: HashMap<Value, Value>,
    /// Variables that a `Break` or `Repeat` of the label passes on.
    targets: HashMap<Label, Vec<Variable>>,
    zeros: HashMap<Type, Value>,
}

impl SsaConversion<'_> {
    fn body(&mut self, body: Vec<Statement>, current: &mut Current) -> Vec<Statement> {
        let mut out = Vec::with_capacity(body.len());
        for statement in body {
            out.extend(self.statement(statement, current));
        }
        out
    }

    fn statement(&mut self, statement: Statement, current: &mut Current) -> Option<Statement> {
        Some(match statement {
            Statement::Let(value) => {
                if let Definition::Get(variable) = *self.kernel.definition(value) {
                    let now = self.current(variable, current);
                    self.replaced.insert(value, now);
                    return None;
                }
                let replaced = &self.replaced;
                self.kernel.values[value.0 as usize].1.map_operands(|one| *replaced.get(&one).unwrap_or(&one));
                Statement::Let(value)
            }
            Statement::Set(variable, value) => {
                current.insert(variable, self.operand(value));
                return None;
            }
            Statement::Store(mut access, value) => {
                access.map_operands(|one| self.operand(one));
                Statement::Store(access, self.operand(value))
            }
            Statement::Atomic(mut atomic) => {
                atomic.access.map_operands(|one| self.operand(one));
                atomic.operand = self.operand(atomic.operand);
                atomic.expected = atomic.expected.map(|one| self.operand(one));
                Statement::Atomic(atomic)
            }
            Statement::If { condition, accept, reject, .. } => {
                let condition = self.operand(condition);
                let before = current.clone();
                let mut rejected = current.clone();
                let accept = self.body(accept, current);
                let reject = self.body(reject, &mut rejected);
                let ends = [&accept, &reject].map(|arm| crate::ir::diverts(arm));
                let merges = self.merge(ends, &before, current, &rejected);
                Statement::If { condition, accept, reject, merges }
            }
            Statement::Block { label, body, .. } => {
                let assigned = assigned(&body);
                self.targets.insert(label, assigned.clone());
                let body = self.body(body, current);
                let ending = match crate::ir::diverts(&body) {
                    true => Vec::new(),
                    false => assigned.iter().map(|one| self.current(*one, current)).collect(),
                };
                let results = self.define(&assigned, current);
                Statement::Block { label, body, results, ending }
            }
            Statement::Loop { label, body, line, .. } => {
                let assigned = assigned(&body);
                let initial = assigned.iter().map(|one| self.current(*one, current)).collect();
                self.targets.insert(label, assigned.clone());
                let parameters = self.define(&assigned, current);
                let body = self.body(body, current);
                Statement::Loop { label, body, parameters, initial, line }
            }
            Statement::Break { label, .. } => Statement::Break { label, values: self.carried(label, current) },
            Statement::Repeat { label, .. } => Statement::Repeat { label, values: self.carried(label, current) },
            Statement::Barrier => Statement::Barrier,
        })
    }

    fn operand(&self, value: Value) -> Value {
        *self.replaced.get(&value).unwrap_or(&value)
    }

    fn current(&mut self, variable: Variable, current: &Current) -> Value {
        if let Some(value) = current.get(&variable) {
            return *value;
        }
        let ty = self.kernel.variables[variable.0 as usize];
        *self.zeros.entry(ty).or_insert_with(|| self.kernel.add(ty, Definition::Constant(0)))
    }

    /// Adds a result for each variable, and makes it the variable's current value.
    fn define(&mut self, variables: &[Variable], current: &mut Current) -> Vec<Value> {
        let mut define = |variable: &Variable| {
            let ty = self.kernel.variables[variable.0 as usize];
            let result = self.kernel.add(ty, Definition::Result);
            current.insert(*variable, result);
            result
        };
        variables.iter().map(&mut define).collect()
    }

    fn carried(&mut self, label: Label, current: &Current) -> Vec<Value> {
        let variables = self.targets[&label].clone();
        variables.iter().map(|one| self.current(*one, current)).collect()
    }

    /// Merges the variables that the arms of an `if` set; `current` has the values of `accept`. An
    /// arm that diverts has none.
    fn merge(&mut self, ends: [bool; 2], before: &Current, current: &mut Current, rejected: &Current) -> Vec<Merge> {
        if ends == [true; 2] {
            return Vec::new();
        }
        let all: BTreeSet<Variable> = current.keys().chain(rejected.keys()).copied().collect();
        let mut merges = Vec::new();
        for variable in all {
            let arms = [self.current(variable, current), self.current(variable, rejected)];
            let values = [0, 1].map(|side| (!ends[side]).then_some(arms[side]));
            let unchanged = self.current(variable, before);
            if arms[0] == arms[1] || values.iter().flatten().all(|value| *value == unchanged) {
                current.insert(variable, values[0].or(values[1]).unwrap_or(unchanged));
                continue;
            }
            let result = self.define(&[variable], current)[0];
            merges.push(Merge { result, accept: values[0], reject: values[1] });
        }
        merges
    }
}

/// Variables that a body sets.
fn assigned(body: &[Statement]) -> Vec<Variable> {
    fn collect(body: &[Statement], into: &mut BTreeSet<Variable>) {
        for statement in body {
            match statement {
                Statement::Set(variable, _) => {
                    into.insert(*variable);
                }
                Statement::If { accept, reject, .. } => {
                    collect(accept, into);
                    collect(reject, into);
                }
                Statement::Block { body, .. } | Statement::Loop { body, .. } => collect(body, into),
                _ => {}
            }
        }
    }
    let mut into = BTreeSet::new();
    collect(body, &mut into);
    into.into_iter().collect()
}
