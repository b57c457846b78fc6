use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex};

use tracing::Dispatch;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing_subscriber::util::SubscriberInitExt;

/// Captures the log messages of the thread that created it, until drop.
pub struct Log {
    written: Written,
    _guard: DefaultGuard,
}

/// Additional subscribers without effect. With a single subscriber, tracing caches for all threads
/// the interest of the first thread that reaches an event, and this thread may have no subscriber.
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

    pub fn text(&self) -> String {
        String::from_utf8(self.written.0.lock().unwrap().clone()).expect("text")
    }

    /// Messages since the previous call.
    pub fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.written.0.lock().unwrap())).expect("text")
    }
}
