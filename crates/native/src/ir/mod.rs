//! [`Kernel`]: scalar operations in structured control flow, between WGSL and machine code.
//!
//! A kernel is the program of one invocation. Functions are inlined, vectors, matrices and structs
//! are split into scalars, and pointers are resolved to a [`Memory`] and an index. Values are in
//! single-assignment form; `ssa` replaces [`Variable`]s by results of blocks and parameters of
//! loops.

mod operations;
mod print;

use std::fmt;

pub use operations::{AtomicOperation, Binary, Builtin, Compare, Convert, Function, Unary};

/// Scalar type of a value. Signed and unsigned integers share a type; operations distinguish them.
/// `f16` is [`Type::F32`], rounded by [`Unary::RoundToF16`] after each operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    Bool,
    I32,
    I64,
    F32,
    F64,
}

/// Scalar value: an index in [`Kernel::values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// Mutable scalar: an index in [`Kernel::variables`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable(pub u32);

/// Number of a block or loop, unique in a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// Program of one invocation, with the memory that it needs.
#[derive(Debug, Clone, Default)]
pub struct Kernel {
    pub values: Vec<(Type, Definition)>,
    /// Type of each variable. Each path of the body sets a variable before it reads the variable.
    pub variables: Vec<Type>,
    pub labels: u32,
    pub body: Vec<Statement>,
    /// Used global variables in the address spaces `storage` and `uniform`.
    pub bindings: Vec<Binding>,
    /// Size of a workgroup along x, y and z.
    pub workgroup_size: [u32; 3],
    /// Size of all variables in the address space `workgroup`, in bytes.
    pub workgroup_bytes: u32,
    /// Size of [`Memory::Frame`] of one invocation, in bytes.
    pub frame_bytes: u32,
}

/// Global variable in the address space `storage` or `uniform`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    pub group: u32,
    pub binding: u32,
    pub name: String,
    /// True for `storage` with `read_write` access.
    pub writable: bool,
    pub uniform: bool,
    /// Minimum size of the memory, in bytes, with one element of a runtime-sized array.
    pub min_bytes: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Definition {
    /// Bits of a constant, zero-extended; a bool is 0 or 1.
    Constant(u64),
    Builtin(Builtin),
    Unary(Unary, Value),
    Binary(Binary, Value, Value),
    Compare(Compare, Value, Value),
    Select {
        condition: Value,
        accept: Value,
        reject: Value,
    },
    Convert(Convert, Value),
    Function(Function, Vec<Value>),
    /// Number of elements of a runtime-sized array at the end of a binding, as `u32`: (bytes of the
    /// binding − `offset`) / `stride`.
    Length {
        binding: usize,
        offset: u32,
        stride: u32,
    },
    /// Load from memory, in the order of statements with stores.
    Load(Access),
    /// Value of a variable at the `Let`.
    Get(Variable),
    /// Result of a statement: an atomic operation, a block, an `if`, or the parameter of a loop.
    Result,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Index in [`Kernel::bindings`].
    Binding(usize),
    /// Memory of a workgroup, initially zero.
    Workgroup,
    /// Memory of one invocation, with unspecified initial bytes.
    Frame,
}

/// Format of a scalar in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `i32`, `u32` or, outside bindings, a bool as 0 or 1.
    Word,
    /// `f16`, two bytes; as a value an `f32`. `legalize` replaces it by `Half`.
    F16,
    /// Two bytes; as a value an `i32`, zero-extended.
    Half,
    /// Byte of a binding, for loads only; as a value an `i32`, zero-extended.
    Byte,
    F32,
    /// `i64` or `u64`.
    Long,
    F64,
}

/// Location of a scalar in memory: byte `index · scale + offset`, `index` as `u32`.
///
/// Lowering proves that the scalar is inside the memory if `guard` holds. With a false guard, a
/// load gives zero and a store has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Access {
    pub memory: Memory,
    pub format: Format,
    pub index: Option<Value>,
    pub scale: u32,
    pub offset: u32,
    pub guard: Option<Value>,
}

/// Atomic read-modify-write. `result` is the old value, or 0 for a false guard.
#[derive(Debug, Clone, PartialEq)]
pub struct Atomic {
    pub operation: AtomicOperation,
    pub access: Access,
    /// Zero for `Load`.
    pub operand: Value,
    pub expected: Option<Value>,
    pub result: Value,
}

/// Merge of two values after an `if`. An arm that diverts has no value.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    pub result: Value,
    pub accept: Option<Value>,
    pub reject: Option<Value>,
}

