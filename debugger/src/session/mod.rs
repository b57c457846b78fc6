//! [`Session`]: a program that is looked at, running or recorded.

mod live;
mod replay;

use std::sync::Arc;
use std::time::Duration;

use zippy::debug::protocol::{Message, Program, Request};

pub use live::{Live, MOST_UNANSWERED};
pub use replay::Replay;

/// How things stand with the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It is being looked for; why it was not found so far.
    Connecting(String),
    /// It answers.
    Open,
    /// It is over, or was lost: how. What was told can still be seen.
    Closed(String),
}

/// Wakes whoever polls a session. May be called on any thread.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// A program that is looked at. Nothing blocks but [`wait`](Self::wait).
pub trait Session {
    /// How things stand.
    fn state(&self) -> State;
    /// What it is, once it has said so.
    fn program(&self) -> Option<&Program>;
    /// Asks for something, to be answered by a [`Message::Answer`] of this number. Lost where nobody is there to ask.
    fn ask(&mut self, request: Request) -> u32;
    /// What was said since the last call, in its order.
    fn poll(&mut self) -> Vec<Message>;
    /// Sets the function that the session calls when [`poll`](Self::poll) may have something new or
    /// the state has changed.
    fn set_waker(&mut self, waker: Waker);
    /// Waits until something is said or the state changes, but no longer than this.
    fn wait(&mut self, most: Duration);
    /// The debug points that there are to go back to, of a recording: the number of each, rising. Empty of a program that
    /// runs.
    fn steps(&self) -> &[u64];
    /// Goes to one of these; said by a [`Message::Point`].
    fn go_to(&mut self, step: u64);
    /// What a person should know about the other side, in words: that a recording was cut off, say.
    fn notice(&self) -> Option<String> {
        None
    }
}
