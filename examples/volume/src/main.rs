//! Command-line program that renders a volume on several ranks into one picture or a movie.
#![forbid(unsafe_code)]

use std::io::ErrorKind;
use std::process::ExitCode;

use volume::options::Options;
use volume::say::complain;
use zippy_files::said;

fn main() -> ExitCode {
    zippy::prepare_process();
    let options = match Options::read(std::env::args_os()) {
        Ok(options) => options,
        Err(error) => return print_clap_error(&error),
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

/// Maximum number of lines of an error message. A message quotes the command line, which can be
/// long.
const MAX_ERROR_LINES: usize = 20;

/// Prints the help text, or the error in the command line with control characters escaped.
fn print_clap_error(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        complain(error.to_string().lines().take(MAX_ERROR_LINES).map(said).collect::<Vec<_>>().join("\n"));
        return ExitCode::from(error.exit_code() as u8);
    }
    match error.print() {
        Err(print_error) if print_error.kind() != ErrorKind::BrokenPipe => {
            complain(format_args!("error: cannot write to standard output: {print_error}"));
            ExitCode::FAILURE
        }
        _ => ExitCode::from(error.exit_code() as u8),
    }
}
