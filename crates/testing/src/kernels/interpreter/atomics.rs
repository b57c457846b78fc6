use naga::{AtomicFunction, BinaryOperator};

use super::scalar::{self, ScalarValue};

/// Value after an atomic operation; `None` if unchanged. `expected` is the operand of a
/// compare-exchange.
pub(super) fn update(
    function: AtomicFunction,
    old: ScalarValue,
    operand: ScalarValue,
    expected: Option<ScalarValue>,
) -> Result<Option<ScalarValue>, String> {
    Ok(match function {
        AtomicFunction::Add => Some(scalar::add(old, operand)?),
        AtomicFunction::Subtract => Some(scalar::subtract(old, operand)?),
        AtomicFunction::And => Some(scalar::binary(BinaryOperator::And, old, operand)?),
        AtomicFunction::ExclusiveOr => Some(scalar::binary(BinaryOperator::ExclusiveOr, old, operand)?),
        AtomicFunction::InclusiveOr => Some(scalar::binary(BinaryOperator::InclusiveOr, old, operand)?),
        AtomicFunction::Min => Some(scalar::min(old, operand)?),
        AtomicFunction::Max => Some(scalar::max(old, operand)?),
        AtomicFunction::Exchange { .. } => match expected {
            Some(expected) if expected != old => None,
            _ => Some(operand),
        },
    })
}
