//! Jobs that end badly, run in processes of their own: the test binary starts itself again, as threads of one process or
//! under the MPI launcher, and looks at how that ends.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::launcher;

/// Names the job to the processes that run it.
const JOB: &str = "ZIPPY_TEST_JOB";
/// No job takes nearly as long unless it hangs, on a busy machine with a slow processor either.
const LIMIT_SECS: u64 = 300;

/// What carries a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    Threads,
    Mpi,
}

/// How a job ended.
#[derive(Debug)]
pub struct Ended {
    pub carrier: Carrier,
    /// The exit code; none after a signal.
    pub code: Option<i32>,
    /// Standard output and error.
    pub text: String,
}

impl Ended {
    /// The lines that contain a text.
    pub fn lines(&self, text: &str) -> Vec<&str> {
        self.text.lines().filter(|line| line.contains(text)).collect()
    }

    /// Fails the test unless the job failed.
    pub fn must_have_failed(&self) {
        assert_ne!(self.code, Some(0), "the job succeeded:\n{}", self.text);
    }
}

/// Runs `role` if this process belongs to the job, and says whether it does. An error is printed and ends the process
/// as it ends a Rust program.
pub fn play(name: &str, role: fn() -> zippy::Result<()>) -> bool {
    match std::env::var(JOB) {
        Ok(job) if job == name => {
            if let Err(error) = role() {
                // In one piece, as several processes write at the same time.
                let _ = std::io::stderr().write_all(format!("Error: {error:?}\n").as_bytes());
                std::process::exit(1);
            }
            true
        }
        // Under the launcher every test runs again; jobs are started from outside only.
        _ => launcher::size().is_some(),
    }
}

/// Runs a job of this test binary, which the test of this name plays.
pub fn run(carrier: Carrier, ranks: usize, name: &str) -> Option<Ended> {
    (carrier == Carrier::Threads || launcher::wanted()).then(|| start(carrier, ranks, name, &[]))
}

/// Runs a job of this test binary with these variables, on each of these numbers of ranks; fails the test unless it passes.
pub fn must_pass(carrier: Carrier, counts: &[usize], name: &str, environment: &[(&str, &str)]) {
    for &ranks in counts.iter().filter(|_| carrier == Carrier::Threads || launcher::wanted()) {
        let ended = start(carrier, ranks, name, environment);
        // A name that matches no test would end well, too.
        let well = ended.code == Some(0) && ended.text.contains("1 passed");
        assert!(well, "{carrier:?} with {ranks}, {environment:?}: {}", ended.text);
    }
}

/// [`run`] with variables, whatever was asked for.
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

/// The name of a test of a module, given the module's path.
pub fn test(module: &str, name: &str) -> String {
    let (_, inside) = module.split_once("::").expect("jobs stand in modules of a test binary");
    format!("{inside}::{name}")
}

/// Runs a command; fails the test if it does not end.
pub fn finish(mut command: Command) -> Output {
    let limit = LIMIT_SECS.to_string();
    command.env("RUST_BACKTRACE", "0").env("MPIEXEC_TIMEOUT", limit);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let id = child.id();
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || ended.send(child.wait_with_output()));
    // Ahead of the launcher's own limit, which would look like a failure that was asked for.
    match end.recv_timeout(Duration::from_secs(LIMIT_SECS - 10)) {
        Ok(output) => output.expect("the output of a job can be read"),
        Err(_) => {
            let _ = Command::new("kill").arg(id.to_string()).status();
            panic!("{command:?} hangs");
        }
    }
}

/// A job: a module with the tests `as_threads` and `under_mpi`, which start it on a number of ranks and look at its end.
/// With `mpi` before its name there is only the second.
#[macro_export]
macro_rules! job {
    (mpi $name:ident, $ranks:expr, $role:expr, $look:expr) => {
        mod $name {
            use super::*;
            use $crate::support::jobs::{self, Carrier};

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
            use $crate::support::jobs::{self, Carrier};

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

/// A test with variables that a process may read only once: a module with the tests `as_threads` and `under_mpi`, which run
/// the body in jobs with these variables. It must pass, the second time with 3 ranks.
#[macro_export]
macro_rules! with_variables {
    ($(#[$about:meta])* $name:ident, $variables:expr, $body:expr) => {
        $(#[$about])*
        mod $name {
            use super::*;
            use $crate::support::jobs::{self, Carrier};

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
