//! Execution of one invocation: a stack of calls, each with a stack of blocks.

use naga::{AddressSpace, AtomicFunction, Block, Expression, Function, Handle, Statement, SwitchValue};

use super::atomics;
use super::expression::Evaluator;
use super::memory::Memory;
use super::races::InvocationEpoch;
use super::scalar::ScalarValue;
use super::value::{Pointer, Root, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// Address of the statement, number of calls, and barrier count of the statement.
    Barrier {
        statement: usize,
        calls: usize,
        turn: u8,
    },
    End,
}

/// An enclosing block, loop or `switch`.
enum Control<'m> {
    Block { statements: &'m [Statement], next: usize },
    Loop { body: &'m Block, continuing: &'m Block, break_if: Option<Handle<Expression>>, is_continuing: bool },
    Switch,
}

struct Frame<'m> {
    function: &'m Function,
    arguments: Vec<Value>,
    locals: Vec<Value>,
    values: Vec<Option<Value>>,
    controls: Vec<Control<'m>>,
    /// Expression of the caller for the result.
    result: Option<Handle<Expression>>,
    /// Number of passed barriers of a uniform load.
    turn: u8,
}

pub(super) struct Invocation<'m> {
    identity: InvocationEpoch,
    private: Vec<Option<Value>>,
    frames: Vec<Frame<'m>>,
    /// The entry point, until it is called.
    entry: Option<(&'m Function, Vec<Value>)>,
}

impl<'m> Invocation<'m> {
    pub(super) fn new(
        identity: InvocationEpoch,
        function: &'m Function,
        arguments: Vec<Value>,
        private: Vec<Option<Value>>,
    ) -> Self {
        Self { identity, private, frames: Vec::new(), entry: Some((function, arguments)) }
    }

    pub(super) fn run(
        &mut self,
        evaluator: &Evaluator<'_, 'm>,
        memory: &mut Memory<'m, '_>,
        steps: &mut u64,
    ) -> Result<Pause, String> {
        let mut machine = Machine { invocation: self, evaluator, memory };
        if let Some((function, arguments)) = machine.invocation.entry.take() {
            machine.call(function, arguments, None)?;
        }
        while let Some(frame) = machine.invocation.frames.last_mut() {
            *steps = steps.checked_sub(1).ok_or("too many steps")?;
            match frame.controls.last_mut() {
                None => machine.return_value(None)?,
                Some(Control::Block { statements, next }) => match statements.get(*next) {
                    None => drop(frame.controls.pop()),
                    Some(statement) => {
                        *next += 1;
                        if let Some(pause) = machine.execute(statement)? {
                            machine.invocation.identity.epoch += 1;
                            return Ok(pause);
                        }
                    }
                },
                Some(Control::Loop { .. }) => machine.continue_loop()?,
                Some(Control::Switch) => drop(frame.controls.pop()),
            }
        }
        Ok(Pause::End)
    }
}

struct Machine<'i, 'a, 'm, 'b> {
    invocation: &'i mut Invocation<'m>,
    evaluator: &'i Evaluator<'a, 'm>,
    memory: &'i mut Memory<'m, 'b>,
}

