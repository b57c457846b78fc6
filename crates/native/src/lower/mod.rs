//! Lowering of an entry point of a validated naga module to an [`ir::Kernel`].
//!
//! * Functions are inlined; a `return` becomes a break of a block around the inlined body.
//! * Vectors, matrices, structs and arrays are split into scalars in the order of their members.
//! * A pointer becomes a `location::Location`: a memory or a run of variables, an offset, and index
//!   terms.
//! * A value of type `f16` is an `f32`. Operators round each result to `f16`; built-in functions
//!   compute in `f32` and round their result once.

mod arithmetic;
mod bounds;
mod builder;
mod call;
mod entry;
mod expression;
mod facts;
pub(crate) mod fold;
mod frame;
mod hash;
mod known_values;
mod layout;
mod lines;
mod location;
mod loops;
mod math;
mod matrix;
mod operator;
mod prune;
mod statement;
mod switch;
mod unroll;
mod vectors;

use std::rc::Rc;

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{Arena, Expression, Handle, Module, TypeInner};

use crate::ir::{self, Kernel, Value, Variable};
use builder::Builder;
use facts::{FunctionFacts, FunctionId, IndexedArrays, ModuleFacts};
use frame::FrameAllocator;
use layout::Layouts;
use lines::Lines;
use location::Location;

/// Maximum number of statements and expressions of a kernel after inlining.
const MAX_STATEMENTS: u32 = 200_000;

/// Maximum number of scalar values of a kernel before the removal of unused values.
const MAX_VALUES: usize = 2_000_000;

/// Number of attempts to lower a kernel; the last attempt puts all its arrays in the frame.
const MAX_ATTEMPTS: u32 = 4;

/// Maximum nesting depth of bodies of a lowered kernel.
const MAX_DEPTH: usize = 500;

/// Error for a construct that native kernels do not support.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("native kernels do not support {construct}{}", at_line(*line))]
pub struct Unsupported {
    /// Noun phrase for the construct.
    pub construct: Box<str>,
    /// Line of the source, from 1; 0 if it is unknown.
    pub line: u32,
}

fn at_line(line: u32) -> String {
    match line {
        0 => String::new(),
        line => format!(" (line {line})"),
    }
}

/// Lowers the compute entry point `entry` of a module that naga's validator accepted.
///
/// Lines of loops and errors are 0, in contrast to [`lower_with_source`].
///
/// # Errors
/// `module` has unresolved overrides, the kernel has a construct outside the language of native
/// kernels, or it is too large after inlining.
pub fn lower(module: &Module, info: &ModuleInfo, entry: &str) -> Result<Kernel, Unsupported> {
    lower_with_source(module, info, entry, "")
}

/// [`lower`] with line numbers from `source`, the text of the module.
///
/// # Errors
/// As for [`lower`].
pub fn lower_with_source(module: &Module, info: &ModuleInfo, entry: &str, source: &str) -> Result<Kernel, Unsupported> {
    lower_with(module, info, entry, LoweringOptions { source, ..LoweringOptions::default() })
}

/// Options of lowering.
#[derive(Debug, Clone, Copy)]
pub struct LoweringOptions<'a> {
    /// Text of the module, for line numbers; may be empty.
    pub source: &'a str,
    /// True to unroll loops with few, constant iterations. Results have the same bits.
    pub unroll: bool,
}

impl Default for LoweringOptions<'_> {
    fn default() -> Self {
        Self { source: "", unroll: true }
    }
}

/// [`lower`] with `options`.
///
/// # Errors
/// As for [`lower`].
pub fn lower_with(
    module: &Module,
    info: &ModuleInfo,
    entry: &str,
    options: LoweringOptions<'_>,
) -> Result<Kernel, Unsupported> {
    let Some(index) = module.entry_points.iter().position(|point| point.name == entry) else {
        return Err(Unsupported { construct: format!("a missing entry point `{entry}`").into(), line: 0 });
    };
    let mut indexed = IndexedArrays::default();
    for attempt in 0..=MAX_ATTEMPTS {
        indexed.all = attempt == MAX_ATTEMPTS;
        let lowering = Lowering::new(module, info, index, options, indexed.clone());
        let (kernel, found) = lowering.lower_entry_point()?;
        if found.is_empty() {
            return Ok(kernel);
        }
        indexed.extend(found);
    }
    Err(Unsupported { construct: "this use of arrays".into(), line: 0 })
}

/// Value of an expression.
#[derive(Debug, Clone)]
enum Operand {
    /// Scalars of a value, in the order of members.
    Values(Rc<[Value]>),
    Pointer(Rc<Location>),
}

