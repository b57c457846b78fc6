//! The array viewer's program.

mod options;
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

/// What is meant for programs. The rank that renders volumes is none to be looked at: it would record over what is shown.
const OF_PROGRAMS: [&str; 2] = ["ZIPPY_DEBUG", "ZIPPY_TRACE"];

fn main() -> ExitCode {
    // SAFETY: this is the only thread so far.
    OF_PROGRAMS.into_iter().for_each(|name| unsafe { std::env::remove_var(name) });
    // Recordings are read and files are written without a run, and windows are opened.
    zippy::prepare_process();
    match run(Options::parse_from(words::with_negative_numbers(std::env::args_os())).command) {
        Ok(code) => code,
        Err(text) => {
            let _ = writeln!(io::stderr().lock(), "error: {}", tame(&text));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode, String> {
    let done = match command {
        Command::Connect { address } => app::open(live(&address, token)?).map_err(|error| error.to_string()),
        Command::Replay { file } => app::open(replay(&file)?).map_err(|error| error.to_string()),
        Command::Shot { source, patience, shot } => say(&shot.take(&mut client(&source, patience.get())?)?),
        Command::Script { source, patience } => {
            let mut client = client(&source, patience.get())?;
            script::run(&mut client, io::stdin().lock(), io::stdout().lock(), patience.get())
                .map_err(|error| format!("the script ends: {error}"))
        }
        Command::Compare { source, other, patience, comparison } => {
            return Ok(compare([&source, other.as_ref().unwrap_or(&source)], patience.get(), &comparison));
        }
        Command::Info { file } => say(&info::info(&file)?),
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// As other programs that compare end: 0 for the same, 1 for a difference, 2 for trouble.
fn compare(sources: [&str; 2], patience: Duration, comparison: &Comparison) -> ExitCode {
    let [one, other] = sources.map(|source| client(source, patience));
    let compared = one.and_then(|mut one| comparison.make(&mut one, &mut other?));
    match compared.and_then(|(same, text)| say(&text).map(|()| same)) {
        Ok(same) => ExitCode::from(u8::from(!same)),
        Err(text) => {
            let _ = writeln!(io::stderr().lock(), "error: {}", tame(&text));
            ExitCode::from(2)
        }
    }
}

fn client(source: &str, patience: Duration) -> Result<Client, String> {
    Client::new(open(source, token)?, patience)
}

/// Text of which parts come from programs and files: a terminal must not obey it.
fn tame(text: &str) -> String {
    let escape = |letter: char| match letter {
        '\n' => "\n".into(),
        letter if letter.is_control() => letter.escape_default().to_string(),
        letter => letter.to_string(),
    };
    text.chars().map(escape).collect()
}

/// Writes text to standard output. That nobody wants to read it is no failure.
fn say(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", tame(text)).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("cannot write to standard output: {error}")),
        _ => Ok(()),
    }
}
