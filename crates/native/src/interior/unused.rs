use crate::ir::{Statement, Value};

use super::{Interior, RowTest};

/// Removes row values that neither the conditions nor the simplified kernel use.
pub(super) fn remove_unused(out: &mut Interior) {
    let mut needed = vec![false; out.kernel.values.len()];
    let mut left = Vec::new();
    collect(&out.kernel.body, &mut left);
    if let Some(tail) = &out.tail {
        left.extend([tail.value, tail.bound, tail.condition]);
    }
    for condition in &out.conditions {
        left.extend(condition.path.iter().map(|(value, _)| *value));
        match condition.test {
            RowTest::Is { value, .. } => left.push(value),
            RowTest::Within { value, low, high, .. } => {
                left.push(value);
                left.extend(low.into_iter().chain(high).map(|bound| bound.value));
            }
            RowTest::Differs { value, other } => left.extend([value, other]),
        }
    }
    while let Some(value) = left.pop() {
        if !std::mem::replace(&mut needed[value.0 as usize], true) {
            out.kernel.definition(value).for_each_operand(|operand| left.push(operand));
        }
    }
    out.values.retain(|value| needed[value.0 as usize]);
}

fn collect(body: &[Statement], into: &mut Vec<Value>) {
    for statement in body {
        match statement {
            Statement::Let(value) => into.push(*value),
            Statement::If { accept, reject, .. } => {
                collect(accept, into);
                collect(reject, into);
            }
            Statement::Block { body, .. } | Statement::Loop { body, .. } => collect(body, into),
            _ => {}
        }
    }
}
