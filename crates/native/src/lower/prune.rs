use crate::ir::{Kernel, Statement, Value};

/// Removes each `Let` of an unused value, and each `if` without statements.
pub(super) fn prune(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    let mut used = vec![false; kernel.values.len()];
    prune_body(kernel, &mut body, &mut used);
    kernel.body = body;
}

/// Prunes from the last statement to the first, because all uses of a value follow its `Let`.
fn prune_body(kernel: &Kernel, body: &mut Vec<Statement>, used: &mut [bool]) {
    let mut kept = Vec::with_capacity(body.len());
    while let Some(mut statement) = body.pop() {
        if keep_statement(kernel, &mut statement, used) {
            kept.push(statement);
        }
    }
    kept.reverse();
    *body = kept;
}

/// Marks the operands of a statement that stays.
fn keep_statement(kernel: &Kernel, statement: &mut Statement, used: &mut [bool]) -> bool {
    let mut mark = |value: Value| used[value.0 as usize] = true;
    match statement {
        Statement::Let(value) => {
            let is_used = used[value.0 as usize];
            if is_used {
                kernel.definition(*value).for_each_operand(|operand| used[operand.0 as usize] = true);
            }
            return is_used;
        }
        Statement::Set(_, value) => mark(*value),
        Statement::Store(access, value) => {
            mark(*value);
            access.for_each_operand(mark);
        }
        Statement::Atomic(atomic) => {
            mark(atomic.operand);
            atomic.expected.into_iter().for_each(&mut mark);
            atomic.access.for_each_operand(mark);
        }
        Statement::If { condition, accept, reject, .. } => {
            prune_body(kernel, accept, used);
            prune_body(kernel, reject, used);
            if accept.is_empty() && reject.is_empty() {
                return false;
            }
            used[condition.0 as usize] = true;
        }
        Statement::Block { body, .. } | Statement::Loop { body, .. } => prune_body(kernel, body, used),
        Statement::Break { .. } | Statement::Repeat { .. } | Statement::Barrier => {}
    }
    true
}
