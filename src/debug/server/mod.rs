//! Where viewers connect: threads of the control rank's process, which take what viewers ask and send what they are told.
//!
//! The rank's own thread never waits for a viewer: what is to be sent goes to a queue of bounded length, and a viewer whose
//! queue is full is let go.

mod connection;
mod queue;
mod token;

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use connection::{Shared, Strangers};
pub use queue::{Asked, Queue};
use token::{checked, new_token};

use super::protocol::{Ask, Message, Program, frame};

/// How long the end of a run waits for what is still to be sent.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A listener and the viewers that have come.
#[derive(Debug)]
pub struct Server {
    queue: Arc<Queue>,
    address: SocketAddr,
    token: String,
}

impl Server {
    /// Listens at a port of this machine alone, 0 for any that is free, for viewers that know a token, or a new secret, and
    /// that are let go when they are silent for so long.
    ///
    /// # Errors
    /// The port is taken or may not be used, or the token is none, in words.
    pub fn listen(port: u16, token: Option<String>, program: Program, silent: Duration) -> Result<Self, String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| match error.kind() {
            ErrorKind::AddrInUse => format!("port {port} of this machine is taken; use another one, or 0 for any"),
            _ => format!("cannot listen at port {port} of this machine: {error}"),
        })?;
        let address = listener.local_addr().map_err(|error| format!("cannot listen at port {port}: {error}"))?;
        let token = token.map_or_else(new_token, checked)?;
        let queue = Arc::new(Queue::default());
        let shared = Arc::new(Shared {
            queue: queue.clone(),
            token: token.clone(),
            program,
            strangers: Strangers::default(),
            silent,
        });
        let accept = move || accept(&listener, &shared);
        let spawned = thread::Builder::new().name("zippy viewers".into()).spawn(accept);
        spawned.map_err(|error| format!("no thread for viewers: {error}"))?;
        Ok(Self { queue, address, token })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a viewer has to know.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// What was asked first of what has not been taken. Where there is nothing it waits for so long.
    pub fn take(&self, patience: Duration) -> Option<Asked> {
        self.queue.take(patience)
    }

    /// How many viewers there are.
    pub fn viewers(&self) -> usize {
        self.queue.viewers()
    }

    /// Tells all viewers; those that are behind miss it.
    pub fn tell(&self, message: &Message) {
        if let Ok(bytes) = frame::encode(message, frame::MOST_TOLD) {
            self.queue.tell(&Arc::new(bytes));
        }
    }

    /// Answers one.
    pub fn answer(&self, asked: &Asked, answer: Message) {
        let Ask { id, .. } = asked.ask;
        let told = |message: &Message| frame::encode(message, frame::MOST_TOLD);
        let bytes =
            told(&answer).or_else(|text| told(&Message::Answer(id, Err(format!("the answer is too long: {text}")))));
        if let Ok(bytes) = bytes {
            self.queue.answer(asked.viewer, Arc::new(bytes));
        }
    }

    /// Says how the run ended, waits a moment until that is sent, and lets the viewers go.
    pub fn end(&self, how: &str) {
        self.tell(&Message::End(how.to_string()));
        let begun = Instant::now();
        while self.queue.is_sending() && begun.elapsed() < LAST_WORDS {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.queue.close();
        // The listener waits for somebody to come.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    loop {
        let stream = listener.accept();
        if shared.queue.is_closed() {
            return;
        }
        match stream {
            Ok((stream, _)) => connection::begin(stream, shared),
            // As when there are no file descriptors left: later there may be.
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    }
}
