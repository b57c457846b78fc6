//! A call before an entry point ends, wherever it does.

use naga::{Block, Handle, Module, Span, Statement};

/// Calls a function without arguments and result before each return of each compute entry point.
pub(super) fn before_the_end(module: &mut Module, function: &str) {
    let found = module.functions.iter().find(|(_, one)| one.name.as_deref() == Some(function));
    let Some((handle, _)) = found else { return };
    for point in module.entry_points.iter_mut().filter(|point| point.stage == naga::ShaderStage::Compute) {
        let body = std::mem::take(&mut point.function.body);
        point.function.body = with_calls(body, handle);
        // A body that ends without saying so.
        if !matches!(point.function.body.last(), Some(Statement::Return { .. })) {
            point.function.body.push(call(handle), Span::UNDEFINED);
        }
    }
}

fn call(function: Handle<naga::Function>) -> Statement {
    Statement::Call { function, arguments: Vec::new(), result: None }
}

fn with_calls(block: Block, function: Handle<naga::Function>) -> Block {
    let mut out = Block::with_capacity(block.len());
    for (statement, span) in block.span_into_iter() {
        let within = |block: Block| with_calls(block, function);
        let statement = match statement {
            Statement::Return { value } => {
                out.push(call(function), span);
                Statement::Return { value }
            }
            Statement::Block(block) => Statement::Block(within(block)),
            Statement::If { condition, accept, reject } => {
                Statement::If { condition, accept: within(accept), reject: within(reject) }
            }
            Statement::Switch { selector, cases } => {
                let case = |case: naga::SwitchCase| naga::SwitchCase { body: within(case.body), ..case };
                Statement::Switch { selector, cases: cases.into_iter().map(case).collect() }
            }
            Statement::Loop { body, continuing, break_if } => {
                Statement::Loop { body: within(body), continuing: within(continuing), break_if }
            }
            other => other,
        };
        out.push(statement, span);
    }
    out
}
