//! A scanned volume, or a phantom, rendered by several ranks into one picture. `--help` says how.
#![forbid(unsafe_code)]

use std::io::ErrorKind;
use std::process::ExitCode;

use volume::options::Options;
use volume::say::complain;
use zippy_io::said;

fn main() -> ExitCode {
    zippy::prepare_process();
    let options = match Options::read(std::env::args_os()) {
        Ok(options) => options,
        Err(error) => return told(&error),
    };
    match volume::run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            complain(format_args!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// More lines are not about what is wrong.
const LINES: usize = 20;

/// Prints the help, or what is wrong with the command line, which is quoted there.
fn told(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        complain(error.to_string().lines().take(LINES).map(said).collect::<Vec<_>>().join("\n"));
        return ExitCode::from(error.exit_code() as u8);
    }
    match error.print() {
        Err(unwritten) if unwritten.kind() != ErrorKind::BrokenPipe => {
            complain(format_args!("error: cannot write to standard output: {unwritten}"));
            ExitCode::FAILURE
        }
        _ => ExitCode::from(error.exit_code() as u8),
    }
}
