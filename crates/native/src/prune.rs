use std::collections::HashMap;

use crate::ir::{Access, Kernel, Label, Merge, Statement, Value};

/// Removes merges of equal values and unused values from a kernel in single-assignment form.
pub(crate) fn prune(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    let single_source_results = single_source_results(kernel, &body);
    let find = |value: Value| resolve_copy(&single_source_results, value);
    if !single_source_results.is_empty() {
        for (_, definition) in &mut kernel.values {
            definition.map_operands(find);
        }
        replace(&mut body, &find);
    }
    let used_values = used_values(kernel, &body);
    kernel.body = remove_unused(body, &used_values, &mut HashMap::new());
}

/// Pairs of a result and a value that control flow may assign to it.
pub(crate) fn assigned_values(body: &[Statement]) -> Vec<(Value, Value)> {
    fn collect(body: &[Statement], labels: &mut HashMap<Label, Vec<Value>>, into: &mut Vec<(Value, Value)>) {
        for statement in body {
            match statement {
                Statement::If { accept, reject, merges, .. } => {
                    for Merge { result, accept, reject } in merges {
                        into.extend(accept.iter().chain(reject).map(|value| (*result, *value)));
                    }
                    collect(accept, labels, into);
                    collect(reject, labels, into);
                }
                Statement::Block { label, body, results, ending } => {
                    into.extend(results.iter().copied().zip(ending.iter().copied()));
                    labels.insert(*label, results.clone());
                    collect(body, labels, into);
                }
                Statement::Loop { label, body, parameters, initial, .. } => {
                    into.extend(parameters.iter().copied().zip(initial.iter().copied()));
                    labels.insert(*label, parameters.clone());
                    collect(body, labels, into);
                }
                Statement::Break { label, values } | Statement::Repeat { label, values } => {
                    into.extend(labels[label].iter().copied().zip(values.iter().copied()));
                }
                _ => {}
            }
        }
    }
    let mut into = Vec::new();
    collect(body, &mut HashMap::new(), &mut into);
    into
}

/// Results with a single source value. The source is defined in the body of the result or an
/// enclosing body: a value of an inner body exists only for the lanes that run that body.
fn single_source_results(kernel: &Kernel, body: &[Statement]) -> HashMap<Value, Value> {
    let assignments = assigned_values(body);
    let scopes = Scopes::new(kernel, body);
    let mut single_source_results = HashMap::new();
    loop {
        // `None` for a result with two sources.
        let mut only: HashMap<Value, Option<Value>> = HashMap::new();
        for (result, source) in &assignments {
            let source = resolve_copy(&single_source_results, *source);
            if source == *result || single_source_results.contains_key(result) {
                continue;
            }
            let known = only.entry(*result).or_insert(Some(source));
            if *known != Some(source) {
                *known = None;
            }
        }
        let found: Vec<_> = only
            .into_iter()
            .filter_map(|(result, source)| Some((result, source?)))
            .filter(|(result, source)| scopes.is_visible_from(*result, *source))
            .collect();
        if found.is_empty() {
            return single_source_results;
        }
        for (result, source) in found {
            // Two results can be each other's only source: each round resolves one of them.
            if resolve_copy(&single_source_results, source) != result {
                single_source_results.insert(result, source);
            }
        }
    }
}

struct Scopes {
    outer: Vec<usize>,
    /// Body of each value; `None` for constants.
    bodies: Vec<Option<usize>>,
}

impl Scopes {
    fn new(kernel: &Kernel, body: &[Statement]) -> Self {
        let mut scopes = Self { outer: vec![0], bodies: vec![None; kernel.values.len()] };
        scopes.body(body, 0);
        scopes
    }

    fn body(&mut self, body: &[Statement], number: usize) {
        for statement in body {
            match statement {
                Statement::Let(value) => self.define(&[*value], number),
                Statement::Atomic(atomic) => self.define(&[atomic.result], number),
                Statement::If { accept, reject, merges, .. } => {
                    merges.iter().for_each(|merge| self.define(&[merge.result], number));
                    self.inner(accept, number);
                    self.inner(reject, number);
                }
                Statement::Block { body, results, .. } => {
                    self.define(results, number);
                    self.inner(body, number);
                }
                Statement::Loop { body, parameters, .. } => {
                    let inner = self.inner(body, number);
                    self.define(parameters, inner);
                }
                _ => {}
            }
        }
    }

    fn inner(&mut self, body: &[Statement], outer: usize) -> usize {
        let number = self.outer.len();
        self.outer.push(outer);
        self.body(body, number);
        number
    }

    fn define(&mut self, values: &[Value], body: usize) {
        values.iter().for_each(|value| self.bodies[value.0 as usize] = Some(body));
    }

    /// True if `source` is defined in the body of `result` or an enclosing body.
    fn is_visible_from(&self, result: Value, source: Value) -> bool {
        let Some(wanted) = self.bodies[source.0 as usize] else { return true };
        let Some(mut body) = self.bodies[result.0 as usize] else { return false };
        while body != wanted && body != 0 {
            body = self.outer[body];
        }
        body == wanted
    }
}

