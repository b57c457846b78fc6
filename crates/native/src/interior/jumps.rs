use crate::ir::{Label, Statement};

pub(super) fn count_stores(body: &[Statement]) -> usize {
    let count = |statement: &Statement| match statement {
        Statement::Store(..) | Statement::Atomic(_) => 1,
        Statement::If { accept, reject, .. } => count_stores(accept) + count_stores(reject),
        Statement::Block { body, .. } | Statement::Loop { body, .. } => count_stores(body),
        _ => 0,
    };
    body.iter().map(count).sum()
}

pub(super) fn breaks(body: &[Statement], label: Label) -> bool {
    body.iter().any(|statement| match statement {
        Statement::If { accept, reject, .. } => breaks(accept, label) || breaks(reject, label),
        Statement::Block { body, .. } | Statement::Loop { body, .. } => breaks(body, label),
        Statement::Break { label: to, .. } => *to == label,
        _ => false,
    })
}

pub(super) fn leaves(body: &[Statement], inside: &mut Vec<Label>) -> bool {
    body.iter().any(|statement| match statement {
        Statement::If { accept, reject, .. } => leaves(accept, inside) || leaves(reject, inside),
        Statement::Block { label, body, .. } | Statement::Loop { label, body, .. } => {
            inside.push(*label);
            let leaves = leaves(body, inside);
            inside.pop();
            leaves
        }
        Statement::Break { label, .. } | Statement::Repeat { label, .. } => !inside.contains(label),
        _ => false,
    })
}
