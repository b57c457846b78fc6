//! [`Flusher`]: syncs files to the disk while others are written.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Maximum number of files that wait for the disk. The limit keeps the page cache from filling with
/// the whole array.
const MOST_WAITING: usize = 64;

/// Thread that syncs files one by one. Dropped, it skips the remaining files.
pub(super) struct Flusher {
    files: Option<SyncSender<File>>,
    is_wanted: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Flusher {
    pub(super) fn start() -> io::Result<Self> {
        let (sender, files) = sync_channel::<File>(MOST_WAITING);
        let is_wanted = Arc::new(AtomicBool::new(true));
        let go_on = is_wanted.clone();
        let work = move || {
            let mut wanted = files.iter().take_while(|_| go_on.load(Ordering::Relaxed));
            wanted.try_for_each(|file| file.sync_all())
        };
        let thread = Builder::new().name("zippy files".into()).spawn(work)?;
        Ok(Self { files: Some(sender), is_wanted, thread: Some(thread) })
    }

    /// Sends a file to the thread; returns the error of an earlier file.
    pub(super) fn add(&mut self, file: File) -> io::Result<()> {
        match self.files.as_ref().map(|files| files.send(file)) {
            Some(Ok(())) => Ok(()),
            _ => self.end().and(Err(io::Error::other("a file was written after the end"))),
        }
    }

    /// Waits for all files. Some file systems report a full disk only here.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.files = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            None => Ok(()),
            Some(Err(_)) => Err(io::Error::other("the thread that waits for the disk has panicked")),
        }
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        self.is_wanted.store(false, Ordering::Relaxed);
        // Some systems cannot remove open files.
        let _ = self.end();
    }
}
