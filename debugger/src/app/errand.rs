//! [`Errand`]: work on a thread of its own, which has the window ask for the cells that it needs.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};

use zippy::debug::protocol::{View, ViewRequest};

use super::store::Store;
use crate::client::gather;

/// Work that is under way.
pub struct Errand<T> {
    // Dropped before the thread is waited for.
    desk: Option<Desk>,
    thread: Option<JoinHandle<Result<T, String>>>,
    /// What is being asked for, in which store, and since when.
    asked: Option<(usize, ViewRequest, u64)>,
    /// Bytes of cells that have come.
    pub fetched: usize,
}

struct Desk {
    wants: Receiver<(usize, ViewRequest)>,
    answers: Sender<Result<View, String>>,
}

/// Where the work gets its cells.
pub struct Source {
    wants: Sender<(usize, ViewRequest)>,
    answers: Receiver<Result<View, String>>,
}

impl Source {
    /// All cells of a box, `cell_bytes` each, of the program that the store of this place is of.
    ///
    /// # Errors
    /// What [`gather`] says; nobody waits for the work any more.
    pub fn cells(&self, store: usize, request: &ViewRequest, cell_bytes: usize) -> Result<View, String> {
        gather(request, cell_bytes, |part| {
            let gone = "nobody waits for it any more";
            self.wants.send((store, part)).map_err(|_| gone)?;
            self.answers.recv().map_err(|_| gone)?
        })
    }
}

impl<T: Send + 'static> Errand<T> {
    /// Starts it.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn start(work: impl FnOnce(&Source) -> Result<T, String> + Send + 'static) -> Result<Self, String> {
        let ((wants, wanted), (answers, answered)) = (channel(), channel());
        let source = Source { wants, answers: answered };
        let thread = thread::Builder::new().name("errand".into()).spawn(move || work(&source));
        let thread = thread.map_err(|error| format!("no thread can be started: {error}"))?;
        let desk = Some(Desk { wants: wanted, answers });
        Ok(Self { desk, thread: Some(thread), asked: None, fetched: 0 })
    }

    /// Asks these stores for what it needs next; what has come of it, once it is done.
    pub fn go_on(&mut self, stores: &mut [&mut Store]) -> Option<Result<T, String>> {
        loop {
            let desk = self.desk.as_ref()?;
            if let Some((place, request, since)) = &self.asked {
                let answer = match stores.get_mut(*place) {
                    Some(store) => store.view_since(request, *since)?,
                    None => Err("there is no such program".into()),
                };
                self.fetched += answer.as_ref().map_or(0, |view| view.cells.len());
                // Where the work has ended meanwhile, its result is taken below.
                let _ = desk.answers.send(answer);
                self.asked = None;
            }
            match desk.wants.try_recv() {
                Ok((place, request)) => {
                    let since = stores.get(place).map_or(0, |store| store.epoch());
                    self.asked = Some((place, request, since));
                }
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Disconnected) => {
                    self.desk = None;
                    let ended = self.thread.take()?.join();
                    return Some(ended.unwrap_or_else(|_| Err("it panicked".into())));
                }
            }
        }
    }
}

impl<T> Drop for Errand<T> {
    /// It hears that nobody waits; a file that it is writing is finished.
    fn drop(&mut self) {
        self.desk = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
