//! [`PendingSave`]: a save that is written while the program goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

use zippy::transport::Payload;
use zippy::{Error, Result, World, trace};

use super::blocks::{Sums, Writer};
use super::contents::Contents;
use super::save::Begun;
use crate::IoError;

/// A started save: its arrays have been read and may be written again.
///
/// Dropped without [`wait`](Self::wait), it is given up: it stops, leaves nothing behind, and says so in the log.
#[must_use = "a started save is in its place after wait()"]
pub struct PendingSave<'w> {
    world: &'w World,
    begun: Option<Begun>,
    writing: Option<JoinHandle<Result<Sums, IoError>>>,
    stop: Arc<AtomicBool>,
}

impl<'w> PendingSave<'w> {
    /// Reads this rank's cells, and writes them on a thread. Collective.
    ///
    /// # Errors
    /// The same on every rank: a device failure; there is no file or thread to be had.
    pub(super) fn start(world: &'w World, begun: Begun, contents: &Contents<'_>) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let start = || -> Result<_> {
            let mut pieces = Vec::new();
            let mut each = |piece| {
                pieces.push(piece);
                Ok(())
            };
            contents.saved.iter().try_for_each(|saved| saved.read(&mut each))?;
            let (writer, stop) = (begun.writer()?, Arc::clone(&stop));
            let thread = Builder::new().name(format!("rank {} saves", world.rank()));
            let spawned = thread.spawn(move || write(writer, pieces, &stop));
            spawned.map_err(|error| Error::program(format!("no thread to save on: {error}")))
        };
        let (what, started) = (begun.what.clone(), start());
        let (writing, is_started) = match started {
            Ok(writing) => (Some(writing), Ok(())),
            Err(error) => (None, Err(error)),
        };
        let mut pending = Self { world, begun: Some(begun), writing, stop };
        // Where another rank has failed, this one gives up without a word.
        world.agree(&what, is_started).inspect_err(|_| drop(pending.give_up()))?;
        Ok(pending)
    }

    /// Whether this rank has written its part. Local: where it is true, [`wait`](Self::wait) only waits for other ranks.
    pub fn is_done(&self) -> bool {
        self.writing.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits until the checkpoint is in its place, as after [`Checkpoints::save`](super::Checkpoints::save). Collective.
    ///
    /// # Errors
    /// As those of `save`, the same on every rank.
    pub fn wait(mut self) -> Result<()> {
        let written = match self.writing.take().map(JoinHandle::join) {
            Some(Ok(written)) => written.map_err(Error::from),
            _ => Err(Error::program("the thread that saved a checkpoint has panicked")),
        };
        match self.begun.take() {
            Some(begun) => begun.finish(self.world, written),
            None => Ok(()),
        }
    }

    /// Ends the writing; what is there goes with `begun`.
    fn give_up(&mut self) -> Option<Begun> {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(writing) = self.writing.take() {
            let _ = writing.join();
        }
        self.begun.take()
    }
}

impl Drop for PendingSave<'_> {
    fn drop(&mut self) {
        if let Some(begun) = self.give_up()
            && !std::thread::panicking()
        {
            trace::warn(&format!("{} was dropped without wait(); nothing of it is kept", begun.what));
        }
    }
}

/// Writes pieces, and frees each one when it is written. Told to stop, it does, and nobody asks what it has written.
fn write(mut writer: Writer, pieces: Vec<Payload>, stop: &AtomicBool) -> Result<Sums, IoError> {
    for piece in pieces {
        if stop.load(Ordering::Relaxed) {
            return Ok(Sums::default());
        }
        writer.write((*piece).as_ref())?;
    }
    match stop.load(Ordering::Relaxed) {
        true => Ok(Sums::default()),
        false => writer.finish(),
    }
}
