//! What examples say: a closed pipe ends it quietly, and nothing that cannot be written is a panic.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use zippy::Error;

/// Writes a line to standard output. That nobody wants to read it, as behind `| head`, is no failure.
///
/// # Errors
/// It cannot be written: a full disk.
#[allow(dead_code)] // in programs that only complain
pub fn say(line: impl Display) -> Result<(), Error> {
    let line = format!("{line}\n");
    let mut out = io::stdout().lock();
    match out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::program(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error, if that is possible.
#[allow(dead_code)] // in programs whose errors end `main`
pub fn complain(line: impl Display) {
    let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}
