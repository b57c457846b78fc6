//! What a thread logs.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex};

use tracing::Dispatch;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing_subscriber::util::SubscriberInitExt;

/// Listens to the calling thread until it is dropped.
pub struct Log {
    written: Written,
    _guard: DefaultGuard,
}

/// Where there is one subscriber alone, tracing asks only the thread that comes first to an event whether anybody listens,
/// which may be one where nobody does.
static OTHERS: LazyLock<[Dispatch; 2]> = LazyLock::new(|| [(); 2].map(|()| Dispatch::new(NoSubscriber::new())));

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    pub fn listen() -> Self {
        LazyLock::force(&OTHERS);
        let written = Written::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        Self { written, _guard: subscriber.set_default() }
    }

    /// All so far.
    pub fn text(&self) -> String {
        String::from_utf8(self.written.0.lock().unwrap().clone()).expect("text")
    }

    /// What was logged since the last call.
    pub fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.written.0.lock().unwrap())).expect("text")
    }
}
