//! Syntax tree of a random kernel.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarType {
    Bool,
    I32,
    U32,
    F32,
    I64,
    U64,
    F64,
    F16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Scalar(ScalarType),
    Vector(usize, ScalarType),
    Matrix {
        columns: usize,
        rows: usize,
        scalar: ScalarType,
    },
    Array(Box<Type>, Option<usize>),
    /// Index in [`Program::structs`].
    Struct(usize),
    Atomic(ScalarType),
    Pointer(&'static str, Box<Type>),
    /// Result of `modf`, `frexp` or a compare-exchange, or none.
    Unnamed,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expression {
    pub ty: Type,
    pub form: Form,
    pub operands: Vec<Expression>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    Literal(String),
    /// Name of a variable, or other text without a constant value.
    Name(String),
    Call(String),
    UserCall(String),
    Prefix(&'static str),
    Infix(&'static str),
    /// `a[i]`
    Index,
    /// `a.name`
    Member(String),
}

pub(super) type Block = Vec<Statement>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Statement {
    Let {
        name: String,
        value: Expression,
    },
    Var {
        name: String,
        ty: Type,
        value: Option<Expression>,
    },
    /// Assignment by an operator such as `=` or `+=`.
    Assign {
        target: Expression,
        operator: &'static str,
        value: Expression,
    },
    /// `++` or `--`
    Step {
        target: Expression,
        operator: &'static str,
    },
    Call(Expression),
    /// `_ = value;`
    Discard(Expression),
    If {
        condition: Expression,
        accept: Block,
        reject: Block,
    },
    Switch {
        selector: Expression,
        cases: Vec<SwitchCase>,
    },
    For {
        counter: String,
        ty: Type,
        start: Expression,
        condition: Expression,
        update: String,
        body: Block,
    },
    While {
        condition: Expression,
        body: Block,
    },
    Loop {
        body: Block,
        continuing: Block,
        break_if: Option<Expression>,
    },
    Block(Block),
    Break,
    Continue,
    Return(Option<Expression>),
    /// A built-in function such as `workgroupBarrier`.
    Barrier(&'static str),
}

/// The selectors are literals or `default`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SwitchCase {
    pub selectors: Vec<String>,
    pub body: Block,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Struct {
    pub members: Vec<(String, Type)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Global {
    /// Text before the name: `var<private>`, `const`, or a binding with its attributes.
    pub declaration: String,
    pub name: String,
    pub ty: Type,
    pub value: Option<Expression>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Function {
    pub name: String,
    pub parameters: Vec<(String, Type)>,
    pub result: Option<Type>,
    pub body: Block,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Program {
    pub enables_f16: bool,
    pub structs: Vec<Struct>,
    pub globals: Vec<Global>,
    pub functions: Vec<Function>,
    pub workgroup_size: [u32; 3],
    pub main: Block,
}

impl ScalarType {
    pub(super) fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64 | Self::F16)
    }

    pub(super) fn is_integer(self) -> bool {
        matches!(self, Self::I32 | Self::U32 | Self::I64 | Self::U64)
    }

    pub(super) fn is_signed(self) -> bool {
        !matches!(self, Self::U32 | Self::U64 | Self::Bool)
    }
}

impl Type {
    pub(super) const BOOL: Self = Self::Scalar(ScalarType::Bool);
    pub(super) const I32: Self = Self::Scalar(ScalarType::I32);
    pub(super) const U32: Self = Self::Scalar(ScalarType::U32);
    pub(super) const F32: Self = Self::Scalar(ScalarType::F32);

    pub(super) fn scalar(&self) -> Option<ScalarType> {
        match self {
            Self::Scalar(scalar) | Self::Vector(_, scalar) | Self::Matrix { scalar, .. } => Some(*scalar),
            _ => None,
        }
    }

    pub(super) fn with(&self, scalar: ScalarType) -> Self {
        match *self {
            Self::Vector(size, _) => Self::Vector(size, scalar),
            Self::Matrix { columns, rows, .. } => Self::Matrix { columns, rows, scalar },
            _ => Self::Scalar(scalar),
        }
    }

    pub(super) fn is_vector(&self) -> bool {
        matches!(self, Self::Vector(..))
    }

    pub(super) fn is_numeric(&self) -> bool {
        matches!(self, Self::Scalar(scalar) | Self::Vector(_, scalar) if *scalar != ScalarType::Bool)
    }
}

impl Expression {
    pub(super) fn name(ty: Type, name: impl Into<String>) -> Self {
        Self { ty, form: Form::Name(name.into()), operands: Vec::new() }
    }

    pub(super) fn literal(ty: Type, text: impl Into<String>) -> Self {
        Self { ty, form: Form::Literal(text.into()), operands: Vec::new() }
    }

    pub(super) fn u32(value: usize) -> Self {
        Self::literal(Type::U32, format!("{value}u"))
    }

    pub(super) fn call(ty: Type, name: impl Into<String>, operands: Vec<Self>) -> Self {
        Self { ty, form: Form::Call(name.into()), operands }
    }

    pub(super) fn infix(ty: Type, operator: &'static str, left: Self, right: Self) -> Self {
        Self { ty, form: Form::Infix(operator), operands: vec![left, right] }
    }

    pub(super) fn prefix(ty: Type, operator: &'static str, operand: Self) -> Self {
        Self { ty, form: Form::Prefix(operator), operands: vec![operand] }
    }

    pub(super) fn member(ty: Type, base: Self, name: impl Into<String>) -> Self {
        Self { ty, form: Form::Member(name.into()), operands: vec![base] }
    }

    pub(super) fn index(ty: Type, base: Self, index: Self) -> Self {
        Self { ty, form: Form::Index, operands: vec![base, index] }
    }

    /// `T()`
    pub(super) fn zero(ty: &Type) -> Self {
        Self::call(ty.clone(), ty.to_string(), Vec::new())
    }

    /// True where the front end evaluates the expression.
    pub(super) fn is_constant(&self) -> bool {
        !matches!(self.form, Form::Name(_) | Form::UserCall(_)) && self.operands.iter().all(Self::is_constant)
    }
}
