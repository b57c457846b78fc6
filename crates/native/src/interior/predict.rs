use crate::ir::{Binary, Compare, Definition, Kernel, Type, Unary, Value};

use super::rules::LOW;

/// Maximum number of operations between a bool and the comparisons that it depends on.
const MAX_DEPTH: u32 = 8;

/// Value of a bool for positions above small constants, below all other bounds, and equal to no
/// given value; `None` for a bool with other operands.
pub(super) fn predict(kernel: &Kernel, condition: Value) -> Option<bool> {
    at_depth(kernel, condition, MAX_DEPTH)
}

fn at_depth(kernel: &Kernel, condition: Value, depth: u32) -> Option<bool> {
    let of = |value: Value| if depth == 0 { None } else { at_depth(kernel, value, depth - 1) };
    let is_low = |value: Value| matches!(kernel.definition(value), Definition::Constant(bits) if *bits <= LOW);
    match *kernel.definition(condition) {
        Definition::Constant(bit) => Some(bit == 1),
        Definition::Unary(Unary::Not, a) => of(a).map(|bit| !bit),
        Definition::Binary(operation @ (Binary::And | Binary::Or), a, b) => {
            // False decides `and`, true decides `or`.
            let deciding = operation == Binary::Or;
            match [of(a), of(b)] {
                known if known.contains(&Some(deciding)) => Some(deciding),
                [Some(_), Some(_)] => Some(!deciding),
                _ => None,
            }
        }
        Definition::Compare(comparison, a, b) if kernel.ty(a) == Type::I32 => match comparison {
            Compare::Equal => Some(false),
            Compare::NotEqual => Some(true),
            _ => Some(!is_low(b)),
        },
        _ => None,
    }
}
