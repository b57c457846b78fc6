//! One thread that stops kernels which the host computes for too long.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use zippy_native::Stop;

/// Time between two looks at the kernels that run.
const INTERVAL: Duration = Duration::from_millis(50);
/// Time without a kernel after which the thread ends.
const IDLE: Duration = Duration::from_secs(5);

static WATCHED: Mutex<Watched> = Mutex::new(Watched { running: Vec::new(), has_thread: false });

struct Watched {
    running: Vec<(Arc<Stop>, Instant)>,
    has_thread: bool,
}

/// A kernel that is watched as long as this lives.
pub(super) struct Watch(Arc<Stop>);

/// Stops a kernel when `limit` has passed.
pub(super) fn watch(stop: &Arc<Stop>, limit: Duration) -> Watch {
    let mut watched = watched();
    // A limit beyond the clock's range is none.
    if let Some(end) = Instant::now().checked_add(limit) {
        watched.running.push((stop.clone(), end));
    }
    if !watched.has_thread {
        // Without a thread kernels run without a limit.
        watched.has_thread = thread::Builder::new().name("zippy watchdog".into()).spawn(look).is_ok();
    }
    Watch(stop.clone())
}

impl Drop for Watch {
    fn drop(&mut self) {
        watched().running.retain(|(stop, _)| !Arc::ptr_eq(stop, &self.0));
    }
}

fn watched() -> MutexGuard<'static, Watched> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn look() {
    let mut idle_since = Instant::now();
    loop {
        thread::sleep(INTERVAL);
        let (now, mut watched) = (Instant::now(), watched());
        watched.running.iter().filter(|(_, end)| *end <= now).for_each(|(stop, _)| stop.ask());
        if !watched.running.is_empty() {
            idle_since = now;
        } else if now - idle_since >= IDLE {
            watched.has_thread = false;
            return;
        }
    }
}
