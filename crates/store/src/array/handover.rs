//! [`Handover`]: transfer of blocks to a thread that writes them while the caller reads others.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, Builder};

use zippy::region::Region;
use zippy_files::FileError;

/// Number of block buffers: one is written while another is read.
const BLOCKS: usize = 2;

/// Receives the box and the bytes of a block, on a thread of its own.
pub(super) type Each<'e> = &'e mut (dyn FnMut(&Region, &[u8]) -> Result<(), FileError> + Send);

/// A block to be written.
struct FilledBlock {
    region: Region,
    words: Vec<u64>,
    bytes: usize,
}

/// Sender of blocks to the writing thread.
pub(super) struct Handover {
    full: SyncSender<FilledBlock>,
    back: Receiver<(Vec<u64>, Result<(), FileError>)>,
    idle: Vec<Vec<u64>>,
    /// Number of buffers that the thread has.
    in_flight: usize,
    /// The first error.
    outcome: Result<(), FileError>,
}

/// Runs `bring`, which sends blocks to a thread, if the system can create one. The thread calls
/// `each` for one block at a time until it returns an error.
pub(super) fn with_writer_thread<R>(each: Each<'_>, bring: impl FnOnce(io::Result<Handover>) -> R) -> R {
    thread::scope(|scope| {
        let (full, blocks) = sync_channel::<FilledBlock>(BLOCKS);
        let (done, back) = sync_channel(BLOCKS);
        let work = move || {
            let mut goes_on = true;
            for FilledBlock { region, words, bytes } in blocks {
                let bytes = &bytemuck::cast_slice(&words)[..bytes];
                let written = if goes_on { each(&region, bytes) } else { Ok(()) };
                goes_on &= written.is_ok();
                // The caller may have stopped receiving after an error on another rank.
                let _ = done.send((words, written));
            }
        };
        let thread = Builder::new().name("zippy files".into()).spawn_scoped(scope, work);
        bring(thread.map(|_| Handover { full, back, idle: Vec::new(), in_flight: 0, outcome: Ok(()) }))
    })
}

impl Handover {
    /// A buffer for a block, with old contents.
    pub(super) fn room(&mut self) -> Vec<u64> {
        if self.idle.is_empty() && self.in_flight == BLOCKS {
            self.take_back(true);
        }
        self.idle.pop().unwrap_or_default()
    }

    /// Sends a block; its cells are the first `bytes` bytes of a buffer from [`Self::room`].
    pub(super) fn give(&mut self, region: Region, words: Vec<u64>, bytes: usize) {
        // If the thread has panicked, joining it panics here, too.
        if self.full.send(FilledBlock { region, words, bytes }).is_ok() {
            self.in_flight += 1;
        }
    }

    /// Result of the calls of `each` so far. With `of_all`, waits for the writes of all blocks.
    ///
    /// # Errors
    /// The first error of `each`.
    pub(super) fn outcome(&mut self, of_all: bool) -> Result<(), FileError> {
        while self.take_back(of_all) {}
        self.outcome.clone()
    }

    /// Receives a buffer back, and waits for it if `waits`; returns true if there was one.
    fn take_back(&mut self, waits: bool) -> bool {
        let back = match self.in_flight {
            0 => Err(TryRecvError::Empty),
            _ if waits => self.back.recv().map_err(TryRecvError::from),
            _ => self.back.try_recv(),
        };
        let Ok((words, written)) = back else { return false };
        self.in_flight -= 1;
        self.idle.push(words);
        self.outcome = std::mem::replace(&mut self.outcome, Ok(())).and(written);
        true
    }
}
