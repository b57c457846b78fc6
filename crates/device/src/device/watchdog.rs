//! Watchdog of native kernels: one thread stops kernels that exceed their time limit.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use zippy_native::StopRequest;

/// Interval between two checks of the running native kernels.
const INTERVAL: Duration = Duration::from_millis(50);
/// Time without a running native kernel after which the watchdog's thread ends.
const IDLE_LIMIT: Duration = Duration::from_secs(5);

static WATCHED: Mutex<WatchList> = Mutex::new(WatchList { running: Vec::new(), has_thread: false });

struct WatchList {
    running: Vec<(Arc<StopRequest>, Instant)>,
    has_thread: bool,
}

/// Guard of a kernel with a time limit: the drop removes the kernel from the watchdog.
pub(super) struct WatchGuard(Arc<StopRequest>);

/// Registers a native kernel with the watchdog, which requests `stop` after `limit` unless the
/// guard is dropped first.
pub(super) fn watch(stop: &Arc<StopRequest>, limit: Duration) -> WatchGuard {
    let mut list = watch_list();
    // A limit beyond the range of the clock never expires.
    if let Some(end) = Instant::now().checked_add(limit) {
        list.running.push((stop.clone(), end));
    }
    if !list.has_thread {
        // If the system refuses the thread, kernels run without a limit.
        list.has_thread = thread::Builder::new().name("zippy watchdog".into()).spawn(stop_overdue_kernels).is_ok();
    }
    WatchGuard(stop.clone())
}

impl Drop for WatchGuard {
    fn drop(&mut self) {
        watch_list().running.retain(|(stop, _)| !Arc::ptr_eq(stop, &self.0));
    }
}

fn watch_list() -> MutexGuard<'static, WatchList> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn stop_overdue_kernels() {
    let mut idle_since = Instant::now();
    loop {
        thread::sleep(INTERVAL);
        let (now, mut list) = (Instant::now(), watch_list());
        list.running.iter().filter(|(_, end)| *end <= now).for_each(|(stop, _)| stop.request());
        if !list.running.is_empty() {
            idle_since = now;
        } else if now - idle_since >= IDLE_LIMIT {
            list.has_thread = false;
            return;
        }
    }
}
