use crate::ir::Statement;

const PASSES: u64 = 64;

/// Estimates the maximum number of statements of an invocation, with [`PASSES`] passes of each
/// loop.
pub(crate) fn count_statements(body: &[Statement]) -> u64 {
    let count = |statement: &Statement| match statement {
        Statement::If { accept, reject, .. } => 1 + count_statements(accept).max(count_statements(reject)),
        Statement::Block { body, .. } => count_statements(body),
        Statement::Loop { body, .. } => count_statements(body).saturating_mul(PASSES),
        _ => 1,
    };
    body.iter().map(count).fold(0, u64::saturating_add)
}
