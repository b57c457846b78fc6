//! Interior of a row: an interval of x in which comparisons of positions have known results.
//!
//! Kernels compare affine values with bounds that are uniform along a row: the ends of domains and
//! of memory. Such a comparison holds in an interval of x. [`Interior::find`] assumes that all
//! comparisons hold, and simplifies the kernel. The generated function evaluates the
//! [`RowCondition`]s once per row, and runs the simplified kernel in the interval in which all
//! conditions hold.

mod expectation;
mod jumps;
mod predict;
mod rules;
mod simplify;
mod tail;
mod unused;

use std::collections::HashSet;

use crate::ir::{Kernel, Value};
use crate::shape::Shape;

pub(crate) use tail::IdleTail;

/// Simplified kernel, and the conditions under which it equals the whole kernel.
#[derive(Debug, Clone)]
pub(crate) struct Interior {
    /// Simplified kernel. Values have the same indices as in the whole kernel.
    pub kernel: Kernel,
    /// Shape of each value along the row, not only in a group: [`Shape::Uniform`],
    /// [`Shape::Affine`] with a wrapping step from each invocation to the next, or `None`.
    pub shapes: Vec<Option<Shape>>,
    /// Values with a shape, each after its operands.
    pub values: Vec<Value>,
    pub conditions: Vec<RowCondition>,
    /// Affine indices of accesses that do not wrap if all conditions hold.
    pub indices: HashSet<Value>,
    /// Bindings and indices of accesses that are in range only on the path of a condition.
    pub conditional: HashSet<(usize, Value)>,
    pub tail: Option<IdleTail>,
}

/// Assumptions about `if` statements with a uniform condition of the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assumptions {
    /// The row has effects.
    Effects,
    /// Additionally, if an arm ends a block early, positions of the row along other axes are inside
    /// of all bounds.
    Positions,
}

/// Assumption of the simplified kernel.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RowCondition {
    pub test: RowTest,
    /// Uniform bools of the row. The assumption applies only if each value equals its bool.
    pub path: Vec<(Value, bool)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RowTest {
    /// A uniform bool has a value.
    Is { value: Value, expected: bool },
    /// An affine value stays between two inclusive bounds, and does not wrap.
    Within { value: Value, is_signed: bool, low: Option<Bound>, high: Option<Bound> },
    /// An affine value differs from a uniform value.
    Differs { value: Value, other: Value },
}

/// Uniform value of the row, plus −1, 0 or 1, in 64-bit arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Bound {
    pub value: Value,
    pub plus: i64,
}

impl Interior {
    /// Interiors of a kernel in single-assignment form, in order of falling numbers of assumptions.
    /// Empty for a kernel without affine values along x.
    pub(crate) fn find_all(kernel: &Kernel) -> Vec<Self> {
        let (inner, has_assumed) = simplify::simplify(kernel, Assumptions::Positions);
        let mut interiors = vec![inner];
        if has_assumed {
            interiors.push(simplify::simplify(kernel, Assumptions::Effects).0);
        }
        interiors.retain(|interior| !interior.conditions.is_empty());
        interiors
    }

    pub(crate) fn shape(&self, value: Value) -> Option<Shape> {
        self.shapes.get(value.0 as usize).copied().flatten()
    }
}
