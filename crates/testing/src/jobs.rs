//! Jobs that may fail, in separate processes.
//!
//! The test binary starts itself again, with ranks as threads of one process or under the MPI
//! launcher, and checks exit code and output.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::launcher;

/// Environment variable with the name of the job, for the processes that run it.
const JOB: &str = "ZIPPY_TEST_JOB";
/// Time limit of a job, in seconds. A job that reaches it hangs.
const LIMIT_SECS: u64 = 300;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    Threads,
    Mpi,
}

#[derive(Debug)]
pub struct Ended {
    pub carrier: Carrier,
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output and error.
    pub text: String,
}

impl Ended {
    pub fn lines(&self, text: &str) -> Vec<&str> {
        self.text.lines().filter(|line| line.contains(text)).collect()
    }

    pub fn must_have_failed(&self) {
        assert_ne!(self.code, Some(0), "the job succeeded:\n{}", self.text);
    }
}

/// Runs `role` and returns true if this process belongs to the job. An error of `role` is printed
/// and ends the process, like an error of `main`.
pub fn play(name: &str, role: fn() -> zippy::Result<()>) -> bool {
    match std::env::var(JOB) {
        Ok(job) if job == name => {
            if let Err(error) = role() {
                // One write call, because several processes write at the same time.
                let _ = std::io::stderr().write_all(format!("Error: {error:?}\n").as_bytes());
                std::process::exit(1);
            }
            true
        }
        // Under the launcher every test runs again, but must not start jobs.
        _ => launcher::size().is_some(),
    }
}

/// Runs the test `name` as a job. `None` if the carrier is not enabled.
pub fn run(carrier: Carrier, ranks: usize, name: &str) -> Option<Ended> {
    (carrier == Carrier::Threads || launcher::wanted()).then(|| start(carrier, ranks, name, &[]))
}

/// Runs a job on each number of ranks; panics unless it passes.
pub fn must_pass(carrier: Carrier, counts: &[usize], name: &str, environment: &[(&str, &str)]) {
    for &ranks in counts.iter().filter(|_| carrier == Carrier::Threads || launcher::wanted()) {
        let ended = start(carrier, ranks, name, environment);
        let well = ended.code == Some(0) && ended.text.contains("1 passed");
        assert!(well, "{carrier:?} with {ranks}, {environment:?}: {}", ended.text);
    }
}

/// [`run`] with environment variables, even if the carrier is not enabled.
pub fn start(carrier: Carrier, ranks: usize, name: &str, environment: &[(&str, &str)]) -> Ended {
    let session = launcher::SessionDirectory::new();
    let mut command = match carrier {
        Carrier::Mpi => launcher::command(ranks, &session),
        Carrier::Threads => {
            let mut command = Command::new(std::env::current_exe().expect("a test binary has a path"));
            command.env("ZIPPY_RANKS", ranks.to_string());
            command
        }
    };
    command.envs(environment.iter().copied());
    command.env(JOB, name).args([name, "--exact", "--nocapture", "--test-threads=1"]);
    let output = finish(command);
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Ended { carrier, code: output.status.code(), text }
}

pub fn test(module: &str, name: &str) -> String {
    let (_, inside) = module.split_once("::").expect("jobs stand in modules of a test binary");
    format!("{inside}::{name}")
}

/// Runs a command, and panics if it does not end in time.
pub fn finish(mut command: Command) -> Output {
    let limit = LIMIT_SECS.to_string();
    command.env("RUST_BACKTRACE", "0").env("MPIEXEC_TIMEOUT", limit);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let id = child.id();
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || ended.send(child.wait_with_output()));
    // Shorter than the launcher's limit, whose exit code resembles an expected failure.
    match end.recv_timeout(Duration::from_secs(LIMIT_SECS - 10)) {
        Ok(output) => output.expect("the output of a job can be read"),
        Err(_) => {
            let _ = Command::new("kill").arg(id.to_string()).status();
            panic!("{command:?} hangs");
        }
    }
}

/// Defines a job: a module with the tests `as_threads` and `under_mpi`, which run the job on a
/// number of ranks and check its end. With `mpi` before the name, only `under_mpi`.
#[macro_export]
macro_rules! job {
    (mpi $name:ident, $ranks:expr, $role:expr, $look:expr) => {
        mod $name {
            use super::*;
            use $crate::jobs::{self, Carrier};

            #[test]
            fn under_mpi() {
                let test = jobs::test(module_path!(), "under_mpi");
                if !jobs::play(&test, $role) {
                    jobs::run(Carrier::Mpi, $ranks, &test).iter().for_each($look);
                }
            }
        }
    };
    ($name:ident, $ranks:expr, $role:expr, $look:expr) => {
        mod $name {
            use super::*;
            use $crate::jobs::{self, Carrier};

            #[test]
            fn as_threads() {
                let test = jobs::test(module_path!(), "as_threads");
                if !jobs::play(&test, $role) {
                    jobs::run(Carrier::Threads, $ranks, &test).iter().for_each($look);
                }
            }

            #[test]
            fn under_mpi() {
                let test = jobs::test(module_path!(), "as_threads");
                jobs::run(Carrier::Mpi, $ranks, &test).iter().for_each($look);
            }
        }
    };
}

/// Defines a test with environment variables that a process reads only once.
///
/// The module has the tests `as_threads` and `under_mpi` (3 ranks), which run the body in jobs with
/// these variables. The body must pass.
#[macro_export]
macro_rules! with_variables {
    ($(#[$about:meta])* $name:ident, $variables:expr, $body:expr) => {
        $(#[$about])*
        mod $name {
            use super::*;
            use $crate::jobs::{self, Carrier};

            fn body() -> zippy::Result<()> {
                $body();
                Ok(())
            }

            #[test]
            fn as_threads() {
                let test = jobs::test(module_path!(), "as_threads");
                if !jobs::play(&test, body) {
                    jobs::must_pass(Carrier::Threads, &[1], &test, &$variables);
                }
            }

            #[test]
            fn under_mpi() {
                let test = jobs::test(module_path!(), "as_threads");
                jobs::must_pass(Carrier::Mpi, &[3], &test, &$variables);
            }
        }
    };
}
