//! Conversion to single-assignment form: results of blocks and `if`, and parameters of loops,
//! replace variables.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::ir::{Definition, Kernel, Label, Merge, Statement, Type, Value, Variable};

pub(crate) fn convert(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    let mut pass = SsaConversion { kernel, replaced: HashMap::new(), targets: HashMap::new(), zeros: HashMap::new() };
    let body = pass.body(body, &mut CurrentValues::default());
    kernel.body = body;
    kernel.variables.clear();
}

/// Value of each variable at a statement; a variable without an entry is zero.
#[derive(Default)]
struct CurrentValues {
    values: HashMap<Variable, Value>,
    changes: Vec<(Variable, Option<Value>)>,
}

impl CurrentValues {
    fn set(&mut self, variable: Variable, value: Value) {
        self.changes.push((variable, self.values.insert(variable, value)));
    }

    /// Reverts all changes except the first `count`, and returns the values of their variables.
    fn revert_to(&mut self, count: usize) -> BTreeMap<Variable, Value> {
        let mut taken = BTreeMap::new();
        for (variable, before) in self.changes.drain(count..).rev() {
            let now = match before {
                Some(value) => self.values.insert(variable, value),
                None => self.values.remove(&variable),
            };
            taken.entry(variable).or_insert_with(|| now.expect("it was set"));
        }
        taken
    }
}

struct SsaConversion<'k> {
    kernel: &'k mut Kernel,
    /// Value of the variable that each `Get` reads.
    replaced: HashMap<Value, Value>,
    /// Variables that a `Break` or `Repeat` of the label passes on.
    targets: HashMap<Label, Vec<Variable>>,
    zeros: HashMap<Type, Value>,
}

impl SsaConversion<'_> {
    fn body(&mut self, body: Vec<Statement>, current: &mut CurrentValues) -> Vec<Statement> {
        let mut out = Vec::with_capacity(body.len());
        for statement in body {
            out.extend(self.statement(statement, current));
        }
        out
    }

    fn statement(&mut self, statement: Statement, current: &mut CurrentValues) -> Option<Statement> {
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
                current.set(variable, self.operand(value));
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
                let count = current.changes.len();
                let accept = self.body(accept, current);
                let accepted = current.revert_to(count);
                let reject = self.body(reject, current);
                let rejected = current.revert_to(count);
                let ends = [&accept, &reject].map(|arm| crate::ir::diverts(arm));
                let merges = self.merge(ends, current, [accepted, rejected]);
                Statement::If { condition, accept, reject, merges }
            }
            Statement::Block { label, body, .. } => {
                let variables = assigned_variables(&body);
                self.targets.insert(label, variables.clone());
                let body = self.body(body, current);
                let ending = if crate::ir::diverts(&body) {
                    Vec::new()
                } else {
                    variables.iter().map(|variable| self.current(*variable, current)).collect()
                };
                let results = self.add_results(&variables, current);
                Statement::Block { label, body, results, ending }
            }
            Statement::Loop { label, body, line, .. } => {
                let variables = assigned_variables(&body);
                let initial = variables.iter().map(|variable| self.current(*variable, current)).collect();
                self.targets.insert(label, variables.clone());
                let parameters = self.add_results(&variables, current);
                let body = self.body(body, current);
                Statement::Loop { label, body, parameters, initial, line }
            }
            Statement::Break { label, .. } => Statement::Break { label, values: self.label_values(label, current) },
            Statement::Repeat { label, .. } => Statement::Repeat { label, values: self.label_values(label, current) },
            Statement::Barrier => Statement::Barrier,
        })
    }

    fn operand(&self, value: Value) -> Value {
        *self.replaced.get(&value).unwrap_or(&value)
    }

    fn current(&mut self, variable: Variable, current: &CurrentValues) -> Value {
        if let Some(value) = current.values.get(&variable) {
            return *value;
        }
        let ty = self.kernel.variables[variable.0 as usize];
        *self.zeros.entry(ty).or_insert_with(|| self.kernel.add(ty, Definition::Constant(0)))
    }

    /// Adds a result for each variable, and makes it the variable's current value.
    fn add_results(&mut self, variables: &[Variable], current: &mut CurrentValues) -> Vec<Value> {
        let mut add_result = |variable: &Variable| {
            let ty = self.kernel.variables[variable.0 as usize];
            let result = self.kernel.add(ty, Definition::Result);
            current.set(*variable, result);
            result
        };
        variables.iter().map(&mut add_result).collect()
    }

    fn label_values(&mut self, label: Label, current: &CurrentValues) -> Vec<Value> {
        let variables = self.targets[&label].clone();
        variables.iter().map(|variable| self.current(*variable, current)).collect()
    }

    /// Merges the variables that the arms of an `if` set. An arm that diverts has no values.
    fn merge(
        &mut self,
        ends: [bool; 2],
        current: &mut CurrentValues,
        arms: [BTreeMap<Variable, Value>; 2],
    ) -> Vec<Merge> {
        if ends == [true; 2] {
            return Vec::new();
        }
        let all: BTreeSet<Variable> = arms.iter().flat_map(|arm| arm.keys()).copied().collect();
        let mut merges = Vec::new();
        for variable in all {
            let before = self.current(variable, current);
            let [accept, reject] =
                [0, 1].map(|side| (!ends[side]).then(|| arms[side].get(&variable).copied().unwrap_or(before)));
            let mut values = accept.iter().chain(&reject);
            if values.clone().all(|value| *value == before) {
                continue;
            }
            // Values of an arm are unknown after it, so that two equal values are from before.
            match values.next() {
                Some(value) if accept == reject => current.set(variable, *value),
                _ => {
                    let result = self.add_results(&[variable], current)[0];
                    merges.push(Merge { result, accept, reject });
                }
            }
        }
        merges
    }
}

fn assigned_variables(body: &[Statement]) -> Vec<Variable> {
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
