//! Programs that run beside the test.

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What any wait may take on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(20);

/// Polls until there is something.
pub fn wait<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}");
        std::thread::sleep(POLL);
    }
}

/// A running program; it ends when this is dropped.
pub struct Running(Option<Child>);

impl Running {
    /// The program heeds signals, also where the tests were started to ignore some, as scripts start what runs in the
    /// background.
    pub fn start(command: Command) -> Self {
        let mut command = heeding(command);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null());
        Self(Some(command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"))))
    }

    pub fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    /// Polls for something that needs the program alive.
    pub fn wait<T>(&mut self, what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
        let child = self.0.as_mut().unwrap();
        let found = wait(what, || match child.try_wait().unwrap() {
            Some(_) => Some(None),
            None => poll().map(Some),
        });
        found.unwrap_or_else(|| panic!("the program has ended before there was {what}: {:?}", self.ended()))
    }

    /// Waits for the end of the program.
    pub fn ended(&mut self) -> Output {
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

/// The same program, started with signals as a terminal has them, where the system's `env` can do that.
fn heeding(command: Command) -> Command {
    let mut heeding = Command::new("env");
    heeding.arg("--default-signal=HUP,INT,TERM");
    let can = Command::new("env").args(heeding.get_args()).arg("true").output();
    if !can.is_ok_and(|output| output.status.success()) {
        return command;
    }
    heeding.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => heeding.env(name, value),
            None => heeding.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        heeding.current_dir(directory);
    }
    heeding
}

/// Sends a signal, by its name without `SIG`.
pub fn kill(signal: &str, process: u32) {
    let sent = Command::new("kill").args([format!("-{signal}"), process.to_string()]).status().unwrap();
    assert!(sent.success());
}