impl<'m> Machine<'_, '_, 'm, '_> {
    fn frame(&mut self) -> &mut Frame<'m> {
        self.invocation.frames.last_mut().expect("a function is running")
    }

    fn call(
        &mut self,
        function: &'m Function,
        arguments: Vec<Value>,
        result: Option<Handle<Expression>>,
    ) -> Result<(), String> {
        self.invocation.frames.push(Frame {
            function,
            arguments,
            locals: Vec::new(),
            values: vec![None; function.expressions.len()],
            controls: vec![Control::Block { statements: &function.body, next: 0 }],
            result,
            turn: 0,
        });
        for (_, variable) in function.local_variables.iter() {
            let value = match variable.init {
                Some(init) => self.value(init)?,
                None => self.evaluator.types.zero(self.evaluator.types.inner(variable.ty))?,
            };
            self.frame().locals.push(value);
        }
        Ok(())
    }

    fn return_value(&mut self, value: Option<Value>) -> Result<(), String> {
        let frame = self.invocation.frames.pop().expect("a function is running");
        if let (Some(result), Some(caller)) = (frame.result, self.invocation.frames.last_mut()) {
            caller.values[result.index()] = Some(value.ok_or("a function without its result")?);
        }
        Ok(())
    }

    fn push_block(&mut self, block: &'m Block) {
        self.frame().controls.push(Control::Block { statements: block, next: 0 });
    }

    fn set(&mut self, expression: Handle<Expression>, value: Value) {
        self.frame().values[expression.index()] = Some(value);
    }

    fn continue_loop(&mut self) -> Result<(), String> {
        let Some(Control::Loop { body, continuing, break_if, is_continuing }) = self.frame().controls.last_mut() else {
            return Err("no loop to continue".into());
        };
        let (body, continuing, break_if) = (*body, *continuing, *break_if);
        *is_continuing = !*is_continuing;
        if *is_continuing {
            self.push_block(continuing);
        } else if let Some(condition) = break_if
            && self.value(condition)?.scalar()?.as_bool()?
        {
            self.frame().controls.pop();
        } else {
            self.push_block(body);
        }
        Ok(())
    }

    fn execute(&mut self, statement: &'m Statement) -> Result<Option<Pause>, String> {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    let value = self.evaluate(handle)?;
                    self.set(handle, value);
                }
            }
            Statement::Block(block) => self.push_block(block),
            Statement::If { condition, accept, reject } => {
                let condition = self.value(*condition)?.scalar()?.as_bool()?;
                self.push_block(if condition { accept } else { reject });
            }
            Statement::Switch { selector, cases } => {
                let selector = match self.value(*selector)?.scalar()? {
                    ScalarValue::I32(x) => SwitchValue::I32(x),
                    ScalarValue::U32(x) => SwitchValue::U32(x),
                    x => return Err(format!("a switch on {x:?}")),
                };
                let position = |value| cases.iter().position(|case| case.value == value);
                let first = position(selector).or(position(SwitchValue::Default)).ok_or("a switch without default")?;
                let fall_through = cases[first..].iter().take_while(|case| case.fall_through).count();
                let last = (first + fall_through).min(cases.len() - 1);
                self.frame().controls.push(Control::Switch);
                for case in cases[first..=last].iter().rev() {
                    self.push_block(&case.body);
                }
            }
            Statement::Loop { body, continuing, break_if } => {
                let control = Control::Loop { body, continuing, break_if: *break_if, is_continuing: false };
                self.frame().controls.push(control);
                self.push_block(body);
            }
            Statement::Break => {
                let controls = &mut self.frame().controls;
                while matches!(controls.pop().ok_or("nothing to break")?, Control::Block { .. }) {}
            }
            Statement::Continue => {
                let controls = &mut self.frame().controls;
                while !matches!(controls.last().ok_or("nothing to continue")?, Control::Loop { .. }) {
                    controls.pop();
                }
            }
            Statement::Return { value } => {
                let value = value.map(|value| self.value(value)).transpose()?;
                self.return_value(value)?;
            }
            Statement::ControlBarrier(barrier) if !barrier.contains(naga::Barrier::SUB_GROUP) => {
                return Ok(Some(self.barrier(statement)));
            }
            Statement::MemoryBarrier(_) => {}
            Statement::Store { pointer, value } => {
                let pointer = self.value(*pointer)?;
                let value = self.value(*value)?;
                self.store(pointer.pointer()?, value)?;
            }
            Statement::Atomic { pointer, fun, value, result } => {
                let result_value = self.atomic(*pointer, fun, *value)?;
                if let Some(result) = result {
                    self.set(*result, result_value);
                }
            }
            Statement::WorkGroupUniformLoad { pointer, result } => {
                return self.uniform_load(statement, *pointer, *result);
            }
            Statement::Call { function, arguments, result } => {
                let arguments = arguments.iter().map(|&argument| self.value(argument)).collect::<Result<_, _>>()?;
                self.call(&self.evaluator.types.module.functions[*function], arguments, *result)?;
            }
            _ => return Err(format!("{statement:?} is not supported")),
        }
        Ok(None)
    }

    fn barrier(&mut self, statement: &Statement) -> Pause {
        let turn = self.frame().turn;
        Pause::Barrier { statement: std::ptr::from_ref(statement).addr(), calls: self.invocation.frames.len(), turn }
    }

    /// Loads between two barriers; the statement runs three times.
    fn uniform_load(
        &mut self,
        statement: &Statement,
        pointer: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<Option<Pause>, String> {
        if self.frame().turn == 2 {
            self.frame().turn = 0;
            return Ok(None);
        }
        if self.frame().turn == 1 {
            let pointer = self.value(pointer)?;
            let value = self.load(pointer.pointer()?)?;
            self.set(result, value);
        }
        let pause = self.barrier(statement);
        self.frame().turn += 1;
        if let Some(Control::Block { next, .. }) = self.frame().controls.last_mut() {
            *next -= 1;
        }
        Ok(Some(pause))
    }

    /// The old value, or a struct with `exchanged`. Past the end of a runtime-sized array the old
    /// value is 0, and nothing is exchanged.
    fn atomic(
        &mut self,
        pointer: Handle<Expression>,
        function: &AtomicFunction,
        operand: Handle<Expression>,
    ) -> Result<Value, String> {
        let pointer = self.value(pointer)?;
        let operand = self.value(operand)?.scalar()?;
        let expected = match function {
            AtomicFunction::Exchange { compare: Some(compare) } => Some(self.value(*compare)?.scalar()?),
            _ => None,
        };
        let old = self.load(pointer.pointer()?)?.scalar()?;
        let new = atomics::update(*function, old, operand, expected)?;
        let is_stored = match new {
            Some(new) => self.store(pointer.pointer()?, Value::Scalar(new))?,
            None => false,
        };
        let old = Value::Scalar(old);
        Ok(match expected {
            Some(_) => Value::Composite(vec![old, Value::Scalar(ScalarValue::Bool(is_stored))]),
            None => old,
        })
    }

    fn value(&mut self, handle: Handle<Expression>) -> Result<Value, String> {
        match &self.frame().values[handle.index()] {
            Some(value) => Ok(value.clone()),
            None => self.evaluate(handle),
        }
    }

    fn evaluate(&mut self, handle: Handle<Expression>) -> Result<Value, String> {
        let frame = self.frame();
        let function = frame.function;
        match function.expressions[handle] {
            Expression::FunctionArgument(index) => Ok(frame.arguments[index as usize].clone()),
            Expression::GlobalVariable(variable) => {
                Ok(Value::Pointer(Pointer { root: Root::Global(variable), path: Vec::new() }))
            }
            Expression::LocalVariable(variable) => {
                let root = Root::Local { frame: self.invocation.frames.len() - 1, variable };
                Ok(Value::Pointer(Pointer { root, path: Vec::new() }))
            }
            Expression::Load { pointer } => {
                let pointer = self.value(pointer)?;
                self.load(pointer.pointer()?)
            }
            Expression::ArrayLength(array) => {
                let pointer = self.value(array)?;
                self.memory.array_length(pointer.pointer()?).map(|length| Value::Scalar(ScalarValue::U32(length)))
            }
            Expression::Access { base, index } => match self.value(base)? {
                Value::Pointer(mut pointer) => {
                    pointer.path.push(self.value(index)?.scalar()?.as_index()?);
                    Ok(Value::Pointer(pointer))
                }
                value => {
                    let path = [self.value(index)?.scalar()?.as_index()?];
                    if self.memory.check_ranges {
                        value.check_path(&path)?;
                    }
                    value.part(&path)
                }
            },
            Expression::AccessIndex { base, index } => match self.value(base)? {
                Value::Pointer(mut pointer) => {
                    pointer.path.push(index);
                    Ok(Value::Pointer(pointer))
                }
                value => value.part(&[index]),
            },
            ref expression => {
                let evaluator = self.evaluator;
                evaluator.evaluate(expression, &mut |operand| self.value(operand))
            }
        }
    }

    /// Variable of this invocation at the start of a pointer; `None` for shared memory.
    fn own_variable(&mut self, root: Root) -> Result<Option<&mut Value>, String> {
        match root {
            Root::Local { frame, variable } => {
                let frame = self.invocation.frames.get_mut(frame).ok_or("a pointer to a variable that has ended")?;
                Ok(frame.locals.get_mut(variable.index()))
            }
            Root::Global(variable) => match self.evaluator.types.module.global_variables[variable].space {
                AddressSpace::Private => Ok(self.invocation.private[variable.index()].as_mut()),
                _ => Ok(None),
            },
        }
    }

    fn load(&mut self, pointer: &Pointer) -> Result<Value, String> {
        let check_ranges = self.memory.check_ranges;
        match self.own_variable(pointer.root)? {
            Some(variable) => {
                if check_ranges {
                    variable.check_path(&pointer.path)?;
                }
                variable.part(&pointer.path)
            }
            None => self.memory.load(self.invocation.identity, pointer),
        }
    }

    /// Stores a value; true where the location exists.
    fn store(&mut self, pointer: &Pointer, value: Value) -> Result<bool, String> {
        let check_ranges = self.memory.check_ranges;
        match self.own_variable(pointer.root)? {
            Some(variable) => {
                if check_ranges {
                    variable.check_path(&pointer.path)?;
                }
                variable.set_part(&pointer.path, value).map(|()| true)
            }
            None => self.memory.store(self.invocation.identity, pointer, value),
        }
    }
}
