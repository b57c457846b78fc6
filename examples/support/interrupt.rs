//! Signals that ask the program to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

/// How often the program looks whether it was asked.
const POLL: Duration = Duration::from_millis(20);

/// A signal that has asked the program to end.
#[derive(Debug, Clone, Copy)]
#[allow(dead_code)] // in programs that only end
pub struct Signal(i32);

#[allow(dead_code)]
impl Signal {
    /// `SIGINT`, `SIGTERM` or `SIGHUP`.
    pub fn name(self) -> &'static str {
        low_level::signal_name(self.0).unwrap_or("a signal")
    }

    /// Ends the program as the signal would have, so that shells and launchers see by what.
    pub fn end(self) -> ! {
        let _ = low_level::emulate_default_handler(self.0);
        std::process::exit(128 + self.0)
    }
}

/// Calls `asked` on a thread of its own when the program is asked to end (Ctrl-C, `kill`, a terminal that closes), in
/// place of ending it. The same signal once more ends it at once. Signals that the program was started to ignore, as
/// `nohup` does and scripts for what runs in the background, stay ignored.
///
/// # Errors
/// There is no other thread; the system refuses.
pub fn on_interrupt(asked: impl FnOnce(Signal) + Send + 'static) -> std::io::Result<()> {
    let ignored = ignored();
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let flags: Vec<_> = heeded.map(|signal| (Signal(signal), Arc::new(AtomicBool::new(false)))).collect();
    for (Signal(signal), seen) in &flags {
        // In this order: what the first time sets is looked at from the second time on.
        flag::register_conditional_default(*signal, Arc::clone(seen))?;
        flag::register(*signal, Arc::clone(seen))?;
    }
    let watch = move || loop {
        thread::sleep(POLL);
        if let Some((signal, _)) = flags.iter().find(|(_, seen)| seen.load(Ordering::Relaxed)) {
            return asked(*signal);
        }
    };
    thread::Builder::new().name("interrupts".into()).spawn(watch).map(drop)
}

/// The signals that are ignored, one a bit; none where the system does not say.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
