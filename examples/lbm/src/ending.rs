//! When a run ends before its last step: at a signal, or when its time is over, as in batch queues.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::SIGTERM;
use zippy::{Error, Result, World};

/// Why a run has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Steps,
    Steady,
    /// Its steps are over, and it was to become steady.
    Unsteady,
    Signal,
    Time,
}

impl End {
    pub fn name(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Steady => "steady",
            Self::Unsteady => "steps, not yet steady",
            Self::Signal => "signal",
            Self::Time => "time",
        }
    }
}

/// Watches for both.
pub struct Ending {
    asked: Arc<AtomicBool>,
    until: Option<Instant>,
}

impl Ending {
    /// From now on SIGTERM does not end the process at once, where there is something to save.
    ///
    /// # Errors
    /// The system does not let it.
    pub fn watch(saves: bool, budget: Option<Duration>) -> Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        if saves {
            let registered = signal_hook::flag::register(SIGTERM, Arc::clone(&asked));
            registered.map_err(|error| Error::program(format!("SIGTERM: {error}")))?;
        }
        Ok(Self { asked, until: budget.and_then(|budget| Instant::now().checked_add(budget)) })
    }

    /// Whether any rank is to end. Collective.
    pub fn now(&self, world: &World) -> Result<Option<End>> {
        let over = self.until.is_some_and(|until| Instant::now() >= until);
        let mut flags = [u32::from(self.asked.load(Ordering::Relaxed)), u32::from(over)];
        world.group().all_reduce(&mut flags, |one, other| *one |= *other)?;
        Ok(match flags {
            [0, 0] => None,
            [0, _] => Some(End::Time),
            _ => Some(End::Signal),
        })
    }
}
