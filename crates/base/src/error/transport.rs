/// Errors of the start of ranks and of the communication between ranks.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// An environment variable has an invalid value.
    #[error("{name}={value:?} is not {expected}")]
    Variable {
        /// Variable name.
        name: String,
        /// Value of the variable.
        value: String,
        /// Description of valid values.
        expected: String,
    },
    /// A setting of `Config` has an invalid value.
    #[error("{setting} = {value} is not {expected}")]
    Setting {
        /// Setting name.
        setting: String,
        /// Value of the setting.
        value: String,
        /// Description of valid values.
        expected: String,
    },
    /// An MPI launcher started a program that is built without MPI.
    #[error(
        "this program was started by an MPI launcher ({launcher}) but was built without MPI, so that every process \
         would be a world of its own; build it with `--features mpi`, or start it without the launcher and set ZIPPY_RANKS"
    )]
    NeedsMpi {
        /// The environment variable by which the launcher is known, with its value.
        launcher: String,
    },
    /// The launcher does not belong to the MPI library of the program.
    #[error(
        "the launcher sets {launcher}, but the MPI library of this program ({library}) sees a world of {size}; \
         start it with the launcher that belongs to this library (`cargo xtask mpi` does)"
    )]
    WrongLauncher {
        /// The environment variable by which the launcher is known, with its value.
        launcher: String,
        /// Name and version of the MPI library.
        library: String,
        /// World size that the MPI library reports.
        size: usize,
    },
    /// The requested number of ranks differs from the number of processes.
    #[error(
        "{asked} ranks were requested ({by}), but the MPI launcher started {started}; \
         start {asked} processes or request no number of ranks"
    )]
    RankCount {
        /// Requested number of ranks.
        asked: usize,
        /// The setting or variable that requests it.
        by: String,
        /// Number of processes.
        started: usize,
    },
    /// A run starts while another run of this process is in progress.
    #[error(
        "a run cannot be started while another run of this process is in progress under MPI; inside a run use a \
         sub-group, or threads of this process (`Config::apart`), and start runs one after the other (tests: `--test-threads=1`)"
    )]
    Nested,
    /// MPI is in an unusable state: the program itself initialised MPI, or the initialisation
    /// failed.
    #[error("MPI cannot be used: {0}")]
    Foreign(String),
    /// The processes of a run have different settings or versions.
    #[error("the processes of this run differ: rank {rank} has {setting}, rank {other_rank} has {other_setting}")]
    Settings {
        /// First rank.
        rank: usize,
        /// Settings of `rank`.
        setting: String,
        /// Second rank.
        other_rank: usize,
        /// Settings of `other_rank`.
        other_setting: String,
    },
    /// A wait exceeded its time limit.
    #[error("rank {rank} waited {seconds} s for {peer} in {operation} and gave up (ZIPPY_TIMEOUT_SECS sets the limit)")]
    Timeout {
        /// The rank that waited.
        rank: usize,
        /// The rank or ranks that did not answer.
        peer: String,
        /// Operation of the rank that waited.
        operation: String,
        /// Time limit, in seconds.
        seconds: f64,
    },
    /// A rank panicked.
    #[error("rank {rank} panicked at {place}: {message}")]
    Panicked {
        /// Rank.
        rank: usize,
        /// File, line and column.
        place: String,
        /// Panic message.
        message: String,
    },
    /// A rank is outside of the group.
    #[error("rank {rank} is not in a group of {size}; ranks are 0..{size}")]
    NoSuchRank {
        /// Rank.
        rank: usize,
        /// Number of ranks of the group.
        size: usize,
    },
    /// The data of a collective have different lengths on different ranks.
    #[error(
        "{operation} got {found} bytes from rank {rank} where this rank gave {expected}; all ranks must give the same number"
    )]
    Length {
        /// Collective.
        operation: String,
        /// Other rank.
        rank: usize,
        /// Bytes on this rank.
        expected: usize,
        /// Bytes on the other rank.
        found: usize,
    },
    /// The length of a message differs from the length that its operation expects.
    #[error(
        "{operation}: the message of rank {rank} has {found} bytes where {expected} were expected; all ranks must call the \
         same operations with the same arguments"
    )]
    Message {
        /// The operation, with its arrays.
        operation: String,
        /// The sender.
        rank: usize,
        /// Bytes that this rank expects.
        expected: u64,
        /// Bytes of the message.
        found: u64,
    },
    /// The number of items of a collective is wrong.
    #[error("{operation} needs {expected} and was given {found}")]
    Count {
        /// Collective.
        operation: String,
        /// The required number, with the items.
        expected: String,
        /// The actual number, with the items.
        found: String,
    },
    /// The maximum number of groups exists already.
    #[error("{limit} groups are alive on some rank of this group; drop some before another split")]
    TooManyGroups {
        /// Maximum number of groups.
        limit: usize,
    },
    /// The trace file of a run cannot be created.
    #[error(
        "the trace {file:?} cannot be written: {message}; name a file in an existing directory (ZIPPY_TRACE, Config::trace)"
    )]
    Trace {
        /// File path.
        file: String,
        /// Reason of the failure.
        message: String,
    },
    /// An MPI call failed.
    #[error("{call} failed: {message}")]
    Mpi {
        /// Name of the MPI function.
        call: String,
        /// Message of the MPI library.
        message: String,
    },
    /// The operating system refused to start a thread.
    #[error("a thread for rank {rank} could not be started: {message}")]
    Thread {
        /// Rank.
        rank: usize,
        /// Message of the operating system.
        message: String,
    },
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}
