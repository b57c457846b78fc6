//! [`ArrayKind`]: what an array is to a program.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// What an array is to a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ArrayKind {
    /// Cut over the ranks.
    Global,
    /// Of this rank alone.
    Local,
    /// Of this rank alone, and growing.
    Growable,
}

impl Display for ArrayKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Global => "global",
            Self::Local => "local",
            Self::Growable => "growable",
        })
    }
}
