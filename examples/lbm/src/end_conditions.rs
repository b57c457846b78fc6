//! Conditions that end a run before its last step: a signal, a time budget (as in batch queues), a
//! closed window.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use zippy::{Error, Result, World};

use crate::interrupt::on_interrupt;

/// Reason for the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Steps,
    Steady,
    /// The last step was reached before the flow became steady.
    Unsteady,
    Signal,
    Time,
    /// The window was closed.
    Closed,
}

impl End {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Steady => "steady",
            Self::Unsteady => "steps, not yet steady",
            Self::Signal => "signal",
            Self::Time => "time",
            Self::Closed => "window closed",
        }
    }
}

/// Watches for signals, the end of the time budget and the end of the window.
pub(crate) struct EndWatcher {
    signalled: Arc<AtomicBool>,
    deadline: Option<Instant>,
    closed: Option<Box<dyn Fn() -> bool>>,
}

impl EndWatcher {
    /// Starts to watch. If `has_outputs`, the first SIGTERM, SIGINT (Ctrl-C) or SIGHUP does not end
    /// the process immediately; the second does. `closed` returns true after the window of this
    /// rank is closed.
    ///
    /// # Errors
    /// The signal handler cannot be installed.
    pub(crate) fn start(
        has_outputs: bool,
        budget: Option<Duration>,
        closed: Option<Box<dyn Fn() -> bool>>,
    ) -> Result<Self> {
        let signalled = Arc::new(AtomicBool::new(false));
        if has_outputs {
            let signal_flag = Arc::clone(&signalled);
            let registered = on_interrupt(move |_| signal_flag.store(true, Ordering::Relaxed));
            registered.map_err(|error| Error::program(format!("cannot handle SIGTERM: {error}")))?;
        }
        Ok(Self { signalled, deadline: budget.and_then(|budget| Instant::now().checked_add(budget)), closed })
    }

    /// Conditions on this rank: signal, time, closed window. Local.
    fn local_flags(&self) -> [bool; 3] {
        let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        [self.signalled.load(Ordering::Relaxed), is_over, self.closed.as_ref().is_some_and(|closed| closed())]
    }

    /// True if a condition holds on this rank, though other ranks may not know yet. Local.
    #[cfg_attr(not(feature = "view"), allow(dead_code, reason = "for the window"))]
    pub(crate) fn is_set_here(&self) -> bool {
        self.local_flags().contains(&true)
    }

    /// Condition that holds on any rank. Collective.
    pub(crate) fn reason(&self, world: &World) -> Result<Option<End>> {
        let mut flags = self.local_flags().map(u32::from);
        world.group().all_reduce(&mut flags, |a, b| *a |= *b)?;
        let all = [End::Signal, End::Time, End::Closed];
        Ok(flags.iter().zip(all).find(|(flag, _)| **flag > 0).map(|(_, end)| end))
    }
}

/// Number of steps between collective checks of the end conditions. The target is a quarter of a
/// second, which is short compared with the time that launchers leave a process after a signal.
pub(crate) struct CheckInterval {
    steps: u64,
}

impl CheckInterval {
    const TARGET_SECS: f64 = 0.25;
    const MAX_STEPS: u64 = 1000;

    pub(crate) fn new() -> Self {
        Self { steps: 1 }
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Adapts the interval to the time that `steps` steps took on the slowest rank. Collective.
    pub(crate) fn update(&mut self, world: &World, steps: u64, secs: f64) -> Result<()> {
        let mut slowest = [secs];
        world.group().all_reduce(&mut slowest, |a, b| *a = a.max(*b))?;
        let fit = (steps as f64 * Self::TARGET_SECS / slowest[0].max(1e-9)) as u64;
        self.steps = fit.clamp(1, Self::MAX_STEPS.min(4 * self.steps));
        Ok(())
    }
}
