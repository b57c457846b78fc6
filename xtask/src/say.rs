//! What is said to people. Where nobody reads any more, as behind `| head`, that ends the command as it ends other programs
//! in pipes, and nothing that cannot be written is a panic.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// A line to standard output; without arguments an empty one.
macro_rules! say {
    ($($what:tt)*) => { $crate::say::out(&format!("{}\n", format_args!($($what)*))) };
}

/// As programs end that the signal of a closed pipe ends.
const CLOSED_PIPE: i32 = 141;

/// Writes to standard output, or ends the process.
pub fn out(text: &str) {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(CLOSED_PIPE),
        Err(error) => {
            complain(format_args!("xtask: cannot write to standard output: {error}"));
            std::process::exit(1);
        }
    }
}

/// A line to standard error, if that is possible.
pub fn complain(line: Arguments<'_>) {
    let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}
