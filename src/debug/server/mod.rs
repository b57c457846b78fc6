//! Server for viewers: threads of rank 0's process that receive requests and send messages.
//!
//! The rank's own thread never waits for a viewer. Messages go to a queue of bounded length, and a
//! viewer whose queue is full is disconnected.

mod connection;
mod queue;
mod token;

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use connection::{ConnectionContext, UnprovedConnections};
pub(super) use queue::{PendingRequest, Queue};
use token::{new_token, validate_token};

use zippy_protocol::{Ask, Message, Program, frame};

/// Maximum wait at the end of a run for unsent messages.
const MAX_FLUSH: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Server {
    queue: Arc<Queue>,
    address: SocketAddr,
    token: String,
}

impl Server {
    /// Listens at a port of rank 0's machine (0 for any free port). Viewers must know the token;
    /// `None` creates a random one. A viewer that does not answer for the time `silent` is
    /// disconnected.
    ///
    /// # Errors
    /// The port is in use or not allowed, or the token is invalid.
    pub(super) fn listen(port: u16, token: Option<String>, program: Program, silent: Duration) -> Result<Self, String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| match error.kind() {
            ErrorKind::AddrInUse => format!("port {port} of this machine is taken; use another one, or 0 for any"),
            _ => format!("cannot listen at port {port} of this machine: {error}"),
        })?;
        let address = listener.local_addr().map_err(|error| format!("cannot listen at port {port}: {error}"))?;
        let token = token.map_or_else(new_token, validate_token)?;
        let queue = Arc::new(Queue::default());
        let shared = Arc::new(ConnectionContext {
            queue: queue.clone(),
            token: token.clone(),
            program,
            unproved: UnprovedConnections::default(),
            silent,
        });
        let accept = move || accept(&listener, &shared);
        let spawned = thread::Builder::new().name("zippy viewers".into()).spawn(accept);
        spawned.map_err(|error| format!("cannot start a thread for viewers: {error}"))?;
        Ok(Self { queue, address, token })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Removes and returns the oldest request, or waits for one up to `timeout`.
    pub(super) fn take_request(&self, timeout: Duration) -> Option<PendingRequest> {
        self.queue.take_request(timeout)
    }

    pub(super) fn viewers(&self) -> usize {
        self.queue.viewers()
    }

    /// Sends a message to all viewers. A viewer with too many unsent bytes misses it.
    pub(super) fn broadcast(&self, message: &Message) {
        if let Ok(bytes) = frame::encode(message, frame::MOST_TOLD) {
            self.queue.broadcast(&Arc::new(bytes));
        }
    }

    /// Sends the answer to a request.
    pub(super) fn answer(&self, pending: &PendingRequest, answer: Message) {
        let Ask { id, .. } = pending.ask;
        let encode = |message: &Message| frame::encode(message, frame::MOST_TOLD);
        let bytes = encode(&answer)
            .or_else(|text| encode(&Message::Answer(id, Err(format!("the answer is too long: {text}")))));
        if let Ok(bytes) = bytes {
            self.queue.answer(pending.viewer, Arc::new(bytes));
        }
    }

    /// Sends the outcome of the run, and waits up to [`MAX_FLUSH`] for all unsent messages.
    pub(super) fn end(&self, how: &str) {
        self.broadcast(&Message::End(how.to_string()));
        let start = Instant::now();
        while self.queue.is_sending() && start.elapsed() < MAX_FLUSH {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.queue.close();
        // A connection wakes the listener's thread.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

fn accept(listener: &TcpListener, shared: &Arc<ConnectionContext>) {
    loop {
        let stream = listener.accept();
        if shared.queue.is_closed() {
            return;
        }
        match stream {
            Ok((stream, _)) => connection::serve_on_threads(stream, shared),
            // A temporary error, such as no free file descriptors.
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    }
}
