//! The command line.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use zippy_debugger::comparison::Comparison;
use zippy_debugger::look::ColourMap;
use zippy_debugger::shot::Shot;

/// Looks into the arrays of a running program, or of a recording of one.
///
/// A program that calls world.debug_point("name") listens where ZIPPY_DEBUG says so:
///
///   ZIPPY_DEBUG=spawn        opens this viewer
///   ZIPPY_DEBUG=listen:7777  listens on this port of its own machine, and prints a token
///   ZIPPY_DEBUG=record:FILE  writes a recording. every:N records only debug points whose number is a multiple of N;
///                            limit:SIZE ends the recording before it exceeds SIZE. Example: record:run.zrec,every:50,limit:1GiB
///
/// The token is asked for, or stands in ZIPPY_DEBUG_TOKEN, which other users of the machine cannot see.
/// Of a machine elsewhere, bring the port here: ssh -L 7777:127.0.0.1:7777 HOST
#[derive(Parser, Debug)]
#[command(name = "zippy-debugger", version, verbatim_doc_comment)]
pub struct Options {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Opens a window on a program that runs
    ///
    /// The window stays when the program ends, and shows the next one at the same address with the same token.
    #[command(after_help = "Example: zippy-debugger connect 127.0.0.1:7777")]
    Connect {
        /// Where the program listens, as 127.0.0.1:7777
        address: String,
    },
    /// Opens a window on a recording
    ///
    /// A recording that was cut off, or is still being written, opens up to there.
    Replay {
        /// The recording
        file: PathBuf,
    },
    /// Writes a slice of an array to a file: a picture, or exact numbers
    ///
    /// What it shows is said on standard output. Colours stand for numbers from the lower end of the range to the upper one. Light
    /// blue is below, light red above; NaN is magenta, infinity white and minus infinity black. The last cell upwards is in the
    /// upper row.
    #[command(after_help = after_shot())]
    Shot {
        /// A recording, or the address of a program, as 127.0.0.1:7777
        source: String,
        #[command(flatten)]
        patience: Patience,
        #[command(flatten)]
        shot: Box<Shot>,
    },
    /// Says where two arrays differ: of two runs, of two debug points, or two of one
    ///
    /// Cells are compared by their bits, and numbers in absolute, relative and ULP difference. It ends with 0 where nothing differs,
    /// with 1 where something does, and with 2 where that cannot be told.
    #[command(after_help = AFTER_COMPARE)]
    Compare {
        /// A recording, or the address of a program, as 127.0.0.1:7777
        source: String,
        /// The other one. Default: the same
        other: Option<String>,
        #[command(flatten)]
        patience: Patience,
        #[command(flatten)]
        comparison: Comparison,
    },
    /// Answers JSON requests, one a line on standard input, with JSON, one a line on standard output
    #[command(after_help = SCRIPT)]
    Script {
        /// A recording, or the address of a program, as 127.0.0.1:7777
        source: String,
        #[command(flatten)]
        patience: Patience,
    },
    /// Says what a recording has: debug points, arrays, sizes, and whether it was cut off
    Info {
        /// The recording
        file: PathBuf,
    },
}

#[derive(Args, Debug)]
pub struct Patience {
    /// Seconds that an answer, or a program that is not there yet, is waited for
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    patience: u64,
}

/// Reads the seconds of a patience.
fn seconds(text: &str) -> Result<u64, String> {
    let seconds = text.trim().parse().ok().filter(|seconds| (1..=86400).contains(seconds));
    seconds.ok_or_else(|| format!("{text:?} is not a whole number from 1 to 86400"))
}

impl Patience {
    pub fn get(&self) -> Duration {
        Duration::from_secs(self.patience)
    }
}

/// The token that the program has printed: out of the environment, else asked of a person at the terminal. No option has it, as
/// other users of a machine see command lines.
pub fn token() -> Option<String> {
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

fn after_shot() -> String {
    let names: Vec<&str> = ColourMap::all().iter().map(|map| map.name).collect();
    format!(
        "Colours: {}\n\nExamples:\n  zippy-debugger shot run.zrec --array density --slice z=0 --step 10 --output shot.png\n  \
         zippy-debugger shot run.zrec --array u --slice z=-1 --component x --map blue-red --range symmetric --output u.png\n  \
         zippy-debugger shot run.zrec --array u --slice x=3 --output u.npy",
        names.join(", ")
    )
}

const AFTER_COMPARE: &str = "Examples:
  zippy-debugger compare one.zrec other.zrec --array density --step 10
  zippy-debugger compare run.zrec --array u --step 1 --other-step 10 --component x
  zippy-debugger compare 127.0.0.1:7777 run.zrec --array density --other-step 10";

const SCRIPT: &str = r#"Each request is an object with one name. Its answer has the same name, or is {"error": "...", "line": 3}, and the script
goes on. NaN and infinities are text. "array" is a name, or {"name": "u", "rank": 1} of an array of one rank.

  {"program":{}}                    its name, ranks and adapters; how things stand
  {"point":{}}                      the debug point where it is
  {"arrays":{}}                     all arrays; {"arrays":{"name":"u"}} those with this in their names
  {"view":{"array":"u","box":[[0,4],[0,1]],"stride":[1,1]}}
                                    cells, from start to before end along each axis, axis 0 fastest; with "component":"x" one
                                    number of each; with "chunk":2 as this chunk has them, ghost cells too. A recording has
                                    the "start" and "stride" that it has
  {"pick":{"array":"u","at":[3,4]}} a cell: value, bits, rank, chunk, index there, whether owned; with "chunk":2 a ghost cell
  {"summary":{"array":"u","component":"x","bins":16,"range":[0,1]}}
                                    count, NaNs, infinities, min, max and a histogram of all cells; with
                                    "percentiles":[1,99] these, exactly
  {"compare":["u","v"]}             how many cells differ in their bits, and the first one
  {"ghosts":{"array":"u"}}          ghost cells by chunk and side: fresh, stale, never filled (in checked runs)
  {"moves":{}}                      what the last transfer has moved
  {"timeline":{"since":0}}          what the ranks did, from this microsecond on
  {"step":3}                        goes on by 3 debug points
  {"control":"continue"}            also "pause", "detach", "stop", {"step":3}, {"run_to":"after collide"}
  {"rules":[{"name":"after collide"},{"every":100},{"condition":"max(abs(u)) > 0.3"}]}
                                    where it pauses, in place of all rules before; a name goes with the others
  {"wait":"paused"}                 waits for that; also "end" and "program"; {"wait":{"for":"paused","seconds":5}}
  {"steps":{}}                      the debug points of a recording
  {"go_to":10}                      goes to one of them
  {"shot":{"array":"u","slice":"z=0","output":"u.png"}}
                                    as the command `shot`, with its options as names

Example: printf '{"step":10}\n{"wait":"paused"}\n{"pick":{"array":"u","at":[3,4]}}\n' | zippy-debugger script 127.0.0.1:7777"#;
