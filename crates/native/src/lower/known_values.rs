//! Known values of variables, which need no read.

use crate::ir::{Value, Variable};

/// A value, and the number of earlier records.
type Record = (Value, u64);

/// Values of variables at the current statement.
///
/// Inner bodies inherit the values of enclosing bodies, except for loops, whose later iterations
/// start with other values.
#[derive(Debug, Default)]
pub(super) struct KnownValues {
    values: Vec<Option<Record>>,
    /// Replaced records, for their restoration at the end of a body.
    replaced: Vec<(Variable, Option<Record>)>,
    modified: Vec<Variable>,
    records: u64,
    first_visible: u64,
}

/// State at the start of a body.
#[derive(Debug, Default)]
pub(super) struct KnownMark {
    replaced: usize,
    modified: usize,
    first_visible: u64,
}

impl KnownValues {
    pub(super) fn open(&mut self, is_loop: bool) -> KnownMark {
        let mark = KnownMark {
            replaced: self.replaced.len(),
            modified: self.modified.len(),
            first_visible: self.first_visible,
        };
        if is_loop {
            self.first_visible = self.records;
        }
        mark
    }

    /// Forgets the records of the body, and the values of variables that it set.
    pub(super) fn close(&mut self, mark: &KnownMark) {
        for (variable, record) in self.replaced.drain(mark.replaced..).rev() {
            self.values[variable.0 as usize] = record;
        }
        self.first_visible = mark.first_visible;
        let mut modified = self.modified.split_off(mark.modified);
        modified.sort_unstable();
        modified.dedup();
        for variable in &modified {
            let record = self.values[variable.0 as usize].take();
            self.replaced.push((*variable, record));
        }
        self.modified.extend(modified);
    }

    pub(super) fn get(&self, variable: Variable) -> Option<Value> {
        let (value, number) = (*self.values.get(variable.0 as usize)?)?;
        (number >= self.first_visible).then_some(value)
    }

    pub(super) fn record(&mut self, variable: Variable, value: Value) {
        let index = variable.0 as usize;
        if self.values.len() <= index {
            self.values.resize(index + 1, None);
        }
        let record = self.values[index].replace((value, self.records));
        self.replaced.push((variable, record));
        self.records += 1;
    }

    pub(super) fn set(&mut self, variable: Variable, value: Value) {
        self.record(variable, value);
        self.modified.push(variable);
    }
}
