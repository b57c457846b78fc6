//! Adds calls to the start and the end of an entry point.

use naga::{Block, Expression, Function, FunctionArgument, Handle, Module, ShaderStage, Span, Statement};

/// Adds a call of a function without arguments and result to the start of each compute entry point,
/// if the module has the function.
pub(super) fn call_at_entry_start(module: &mut Module, function: &str) {
    let found = module.functions.iter().find(|(_, candidate)| candidate.name.as_deref() == Some(function));
    let Some((first, _)) = found else { return };
    for point in module.entry_points.iter_mut().filter(|point| point.stage == ShaderStage::Compute) {
        let call = Statement::Call { function: first, arguments: Vec::new(), result: None };
        point.function.body.splice(0..0, Block::from_vec(vec![call]));
    }
}

/// Adds a call of a function without arguments and result to the end of each compute entry point,
/// if the module has the function. The body of the entry point moves to a function of its own: a
/// copy of the call at each `return` would multiply the code, and software adapters execute it for
/// all invocations.
pub(super) fn call_at_entry_end(module: &mut Module, function: &str) {
    let found = module.functions.iter().find(|(_, candidate)| candidate.name.as_deref() == Some(function));
    let Some((last, _)) = found else { return };
    let mut points = std::mem::take(&mut module.entry_points);
    for point in points.iter_mut().filter(|point| point.stage == ShaderStage::Compute) {
        let mut body = std::mem::take(&mut point.function);
        let outer = &mut point.function;
        (outer.name, outer.arguments) = (body.name.clone(), body.arguments.clone());
        body.name = Some(format!("{function}_{}", point.name));
        body.arguments.iter_mut().for_each(|argument: &mut FunctionArgument| argument.binding = None);
        let count = body.arguments.len() as u32;
        let arguments =
            (0..count).map(|at| outer.expressions.append(Expression::FunctionArgument(at), Span::UNDEFINED));
        let arguments = arguments.collect();
        let body: Handle<Function> = module.functions.append(body, Span::UNDEFINED);
        let call = |function, arguments| Statement::Call { function, arguments, result: None };
        outer.body =
            Block::from_vec(vec![call(body, arguments), call(last, Vec::new()), Statement::Return { value: None }]);
    }
    module.entry_points = points;
}