/// Statement of a body. Statements run in order; `Break` and `Repeat` end a body.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// Evaluates a value. Each value except constants and results has exactly one `Let`, before its
    /// uses.
    Let(Value),
    Set(Variable, Value),
    Store(Access, Value),
    Atomic(Atomic),
    If {
        condition: Value,
        accept: Vec<Statement>,
        reject: Vec<Statement>,
        merges: Vec<Merge>,
    },
    /// Runs `body`; `Break` with the label jumps to its end. `results` take the values of `Break`,
    /// or the values `ending` at the end of the body.
    Block {
        label: Label,
        body: Vec<Statement>,
        results: Vec<Value>,
        ending: Vec<Value>,
    },
    /// Runs `body`; `Repeat` with the label runs the body again. A body always ends in `Repeat`, or
    /// in `Break` with the label of an outer block. `parameters` take the values `initial`, then
    /// the values of `Repeat`.
    Loop {
        label: Label,
        body: Vec<Statement>,
        parameters: Vec<Value>,
        initial: Vec<Value>,
        /// Line of the source, from 1, or 0.
        line: u32,
    },
    Break {
        label: Label,
        values: Vec<Value>,
    },
    Repeat {
        label: Label,
        values: Vec<Value>,
    },
    /// Waits for all invocations of the workgroup, and makes their earlier writes visible.
    Barrier,
}

impl Type {
    /// Size of a value in a register, in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            Self::Bool | Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }
}

impl Format {
    pub fn bytes(self) -> u32 {
        match self {
            Self::Byte => 1,
            Self::F16 | Self::Half => 2,
            Self::Word | Self::F32 => 4,
            Self::Long | Self::F64 => 8,
        }
    }
}

impl Kernel {
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.0 as usize].0
    }

    pub fn definition(&self, value: Value) -> &Definition {
        &self.values[value.0 as usize].1
    }

    pub fn add(&mut self, ty: Type, definition: Definition) -> Value {
        self.values.push((ty, definition));
        Value(self.values.len() as u32 - 1)
    }

    pub fn add_label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    pub fn add_variable(&mut self, ty: Type) -> Variable {
        self.variables.push(ty);
        Variable(self.variables.len() as u32 - 1)
    }
}

impl Definition {
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        match self {
            Self::Constant(_) | Self::Builtin(_) | Self::Length { .. } | Self::Get(_) | Self::Result => {}
            Self::Unary(_, a) | Self::Convert(_, a) => f(*a),
            Self::Binary(_, a, b) | Self::Compare(_, a, b) => [*a, *b].into_iter().for_each(f),
            Self::Select { condition, accept, reject } => [*condition, *accept, *reject].into_iter().for_each(f),
            Self::Function(_, operands) => operands.iter().copied().for_each(f),
            Self::Load(access) => access.for_each_operand(f),
        }
    }

    pub fn map_operands(&mut self, mut f: impl FnMut(Value) -> Value) {
        match self {
            Self::Constant(_) | Self::Builtin(_) | Self::Length { .. } | Self::Get(_) | Self::Result => {}
            Self::Unary(_, a) | Self::Convert(_, a) => *a = f(*a),
            Self::Binary(_, a, b) | Self::Compare(_, a, b) => (*a, *b) = (f(*a), f(*b)),
            Self::Select { condition, accept, reject } => {
                (*condition, *accept, *reject) = (f(*condition), f(*accept), f(*reject));
            }
            Self::Function(_, operands) => operands.iter_mut().for_each(|operand| *operand = f(*operand)),
            Self::Load(access) => access.map_operands(f),
        }
    }
}

impl Access {
    pub fn for_each_operand(&self, f: impl FnMut(Value)) {
        self.index.into_iter().chain(self.guard).for_each(f);
    }

    pub fn map_operands(&mut self, mut f: impl FnMut(Value) -> Value) {
        self.index = self.index.map(&mut f);
        self.guard = self.guard.map(f);
    }
}

impl Statement {
    /// True if control never reaches the next statement.
    pub fn diverts(&self) -> bool {
        match self {
            Self::Break { .. } | Self::Repeat { .. } | Self::Loop { .. } => true,
            Self::If { accept, reject, .. } => diverts(accept) && diverts(reject),
            _ => false,
        }
    }
}

/// True if control never reaches the end of a body.
pub fn diverts(body: &[Statement]) -> bool {
    body.last().is_some_and(Statement::diverts)
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}
