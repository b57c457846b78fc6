//! Facts about functions that lowering needs before it begins with them.

use std::collections::HashSet;
use std::rc::Rc;

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, Block, Expression, Function, GlobalVariable, Handle, LocalVariable, Module, Statement, TypeInner,
};

/// Facts about one function.
#[derive(Debug, Default)]
pub(super) struct FunctionPlan {
    /// Local variables with an array that a dynamic index selects from.
    pub(super) indexed_locals: HashSet<Handle<LocalVariable>>,
    /// Whether a dynamic index selects from an array behind each pointer argument.
    indexed_arguments: HashSet<u32>,
    /// Array values that a dynamic index selects from.
    pub(super) indexed_values: HashSet<Handle<Expression>>,
    /// True where the only `return` is the last statement.
    pub(super) returns_at_end: bool,
}

/// Facts about the functions of a module.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) functions: Vec<Rc<FunctionPlan>>,
    pub(super) entry: Rc<FunctionPlan>,
    /// Private variables with an array that a dynamic index selects from.
    pub(super) indexed_globals: HashSet<Handle<GlobalVariable>>,
}

/// Variable that an index selects from.
enum Root {
    Local(Handle<LocalVariable>),
    Argument(u32),
    Global(Handle<GlobalVariable>),
    Value,
}

impl Plan {
    pub(super) fn new(module: &Module, info: &ModuleInfo, entry: usize) -> Self {
        let mut plan = Self::default();
        for (handle, function) in module.functions.iter() {
            let function = plan.function(module, function, &info[handle]);
            plan.functions.push(Rc::new(function));
        }
        let function = &module.entry_points[entry].function;
        plan.entry = Rc::new(plan.function(module, function, info.get_entry_point(entry)));
        plan
    }

    /// Facts about a function whose callees are in the plan.
    fn function(&mut self, module: &Module, function: &Function, info: &FunctionInfo) -> FunctionPlan {
        let mut plan = FunctionPlan { returns_at_end: returns_at_end(&function.body), ..FunctionPlan::default() };
        for (_, expression) in function.expressions.iter() {
            let Expression::Access { base, index } = *expression else { continue };
            if is_constant(&function.expressions[index]) {
                continue;
            }
            match info[base].ty.inner_with(&module.types) {
                TypeInner::Pointer { base: pointee, .. }
                    if matches!(module.types[*pointee].inner, TypeInner::Array { .. }) =>
                {
                    self.add_indexed(module, function, base, &mut plan);
                }
                TypeInner::Array { .. } => {
                    plan.indexed_values.insert(base);
                }
                _ => {}
            }
        }
        self.visit_calls(module, function, &function.body, &mut plan);
        plan
    }

    /// Marks the variables behind pointers that callees index.
    fn visit_calls(&mut self, module: &Module, function: &Function, block: &Block, plan: &mut FunctionPlan) {
        visit(block, &mut |statement| {
            let Statement::Call { function: callee, arguments, .. } = statement else { return };
            let callee = self.functions[callee.index()].clone();
            for argument in &callee.indexed_arguments {
                if let Some(pointer) = arguments.get(*argument as usize) {
                    self.add_indexed(module, function, *pointer, plan);
                }
            }
        });
    }

    fn add_indexed(
        &mut self,
        module: &Module,
        function: &Function,
        pointer: Handle<Expression>,
        plan: &mut FunctionPlan,
    ) {
        match root(function, pointer) {
            Root::Local(local) => {
                plan.indexed_locals.insert(local);
            }
            Root::Argument(argument) => {
                plan.indexed_arguments.insert(argument);
            }
            Root::Global(global) => {
                if module.global_variables[global].space == AddressSpace::Private {
                    self.indexed_globals.insert(global);
                }
            }
            Root::Value => {}
        }
    }
}

/// The variable that a chain of accesses begins at.
fn root(function: &Function, mut pointer: Handle<Expression>) -> Root {
    loop {
        match function.expressions[pointer] {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => pointer = base,
            Expression::LocalVariable(local) => return Root::Local(local),
            Expression::GlobalVariable(global) => return Root::Global(global),
            Expression::FunctionArgument(argument) => return Root::Argument(argument),
            _ => return Root::Value,
        }
    }
}

fn is_constant(expression: &Expression) -> bool {
    matches!(expression, Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_))
}

fn returns_at_end(body: &Block) -> bool {
    let mut returns = 0;
    visit(body, &mut |statement| returns += u32::from(matches!(statement, Statement::Return { .. })));
    match body.last() {
        Some(Statement::Return { .. }) => returns == 1,
        _ => returns == 0,
    }
}

/// Calls `f` for each statement of a block and of the blocks inside it.
fn visit(block: &Block, f: &mut dyn FnMut(&Statement)) {
    for statement in block {
        f(statement);
        match statement {
            Statement::Block(block) => visit(block, f),
            Statement::If { accept, reject, .. } => {
                visit(accept, f);
                visit(reject, f);
            }
            Statement::Switch { cases, .. } => cases.iter().for_each(|case| visit(&case.body, f)),
            Statement::Loop { body, continuing, .. } => {
                visit(body, f);
                visit(continuing, f);
            }
            _ => {}
        }
    }
}

/// True where a `continue` of the loop around `block` is in `block`.
pub(super) fn continues(block: &Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Continue => true,
        Statement::Block(block) => continues(block),
        Statement::If { accept, reject, .. } => continues(accept) || continues(reject),
        Statement::Switch { cases, .. } => cases.iter().any(|case| continues(&case.body)),
        _ => false,
    })
}
