//! When a run ends before its last step: at a signal, or when its time is over, as in batch queues.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use zippy::{Error, Result, World};

use crate::interrupt::on_interrupt;

/// Why a run has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Steps,
    Steady,
    /// Its steps are over, and it was to become steady.
    Unsteady,
    Signal,
    Time,
    /// The window was closed.
    Closed,
}

impl End {
    pub fn name(self) -> &'static str {
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

/// Watches for all of them.
pub struct Ending {
    asked: Arc<AtomicBool>,
    until: Option<Instant>,
    closed: Option<Box<dyn Fn() -> bool>>,
}

impl Ending {
    /// From now on SIGTERM, SIGINT (Ctrl-C) and SIGHUP do not end the process at once, where there is something to save;
    /// the same one once more does. `closed` says whether this rank's window is.
    ///
    /// # Errors
    /// The system does not let it.
    pub fn watch(saves: bool, budget: Option<Duration>, closed: Option<Box<dyn Fn() -> bool>>) -> Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        if saves {
            let seen = Arc::clone(&asked);
            let registered = on_interrupt(move |_| seen.store(true, Ordering::Relaxed));
            registered.map_err(|error| Error::program(format!("SIGTERM: {error}")))?;
        }
        Ok(Self { asked, until: budget.and_then(|budget| Instant::now().checked_add(budget)), closed })
    }

    /// What this rank knows of. Local.
    fn here(&self) -> [bool; 3] {
        let over = self.until.is_some_and(|until| Instant::now() >= until);
        [self.asked.load(Ordering::Relaxed), over, self.closed.as_ref().is_some_and(|closed| closed())]
    }

    /// Whether this rank is to end, though others may not know yet. Local.
    #[cfg_attr(not(feature = "view"), allow(dead_code))]
    pub fn asked(&self) -> bool {
        self.here().contains(&true)
    }

    /// Whether any rank is to end. Collective.
    pub fn now(&self, world: &World) -> Result<Option<End>> {
        let mut flags = self.here().map(u32::from);
        world.group().all_reduce(&mut flags, |one, other| *one |= *other)?;
        let all = [End::Signal, End::Time, End::Closed];
        Ok(flags.iter().zip(all).find(|(flag, _)| **flag > 0).map(|(_, end)| end))
    }
}

/// How many steps go by until ranks tell each other of endings: as many as take a quarter of a second, which is little of
/// the time that launchers leave a process that they end.
pub struct Listening {
    steps: u64,
}

impl Listening {
    const SECS: f64 = 0.25;
    const MOST: u64 = 1000;

    pub fn new() -> Self {
        Self { steps: 1 }
    }

    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// So many steps took so long, on the slowest rank. Collective.
    pub fn took(&mut self, world: &World, steps: u64, secs: f64) -> Result<()> {
        let mut slowest = [secs];
        world.group().all_reduce(&mut slowest, |one, other| *one = one.max(*other))?;
        let fit = (steps as f64 * Self::SECS / slowest[0].max(1e-9)) as u64;
        self.steps = fit.clamp(1, Self::MOST.min(4 * self.steps));
        Ok(())
    }
}
