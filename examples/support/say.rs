//! Output to standard streams without panics. A closed pipe is not an error.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use zippy::Error;

/// Writes a line to standard output. A closed pipe, as after `| head`, is not an error.
///
/// # Errors
/// The line cannot be written, for example on a full disk.
#[allow(dead_code, reason = "unused in programs without output")]
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

/// Writes a line to standard error. Errors are ignored.
#[allow(dead_code, reason = "unused in programs whose errors end `main`")]
pub fn complain(line: impl Display) {
    let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}
