//! [`MergeRule`]: replacement or an operator, for cells that arrive at a destination.

use crate::device::Operator;

/// Merge rule for cells that arrive at a destination.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum MergeRule {
    /// The arriving value replaces the cell.
    Replace,
    /// The operator combines the arriving value with the cell.
    Combine(Operator),
}

impl MergeRule {
    /// Operator of the rule; `None` for replacement.
    pub(super) fn operator(&self) -> Option<&Operator> {
        match self {
            Self::Replace => None,
            Self::Combine(operator) => Some(operator),
        }
    }
}