fn resolve_copy(single_source_results: &HashMap<Value, Value>, mut value: Value) -> Value {
    while let Some(next) = single_source_results.get(&value) {
        value = *next;
    }
    value
}

fn replace(body: &mut [Statement], find: &impl Fn(Value) -> Value) {
    let all = |values: &mut Vec<Value>| values.iter_mut().for_each(|value| *value = find(*value));
    for statement in body {
        match statement {
            Statement::Let(_) | Statement::Barrier => {}
            Statement::Set(_, value) => *value = find(*value),
            Statement::Store(access, value) => {
                access.map_operands(find);
                *value = find(*value);
            }
            Statement::Atomic(atomic) => {
                atomic.access.map_operands(find);
                atomic.operand = find(atomic.operand);
                atomic.expected = atomic.expected.map(find);
            }
            Statement::If { condition, accept, reject, merges } => {
                *condition = find(*condition);
                replace(accept, find);
                replace(reject, find);
                for merge in merges {
                    (merge.accept, merge.reject) = (merge.accept.map(find), merge.reject.map(find));
                }
            }
            Statement::Block { body, ending, .. } => {
                replace(body, find);
                all(ending);
            }
            Statement::Loop { body, initial, .. } => {
                replace(body, find);
                all(initial);
            }
            Statement::Break { values, .. } | Statement::Repeat { values, .. } => all(values),
        }
    }
}

/// For each value: true if an effect depends on the value.
fn used_values(kernel: &Kernel, body: &[Statement]) -> Vec<bool> {
    let mut sources: HashMap<Value, Vec<Value>> = HashMap::new();
    for (result, source) in assigned_values(body) {
        sources.entry(result).or_default().push(source);
    }
    let mut used_values = vec![false; kernel.values.len()];
    let mut left = Vec::new();
    for_each_needed_value(body, &mut |value| left.push(value));
    while let Some(value) = left.pop() {
        if std::mem::replace(&mut used_values[value.0 as usize], true) {
            continue;
        }
        kernel.definition(value).for_each_operand(|operand| left.push(operand));
        left.extend(sources.get(&value).into_iter().flatten().copied());
    }
    used_values
}

/// Calls `f` for each value that a statement needs for its effect.
fn for_each_needed_value(body: &[Statement], f: &mut impl FnMut(Value)) {
    let access = |access: &Access, f: &mut dyn FnMut(Value)| access.for_each_operand(f);
    for statement in body {
        match statement {
            Statement::Store(place, value) => {
                access(place, f);
                f(*value);
            }
            Statement::Atomic(atomic) => {
                access(&atomic.access, f);
                f(atomic.operand);
                atomic.expected.into_iter().for_each(&mut *f);
            }
            Statement::If { condition, accept, reject, .. } => {
                f(*condition);
                for_each_needed_value(accept, f);
                for_each_needed_value(reject, f);
            }
            Statement::Block { body, .. } | Statement::Loop { body, .. } => for_each_needed_value(body, f),
            _ => {}
        }
    }
}

/// Removes unused values from statements; `columns` has a flag for each result of a label.
fn remove_unused(
    body: Vec<Statement>,
    used_values: &[bool],
    columns: &mut HashMap<Label, Vec<bool>>,
) -> Vec<Statement> {
    let is_used = |value: &Value| used_values[value.0 as usize];
    let mut out = Vec::with_capacity(body.len());
    for statement in body {
        out.push(match statement {
            Statement::Let(value) if !is_used(&value) => continue,
            Statement::If { condition, accept, reject, mut merges } => {
                merges.retain(|merge| is_used(&merge.result));
                let (accept, reject) =
                    (remove_unused(accept, used_values, columns), remove_unused(reject, used_values, columns));
                if accept.is_empty() && reject.is_empty() && merges.is_empty() {
                    continue;
                }
                Statement::If { condition, accept, reject, merges }
            }
            Statement::Block { label, body, results, ending } => {
                let column: Vec<bool> = results.iter().map(is_used).collect();
                let (results, ending) = (select_flagged(results, &column), select_flagged(ending, &column));
                columns.insert(label, column);
                let body = remove_unused(body, used_values, columns);
                if body.is_empty() && results.is_empty() {
                    continue;
                }
                Statement::Block { label, body, results, ending }
            }
            Statement::Loop { label, body, parameters, initial, line } => {
                let column: Vec<bool> = parameters.iter().map(is_used).collect();
                let (parameters, initial) = (select_flagged(parameters, &column), select_flagged(initial, &column));
                columns.insert(label, column);
                Statement::Loop { label, body: remove_unused(body, used_values, columns), parameters, initial, line }
            }
            Statement::Break { label, values } => {
                let values = select_flagged(values, &columns[&label]);
                Statement::Break { label, values }
            }
            Statement::Repeat { label, values } => {
                let values = select_flagged(values, &columns[&label]);
                Statement::Repeat { label, values }
            }
            other => other,
        });
    }
    out
}

fn select_flagged(values: Vec<Value>, columns: &[bool]) -> Vec<Value> {
    values.into_iter().zip(columns).filter(|(_, is_used)| **is_used).map(|(value, _)| value).collect()
}
