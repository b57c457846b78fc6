//! Facts about functions and variables, collected before lowering.

use std::collections::HashSet;

use naga::{Block, Expression, Function, GlobalVariable, Handle, LocalVariable, Module, Statement};

/// Function of a module; `None` is the entry point.
pub(super) type FunctionId = Option<Handle<Function>>;

/// Variable of one invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum VariableId {
    Local(FunctionId, Handle<LocalVariable>),
    Private(Handle<GlobalVariable>),
}

/// Arrays with dynamic indices, which are in the frame; all others are split into scalars.
///
/// Lowering finds these arrays after inlining and unrolling, and starts again.
#[derive(Debug, Clone, Default)]
pub(super) struct IndexedArrays {
    pub(super) variables: HashSet<VariableId>,
    pub(super) values: HashSet<(FunctionId, Handle<Expression>)>,
    /// True if every array counts as dynamically indexed.
    pub(super) all: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FunctionFacts {
    pub(super) returns_at_end: bool,
    /// Number of statements and expressions, including called functions.
    cost: u32,
}

#[derive(Debug, Default)]
pub(super) struct ModuleFacts {
    functions: Vec<FunctionFacts>,
    pub(super) entry: FunctionFacts,
}

impl IndexedArrays {
    pub(super) fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.values.is_empty()
    }

    pub(super) fn has_value(&self, function: FunctionId, expression: Handle<Expression>) -> bool {
        self.all || self.values.contains(&(function, expression))
    }

    pub(super) fn has_variable(&self, root: VariableId) -> bool {
        self.all || self.variables.contains(&root)
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.variables.extend(other.variables);
        self.values.extend(other.values);
    }
}

impl ModuleFacts {
    pub(super) fn new(module: &Module, entry: usize) -> Self {
        let mut facts = Self::default();
        for (_, function) in module.functions.iter() {
            let function = facts.function_facts(function);
            facts.functions.push(function);
        }
        facts.entry = facts.function_facts(&module.entry_points[entry].function);
        facts
    }

    pub(super) fn function(&self, function: Handle<Function>) -> FunctionFacts {
        self.functions.get(function.index()).copied().unwrap_or_default()
    }

    fn function_facts(&self, function: &Function) -> FunctionFacts {
        FunctionFacts { returns_at_end: returns_at_end(&function.body), cost: self.cost(&function.body) }
    }

    /// Number of statements and expressions of a block, including called functions.
    pub(super) fn cost(&self, block: &Block) -> u32 {
        let mut cost = 0_u32;
        visit(block, &mut |statement| {
            cost = cost.saturating_add(match statement {
                Statement::Emit(range) => range.clone().count() as u32,
                Statement::Call { function, .. } => self.function(*function).cost.saturating_add(1),
                _ => 1,
            });
        });
        cost
    }
}

fn returns_at_end(body: &Block) -> bool {
    let mut returns = 0;
    visit(body, &mut |statement| returns += u32::from(matches!(statement, Statement::Return { .. })));
    match body.last() {
        Some(Statement::Return { .. }) => returns == 1,
        _ => returns == 0,
    }
}

/// Calls `f` for each statement of a block and of its inner blocks.
pub(super) fn visit(block: &Block, f: &mut dyn FnMut(&Statement)) {
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

pub(super) fn continues(block: &Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Continue => true,
        Statement::Block(block) => continues(block),
        Statement::If { accept, reject, .. } => continues(accept) || continues(reject),
        Statement::Switch { cases, .. } => cases.iter().any(|case| continues(&case.body)),
        _ => false,
    })
}

pub(super) fn breaks_loop(statement: &Statement) -> bool {
    match statement {
        Statement::Break => true,
        Statement::Block(block) => block.iter().any(breaks_loop),
        Statement::If { accept, reject, .. } => accept.iter().chain(reject).any(breaks_loop),
        _ => false,
    }
}
