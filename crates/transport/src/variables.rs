//! [`VARIABLES`]: the environment variables of the library, its programs, `cargo xtask` and tests.

use std::sync::Once;

use zippy_base::trace;

/// An environment variable, with its values and default for the documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variable {
    /// Name.
    pub name: &'static str,
    /// Values and their effect, as Markdown.
    pub meaning: &'static str,
    /// Behaviour without the variable, as Markdown. `None` for variables of tests and benchmarks.
    pub default: Option<&'static str>,
}

const fn documented(name: &'static str, meaning: &'static str, default: &'static str) -> Variable {
    Variable { name, meaning, default: Some(default) }
}

const fn internal(name: &'static str, meaning: &'static str) -> Variable {
    Variable { name, meaning, default: None }
}

/// All environment variables, in the order of the tables in `docs/environment.md`.
#[rustfmt::skip]
pub const VARIABLES: &[Variable] = &[
    // Of a run.
    documented(
        "ZIPPY_RANKS",
        "number of ranks, as threads of this process",
        "1",
    ),
    documented(
        "ZIPPY_ADAPTER",
        "part of an adapter's name, or its number, from 0 on, in the order of `cargo xtask doctor`",
        "all adapters of the best kind",
    ),
    documented(
        "ZIPPY_TIMEOUT_SECS",
        "time in seconds after which a wait for another rank fails; after a failure, also the time in which all ranks must return before the process ends. A rank that has finished waits twice as long for a rank that gives no sign of life: increase the value if one rank computes alone for long. A native kernel is stopped after nine tenths of the time",
        "300",
    ),
    documented(
        "ZIPPY_CHECK",
        "`1` compares the collective calls of all ranks before data moves, detects reads of stale ghost cells, loads and stores of helpers outside of chunks, and loops that the adapter stops, and fails the run at its end after any finding; `warn` only reports findings; `0` does neither, and detects calls that differ by the fingerprint in every message",
        "0; debug builds compare calls",
    ),
    documented(
        "ZIPPY_VERBOSE",
        "`1`: under MPI, every process returns the failure of `zippy::run`",
        "the process of the rank that failed first reports the failure, and all processes exit",
    ),
    documented(
        "ZIPPY_TRACE",
        "the file for [the timeline of all ranks](timeline.md)",
        "none",
    ),
    documented(
        "ZIPPY_THREADS",
        "number of threads of a process for work on the host, shared equally by its ranks: native kernels, and reductions, scans, sorts and fills where the host maps the device's memory. Results have the same bits for every number",
        "the cores that the process may use, divided by the processes of its node that share them",
    ),
    documented(
        "ZIPPY_KERNELS",
        "backend of kernels: `native`, [machine code](cpu.md) on the host's processor; `native-only`, the same, also in place of an operation's version for the host (to test kernels); or `driver`, the driver of the adapter",
        "`native` without a GPU, also with a software driver; else `driver`",
    ),
    documented(
        "ZIPPY_MEMORY_LIMIT",
        "greatest number of bytes of the arrays of a rank; the creation of an array beyond the limit is an error",
        "for adapters without memory of their own, nine tenths of the machine's memory, shared by its processes",
    ),
    // Of the array viewer.
    documented(
        "ZIPPY_DEBUG",
        "the debugger that is attached at debug points: `spawn`, `listen:PORT`, `record:FILE`, with more words after commas; [the viewer's page](../debugger/) lists them",
        "none",
    ),
    documented(
        "ZIPPY_DEBUGGER",
        "the viewer that `spawn` starts",
        "`zippy-debugger` in the directory of the program, or on `PATH`",
    ),
    documented(
        "ZIPPY_DEBUG_TOKEN",
        "the token of 32 hexadecimal digits by which `zippy-debugger` and a listening program authenticate each other. If the variable is set for the program too, the token is the same for each run and is not printed",
        "a new token for each run; the program prints it, and it is entered at the terminal of the viewer",
    ),
    // Of messages and memory.
    documented(
        "ZIPPY_MESSAGE",
        "greatest number of bytes of a message of an exchange between global arrays, and of the messages that a delivery has in flight. Larger messages are divided. A blocking exchange that would stage more bytes goes message by message, except if its boxes have an order or may overlap. The smallest value of all ranks applies",
        "67108864",
    ),
    documented(
        "ZIPPY_IN_PLACE",
        "number of bytes from which a box that is contiguous in mapped memory is sent without a copy, if the hosts of all ranks map memory. The largest value of all ranks applies",
        "65536",
    ),
    documented(
        "ZIPPY_HOST_MAP",
        "`0` never maps chunks into host memory, `1` requires it",
        "on for adapters that share memory with the host",
    ),
    // Of builds and launchers.
    documented(
        "MPICC",
        "the compiler wrapper of the MPI library to build with",
        "`mpicc`",
    ),
    documented(
        "ZIPPY_MPIRUN",
        "the launcher that `cargo xtask` uses",
        "the launcher of the MPI library",
    ),
    documented(
        "RUST_LIB_BACKTRACE",
        "`0`, if `RUST_BACKTRACE` is set and wgpu is built with debug assertions, as in debug builds: otherwise wgpu takes a backtrace at each of its locks, and small operations are several times as slow. Panics keep their backtraces. This project builds wgpu without debug assertions",
        "as `RUST_BACKTRACE`",
    ),
    documented(
        "VK_DRIVER_FILES",
        "the manifest of the Vulkan driver to use, for the Vulkan loader; `cargo xtask test --drivers` uses it too",
        "all installed drivers; SwiftShader for `--drivers`",
    ),
    // For tests.
    documented(
        "ZIPPY_BINDING_LIMIT",
        "a smaller limit for storage bindings, in bytes, to test the code for large arrays with small arrays; at least 4096",
        "the adapter's",
    ),
    documented(
        "ZIPPY_BUFFER_LIMIT",
        "a smaller limit for buffers, in bytes, to test arrays of several buffers with small arrays; at least 4096",
        "the adapter's, at most 2 GiB",
    ),
    internal("ZIPPY_BENCH_CHILD", "set for a process that a benchmark starts"),
    internal("ZIPPY_BENCH_FILES_MIB", "size of the files of a benchmark, in MiB"),
    internal("ZIPPY_BENCH_ARGS", "arguments of a benchmark that is a part of another program"),
    internal("ZIPPY_BENCH_OUT", "file for the numbers of benchmarks"),
    internal("ZIPPY_BENCH_PEERS", "runs the libraries that benchmarks compare with"),
    internal("ZIPPY_BENCH_PYTHON", "the Python program of benchmarks"),
    internal("ZIPPY_BUNDLE_RUN", "the benchmark that a bundle's program runs"),
    internal("ZIPPY_IO_FILE", "a file for a process of a test"),
    internal("ZIPPY_IO_FULL", "a full disk for a test"),
    internal("ZIPPY_IO_FULL_ARRAYS", "a full disk for a test of arrays"),
    internal("ZIPPY_IO_FULL_SMALL", "a small full disk for a test"),
    internal("ZIPPY_IO_HELD", "a directory of checkpoints that a test holds"),
    internal("ZIPPY_IO_KILLED", "a directory for a writer that a test kills"),
    internal("ZIPPY_IO_TASK", "task of a process of a test"),
    internal("ZIPPY_RANDOM_KERNELS", "number of random kernels that a test runs"),
    internal("ZIPPY_RANDOM_SEED", "seed of the first random kernel"),
    internal("ZIPPY_REFUSE_PARAMETER_BRANCHES", "makes a kernel that branches on parameters alone an error"),
    internal("ZIPPY_SCREENSHOT", "file for pictures of window tests; each adds its name"),
    internal("ZIPPY_TEST_JOB", "the test that a process of a job runs"),
    internal("ZIPPY_TEST_MPI", "runs tests under MPI, too"),
    internal("ZIPPY_TEST_NO_LAUNCHER", "a test without a launcher"),
];

