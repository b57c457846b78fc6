/// A WGSL kernel or its bindings.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The WGSL is wrong.
    #[error("{file}:{line}:{column}: {message}\n{excerpt}")]
    Wgsl {
        /// The user's file, or the kernel's name.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// The line, with the place marked, and notes.
        excerpt: String,
    },
    /// What Zippy adds to a kernel is wrong: a mistake of Zippy's own.
    #[error(
        "kernel {kernel}: what Zippy has added to it does not compile, which is a mistake of Zippy's and not of the \
         kernel's: {message}\n{excerpt}"
    )]
    Generated {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        message: String,
        /// The generated line.
        excerpt: String,
    },
    /// The file of a kernel cannot be read.
    #[error("kernel {kernel}: {message}")]
    File {
        /// The kernel.
        kernel: String,
        /// The system's reason.
        message: String,
    },
    /// A section or a parameter was given under a name that the shader does not declare or does not use.
    #[error("kernel {kernel}: {problem}; the shader declares {declared}")]
    Name {
        /// The kernel.
        kernel: String,
        /// Which name, and what is wrong with it.
        problem: String,
        /// What there is.
        declared: String,
    },
    /// Something that the shader uses was not given.
    #[error("kernel {kernel}: {missing} not given; the shader declares {declared}")]
    Missing {
        /// The kernel.
        kernel: String,
        /// The names, and how to give them.
        missing: String,
        /// What there is.
        declared: String,
    },
    /// A type in Rust and in WGSL differ.
    #[error("kernel {kernel}: {problem}; the shader declares {declared}")]
    Type {
        /// The kernel.
        kernel: String,
        /// What differs.
        problem: String,
        /// What there is.
        declared: String,
    },
    /// A section is bound in a way that does not fit the shader or another section.
    #[error("kernel {kernel}: {problem}")]
    Binding {
        /// The kernel.
        kernel: String,
        /// What does not fit, and what would.
        problem: String,
    },
    /// The entry point is not clear or not there.
    #[error("kernel {kernel}: {problem}; its @compute functions are {entries}")]
    Entry {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        problem: String,
        /// What there is.
        entries: String,
    },
    /// The device cannot run it.
    #[error("kernel {kernel}: {problem}")]
    Limit {
        /// The kernel.
        kernel: String,
        /// Which limit, and what would help.
        problem: String,
    },
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}
