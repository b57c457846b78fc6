//! [`Watch`]: a thread that detects the growth of a recording.

use std::fs::File;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::session::Waker;

/// Time between two readings of the file's length: file systems of networks, on which clusters
/// record, do not report changes.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// Wakes a session when its file has another length, until it is dropped.
pub(super) struct Watch {
    _end: Sender<()>,
}

impl Watch {
    /// Starts the thread; `None` if the system has no room for one. The file had `scanned` bytes
    /// when it was scanned last: the thread also reports bytes that were added since.
    pub(super) fn start(file: File, scanned: u64, waker: Waker) -> Option<Self> {
        let (end, ended) = channel();
        let length = move || file.metadata().map(|data| data.len()).ok();
        let watch = move || {
            let mut seen = Some(scanned);
            while ended.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let now = length();
                if now != seen {
                    seen = now;
                    waker();
                }
            }
        };
        thread::Builder::new().name("recording".into()).spawn(watch).ok()?;
        Some(Self { _end: end })
    }
}
