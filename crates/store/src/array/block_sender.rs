//! [`BlockSender`]: transfer of blocks to a thread that writes them while the caller reads others.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, Builder};

use zippy::region::Region;
use zippy_files::FileError;

/// Number of buffers: one is written while another is read.
const BLOCKS: usize = 2;

/// Callback on the writer thread: the box and the cells of a block.
pub(super) type WriteBlock<'e> = &'e mut (dyn FnMut(&Region, &[u8]) -> Result<(), FileError> + Send);

struct FilledBlock {
    region: Region,
    words: Vec<u64>,
    bytes: usize,
}

pub(super) struct BlockSender {
    full: SyncSender<FilledBlock>,
    returned: Receiver<(Vec<u64>, Result<(), FileError>)>,
    idle: Vec<Vec<u64>>,
    in_flight: usize,
    outcome: Result<(), FileError>,
}

/// Starts the writer thread and runs `send_blocks` with the sender, or with the error of the
/// system. The thread calls `each` for one block at a time until it returns an error.
pub(super) fn with_writer_thread<R>(each: WriteBlock<'_>, send_blocks: impl FnOnce(io::Result<BlockSender>) -> R) -> R {
    thread::scope(|scope| {
        let (full, blocks) = sync_channel::<FilledBlock>(BLOCKS);
        let (done, returned) = sync_channel(BLOCKS);
        let work = move || {
            let mut continues = true;
            for FilledBlock { region, words, bytes } in blocks {
                let bytes = &bytemuck::cast_slice(&words)[..bytes];
                let written = if continues { each(&region, bytes) } else { Ok(()) };
                continues &= written.is_ok();
                let _ = done.send((words, written));
            }
        };
        let thread = Builder::new().name("zippy files".into()).spawn_scoped(scope, work);
        send_blocks(thread.map(|_| BlockSender { full, returned, idle: Vec::new(), in_flight: 0, outcome: Ok(()) }))
    })
}

impl BlockSender {
    /// Buffer with arbitrary contents.
    pub(super) fn buffer(&mut self) -> Vec<u64> {
        if self.idle.is_empty() && self.in_flight == BLOCKS {
            self.receive_buffer(true);
        }
        self.idle.pop().unwrap_or_default()
    }

    /// Sends a block; `words` is a buffer from [`Self::buffer`].
    pub(super) fn send(&mut self, region: Region, words: Vec<u64>, bytes: usize) {
        // Joining a panicked thread panics here, too.
        if self.full.send(FilledBlock { region, words, bytes }).is_ok() {
            self.in_flight += 1;
        }
    }

    /// Result of the writes so far; with `waits`, of all sent blocks.
    pub(super) fn outcome(&mut self, waits: bool) -> Result<(), FileError> {
        while self.receive_buffer(waits) {}
        self.outcome.clone()
    }

    /// Receives one buffer back, and waits for it if `waits`.
    fn receive_buffer(&mut self, waits: bool) -> bool {
        let returned = match self.in_flight {
            0 => Err(TryRecvError::Empty),
            _ if waits => self.returned.recv().map_err(TryRecvError::from),
            _ => self.returned.try_recv(),
        };
        let Ok((words, written)) = returned else { return false };
        self.in_flight -= 1;
        self.idle.push(words);
        self.outcome = std::mem::replace(&mut self.outcome, Ok(())).and(written);
        true
    }
}
