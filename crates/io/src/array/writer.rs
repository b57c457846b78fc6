//! [`Handover`]: blocks are written by a thread while others are read.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, Builder};

use zippy::region::Region;

use crate::IoError;

/// So many blocks are in memory: one is written, and one is read.
const BLOCKS: usize = 2;

/// Takes the box and the bytes of a block, on a thread of its own.
pub type Each<'e> = &'e mut (dyn FnMut(&Region, &[u8]) -> Result<(), IoError> + Send);

/// A block that is to be written.
struct Full {
    region: Region,
    words: Vec<u64>,
    bytes: usize,
}

/// Hands blocks over to the thread that writes them.
pub struct Handover {
    full: SyncSender<Full>,
    back: Receiver<(Vec<u64>, Result<(), IoError>)>,
    idle: Vec<Vec<u64>>,
    /// Those that the thread has.
    away: usize,
    /// The first mistake.
    outcome: Result<(), IoError>,
}

/// Runs `bring`, which hands blocks over to a thread, if the system has one. The thread gives them to `each`, one by one,
/// until that fails.
pub fn beside<R>(each: Each, bring: impl FnOnce(io::Result<Handover>) -> R) -> R {
    thread::scope(|scope| {
        let (full, blocks) = sync_channel::<Full>(BLOCKS);
        let (done, back) = sync_channel(BLOCKS);
        let work = move || {
            let mut goes_on = true;
            for Full { region, words, bytes } in blocks {
                let bytes = &bytemuck::cast_slice(&words)[..bytes];
                let written = if goes_on { each(&region, bytes) } else { Ok(()) };
                goes_on &= written.is_ok();
                if done.send((words, written)).is_err() {
                    break;
                }
            }
        };
        let thread = Builder::new().name("zippy files".into()).spawn_scoped(scope, work);
        bring(thread.map(|_| Handover { full, back, idle: Vec::new(), away: 0, outcome: Ok(()) }))
    })
}

impl Handover {
    /// Room for a block, when there is some; it has old contents.
    pub fn room(&mut self) -> Vec<u64> {
        if self.idle.is_empty() && self.away == BLOCKS {
            self.take_back(true);
        }
        self.idle.pop().unwrap_or_default()
    }

    /// Hands over a block, which stands in the first `bytes` of what [`Self::room`] has given.
    pub fn give(&mut self, region: Region, words: Vec<u64>, bytes: usize) {
        // Where the thread has panicked so does this one when it waits for its end.
        if self.full.send(Full { region, words, bytes }).is_ok() {
            self.away += 1;
        }
    }

    /// What `each` has said, as far as it is known, or of all blocks, when it has had them.
    ///
    /// # Errors
    /// Its first mistake.
    pub fn outcome(&mut self, of_all: bool) -> Result<(), IoError> {
        while self.take_back(of_all) {}
        self.outcome.clone()
    }

    /// Takes one block back, and waits for it if wished; whether there was one.
    fn take_back(&mut self, waits: bool) -> bool {
        let back = match self.away {
            0 => Err(TryRecvError::Empty),
            _ if waits => self.back.recv().map_err(TryRecvError::from),
            _ => self.back.try_recv(),
        };
        let Ok((words, written)) = back else { return false };
        self.away -= 1;
        self.idle.push(words);
        self.outcome = std::mem::replace(&mut self.outcome, Ok(())).and(written);
        true
    }
}
