/// The GPU, its memory or its driver.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The run needs a driver, and the machine has none.
    #[error(
        "no GPU adapter was found, and {setting} requires a driver. Unset it for native kernels on the host, or provide a \
         Vulkan, Metal or DX12 adapter; without a GPU install Mesa's software Vulkan (Debian/Ubuntu: apt install \
         mesa-vulkan-drivers; Fedora: dnf install mesa-vulkan-drivers; Arch: pacman -S vulkan-swrast) and try again"
    )]
    NoAdapter {
        /// The variable that requires a driver, with its value.
        setting: &'static str,
    },
    /// `ZIPPY_ADAPTER` (or the option of that name) matches nothing.
    #[error("no adapter matches {asked:?} (a part of a name, or a number in this list); there are: {available}")]
    UnknownAdapter {
        /// The requested adapter.
        asked: String,
        /// The adapters present, numbered.
        available: String,
    },
    /// An environment variable holds something else than it should.
    #[error("{name}={value:?} is not understood; it should be {expected}")]
    Setting {
        /// The variable.
        name: String,
        /// Its value.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// The driver refused to open the adapter.
    #[error("adapter {adapter} could not be opened: {message}")]
    Open {
        /// The adapter's name.
        adapter: String,
        /// The driver's reason.
        message: String,
    },
    /// The device is gone; nothing more can be done with it.
    #[error("the device {adapter} was lost: {message}")]
    Lost {
        /// The adapter's name.
        adapter: String,
        /// The driver's reason.
        message: String,
    },
    /// There is not enough memory on the device.
    #[error("out of memory on {adapter} in {what} ({bytes_now} bytes are allocated on it by this rank)")]
    OutOfMemory {
        /// The adapter's name.
        adapter: String,
        /// What was attempted.
        what: String,
        /// Bytes this rank has allocated.
        bytes_now: u64,
    },
    /// More memory than there is for all buffers.
    #[error(
        "{what} needs {bytes} bytes, but {taken} of the {limit} bytes that there are for buffers on {adapter} are taken"
    )]
    NoRoom {
        /// The adapter's name.
        adapter: String,
        /// What was attempted.
        what: String,
        /// Bytes needed.
        bytes: u64,
        /// Bytes that buffers have.
        taken: u64,
        /// Limit of buffers, in bytes: nine tenths of the machine's memory, a part of them, or
        /// `ZIPPY_MEMORY_LIMIT`.
        limit: u64,
    },
    /// More bytes than a buffer can have.
    #[error("{what} needs {bytes} bytes, but a buffer on {adapter} has at most {limit}; use more chunks")]
    TooLarge {
        /// The adapter's name.
        adapter: String,
        /// What was attempted.
        what: String,
        /// Bytes needed.
        bytes: u64,
        /// Bytes possible.
        limit: u64,
    },
    /// wgpu refused a call.
    #[error("{what} was refused by the graphics interface: {message}")]
    Refused {
        /// What was attempted.
        what: String,
        /// The reason given.
        message: String,
    },
    /// A native kernel has reached its time limit, nine tenths of the run's timeout.
    #[error(
        "{kernel} has run for {seconds} s, nine tenths of the run's timeout, and was stopped{}; raise ZIPPY_TIMEOUT_SECS \
         for a longer limit",
        in_loop(*.line)
    )]
    KernelStopped {
        /// The kernel.
        kernel: String,
        /// Line, in the kernel's text, of the loop in which it was stopped, from 1; 0 for no loop.
        line: u32,
        /// Time limit, in seconds.
        seconds: f64,
    },
    /// The adapter lacks an optional feature.
    #[error("{what} needs {feature}, which the adapter {adapter} does not have")]
    MissingFeature {
        /// The adapter's name.
        adapter: String,
        /// What was attempted.
        what: String,
        /// The feature.
        feature: String,
    },
    /// A box does not lie in its buffer or payload, or boxes do not go together.
    #[error("{what}: {message}")]
    BadBox {
        /// The operation.
        what: String,
        /// What is wrong.
        message: String,
    },
    /// An operator cannot be used on this element type.
    #[error("operator {operator} cannot combine elements of type {element}: {message}")]
    Operator {
        /// The operator.
        operator: String,
        /// The element type.
        element: String,
        /// What would be right.
        message: String,
    },
    /// A user's operator is not valid WGSL.
    #[error("operator {operator}, line {line}, column {column}: {message}")]
    OperatorSource {
        /// The operator's name.
        operator: String,
        /// Line in the user's text, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
        /// The compiler's message.
        message: String,
    },
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}

fn in_loop(line: u32) -> String {
    if line == 0 { String::new() } else { format!(" in the loop at line {line}") }
}
