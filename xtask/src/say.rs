//! What is said to people. Where nobody reads any more, as behind `| head`, that ends the command as it ends other programs
//! in pipes, and nothing that cannot be written is a panic.

use std::io::{self, ErrorKind, Write};

/// A line to standard output; without arguments an empty one.
macro_rules! say {
    ($($what:tt)*) => { $crate::say::out(&format!("{}\n", format_args!($($what)*))) };
}

/// Writes to standard output, or ends the process: with 141 as the signal of a closed pipe would.
pub fn out(text: &str) {
    if cfg!(test) {
        return print!("{text}"); // kept by the test, so that nobody takes it for what xtask runs
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