#[derive(Clone, Copy)]
enum ExpressionTypes<'m> {
    Function(&'m FunctionInfo),
    Module(&'m ModuleInfo),
}

/// Inlined call of a function.
struct InlinedCall<'m> {
    id: FunctionId,
    name: &'m str,
    expressions: &'m Arena<Expression>,
    types: ExpressionTypes<'m>,
    facts: FunctionFacts,
    arguments: Vec<Operand>,
    locals: Vec<Rc<Location>>,
    operands: Vec<Option<Operand>>,
    /// Frame copies of arrays with dynamic indices.
    copies: Vec<(Handle<Expression>, Rc<Location>)>,
    results: Vec<Variable>,
    /// Result of a function with its only `return` at the end.
    returned: Option<Rc<[Value]>>,
}

struct Lowering<'m> {
    options: LoweringOptions<'m>,
    module: &'m Module,
    info: &'m ModuleInfo,
    entry: usize,
    lines: Lines,
    layouts: Layouts<'m>,
    facts: ModuleFacts,
    indexed: IndexedArrays,
    /// Arrays with dynamic indices that are not in `indexed`, for the next attempt.
    found: IndexedArrays,
    /// Product of the iterations of the unrolled loops around the current statement.
    unrolled: u32,
    builder: Builder,
    frame: FrameAllocator,
    globals: Vec<Option<Rc<Location>>>,
    instance: InlinedCall<'m>,
    /// Bridges of the loops around the current statement, in their continuing blocks.
    continuing_values: Vec<loops::ContinuingValues>,
    /// Values of constant global expressions.
    global_operands: Vec<Option<Operand>>,
    statements: u32,
    line: u32,
}

impl<'m> Lowering<'m> {
    fn new(
        module: &'m Module,
        info: &'m ModuleInfo,
        entry: usize,
        options: LoweringOptions<'m>,
        indexed: IndexedArrays,
    ) -> Self {
        let point = &module.entry_points[entry];
        let facts = ModuleFacts::new(module, entry);
        let instance = InlinedCall {
            id: None,
            name: &point.name,
            expressions: &point.function.expressions,
            types: ExpressionTypes::Function(info.get_entry_point(entry)),
            facts: facts.entry,
            arguments: Vec::new(),
            locals: Vec::new(),
            operands: vec![None; point.function.expressions.len()],
            copies: Vec::new(),
            results: Vec::new(),
            returned: None,
        };
        Self {
            options,
            module,
            info,
            entry,
            lines: Lines::new(options.source),
            layouts: Layouts::new(module),
            facts,
            indexed,
            found: IndexedArrays::default(),
            unrolled: 1,
            builder: Builder::default(),
            frame: FrameAllocator::new(has_wide_scalars(module)),
            globals: vec![None; module.global_variables.len()],
            instance,
            continuing_values: Vec::new(),
            global_operands: vec![None; module.global_expressions.len()],
            statements: 0,
            line: 0,
        }
    }

    fn unsupported<T>(&self, construct: impl Into<Box<str>>) -> Result<T, Unsupported> {
        Err(Unsupported { construct: construct.into(), line: self.line })
    }

    /// Error for a module that a validator would have rejected.
    fn invalid<T>(&self, construct: &str) -> Result<T, Unsupported> {
        self.unsupported(format!("an invalid module: {construct}"))
    }

    /// Counts a statement or expression towards the limits of the kernel.
    fn charge(&mut self) -> Result<(), Unsupported> {
        self.statements += 1;
        if self.statements > MAX_STATEMENTS || self.builder.kernel.values.len() > MAX_VALUES {
            return self.unsupported(format!(
                "kernels of more than {MAX_STATEMENTS} statements after inlining, reached in function `{}`",
                self.instance.name
            ));
        }
        if self.builder.depth() > MAX_DEPTH {
            return self.unsupported(format!(
                "more than {MAX_DEPTH} nested blocks after inlining, reached in function `{}`",
                self.instance.name
            ));
        }
        Ok(())
    }

    fn type_of(&self, expression: Handle<Expression>) -> &'m TypeInner {
        let resolution = match self.instance.types {
            ExpressionTypes::Function(info) => &info[expression].ty,
            ExpressionTypes::Module(info) => &info[expression],
        };
        resolution.inner_with(&self.module.types)
    }

    fn finish(self) -> (Kernel, IndexedArrays) {
        let (mut kernel, prologue, body) = self.builder.finish();
        kernel.body = prologue;
        kernel.body.extend(body);
        self.frame.finish(&mut kernel);
        prune::prune(&mut kernel);
        (kernel, self.found)
    }
}

fn value_type(scalar: naga::Scalar) -> Option<ir::Type> {
    use naga::ScalarKind::{Bool, Float, Sint, Uint};
    match (scalar.kind, scalar.width) {
        (Bool, _) => Some(ir::Type::Bool),
        (Sint | Uint, 4) => Some(ir::Type::I32),
        (Sint | Uint, 8) => Some(ir::Type::I64),
        (Float, 2 | 4) => Some(ir::Type::F32),
        (Float, 8) => Some(ir::Type::F64),
        _ => None,
    }
}

fn has_wide_scalars(module: &Module) -> bool {
    module.types.iter().any(|(_, ty)| ty.inner.scalar().is_some_and(|scalar| scalar.width == 8))
}
