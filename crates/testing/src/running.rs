//! Child processes of tests.

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const WAIT_LIMIT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(20);

/// Polls until `poll` returns a value; the message of a timeout has `description`.
pub fn wait<T>(description: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(started.elapsed() < WAIT_LIMIT, "waited {WAIT_LIMIT:?} for {description}");
        std::thread::sleep(POLL);
    }
}

/// Child process that ends on drop.
pub struct Running(Option<Child>);

impl Running {
    /// Starts the program with default signal handling, also if the tests ignore signals, as
    /// background commands of scripts do.
    pub fn start(command: Command) -> Self {
        let mut command = with_default_signals(command);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null());
        Self(Some(command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"))))
    }

    pub fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    /// Polls like [`wait`]; panics if the program ends before.
    pub fn wait<T>(&mut self, description: &str, mut poll: impl FnMut() -> Option<T>) -> T {
        let child = self.0.as_mut().unwrap();
        let found = wait(description, || match child.try_wait().unwrap() {
            Some(_) => Some(None),
            None => poll().map(Some),
        });
        found.unwrap_or_else(|| {
            panic!("the program has ended before there was {description}: {:?}", self.wait_for_end())
        })
    }

    pub fn wait_for_end(&mut self) -> Output {
        let child = self.0.as_mut().unwrap();
        wait("the end of the program", || child.try_wait().unwrap());
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Wraps the command in `env --default-signal`, if the system's `env` has this option.
fn with_default_signals(command: Command) -> Command {
    let mut with_default_signals = Command::new("env");
    with_default_signals.arg("--default-signal=HUP,INT,TERM");
    let probe = Command::new("env").args(with_default_signals.get_args()).arg("true").output();
    if !probe.is_ok_and(|output| output.status.success()) {
        return command;
    }
    with_default_signals.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => with_default_signals.env(name, value),
            None => with_default_signals.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        with_default_signals.current_dir(directory);
    }
    with_default_signals
}

/// Sends a signal, by its name without `SIG`.
pub fn kill(signal: &str, process: u32) {
    let sent = Command::new("kill").args([format!("-{signal}"), process.to_string()]).status().unwrap();
    assert!(sent.success());
}
