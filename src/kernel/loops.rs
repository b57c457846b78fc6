//! [`find_stopped`]: makes kernels of checked runs find the loops that the adapter stops.
//!
//! A loop that is stopped goes on behind its end as if it had been left, and none of its breaks was made. So each break leaves
//! a mark, and a loop without one was stopped. Compilers would drop the marks, as they know loops to end by their breaks
//! alone, if they knew where the marks are: the length of the report decides.

use std::num::NonZeroU32;

use naga::{AddressSpace, MemoryDecorations, Range, Span, Statement, Type, TypeInner};
use naga::{ArraySize, BinaryOperator, Block, Expression, Function, GlobalVariable, Handle, Literal, Module, Scalar};

/// Name of the variable with the line of the first loop that was stopped, or 0.
pub const LINE: &str = "$line";

/// Makes invocations keep in the private variable `line` the line of the first loop that the adapter stops, among those in the
/// first `user` bytes of `text`. `report` is the storage array of the call's report.
pub fn find_stopped(module: &mut Module, text: &str, user: usize, line: &str, report: &str) {
    let named = |name: &str| {
        let found = module.global_variables.iter().find(|(_, one)| one.name.as_deref() == Some(name));
        found.map(|(handle, _)| handle)
    };
    let (Some(line), Some(report)) = (named(line), named(report)) else { return };
    let functions = module.functions.iter().map(|(_, function)| function);
    let functions = functions.chain(module.entry_points.iter().map(|entry| &entry.function));
    let Some(loops) = NonZeroU32::new(functions.map(|function| loops_in(&function.body)).sum()) else { return };
    let marks = marks(module, loops);
    let mut finder = Finder { text: &text[..user], line, report, marks, known: 0 };
    module.functions.iter_mut().for_each(|(_, function)| finder.change(function));
    module.entry_points.iter_mut().for_each(|entry| finder.change(&mut entry.function));
}

/// Number of loops in a block.
fn loops_in(block: &Block) -> u32 {
    let of = |statement: &Statement| match statement {
        Statement::Block(inner) => loops_in(inner),
        Statement::If { accept, reject, .. } => loops_in(accept) + loops_in(reject),
        Statement::Switch { cases, .. } => cases.iter().map(|case| loops_in(&case.body)).sum(),
        Statement::Loop { body, continuing, .. } => 1 + loops_in(body) + loops_in(continuing),
        _ => 0,
    };
    block.iter().map(of).sum()
}

/// Declares the marks: two words for each loop, of which one is used.
fn marks(module: &mut Module, loops: NonZeroU32) -> Handle<GlobalVariable> {
    let mut ty = |inner| module.types.insert(Type { name: None, inner }, Span::UNDEFINED);
    let base = ty(TypeInner::Scalar(Scalar::U32));
    let ty = ty(TypeInner::Array { base, size: ArraySize::Constant(loops.saturating_mul(TWO)), stride: 4 });
    let marks = GlobalVariable {
        name: None,
        space: AddressSpace::Private,
        binding: None,
        ty,
        init: None,
        memory_decorations: MemoryDecorations::empty(),
    };
    module.global_variables.append(marks, Span::UNDEFINED)
}

const TWO: NonZeroU32 = NonZeroU32::new(2).unwrap();

struct Finder<'a> {
    /// The text whose loops count.
    text: &'a str,
    line: Handle<GlobalVariable>,
    report: Handle<GlobalVariable>,
    marks: Handle<GlobalVariable>,
    /// The number of loops that have marks.
    known: u32,
}

