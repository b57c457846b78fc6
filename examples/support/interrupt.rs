//! Signals that request the end of the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

/// Interval between checks for a signal.
const POLL: Duration = Duration::from_millis(20);

/// A signal that requested the end of the program.
#[derive(Debug, Clone, Copy)]
#[allow(dead_code, reason = "unused in programs that only end")]
pub struct Signal(i32);

#[allow(dead_code, reason = "unused in programs that only end")]
impl Signal {
    /// `SIGINT`, `SIGTERM` or `SIGHUP`.
    pub fn name(self) -> &'static str {
        low_level::signal_name(self.0).unwrap_or("a signal")
    }

    /// Ends the program by the signal, so that shells and launchers see the signal as the cause.
    pub fn end(self) -> ! {
        let _ = low_level::emulate_default_handler(self.0);
        std::process::exit(128 + self.0)
    }
}

/// Calls `on_signal` on a separate thread after the first `SIGINT` (Ctrl-C), `SIGTERM` (`kill`) or
/// `SIGHUP` (a closed terminal), instead of ending the program. The second signal of the same kind
/// ends the program immediately. Signals that the parent process set to be ignored stay ignored, as
/// under `nohup` and for background commands of scripts.
///
/// # Errors
/// The thread or a signal handler cannot be created.
pub fn on_interrupt(on_signal: impl FnOnce(Signal) + Send + 'static) -> std::io::Result<()> {
    let ignored = ignored();
    let handled = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let flags: Vec<_> = handled.map(|signal| (Signal(signal), Arc::new(AtomicBool::new(false)))).collect();
    for (Signal(signal), received) in &flags {
        // In this order: the conditional default reads the flag before this signal sets it, so that
        // it acts only on the second signal.
        flag::register_conditional_default(*signal, Arc::clone(received))?;
        flag::register(*signal, Arc::clone(received))?;
    }
    let watch = move || loop {
        thread::sleep(POLL);
        if let Some((signal, _)) = flags.iter().find(|(_, received)| received.load(Ordering::Relaxed)) {
            return on_signal(*signal);
        }
    };
    thread::Builder::new().name("interrupts".into()).spawn(watch).map(drop)
}

/// Bit mask of ignored signals; 0 on systems that do not report it.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
