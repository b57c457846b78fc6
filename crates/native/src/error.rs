//! Errors of compiling and running kernels.

use crate::lower::Unsupported;

/// Why a kernel has no machine code, or did not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The kernel uses a part of the language that is not generated.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The code generator or the system refused.
    #[error("no machine code for this processor: {0}")]
    Generator(String),
    /// An override has no value, or one that is not possible.
    #[error("overrides: {0}")]
    Overrides(String),
    /// The memory of the invocations that a thread runs at a time.
    #[error("private and workgroup memory of a thread's invocations have {bytes} bytes; {most} is the limit")]
    Memory { bytes: usize, most: usize },
    /// A binding is missing or too small.
    #[error("binding {binding} of group {group} (`{name}`): {problem}")]
    Binding { group: u32, binding: u32, name: String, problem: String },
    /// The run was stopped, in the loop at this line; 0 where the line is unknown, or no loop ran.
    #[error("stopped{}", if *line == 0 { String::new() } else { format!(" in the loop at line {line}") })]
    Stopped { line: u32 },
}
