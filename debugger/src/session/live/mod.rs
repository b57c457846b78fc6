//! [`Live`]: a running program, over TCP.

mod connection;

use std::sync::Arc;
use std::time::Duration;

use zippy_protocol::{Ask, Message, Program, Request};

use self::connection::Connection;
use super::{Session, State, Waker};

/// Maximum number of requests without an answer that the session has read. Further requests are
/// answered with an error.
pub const MOST_UNANSWERED: usize = 32;

/// Connection to a program that listens at an address.
///
/// The session searches for the program until it connects, and again after the connection ends: the
/// next program at this address with this token continues the same session. A wrong token or
/// another protocol version ends the search.
///
/// Separate threads connect, send and receive. Requests without a connection, and requests that are
/// pending when a connection ends, are answered with an error. Of several unread debug points, only
/// the latest is kept.
pub struct Live {
    shared: Arc<Connection>,
    program: Option<Program>,
    seen_changes: u64,
    next: u32,
}

impl Live {
    /// Connects to the program at an address, `host:port`, that has printed this token.
    pub fn connect(address: &str, token: &str) -> Self {
        let shared = Arc::new(Connection::new(address, token));
        connection::start(&shared);
        Self { shared, program: None, seen_changes: 0, next: 0 }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shared.stop();
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
        let mut state = self.shared.lock();
        self.program.clone_from(&state.program);
        self.seen_changes = state.changes;
        state.fetch()
    }

    fn set_waker(&mut self, waker: Waker) {
        self.shared.set_waker(waker);
    }

    fn wait(&mut self, most: Duration) {
        let state = self.shared.wait(most, |state| state.changes == self.seen_changes);
        self.program.clone_from(&state.program);
        self.seen_changes = state.changes;
    }

    fn steps(&self) -> &[u64] {
        &[]
    }

    fn go_to(&mut self, _: u64) {}
}
