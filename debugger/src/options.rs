//! Command-line options.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use zippy_debugger::comparison::Comparison;
use zippy_debugger::imaging::ColourMap;

/// Shows the arrays of a running program, or of a recording of a program.
///
/// A program that calls world.debug_point("name") accepts a viewer if ZIPPY_DEBUG is set:
///
///   ZIPPY_DEBUG=spawn        opens this viewer
///   ZIPPY_DEBUG=listen:7777  listens on this port of its own machine, and prints a token
///   ZIPPY_DEBUG=record:FILE  writes a recording. every:N records only debug points whose number
///                            is a multiple of N; limit:SIZE ends the recording before it exceeds
///                            SIZE.
///                            Example: record:run.zrec,every:50,limit:1GiB
///
/// The viewer reads the token from ZIPPY_DEBUG_TOKEN, which other users of the machine cannot see,
/// or from the terminal. To reach a program on another machine, forward the port:
/// ssh -L 7777:127.0.0.1:7777 HOST
#[derive(Parser, Debug)]
#[command(name = "zippy-debugger", version, verbatim_doc_comment)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Opens a window on a running program
    ///
    /// The window stays open after the program ends, and shows the next program at the same address
    /// with the same token.
    #[command(after_help = "Example: zippy-debugger connect 127.0.0.1:7777")]
    Connect {
        /// Address of the program, such as 127.0.0.1:7777
        address: String,
    },
    /// Opens a window on a recording
    ///
    /// A truncated or unfinished recording opens up to its last complete entry.
    Replay {
        /// The recording
        file: PathBuf,
    },
    /// Compares two arrays: of two runs, of two debug points, or of one debug point
    ///
    /// Cells are compared by their bits, and numbers by absolute, relative and ULP difference. The
    /// exit code is 0 for equal arrays, 1 for different arrays, and 2 for an error.
    #[command(after_help = AFTER_COMPARE)]
    Compare {
        /// A recording, or the address of a program, such as 127.0.0.1:7777
        source: String,
        /// The other recording or address. Default: the same
        other: Option<String>,
        #[command(flatten)]
        patience: Patience,
        #[command(flatten)]
        comparison: Comparison,
    },
    /// Answers JSON requests: about arrays and cells, for pictures and files, to control the run
    ///
    /// Writes JSON answers to standard output, one per line. Requests on the command line set the
    /// exit code: 1 if an answer is an error.
    #[command(after_help = after_script())]
    Script {
        /// A recording, or the address of a program, such as 127.0.0.1:7777
        source: String,
        /// Requests. Default: the lines of standard input
        requests: Vec<String>,
        #[command(flatten)]
        patience: Patience,
    },
    /// Describes a recording: debug points, arrays, sizes, and whether the recording is complete
    Info {
        /// The recording
        file: PathBuf,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Patience {
    /// Maximum wait for an answer or for a connection to a program, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_seconds)]
    patience: u64,
}

fn parse_seconds(text: &str) -> Result<u64, String> {
    let seconds = text.trim().parse().ok().filter(|seconds| (1..=86400).contains(seconds));
    seconds.ok_or_else(|| format!("{text:?} is not a whole number from 1 to 86400"))
}

impl Patience {
    pub(crate) fn get(&self) -> Duration {
        Duration::from_secs(self.patience)
    }
}

/// Returns the token that the program has printed, from the environment or from the terminal. No
/// option contains the token, because other users of a machine can see command lines.
pub(crate) fn token() -> Option<String> {
    let given = std::env::var("ZIPPY_DEBUG_TOKEN").ok().filter(|token| !token.trim().is_empty());
    given.or_else(|| {
        let (input, mut line) = (std::io::stdin(), String::new());
        if !input.is_terminal() {
            return None;
        }
        eprint!("Token that the program has printed: ");
        input.read_line(&mut line).ok()?;
        Some(line)
    })
}

fn after_script() -> String {
    let names: Vec<&str> = ColourMap::all().iter().map(|map| map.name).collect();
    SCRIPT_HELP.replace("COLOURS", &names.join(", "))
}

const AFTER_COMPARE: &str = "Examples:
  zippy-debugger compare one.zrec other.zrec --array density --step 10
  zippy-debugger compare run.zrec --array u --step 1 --other-step 10 --component x
  zippy-debugger compare 127.0.0.1:7777 run.zrec --array density --other-step 10";

const SCRIPT_HELP: &str = r#"Each request is an object with one name. Its answer has the same name, or is {"error": "...", "line": 3}, and the script
continues. NaN and infinities are text. "array" is a name, or {"name": "u", "rank": 1} of an array of one rank.

  {"program":{}}                    its name, ranks and adapters; state of the connection
  {"point":{}}                      the current debug point
  {"arrays":{}}                     all arrays; {"arrays":{"name":"u"}} arrays whose names contain this
  {"view":{"array":"u","box":[[0,4],[0,1]],"stride":[1,1]}}
                                    cells, from start to before end along each axis, axis 0 fastest; with "component":"x" one
                                    number of each; with "chunk":2 the cells of this chunk with ghost cells. A coarse recording
                                    answers with its own "start" and "stride"
  {"pick":{"array":"u","at":[3,4]}} a cell: value, bits, rank, chunk, local index, ownership; with "chunk":2 a ghost cell
  {"summary":{"array":"u","component":"x","bins":16,"range":[0,1]}}
                                    count, NaNs, infinities, min, max and a histogram of all cells; with
                                    "percentiles":[1,99] also exact percentiles
  {"compare":["u","v"]}             number of cells with different bits, and the first one
  {"ghosts":{"array":"u"}}          ghost cells by chunk and side: fresh, stale, never filled (in checked runs)
  {"moves":{}}                      the moves of the last transfer
  {"timeline":{"since":0}}          activities of the ranks since this microsecond
  {"step":3}                        continues for 3 debug points
  {"control":"continue"}            also "pause", "detach", "stop", {"step":3}, {"run_to":"after collide"}
  {"rules":[{"name":"after collide"},{"every":100},{"condition":"max(abs(u)) > 0.3"}]}
                                    replaces all breakpoints; "name" can be combined with "every" or "condition"
  {"wait":"paused"}                 waits for a pause; also "end" and "program"; {"wait":{"for":"paused","seconds":5}}
  {"steps":{}}                      the debug points of a recording
  {"go_to":10}                      goes to a debug point of a recording
  {"shot":{"array":"u","slice":"z=0","output":"u.png"}}
                                    writes a slice to a file, and describes it; see below

Fields of a shot, all but "array" and "output" optional:

  "output"      the file: .png for colours, .npy or .csv for exact numbers
  "slice"       an index along each axis that is not shown, such as "z=0" or "2=0,w=3"; negative indices count from the end;
                default: the middle
  "across"      axis to the right, and "up" upward axis; default: the first axes that "slice" does not name. The last cell
                upwards is in the upper row
  "rank"        rank of the array, if several ranks have an array of this name
  "step"        debug point of a recording
  "component"   number of a cell: "x", "y" or "length" of a vector, or "velocity.x" of a record; default: the length of a
                vector, the first number of a record; all numbers in .npy and .csv files
  "stride"      distance of shown cells across and up, such as 4
  "map"         colours: COLOURS
  "range"       range of the colours: "min:max" (default), "p1:p99" by percentiles, "symmetric" about 0, or two numbers such
                as "-0.5:2". Light blue is below the range and light red above it; NaN is magenta, infinity white and minus
                infinity black
  "norm"        "linear" (default), "log", or "symlog:SIZE", which is linear up to SIZE on both sides of 0
  "scale"       pixels per cell along each edge, 1 to 512; default: a picture about 512 pixels wide

Examples:
  zippy-debugger script run.zrec '{"shot":{"array":"density","slice":"z=0","step":10,"output":"density.png"}}'
  printf '{"step":10}\n{"wait":"paused"}\n{"pick":{"array":"u","at":[3,4]}}\n' | zippy-debugger script 127.0.0.1:7777"#;
