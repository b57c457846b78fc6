//! [`Live`]: a program that runs, over TCP.

mod link;

use std::sync::Arc;
use std::time::Duration;

use zippy::debug::protocol::{Ask, Message, Program, Request};

use self::link::Shared;
use super::{Session, State, Waker};

/// Requests that can be asked and not be answered and fetched; further ones are answered with an error.
pub const MOST_UNANSWERED: usize = 32;

/// A program that listens at an address. It is looked for until it is found, and again when it is over or was lost: the next run
/// at this address with this token is another program of the same session. A wrong token, or a program of another version, ends
/// the search.
///
/// Threads of its own connect, send and receive. What is asked while nobody is there, or was under way when a connection ended,
/// is answered with an error. Of the debug points that were told and not fetched only the latest is kept.
pub struct Live {
    shared: Arc<Shared>,
    program: Option<Program>,
    seen: u64,
    next: u32,
}

impl Live {
    /// Looks for a program at an address, `host:port`, that has printed this token.
    pub fn connect(address: &str, token: &str) -> Self {
        let shared = Arc::new(Shared::new(address, token));
        link::start(&shared);
        Self { shared, program: None, seen: 0, next: 0 }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shared.leave();
    }
}

impl Session for Live {
    fn state(&self) -> State {
        self.shared.lock().state.clone()
    }

    fn program(&self) -> Option<&Program> {
        self.program.as_ref()
    }

    fn ask(&mut self, request: Request) -> u32 {
        self.next = self.next.checked_add(1).unwrap_or(1);
        self.shared.ask(Ask { id: self.next, request });
        self.next
    }

    fn poll(&mut self) -> Vec<Message> {
        let mut inner = self.shared.lock();
        self.program.clone_from(&inner.program);
        self.seen = inner.changes;
        inner.fetch()
    }

    fn set_waker(&mut self, waker: Waker) {
        self.shared.set_waker(waker);
    }

    fn wait(&mut self, most: Duration) {
        let inner = self.shared.wait(most, |inner| inner.changes == self.seen);
        self.program.clone_from(&inner.program);
        self.seen = inner.changes;
    }

    fn steps(&self) -> &[u64] {
        &[]
    }

    fn go_to(&mut self, _: u64) {}
}
