//! [`Flusher`]: waits for files to be on the disk while others are written.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// So many files wait for the disk. Who writes more waits, too: otherwise all of an array could be on its way.
const MOST_WAITING: usize = 64;

/// A thread that waits for files one by one. Dropped, it waits for no more of them.
pub struct Flusher {
    files: Option<SyncSender<File>>,
    is_wanted: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Flusher {
    /// # Errors
    /// The system has no thread for it.
    pub fn start() -> io::Result<Self> {
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

    /// Hands a file over.
    ///
    /// # Errors
    /// What went wrong with one of those before.
    pub fn add(&mut self, file: File) -> io::Result<()> {
        match self.files.as_ref().map(|files| files.send(file)) {
            Some(Ok(())) => Ok(()),
            // The thread has ended, which it does when a file fails.
            _ => self.end().and(Err(io::Error::other("a file was written after the end"))),
        }
    }

    /// Waits for all files.
    ///
    /// # Errors
    /// An operating system error: some only learn now that a disk is full.
    pub fn end(&mut self) -> io::Result<()> {
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
        // Files that are open cannot be removed everywhere.
        let _ = self.end();
    }
}
