//! Standard output of xtask. A closed pipe, as with `| head`, ends the process without a panic.

use std::io::{self, ErrorKind, Write};

/// Writes a line to standard output.
macro_rules! say {
    ($($text:tt)*) => { $crate::say::out(&format!("{}\n", format_args!($($text)*))) };
}

/// Writes to standard output. If that fails, ends the process: with exit code 141 for a closed
/// pipe, as the signal would, else with 1.
pub(crate) fn out(text: &str) {
    // The test harness captures only text of `print!`.
    if cfg!(test) {
        return print!("{text}");
    }
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        if error.kind() == ErrorKind::BrokenPipe {
            std::process::exit(141);
        }
        let _ = writeln!(io::stderr(), "xtask: cannot write to standard output: {error}");
        std::process::exit(1);
    }
}
