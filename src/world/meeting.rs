//! [`Meeting`]: how arriving data meets what is there.

use super::Operator;

/// How arriving data meets what is there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Meeting {
    /// It replaces it.
    Replace,
    /// It is combined with it.
    Combine(Operator),
}

impl Meeting {
    /// What it is combined by.
    pub fn operator(&self) -> Option<&Operator> {
        match self {
            Self::Replace => None,
            Self::Combine(operator) => Some(operator),
        }
    }
}
