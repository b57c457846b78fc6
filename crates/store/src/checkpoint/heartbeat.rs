//! [`Heartbeat`]: holds a directory by a renewed time in the lock file, on file systems without
//! locks.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use zippy::trace;
use zippy_files::{FileError, write_unsynced};

use super::holder::{Holder, held_by_other};

const RENEWAL_INTERVAL: Duration = Duration::from_secs(60);

/// Thread that renews the time of a holder until it is dropped.
#[derive(Debug)]
pub(super) struct Heartbeat {
    path: PathBuf,
    holder: Holder,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Takes a directory by its lock file; `is_new` is true if this program has just created the
    /// file. Another holder of the directory is an error.
    pub(super) fn begin(path: &Path, holder: &Holder, is_new: bool) -> Result<Self, FileError> {
        let found = Holder::read(path);
        let is_free = match &found {
            Some(other) if other.renewed > 0 => other.is_stale(other.renewed),
            // Holder of a file lock, which this program cannot test and which is not renewed.
            Some(other) => other.has_ended(),
            // Another program has created the file but not written it yet.
            None => is_new || holder.is_stale(modification_time(path)),
        };
        if !is_free {
            return Err(held_by_other(path, found.as_ref()));
        }
        let mut heartbeat = Self { path: path.to_path_buf(), holder: holder.clone(), stop: None, thread: None };
        heartbeat.write()?;
        // If two programs find the same stale time, the last writer wins.
        heartbeat.check()?;
        let (stop, stopped) = channel::<()>();
        let (path, holder) = (heartbeat.path.clone(), heartbeat.holder.clone());
        let renew_until_stopped = move || {
            while stopped.recv_timeout(RENEWAL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = renew(&path, &holder) {
                    trace::warn(&format!("{error}"));
                }
            }
        };
        let spawned = Builder::new().name("zippy heartbeat".into()).spawn(renew_until_stopped);
        heartbeat.thread = Some(spawned.map_err(|error| FileError::system(&heartbeat.path, "renew", &error))?);
        heartbeat.stop = Some(stop);
        Ok(heartbeat)
    }

    fn write(&self) -> Result<(), FileError> {
        write_unsynced(&self.path, self.holder.renewed_now().text().as_bytes()).map(drop)
    }

    pub(super) fn check(&self) -> Result<(), FileError> {
        check(&self.path, &self.holder)
    }
}

fn check(path: &Path, holder: &Holder) -> Result<(), FileError> {
    match Holder::read(path) {
        Some(found) if found.is_same_run(holder) => Ok(()),
        Some(found) => Err(held_by_other(path, Some(&found))),
        None => Err(FileError::request(path, "has gone, by which this program held the directory of its checkpoints")),
    }
}

/// Writes the current time, unless another program has taken the directory.
fn renew(path: &Path, holder: &Holder) -> Result<(), FileError> {
    check(path, holder)?;
    write_unsynced(path, holder.renewed_now().text().as_bytes()).map(drop)
}

/// Modification time in seconds since 1970; the current time if it is unknown.
fn modification_time(path: &Path) -> u64 {
    let modification_time = fs::metadata(path).and_then(|found| found.modified()).unwrap_or_else(|_| SystemTime::now());
    modification_time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if self.check().is_ok() {
            let _ = fs::remove_file(&self.path);
        }
    }
}
