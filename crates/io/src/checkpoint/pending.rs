//! [`PendingSave`]: a save that is written while the program goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Builder, JoinHandle};
use std::time::Instant;

use zippy::error::CallSite;
use zippy::transport::Payload;
use zippy::{Error, Result, World, trace};

use super::blocks::{Sums, Writer};
use super::contents::Contents;
use super::save::Begun;
use crate::IoError;

/// The thread rests so many times as long as it has written: it takes a twelfth of what it could have of a core and of the
/// memory, and less where many want the same cores.
const RESTS: u32 = 11;

/// A started save: its arrays have been read and may be written again.
///
/// Dropped without [`wait`](Self::wait), it is given up: it stops, leaves nothing behind, and says so in the log.
#[must_use = "a started save is in its place after wait()"]
pub struct PendingSave<'w> {
    world: &'w World,
    begun: Option<Begun>,
    writing: Option<JoinHandle<Result<Written, IoError>>>,
    /// Told to the thread: it is not to write more.
    leave: Arc<AtomicBool>,
}

/// How far the thread has come.
enum Written {
    Whole(Sums),
    /// What is left to be written, and where.
    Left(Writer, std::vec::IntoIter<Payload>),
}

impl<'w> PendingSave<'w> {
    /// Reads this rank's cells, and writes them on a thread. Collective.
    ///
    /// # Errors
    /// The same on every rank: a device failure; there is no file or thread to be had.
    pub(super) fn start(world: &'w World, begun: Begun, contents: &Contents<'_>) -> Result<Self> {
        let leave = Arc::new(AtomicBool::new(false));
        let start = || -> Result<_> {
            let mut pieces = Vec::new();
            let mut each = |piece| {
                pieces.push(piece);
                Ok(())
            };
            contents.entries.iter().try_for_each(|entry| entry.saved.read(&mut each))?;
            let (writer, leave) = (begun.writer()?, Arc::clone(&leave));
            let thread = Builder::new().name(format!("rank {} saves", world.rank()));
            let spawned = thread.spawn(move || write(writer, pieces.into_iter(), &leave));
            spawned.map_err(|error| Error::program(format!("no thread to save on: {error}")))
        };
        let (what, started) = (begun.what.clone(), start());
        let (writing, is_started) = match started {
            Ok(writing) => (Some(writing), Ok(())),
            Err(error) => (None, Err(error)),
        };
        let mut pending = Self { world, begun: Some(begun), writing, leave };
        // Where another rank has failed, this one gives up without a word.
        world.agree(&what, is_started).inspect_err(|_| drop(pending.give_up()))?;
        Ok(pending)
    }

    /// Whether this rank has written its part. Local: where it is true, [`wait`](Self::wait) only waits for other ranks.
    pub fn is_done(&self) -> bool {
        self.writing.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits until the checkpoint is in its place, as after [`Checkpoints::save`](super::Checkpoints::save). Collective.
    /// What the thread has not written is written by the caller, which has nothing else to do.
    ///
    /// # Errors
    /// As those of `save`, the same on every rank.
    #[track_caller]
    pub fn wait(mut self) -> Result<()> {
        let _call = CallSite::enter();
        let written = match self.stopped() {
            Some(Ok(written)) => written.and_then(Written::finish).map_err(Error::from),
            _ => Err(Error::program("the thread that saved a checkpoint has panicked")),
        };
        match self.begun.take() {
            Some(begun) => begun.finish(self.world, written),
            None => Ok(()),
        }
    }

    /// Ends the thread.
    fn stopped(&mut self) -> Option<thread::Result<Result<Written, IoError>>> {
        self.leave.store(true, Ordering::Relaxed);
        let writing = self.writing.take()?;
        // It may rest.
        writing.thread().unpark();
        Some(writing.join())
    }

    /// Ends the writing; what is there goes with `begun`.
    fn give_up(&mut self) -> Option<Begun> {
        let _ = self.stopped();
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

impl Written {
    fn finish(self) -> Result<Sums, IoError> {
        match self {
            Written::Whole(sums) => Ok(sums),
            Written::Left(mut writer, mut pieces) => {
                pieces.try_for_each(|piece| writer.write((*piece).as_ref()))?;
                writer.finish()
            }
        }
    }
}

/// Writes pieces, and frees each one when it is written, until told to leave; between them it lets the program go on.
fn write(mut writer: Writer, mut pieces: std::vec::IntoIter<Payload>, leave: &AtomicBool) -> Result<Written, IoError> {
    while !leave.load(Ordering::Relaxed) {
        let Some(piece) = pieces.next() else { return writer.finish().map(Written::Whole) };
        let begun = Instant::now();
        writer.write((*piece).as_ref())?;
        drop(piece);
        thread::park_timeout(RESTS * begun.elapsed());
    }
    Ok(Written::Left(writer, pieces))
}
