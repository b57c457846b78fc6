//! [`instrument_loops`]: lets kernels of checked runs find the loops that the adapter stops.
//!
//! After a stopped loop execution continues as if the loop had ended, but no `break` of the loop
//! has run. Each loop has a mark, which every `break` sets: a loop that ends with a clear mark was
//! stopped. Compilers assume that only a `break` ends a loop and would remove the marks. Therefore
//! the index of a mark depends on the length of the report, which no compiler knows.

use std::num::NonZeroU32;

use naga::{AddressSpace, MemoryDecorations, Range, Span, Statement, Type, TypeInner};
use naga::{ArraySize, BinaryOperator, Block, Expression, Function, GlobalVariable, Handle, Literal, Module, Scalar};

/// Name of the WGSL variable with the line of an invocation's first stopped loop, or 0.
pub(super) const LINE: &str = "$line";

/// Instruments the loops of a kernel: each invocation stores the line of its first stopped loop.
///
/// * `text`: the kernel's own text, with which the text of the module begins. Only loops in it are
///   instrumented.
/// * `line`: name of the private variable for the line.
/// * `report`: name of the storage array of the call's report.
pub(super) fn instrument_loops(module: &mut Module, text: &str, line: &str, report: &str) {
    let find_variable = |name: &str| {
        let found = module.global_variables.iter().find(|(_, one)| one.name.as_deref() == Some(name));
        found.map(|(handle, _)| handle)
    };
    let (Some(line), Some(report)) = (find_variable(line), find_variable(report)) else { return };
    let functions = module.functions.iter().map(|(_, function)| function);
    let functions = functions.chain(module.entry_points.iter().map(|entry| &entry.function));
    let Some(loops) = NonZeroU32::new(functions.map(|function| count_loops(&function.body)).sum()) else { return };
    let marks = declare_marks(module, loops);
    let mut instrumenter = LoopInstrumenter { text, line, report, marks, marked_loops: 0 };
    module.functions.iter_mut().for_each(|(_, function)| instrumenter.instrument_function(function));
    module.entry_points.iter_mut().for_each(|entry| instrumenter.instrument_function(&mut entry.function));
}

fn count_loops(block: &Block) -> u32 {
    let count = |statement: &Statement| match statement {
        Statement::Block(inner) => count_loops(inner),
        Statement::If { accept, reject, .. } => count_loops(accept) + count_loops(reject),
        Statement::Switch { cases, .. } => cases.iter().map(|case| count_loops(&case.body)).sum(),
        Statement::Loop { body, continuing, .. } => 1 + count_loops(body) + count_loops(continuing),
        _ => 0,
    };
    block.iter().map(count).sum()
}

/// Number of words of a loop's mark. The length of the report selects one of them.
const MARK_WORDS: NonZeroU32 = NonZeroU32::new(2).unwrap();

/// Declares the private array of marks, with [`MARK_WORDS`] for each loop.
fn declare_marks(module: &mut Module, loops: NonZeroU32) -> Handle<GlobalVariable> {
    let mut ty = |inner| module.types.insert(Type { name: None, inner }, Span::UNDEFINED);
    let base = ty(TypeInner::Scalar(Scalar::U32));
    let ty = ty(TypeInner::Array { base, size: ArraySize::Constant(loops.saturating_mul(MARK_WORDS)), stride: 4 });
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

/// Inserts the marks of loops into the functions of a module.
struct LoopInstrumenter<'a> {
    /// Text of the loops to instrument.
    text: &'a str,
    line: Handle<GlobalVariable>,
    report: Handle<GlobalVariable>,
    marks: Handle<GlobalVariable>,
    /// Number of loops that have marks so far.
    marked_loops: u32,
}

