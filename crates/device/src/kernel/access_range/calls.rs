//! Calls of helpers, which reach cells, and of other functions.

use naga::{Expression, Function, Handle};

use super::value::{Interval, Value};
use super::walk::Walk;
use crate::kernel::helpers::{HELPER_SUFFIXES, is_domain_helper};

impl Walk<'_> {
    pub(super) fn call(
        &mut self,
        function: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) {
        let called = &self.kernel.parsed.module.functions[function];
        let name = called.name.as_deref().unwrap_or("");
        let passed: Vec<Value> = arguments.iter().map(|&argument| self.argument_value(argument)).collect();
        self.ids_passed += passed.iter().filter(|value| **value == Value::InvocationId).count();
        let returned = match self.split_helper_name(name) {
            Some((number, helper)) => self.call_helper(number, helper, &passed),
            None if is_domain_helper(name) => Value::Any,
            None => self.call_function(function, passed),
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

    fn argument_value(&self, argument: Handle<Expression>) -> Value {
        let is_pointer = self.part(argument).is_some();
        if is_pointer { Value::Any } else { self.value(argument) }
    }

    fn call_function(&mut self, function: Handle<Function>, arguments: Vec<Value>) -> Value {
        let Some(calls_left) = self.progress.calls_left.checked_sub(1) else {
            self.progress.give_up();
            return Value::Any;
        };
        self.progress.calls_left = calls_left;
        let parsed = self.kernel.parsed;
        let called = (&parsed.module.functions[function], &parsed.info[function]);
        Walk::new(self.kernel, called, arguments, self.progress).run()
    }

    /// Splits the name of a helper into the index of the array and the suffix, such as `load`.
    fn split_helper_name<'n>(&self, name: &'n str) -> Option<(usize, &'n str)> {
        self.kernel.scan.storage.iter().enumerate().find_map(|(number, var)| {
            let ending = name.strip_prefix(var.name.as_str())?.strip_prefix('_')?;
            HELPER_SUFFIXES.contains(&ending).then_some((number, ending))
        })
    }

    fn call_helper(&mut self, number: usize, helper: &str, arguments: &[Value]) -> Value {
        let shape = self.kernel.shapes[number];
        match helper {
            "position" if arguments[0] == Value::InvocationId => {
                let along = |axis| Value::Scalar(Interval { axis: Some(axis), lo: 0, hi: 0 });
                return if shape.axes == 1 { along(0) } else { Value::Composite((0..shape.axes).map(along).collect()) };
            }
            "load" | "store" | "store_word" => {
                let mut cells = position_intervals(&arguments[0]);
                if let (Some(cells), Some(packed)) = (&mut cells, shape.packed) {
                    // A word has several cells: the access reaches all of them.
                    let others = 4 / packed.bytes() as i64 - 1;
                    cells[0] = Interval { lo: cells[0].lo - others, hi: cells[0].hi + others, ..cells[0] };
                }
                self.progress.access_ranges[number].add(cells);
            }
            "index" => self.progress.access_ranges[number].add(None),
            _ => {}
        }
        Value::Any
    }
}

/// Returns the interval of a position along each axis; `None` if unknown.
fn position_intervals(position: &Value) -> Option<Vec<Interval>> {
    let of = |value: &Value| match value {
        Value::Scalar(interval) => Some(*interval),
        _ => None,
    };
    match position {
        Value::Composite(parts) => parts.iter().map(of).collect(),
        scalar => of(scalar).map(|interval| vec![interval]),
    }
}
