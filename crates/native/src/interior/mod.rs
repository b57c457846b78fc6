//! The interior of a row: an interval of x in which comparisons of positions have known results.
//!
//! Kernels compare affine values with bounds that are the same for a whole row: the ends of domains
//! and of memory. Such a comparison holds in an interval of x. [`Interior::find`] assumes all of them
//! at once and simplifies the kernel. The generated function evaluates the [`Condition`]s once a row,
//! and runs the simplified kernel where they hold.

mod needed;
mod pass;
mod rules;
mod tail;

use std::collections::HashSet;

use crate::ir::{Kernel, Value};
use crate::shape::Shape;

pub use tail::Tail;

/// A kernel as it is where all conditions hold.
#[derive(Debug, Clone)]
pub struct Interior {
    /// The simplified kernel; values have the indices of the whole kernel.
    pub kernel: Kernel,
    /// For each value: [`Shape::Uniform`] if it is the same in the row, [`Shape::Affine`] if it grows
    /// by a step from each invocation of the row to the next, wrapping.
    pub shapes: Vec<Option<Shape>>,
    /// The values with a shape, each after its operands.
    pub values: Vec<Value>,
    pub conditions: Vec<Condition>,
    /// Affine indices of accesses, which the conditions keep from wrapping.
    pub indices: HashSet<Value>,
    /// Bindings and indices of accesses that are in range under the path of a condition alone.
    pub conditional: HashSet<(usize, Value)>,
    pub tail: Option<Tail>,
}

/// An assumption of the simplified kernel.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Condition {
    pub test: Test,
    /// Values that are the same in the row. The assumption is needed where each equals its bool.
    pub path: Vec<(Value, bool)>,
}

/// What an assumption says of values in the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Test {
    /// A bool that is the same in the row.
    Is { value: Value, expected: bool },
    /// An affine value lies between bounds, inclusive, without wrapping in between.
    Within { value: Value, is_signed: bool, low: Option<Bound>, high: Option<Bound> },
    /// An affine value differs from a value that is the same in the row.
    Differs { value: Value, other: Value },
}

/// A value that is the same in the row, plus −1, 0 or 1, in wide arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bound {
    pub value: Value,
    pub plus: i64,
}

impl Interior {
    /// Simplifies a kernel in single-assignment form; none where nothing depends on x alone.
    pub fn find(kernel: &Kernel) -> Option<Self> {
        let interior = pass::simplify(kernel);
        (!interior.conditions.is_empty()).then_some(interior)
    }

    pub fn shape(&self, value: Value) -> Option<Shape> {
        self.shapes.get(value.0 as usize).copied().flatten()
    }
}
