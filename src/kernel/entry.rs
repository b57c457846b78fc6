//! Calls that an entry point makes when it begins and when it ends, wherever it does.

use naga::{Block, Expression, Function, FunctionArgument, Handle, Module, ShaderStage, Span, Statement};

/// Calls a function without arguments and result when a compute entry point begins, if the module
/// has the function.
pub(super) fn at_the_start(module: &mut Module, function: &str) {
    let found = module.functions.iter().find(|(_, one)| one.name.as_deref() == Some(function));
    let Some((first, _)) = found else { return };
    for point in module.entry_points.iter_mut().filter(|point| point.stage == ShaderStage::Compute) {
        let call = Statement::Call { function: first, arguments: Vec::new(), result: None };
        point.function.body.splice(0..0, Block::from_vec(vec![call]));
    }
}

/// Calls a function without arguments and result when a compute entry point has ended. What the
/// entry point did is done by a function that it calls: a call at each of its ends would be so many
/// times as much code, which software adapters run through with all invocations.
pub(super) fn at_the_end(module: &mut Module, function: &str) {
    let found = module.functions.iter().find(|(_, one)| one.name.as_deref() == Some(function));
    let Some((last, _)) = found else { return };
    let mut points = std::mem::take(&mut module.entry_points);
    for point in points.iter_mut().filter(|point| point.stage == ShaderStage::Compute) {
        let mut body = std::mem::take(&mut point.function);
        let outer = &mut point.function;
        (outer.name, outer.arguments) = (body.name.clone(), body.arguments.clone());
        body.name = Some(format!("{function}_{}", point.name));
        body.arguments.iter_mut().for_each(|argument: &mut FunctionArgument| argument.binding = None);
        let count = body.arguments.len() as u32;
        let given = (0..count).map(|at| outer.expressions.append(Expression::FunctionArgument(at), Span::UNDEFINED));
        let given = given.collect();
        let body: Handle<Function> = module.functions.append(body, Span::UNDEFINED);
        let call = |function, arguments| Statement::Call { function, arguments, result: None };
        outer.body =
            Block::from_vec(vec![call(body, given), call(last, Vec::new()), Statement::Return { value: None }]);
    }
    module.entry_points = points;
}
