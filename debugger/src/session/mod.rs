//! [`Session`]: connection to a running program, or an open recording.

mod live;
mod replay;

use std::sync::Arc;
use std::time::Duration;

use zippy_protocol::{Message, Program, Request};

pub use live::{Live, MOST_UNANSWERED};
pub use replay::Replay;

/// State of the connection of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Not connected yet, with the reason for the latest failure.
    Connecting(String),
    /// Connected: the program or the recording answers requests.
    Open,
    /// Connection ended or lost, with the reason. Messages that have arrived can still be read.
    Closed(String),
}

/// Function that wakes the user of a session. Called on any thread.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// A running program or a recording. Only [`wait`](Self::wait) blocks.
pub trait Session {
    fn state(&self) -> State;
    /// Returns the description of the program, once it has arrived.
    fn program(&self) -> Option<&Program>;
    /// Sends a request. A [`Message::Answer`] with the returned number answers it; without a
    /// connection, the answer is an error.
    fn ask(&mut self, request: Request) -> u32;
    /// Returns the messages since the last call, in the order of their arrival.
    fn poll(&mut self) -> Vec<Message>;
    /// Sets the function that the session calls when [`poll`](Self::poll) may have something new or
    /// the state has changed.
    fn set_waker(&mut self, waker: Waker);
    /// Waits for a message or a change of the state, at most for `most`.
    fn wait(&mut self, most: Duration);
    /// Returns the numbers of a recording's debug points in ascending order. Empty for a running
    /// program.
    fn steps(&self) -> &[u64];
    /// Goes to a debug point of a recording. A [`Message::Point`] confirms it.
    fn go_to(&mut self, step: u64);
    /// Returns a notice for the user about the program or the recording, for example about a
    /// truncated recording.
    fn notice(&self) -> Option<String> {
        None
    }
}
