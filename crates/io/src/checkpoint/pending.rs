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

/// How much less than the program the thread that writes counts where both want a core (`nice` of Unix): about a tenth.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

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
            contents.saved.iter().try_for_each(|saved| saved.read(&mut each))?;
            let (writer, leave) = (begun.writer()?, Arc::clone(&leave));
            let thread = Builder::new().name(format!("rank {} saves", world.rank()));
            let spawned = thread.spawn(move || {
                give_way();
                write(writer, pieces.into_iter(), &leave)
            });
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
    pub fn wait(mut self) -> Result<()> {
        self.leave.store(true, Ordering::Relaxed);
        let written = match self.writing.take().map(JoinHandle::join) {
            Some(Ok(written)) => written.and_then(Written::finish).map_err(Error::from),
            _ => Err(Error::program("the thread that saved a checkpoint has panicked")),
        };
        match self.begun.take() {
            Some(begun) => begun.finish(self.world, written),
            None => Ok(()),
        }
    }

    /// Ends the writing; what is there goes with `begun`.
    fn give_up(&mut self) -> Option<Begun> {
        self.leave.store(true, Ordering::Relaxed);
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

/// Lets the program's own threads and those of its device go first.
fn give_way() {
    // Elsewhere this would be asked for the whole process. Where it is refused, the save only takes more of the cores.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, NICE);
}

/// Writes pieces, and frees each one when it is written, until told to leave.
fn write(mut writer: Writer, mut pieces: std::vec::IntoIter<Payload>, leave: &AtomicBool) -> Result<Written, IoError> {
    while !leave.load(Ordering::Relaxed) {
        match pieces.next() {
            Some(piece) => writer.write((*piece).as_ref())?,
            None => return writer.finish().map(Written::Whole),
        }
    }
    Ok(Written::Left(writer, pieces))
}