impl Finder<'_> {
    fn change(&mut self, function: &mut Function) {
        let mut body = std::mem::take(&mut function.body);
        self.change_block(&mut body, None, function);
        function.body = body;
    }

    /// Changes the loops of a block and the breaks of the loop around it, whose number is `around`.
    fn change_block(&mut self, block: &mut Block, around: Option<u32>, function: &mut Function) {
        let mut changed = Block::with_capacity(block.len());
        for (mut statement, span) in std::mem::take(block).span_into_iter() {
            let mut behind = Block::new();
            match &mut statement {
                Statement::Block(inner) => self.change_block(inner, around, function),
                Statement::If { accept, reject, .. } => {
                    [accept, reject].into_iter().for_each(|inner| self.change_block(inner, around, function));
                }
                // A break in a switch leaves the switch.
                Statement::Switch { cases, .. } => {
                    cases.iter_mut().for_each(|case| self.change_block(&mut case.body, None, function));
                }
                Statement::Loop { body, continuing, break_if } => {
                    let start = span.to_range().map(|range| range.start);
                    let before = start.and_then(|start| self.text.get(..start));
                    let number = before.map(|_| self.number());
                    [&mut *body, &mut *continuing]
                        .into_iter()
                        .for_each(|inner| self.change_block(inner, number, function));
                    if let (Some(before), Some(number)) = (before, number) {
                        if let Some(condition) = *break_if {
                            let (accept, reject) = (self.mark(number, 1, function), Block::new());
                            continuing.push(Statement::If { condition, accept, reject }, Span::UNDEFINED);
                        }
                        changed.extend_block(self.mark(number, 0, function));
                        behind = self.look(number, 1 + before.matches('\n').count() as u32, function);
                    }
                }
                Statement::Break => {
                    if let Some(number) = around {
                        changed.extend_block(self.mark(number, 1, function));
                    }
                }
                _ => {}
            }
            changed.push(statement, span);
            changed.extend_block(behind);
        }
        *block = changed;
    }

    fn number(&mut self) -> u32 {
        self.known += 1;
        self.known - 1
    }

    /// The place of a loop's mark.
    fn place(&self, number: u32, function: &mut Function) -> (Block, Handle<Expression>) {
        let mut new = |expression| function.expressions.append(expression, Span::UNDEFINED);
        let binary = |op, left, right| Expression::Binary { op, left, right };
        let [base, report] = [self.marks, self.report].map(|handle| new(Expression::GlobalVariable(handle)));
        let [one, first] = [1, 2 * number].map(|value| new(Expression::Literal(Literal::U32(value))));
        let length = new(Expression::ArrayLength(report));
        let second = new(binary(BinaryOperator::And, length, one));
        let index = new(binary(BinaryOperator::Add, first, second));
        let place = new(Expression::Access { base, index });
        (Block::from_vec(vec![Statement::Emit(Range::new_from_bounds(length, place))]), place)
    }

    /// `marks[place] = value`
    fn mark(&self, number: u32, value: u32, function: &mut Function) -> Block {
        let (mut block, pointer) = self.place(number, function);
        let value = function.expressions.append(Expression::Literal(Literal::U32(value)), Span::UNDEFINED);
        block.push(Statement::Store { pointer, value }, Span::UNDEFINED);
        block
    }

    /// `line = select(line, own, marks[place] + line == 0)`
    fn look(&self, number: u32, own: u32, function: &mut Function) -> Block {
        let (mut block, mark_at) = self.place(number, function);
        let mut new = |expression| function.expressions.append(expression, Span::UNDEFINED);
        let pointer = new(Expression::GlobalVariable(self.line));
        let [zero, accept] = [0, own].map(|value| new(Expression::Literal(Literal::U32(value))));
        let mark = new(Expression::Load { pointer: mark_at });
        let reject = new(Expression::Load { pointer });
        let sum = new(Expression::Binary { op: BinaryOperator::Add, left: mark, right: reject });
        let condition = new(Expression::Binary { op: BinaryOperator::Equal, left: sum, right: zero });
        let value = new(Expression::Select { condition, accept, reject });
        block.push(Statement::Emit(Range::new_from_bounds(mark, value)), Span::UNDEFINED);
        block.push(Statement::Store { pointer, value }, Span::UNDEFINED);
        block
    }
}
