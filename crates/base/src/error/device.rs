/// Errors of the GPU, its memory or its driver.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// A setting requires a GPU driver, and the machine has none.
    #[error(
        "no GPU adapter was found, and {setting} requires a driver. Unset it for native kernels on the host, or provide a \
         Vulkan, Metal or DX12 adapter; without a GPU install Mesa's software Vulkan (Debian/Ubuntu: apt install \
         mesa-vulkan-drivers; Fedora: dnf install mesa-vulkan-drivers; Arch: pacman -S vulkan-swrast) and try again"
    )]
    NoAdapter {
        /// The environment variable that requires a driver, with its value.
        setting: &'static str,
    },
    /// No adapter matches `ZIPPY_ADAPTER` or the adapter option.
    #[error("no adapter matches {asked:?} (a part of a name, or a number in this list); there are: {available}")]
    UnknownAdapter {
        /// The requested adapter.
        asked: String,
        /// The adapters of the machine, numbered.
        available: String,
    },
    /// An environment variable has an invalid value.
    #[error("{name}={value:?} is not understood; it should be {expected}")]
    Setting {
        /// Variable name.
        name: String,
        /// Value of the variable.
        value: String,
        /// Description of valid values.
        expected: String,
    },
    /// The driver refused to open the adapter.
    #[error("adapter {adapter} could not be opened: {message}")]
    Open {
        /// Adapter name.
        adapter: String,
        /// Driver message.
        message: String,
    },
    /// The device is lost; every further use of it fails.
    #[error("the device {adapter} was lost: {message}")]
    Lost {
        /// Adapter name.
        adapter: String,
        /// Driver message.
        message: String,
    },
    /// A device allocation failed.
    #[error("out of memory on {adapter} in {what} ({bytes_now} bytes are allocated on it by this rank)")]
    OutOfMemory {
        /// Adapter name.
        adapter: String,
        /// The operation that failed.
        what: String,
        /// Bytes that this rank has allocated on the device.
        bytes_now: u64,
    },
    /// A buffer would exceed the memory limit of all buffers.
    #[error("{what} needs {bytes} bytes, but {taken} of the {limit} bytes for buffers on {adapter} are in use")]
    NoRoom {
        /// Adapter name.
        adapter: String,
        /// The operation that failed.
        what: String,
        /// Size of the buffer, in bytes.
        bytes: u64,
        /// Bytes of existing buffers.
        taken: u64,
        /// Memory limit of all buffers, in bytes: nine tenths of the machine's memory, a part of
        /// this, or `ZIPPY_MEMORY_LIMIT`.
        limit: u64,
    },
    /// A buffer would exceed the largest buffer size of the adapter.
    #[error("{what} needs {bytes} bytes, but a buffer on {adapter} has at most {limit}; use more chunks")]
    TooLarge {
        /// Adapter name.
        adapter: String,
        /// The operation that failed.
        what: String,
        /// Size of the buffer, in bytes.
        bytes: u64,
        /// Largest size of a buffer, in bytes.
        limit: u64,
    },
    /// wgpu refused a call.
    #[error("{what} was refused by the graphics interface: {message}")]
    Refused {
        /// The operation that failed.
        what: String,
        /// wgpu message.
        message: String,
    },
    /// A native kernel reached its time limit: nine tenths of the run's timeout.
    #[error(
        "{kernel} has run for {seconds} s, nine tenths of the run's timeout, and was stopped{}; raise ZIPPY_TIMEOUT_SECS \
         for a longer limit",
        in_loop(*.line)
    )]
    KernelStopped {
        /// Kernel name.
        kernel: String,
        /// Line of the loop in which the kernel was stopped, from 1; 0 if it was in no loop.
        line: u32,
        /// Time limit, in seconds.
        seconds: f64,
    },
    /// The adapter lacks an optional feature.
    #[error("{what} needs {feature}, which the adapter {adapter} does not have")]
    MissingFeature {
        /// Adapter name.
        adapter: String,
        /// The operation that failed.
        what: String,
        /// Feature name.
        feature: String,
    },
    /// A box is outside of its buffer or payload, or two boxes do not match.
    #[error("{what}: {message}")]
    BadBox {
        /// Operation.
        what: String,
        /// Description of the mistake.
        message: String,
    },
    /// An operator cannot be used on this element type.
    #[error("operator {operator} cannot combine elements of type {element}: {message}")]
    Operator {
        /// Operator name.
        operator: String,
        /// Element type.
        element: String,
        /// Reason, or the element types that are possible.
        message: String,
    },
    /// A user's operator is not valid WGSL.
    #[error("operator {operator}, line {line}, column {column}: {message}")]
    OperatorSource {
        /// Operator name.
        operator: String,
        /// Line in the user's text, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
        /// Compiler message.
        message: String,
    },
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}

fn in_loop(line: u32) -> String {
    if line == 0 { String::new() } else { format!(" in the loop at line {line}") }
}
