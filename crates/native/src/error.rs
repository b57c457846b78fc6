use crate::lower::Unsupported;

/// Error of the compilation or the run of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The kernel has a construct outside the language of native kernels.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The code generator or the system refused the code.
    #[error("no machine code for this processor: {0}")]
    Generator(String),
    /// An override has no value, or an invalid one.
    #[error("overrides: {0}")]
    Overrides(String),
    /// Too much memory of the invocations that a thread runs concurrently, in bytes.
    #[error(
        "private and workgroup memory of a thread's invocations have {bytes} bytes; {most} is the limit: \
         use smaller arrays, or arrays in storage memory"
    )]
    #[allow(missing_docs, reason = "in the text")]
    Memory { bytes: usize, most: usize },
    /// Too much stack for the values of an invocation, in bytes.
    #[error(
        "the values of an invocation need {bytes} bytes of a thread's stack; {most} is the limit: \
         use smaller arrays, or keep them in workgroup or storage memory"
    )]
    #[allow(missing_docs, reason = "in the text")]
    Stack { bytes: usize, most: usize },
    /// The memory of a binding does not match its declaration: missing, too small, misaligned or
    /// overlapping.
    #[error("binding {binding} of group {group} (`{name}`): {problem}")]
    #[allow(missing_docs, reason = "in the text")]
    Binding { group: u32, binding: u32, name: String, problem: String },
    /// A [`StopRequest`](crate::StopRequest) ended the run, in a loop at this line of the source,
    /// or at line 0 without a source or a loop.
    #[error("stopped{}", if *line == 0 { String::new() } else { format!(" in the loop at line {line}") })]
    #[allow(missing_docs, reason = "in the text")]
    Stopped { line: u32 },
}
