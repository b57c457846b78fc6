//! [`count_passes`]: counts the passes of all loops of an invocation in checked runs, as adapters limit them.

use naga::{BinaryOperator, Block, Expression, Function, GlobalVariable, Handle, Literal, Module, Span, Statement};

/// Name of the variable with the passes of all loops of the invocation.
pub const PASSES: &str = "$passes";

/// Name of the variable with the line of the loop that reached the adapter's limit.
pub const LINE: &str = "$line";

/// Counts the passes of all loops in the first `user` bytes of `text` in the private variables [`PASSES`] and [`LINE`], where
/// the module has them.
pub fn count_passes(module: &mut Module, text: &str, user: usize, [passes, line]: [&str; 2], most: u32) {
    let named = |name: &str| {
        let found = module.global_variables.iter().find(|(_, one)| one.name.as_deref() == Some(name));
        found.map(|(handle, _)| handle)
    };
    let (Some(passes), Some(line)) = (named(passes), named(line)) else { return };
    let counting = Counting { text: &text[..user], passes, line, most };
    module.functions.iter_mut().for_each(|(_, function)| counting.insert(function));
    module.entry_points.iter_mut().for_each(|entry| counting.insert(&mut entry.function));
}

struct Counting<'a> {
    /// The text whose loops count.
    text: &'a str,
    passes: Handle<GlobalVariable>,
    line: Handle<GlobalVariable>,
    most: u32,
}

impl Counting<'_> {
    fn insert(&self, function: &mut Function) {
        let mut body = std::mem::take(&mut function.body);
        self.insert_in(&mut body, function);
        function.body = body;
    }

    fn insert_in(&self, block: &mut Block, function: &mut Function) {
        for (statement, span) in block.span_iter_mut() {
            match statement {
                Statement::Block(inner) => self.insert_in(inner, function),
                Statement::If { accept, reject, .. } => {
                    [accept, reject].into_iter().for_each(|inner| self.insert_in(inner, function));
                }
                Statement::Switch { cases, .. } => {
                    cases.iter_mut().for_each(|case| self.insert_in(&mut case.body, function));
                }
                Statement::Loop { body, continuing, .. } => {
                    [&mut *body, continuing].into_iter().for_each(|inner| self.insert_in(inner, function));
                    let start = span.and_then(|span| span.to_range()).map(|range| range.start);
                    if let Some(before) = start.and_then(|start| self.text.get(..start)) {
                        body.splice(0..0, self.pass(function, 1 + before.matches('\n').count() as u32));
                    }
                }
                _ => {}
            }
        }
    }

    /// `passes += 1; line = select(line, own, passes <= most)`
    fn pass(&self, function: &mut Function, own: u32) -> Block {
        let mut new = |expression| function.expressions.append(expression, Span::UNDEFINED);
        let [passes_at, line_at] = [self.passes, self.line].map(|handle| new(Expression::GlobalVariable(handle)));
        let [one, most, own] = [1, self.most, own].map(|value| new(Expression::Literal(Literal::U32(value))));
        let before = new(Expression::Load { pointer: passes_at });
        let passes = new(Expression::Binary { op: BinaryOperator::Add, left: before, right: one });
        let condition = new(Expression::Binary { op: BinaryOperator::LessEqual, left: passes, right: most });
        let reject = new(Expression::Load { pointer: line_at });
        let line = new(Expression::Select { condition, accept: own, reject });
        let emitted = naga::Range::new_from_bounds(before, line);
        Block::from_vec(vec![
            Statement::Emit(emitted),
            Statement::Store { pointer: passes_at, value: passes },
            Statement::Store { pointer: line_at, value: line },
        ])
    }
}
