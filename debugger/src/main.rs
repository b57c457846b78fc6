//! The command line of the array viewer.

mod options;
#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../examples/support/words.rs"]
mod words;

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use zippy_debugger::client::{Client, live, open, replay};
use zippy_debugger::comparison::Comparison;
use zippy_debugger::{app, info, script};

use self::options::{Command, Options, token};

/// Environment variables for programs under inspection, which the viewer removes: its own rank,
/// which renders volumes, must not record over the open recording.
const PROGRAM_VARIABLES: [&str; 2] = ["ZIPPY_DEBUG", "ZIPPY_TRACE"];

fn main() -> ExitCode {
    // SAFETY: this is the only thread so far.
    PROGRAM_VARIABLES.into_iter().for_each(|name| unsafe { std::env::remove_var(name) });
    // Recordings, files and windows need process settings outside of a run, too.
    zippy::prepare_process();
    match run(Options::parse_from(words::with_negative_numbers(std::env::args_os())).command) {
        Ok(code) => code,
        Err(text) => {
            let _ = writeln!(io::stderr().lock(), "error: {}", escape_controls(&text));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode, String> {
    let done = match command {
        Command::Connect { address } => app::open(live(&address, token)?).map_err(|error| error.to_string()),
        Command::Replay { file } => app::open(replay(&file)?).map_err(|error| error.to_string()),
        Command::Script { source, requests, patience } => {
            let (mut client, output, patience) =
                (open_client(&source, patience.get())?, io::stdout().lock(), patience.get());
            let answered = if requests.is_empty() {
                script::run(&mut client, io::stdin().lock(), output, patience).map(|_| true)
            } else {
                script::run(&mut client, one_line_each(&requests).as_bytes(), output, patience)
            };
            let succeeded = answered.map_err(|error| format!("the script ends: {error}"))?;
            return Ok(if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Command::Compare { source, other, patience, comparison } => {
            return Ok(compare_sources([&source, other.as_ref().unwrap_or(&source)], patience.get(), &comparison));
        }
        Command::Info { file } => print(&info::info(&file)?),
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// Requests as a script, which has a request per line. White space separates the words of JSON.
fn one_line_each(requests: &[String]) -> String {
    requests.iter().map(|request| request.replace(['\n', '\r'], " ") + "\n").collect()
}

/// Compares two arrays. Exit codes as of other comparison programs: 0 for equal, 1 for different, 2
/// for an error.
fn compare_sources(sources: [&str; 2], patience: Duration, comparison: &Comparison) -> ExitCode {
    let [one, other] = sources.map(|source| open_client(source, patience));
    let compared = one.and_then(|mut one| comparison.make(&mut one, &mut other?));
    match compared.and_then(|(same, text)| print(&text).map(|()| same)) {
        Ok(same) => ExitCode::from(u8::from(!same)),
        Err(text) => {
            let _ = writeln!(io::stderr().lock(), "error: {}", escape_controls(&text));
            ExitCode::from(2)
        }
    }
}

fn open_client(source: &str, patience: Duration) -> Result<Client, String> {
    Client::new(open(source, token)?, patience)
}

/// Escapes control characters. The text contains strings of programs and files, which must not
/// control the terminal.
fn escape_controls(text: &str) -> String {
    let escape = |letter: char| match letter {
        '\n' => "\n".into(),
        letter if letter.is_control() => letter.escape_default().to_string(),
        letter => letter.to_string(),
    };
    text.chars().map(escape).collect()
}

/// Writes text to standard output. A closed output is not an error.
fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", escape_controls(text)).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("cannot write to standard output: {error}")),
        _ => Ok(()),
    }
}
