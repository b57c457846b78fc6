//! [`Watch`]: a thread that sees a recording grow.

use std::fs::File;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::session::Waker;

/// Between two looks at the file's length. Networks' file systems, on which clusters record, tell nobody of changes.
const BETWEEN: Duration = Duration::from_millis(300);

/// Wakes a session when its file has another length, until it is dropped.
pub struct Watch {
    _end: Sender<()>,
}

impl Watch {
    /// Starts the thread; none where the system has no room for it.
    pub fn start(file: File, waker: Waker) -> Option<Self> {
        let (end, ended) = channel();
        let length = move || file.metadata().map(|data| data.len()).ok();
        let watch = move || {
            let mut seen = length();
            while ended.recv_timeout(BETWEEN) == Err(RecvTimeoutError::Timeout) {
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
