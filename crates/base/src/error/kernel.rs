/// Errors of WGSL kernels and their bindings.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The WGSL text does not compile.
    #[error("{file}:{line}:{column}: {message}\n{excerpt}")]
    Wgsl {
        /// Path of the user's file, or name of the kernel.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// Compiler message.
        message: String,
        /// The line with the column marked, and notes.
        excerpt: String,
    },
    /// The WGSL that Zippy adds to a kernel does not compile: a bug of Zippy.
    #[error(
        "kernel {kernel}: the code that Zippy adds to the kernel does not compile, which is a bug of Zippy and not a \
         mistake of the kernel: {message}\n{excerpt}"
    )]
    Generated {
        /// Kernel name.
        kernel: String,
        /// Compiler message.
        message: String,
        /// The generated line.
        excerpt: String,
    },
    /// The file of a kernel cannot be read.
    #[error("kernel {kernel}: {message}")]
    File {
        /// Kernel name.
        kernel: String,
        /// Message of the operating system.
        message: String,
    },
    /// The shader does not declare or does not use the name of a section or a parameter.
    #[error("kernel {kernel}: {problem}; the shader declares {declared}")]
    Name {
        /// Kernel name.
        kernel: String,
        /// The name, and the mistake.
        problem: String,
        /// Shader declarations.
        declared: String,
    },
    /// An array or a parameter of the shader has no value.
    #[error("kernel {kernel}: {missing} not given; the shader declares {declared}")]
    Missing {
        /// Kernel name.
        kernel: String,
        /// The names, and the call that gives them values.
        missing: String,
        /// Shader declarations.
        declared: String,
    },
    /// A Rust type differs from the WGSL type of the same name.
    #[error("kernel {kernel}: {problem}; the shader declares {declared}")]
    Type {
        /// Kernel name.
        kernel: String,
        /// The difference.
        problem: String,
        /// Shader declarations.
        declared: String,
    },
    /// The binding of a section does not match the shader or another section.
    #[error("kernel {kernel}: {problem}")]
    Binding {
        /// Kernel name.
        kernel: String,
        /// The mismatch, and a binding that matches.
        problem: String,
    },
    /// The entry point is ambiguous or missing.
    #[error("kernel {kernel}: {problem}; its @compute functions are {entries}")]
    Entry {
        /// Kernel name.
        kernel: String,
        /// Description of the mistake.
        problem: String,
        /// Names of the `@compute` functions.
        entries: String,
    },
    /// The kernel exceeds a limit of the device.
    #[error("kernel {kernel}: {problem}")]
    Limit {
        /// Kernel name.
        kernel: String,
        /// The limit, and a remedy.
        problem: String,
    },
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}
