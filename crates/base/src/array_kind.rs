use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// Kind of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ArrayKind {
    /// Distributed over the ranks.
    Global,
    /// On this rank only.
    Local,
    /// On this rank only, with a variable length.
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