/// Maximum edit distance between an unknown name and a suggested name.
const MOST_TYPOS: usize = 3;

/// Warns once per process about set `ZIPPY_` variables without effect.
pub(crate) fn warn_of_unknown() {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        unknown(names).iter().for_each(|text| trace::warn(text));
    });
}

fn unknown(names: impl Iterator<Item = String>) -> Vec<String> {
    let is_unknown =
        |name: &String| name.starts_with("ZIPPY_") && VARIABLES.iter().all(|variable| variable.name != name);
    let sentence = |name: String| {
        let distance = |variable: &&Variable| strsim::damerau_levenshtein(&name, variable.name);
        let closest = VARIABLES.iter().filter(|variable| variable.default.is_some()).min_by_key(distance);
        let advice = match closest.filter(|closest| distance(closest) <= MOST_TYPOS) {
            Some(closest) => format!("did you mean {}?", closest.name),
            None => "docs/environment.md lists those that have".to_owned(),
        };
        format!("the environment variable {name} has no effect; {advice}")
    };
    names.filter(is_unknown).map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_variable_is_reported_with_the_closest_name() {
        let said = |names: &[&str]| unknown(names.iter().map(|name| (*name).to_owned()));
        let known: Vec<&str> = VARIABLES.iter().map(|variable| variable.name).chain(["PATH", "RANKS"]).collect();
        assert_eq!(said(&known), [""; 0]);
        for (typo, right) in [
            ("ZIPPY_RANK", "ZIPPY_RANKS"),
            ("ZIPPY_CHEK", "ZIPPY_CHECK"),
            ("ZIPPY_ADAPTOR", "ZIPPY_ADAPTER"),
            ("ZIPPY_TIMEOUT_SEC", "ZIPPY_TIMEOUT_SECS"),
        ] {
            let expected = format!("the environment variable {typo} has no effect; did you mean {right}?");
            assert_eq!(said(&["HOME", typo]), [expected]);
        }
        let far = said(&["ZIPPY_SOMETHING_OF_THE_USER"]);
        assert!(far.len() == 1 && far[0].ends_with("docs/environment.md lists those that have"), "{far:?}");
    }

    #[test]
    fn page_has_a_row_of_each_variable() {
        let page = include_str!("../../../docs/environment.md");
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
        let row = |Variable { name, meaning, default }: &Variable| match default {
            Some(default) => format!("| `{name}` | {meaning} | {default} |"),
            None => format!("| `{name}` | {meaning} |"),
        };
        let expected: Vec<String> = VARIABLES.iter().map(row).collect();
        assert_eq!(rows, expected, "the tables of docs/environment.md have these rows:\n{}", expected.join("\n"));
    }
}