impl LoopInstrumenter<'_> {
    fn instrument_function(&mut self, function: &mut Function) {
        let mut body = std::mem::take(&mut function.body);
        self.instrument_block(&mut body, None, function);
        function.body = body;
    }

    /// Instruments the loops of a block, and each `break` of the loop around the block.
    ///
    /// `enclosing_loop` is the number of the loop around the block, if that loop has a mark.
    fn instrument_block(&mut self, block: &mut Block, enclosing_loop: Option<u32>, function: &mut Function) {
        let mut instrumented = Block::with_capacity(block.len());
        for (mut statement, span) in std::mem::take(block).span_into_iter() {
            let mut after = Block::new();
            match &mut statement {
                Statement::Block(inner) => self.instrument_block(inner, enclosing_loop, function),
                Statement::If { accept, reject, .. } => {
                    [accept, reject]
                        .into_iter()
                        .for_each(|inner| self.instrument_block(inner, enclosing_loop, function));
                }
                // A break in a switch leaves the switch.
                Statement::Switch { cases, .. } => {
                    cases.iter_mut().for_each(|case| self.instrument_block(&mut case.body, None, function));
                }
                Statement::Loop { body, continuing, break_if } => {
                    let start = span.to_range().map(|range| range.start);
                    let before = start.and_then(|start| self.text.get(..start));
                    let number = before.map(|_| self.next_number());
                    [&mut *body, &mut *continuing]
                        .into_iter()
                        .for_each(|inner| self.instrument_block(inner, number, function));
                    if let (Some(before), Some(number)) = (before, number) {
                        if let Some(condition) = *break_if {
                            let (accept, reject) = (self.set_mark(number, 1, function), Block::new());
                            continuing.push(Statement::If { condition, accept, reject }, Span::UNDEFINED);
                        }
                        let loop_line = 1 + before.matches('\n').count() as u32;
                        instrumented.extend_block(self.set_mark(number, 0, function));
                        after = self.record_if_stopped(number, loop_line, function);
                    }
                }
                Statement::Break => {
                    if let Some(number) = enclosing_loop {
                        instrumented.extend_block(self.set_mark(number, 1, function));
                    }
                }
                _ => {}
            }
            instrumented.push(statement, span);
            instrumented.extend_block(after);
        }
        *block = instrumented;
    }

    fn next_number(&mut self) -> u32 {
        self.marked_loops += 1;
        self.marked_loops - 1
    }

    fn mark_pointer(&self, number: u32, function: &mut Function) -> (Block, Handle<Expression>) {
        let mut new = |expression| function.expressions.append(expression, Span::UNDEFINED);
        let binary = |op, left, right| Expression::Binary { op, left, right };
        let [base, report] = [self.marks, self.report].map(|handle| new(Expression::GlobalVariable(handle)));
        let [one, first] = [1, MARK_WORDS.get() * number].map(|value| new(Expression::Literal(Literal::U32(value))));
        let length = new(Expression::ArrayLength(report));
        let second = new(binary(BinaryOperator::And, length, one));
        let index = new(binary(BinaryOperator::Add, first, second));
        let pointer = new(Expression::Access { base, index });
        (Block::from_vec(vec![Statement::Emit(Range::new_from_bounds(length, pointer))]), pointer)
    }

    /// Returns code that sets the mark of a loop to a value: `marks[number] = value`.
    fn set_mark(&self, number: u32, value: u32, function: &mut Function) -> Block {
        let (mut block, pointer) = self.mark_pointer(number, function);
        let value = function.expressions.append(Expression::Literal(Literal::U32(value)), Span::UNDEFINED);
        block.push(Statement::Store { pointer, value }, Span::UNDEFINED);
        block
    }

    /// Returns code that records the line of a loop with a clear mark, unless an earlier line is
    /// recorded: `line = select(line, loop_line, marks[number] + line == 0)`.
    fn record_if_stopped(&self, number: u32, loop_line: u32, function: &mut Function) -> Block {
        let (mut block, mark_pointer) = self.mark_pointer(number, function);
        let mut new = |expression| function.expressions.append(expression, Span::UNDEFINED);
        let pointer = new(Expression::GlobalVariable(self.line));
        let [zero, accept] = [0, loop_line].map(|value| new(Expression::Literal(Literal::U32(value))));
        let mark = new(Expression::Load { pointer: mark_pointer });
        let reject = new(Expression::Load { pointer });
        let sum = new(Expression::Binary { op: BinaryOperator::Add, left: mark, right: reject });
        let condition = new(Expression::Binary { op: BinaryOperator::Equal, left: sum, right: zero });
        let value = new(Expression::Select { condition, accept, reject });
        block.push(Statement::Emit(Range::new_from_bounds(mark, value)), Span::UNDEFINED);
        block.push(Statement::Store { pointer, value }, Span::UNDEFINED);
        block
    }
}
