//! [`PendingSave`]: save that a thread writes while the program continues.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Builder, JoinHandle};
use std::time::Instant;

use zippy::error::CallSite;
use zippy::transport::Payload;
use zippy::{Error, Result, World, trace};

use super::contents::Contents;
use super::save::StartedSave;
use zippy_files::FileError;
use zippy_files::checksum::{ChecksumWriter, Checksums};

/// Ratio of pauses to writes: the thread uses at most a twelfth of a core and of the memory
/// bandwidth.
const PAUSE_RATIO: u32 = 11;

/// Started save: its arrays have been read and may be written again.
///
/// Dropped without [`wait`](Self::wait), the save is cancelled: it stops, removes its files and
/// reports this in the log.
#[must_use = "a started save is complete after wait()"]
pub struct PendingSave<'w> {
    world: &'w World,
    started: Option<StartedSave>,
    writing: Option<JoinHandle<Result<WriteResult, FileError>>>,
    is_stopped: Arc<AtomicBool>,
}

enum WriteResult {
    Whole(Checksums),
    /// Writer and unwritten cells.
    Stopped(ChecksumWriter, std::vec::IntoIter<Payload>),
}

impl<'w> PendingSave<'w> {
    /// Reads this rank's cells and starts the writer thread. Collective.
    pub(super) fn start(world: &'w World, started: StartedSave, contents: &Contents<'_>) -> Result<Self> {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let start = || -> Result<_> {
            let mut pieces = Vec::new();
            let mut each = |piece| {
                pieces.push(piece);
                Ok(())
            };
            contents.entries.iter().try_for_each(|entry| entry.saved.read(&mut each))?;
            let (writer, is_stopped) = (started.writer()?, Arc::clone(&is_stopped));
            let thread = Builder::new().name(format!("rank {} saves", world.rank()));
            let spawned = thread.spawn(move || write(writer, pieces.into_iter(), &is_stopped));
            spawned.map_err(|error| Error::program(format!("no thread to save on: {error}")))
        };
        let (call_name, start_result) = (started.call_name.clone(), start());
        let (writing, is_started) = match start_result {
            Ok(writing) => (Some(writing), Ok(())),
            Err(error) => (None, Err(error)),
        };
        let mut pending = Self { world, started: Some(started), writing, is_stopped };
        // An error on another rank cancels the save of this rank without a warning.
        world.agree(&call_name, is_started).inspect_err(|_| drop(pending.cancel()))?;
        Ok(pending)
    }

    /// True when this rank has written its part; [`wait`](Self::wait) then only waits for other
    /// ranks. Local.
    pub fn is_done(&self) -> bool {
        self.writing.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits until the checkpoint is complete, as after
    /// [`Checkpoints::save`](super::Checkpoints::save). The caller writes the cells that the thread
    /// has not written yet. Collective.
    ///
    /// # Errors
    /// As `save`, the same on every rank.
    #[track_caller]
    pub fn wait(mut self) -> Result<()> {
        let _call = CallSite::enter();
        let written = match self.stop() {
            Some(Ok(written)) => written.and_then(WriteResult::finish).map_err(Error::from),
            _ => Err(Error::program("the thread that saved a checkpoint has panicked")),
        };
        match self.started.take() {
            Some(started) => started.finish(self.world, written),
            None => Ok(()),
        }
    }

    fn stop(&mut self) -> Option<thread::Result<Result<WriteResult, FileError>>> {
        self.is_stopped.store(true, Ordering::Relaxed);
        let writing = self.writing.take()?;
        // The thread may be paused.
        writing.thread().unpark();
        Some(writing.join())
    }

    /// Stops the thread; dropping the returned value removes the files.
    fn cancel(&mut self) -> Option<StartedSave> {
        let _ = self.stop();
        self.started.take()
    }
}

impl Drop for PendingSave<'_> {
    fn drop(&mut self) {
        if let Some(started) = self.cancel()
            && !std::thread::panicking()
        {
            trace::warn(&format!("{} was dropped without wait(); nothing of it is kept", started.call_name));
        }
    }
}

impl WriteResult {
    fn finish(self) -> Result<Checksums, FileError> {
        match self {
            WriteResult::Whole(sums) => Ok(sums),
            WriteResult::Stopped(mut writer, mut pieces) => {
                pieces.try_for_each(|piece| writer.write((*piece).as_ref()))?;
                writer.finish()
            }
        }
    }
}

/// Writes pieces until `leave` is set, and frees each one after it is written. Pauses between
/// pieces leave the core to the program.
fn write(
    mut writer: ChecksumWriter,
    mut pieces: std::vec::IntoIter<Payload>,
    is_stopped: &AtomicBool,
) -> Result<WriteResult, FileError> {
    while !is_stopped.load(Ordering::Relaxed) {
        let Some(piece) = pieces.next() else { return writer.finish().map(WriteResult::Whole) };
        let started = Instant::now();
        writer.write((*piece).as_ref())?;
        drop(piece);
        thread::park_timeout(PAUSE_RATIO * started.elapsed());
    }
    Ok(WriteResult::Stopped(writer, pieces))
}
