/// Ranks could not be started or could not talk to each other.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// An environment variable cannot be understood.
    #[error("{name}={value:?} is not {expected}")]
    Variable {
        /// The variable.
        name: String,
        /// What it holds.
        value: String,
        /// What it should hold.
        expected: String,
    },
    /// A setting of `Config` makes no sense.
    #[error("{setting} = {value} is not {expected}")]
    Setting {
        /// The setting.
        setting: String,
        /// Its value.
        value: String,
        /// What it should be.
        expected: String,
    },
    /// A build without MPI was started by an MPI launcher.
    #[error(
        "this program was started by an MPI launcher ({launcher}) but was built without MPI, so that every process \
         would be a world of its own; build it with `--features mpi`, or start it without the launcher and set ZIPPY_RANKS"
    )]
    NeedsMpi {
        /// The variable that shows the launcher, with its value.
        launcher: String,
    },
    /// The launcher is not the one of the MPI library.
    #[error(
        "the launcher says {launcher}, but the MPI library of this program ({library}) sees a world of {size}; \
         start it with the launcher that belongs to this library (`cargo xtask mpi` does)"
    )]
    WrongLauncher {
        /// The variable that shows the launcher, with its value.
        launcher: String,
        /// The MPI library's own name and version.
        library: String,
        /// The size that it reports.
        size: usize,
    },
    /// The number of ranks that was asked for is not the number that was started.
    #[error(
        "{asked} ranks were asked for ({by}), but the MPI launcher started {started}; \
         start {asked} processes or ask for no number"
    )]
    RankCount {
        /// The number asked for.
        asked: usize,
        /// Where it was asked for.
        by: String,
        /// The number of processes.
        started: usize,
    },
    /// A run was started while another one of this process is going on.
    #[error(
        "a run cannot be started while another run of this process is going on under MPI; inside a run use a sub-group, or \
         threads of this process (`Ranks::Apart`), and start runs one after the other (tests: `--test-threads=1`)"
    )]
    Nested,
    /// MPI is not in a state that can be used: a program that has initialised it itself, or a library that cannot.
    #[error("MPI cannot be used: {0}")]
    Foreign(String),
    /// Processes of one run differ in their settings or versions.
    #[error("the processes of this run differ: rank {rank} has {setting}, rank {other_rank} has {other_setting}")]
    Settings {
        /// One rank.
        rank: usize,
        /// Its settings.
        setting: String,
        /// Another rank.
        other_rank: usize,
        /// The other's settings.
        other_setting: String,
    },
    /// A wait took longer than is allowed.
    #[error("rank {rank} waited {seconds} s for {peer} in {operation} and gave up (ZIPPY_TIMEOUT_SECS sets the limit)")]
    Timeout {
        /// The rank that waited.
        rank: usize,
        /// Whom it waited for.
        peer: String,
        /// What it was doing.
        operation: String,
        /// The limit.
        seconds: f64,
    },
    /// A rank panicked.
    #[error("rank {rank} panicked at {place}: {message}")]
    Panicked {
        /// The rank.
        rank: usize,
        /// File, line and column.
        place: String,
        /// The panic's message.
        message: String,
    },
    /// A rank number is not in the group.
    #[error("rank {rank} is not in a group of {size}; ranks are 0..{size}")]
    NoSuchRank {
        /// The rank.
        rank: usize,
        /// The group's size.
        size: usize,
    },
    /// A collective was given data of different lengths on different ranks.
    #[error(
        "{operation} got {found} bytes from rank {rank} where this rank gave {expected}; all ranks must give the same number"
    )]
    Length {
        /// The collective.
        operation: String,
        /// The other rank.
        rank: usize,
        /// Bytes of this rank.
        expected: usize,
        /// Bytes of the other.
        found: usize,
    },
    /// A message of another length than its operation has.
    #[error(
        "{operation}: the message of rank {rank} has {found} bytes where {expected} were expected; all ranks must call the \
         same operations with the same arguments"
    )]
    Message {
        /// The operation, with its arrays.
        operation: String,
        /// The sender.
        rank: usize,
        /// Bytes that this rank waits for.
        expected: u64,
        /// Bytes that came.
        found: u64,
    },
    /// The wrong number of items was given to a collective.
    #[error("{operation} needs {expected} and was given {found}")]
    Count {
        /// The collective.
        operation: String,
        /// What is needed.
        expected: String,
        /// What was given.
        found: String,
    },
    /// No context is left for another sub-group.
    #[error("{limit} groups are alive on some rank of this group; drop some before another split")]
    TooManyGroups {
        /// The limit.
        limit: usize,
    },
    /// There is no place for the timeline of a run.
    #[error(
        "the trace {file:?} cannot be written: {message}; name a file in a directory that is there (ZIPPY_TRACE, Config::trace)"
    )]
    Trace {
        /// The file.
        file: String,
        /// What is wrong with it.
        message: String,
    },
    /// An MPI call failed.
    #[error("{call} failed: {message}")]
    Mpi {
        /// The function.
        call: String,
        /// The library's text.
        message: String,
    },
    /// The operating system refused to start a thread.
    #[error("a thread for rank {rank} could not be started: {message}")]
    Thread {
        /// The rank.
        rank: usize,
        /// The system's text.
        message: String,
    },
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}
