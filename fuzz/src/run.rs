//! Supervisor of the workers: kills workers that exceed the time limit, and keeps the inputs that
//! reveal defects.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::Options;
use crate::common::volumes::Folder;
use crate::tally::{Finding, Tally};
use crate::target::{Inputs, Target};
use crate::worker::{FIRST, Line, Outcome, on_one_rank};

/// Number of findings at which a run ends.
const MAX_FINDINGS: usize = 100;

/// Reads inputs until the time limit or until `inputs` inputs have been read.
pub(crate) fn run(options: &Options, target: Target, seed: u64, time: Duration, inputs: u64) -> Result<Tally, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let step = options.workers.to_string();
    let supervisor = Supervisor {
        command: &|first, folder| {
            let mut command = Command::new(&program);
            command.args(["--first", &first.to_string(), "--workers", &step, "--seed", &seed.to_string()]);
            command.args(["--target", &target.name()]);
            command.arg("--folder").arg(folder);
            command
        },
        keep: &|number, problem| keep(&options.keep, target, seed, number, problem),
        limit: Duration::from_secs(options.limit),
        step: options.workers.into(),
        start: Instant::now(),
        time,
        inputs,
        max_findings: MAX_FINDINGS,
        tally: Mutex::new(Tally::default()),
    };
    std::thread::scope(|scope| {
        let supervisor = &supervisor;
        let threads: Vec<_> =
            (0..u64::from(options.workers)).map(|first| scope.spawn(move || supervisor.run_workers(first))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked".to_string())?)
    })?;
    let mut tally = supervisor.tally.into_inner().map_err(|error| error.to_string())?;
    tally.secs = supervisor.start.elapsed().as_secs_f64();
    Ok(tally)
}

struct Supervisor<'a> {
    /// Creates a worker that starts with this input and writes inputs to this folder.
    command: &'a (dyn Fn(u64, &Path) -> Command + Sync),
    /// Writes the files of an input with this problem.
    keep: &'a (dyn Fn(u64, &str) -> Result<Finding, String> + Sync),
    limit: Duration,
    /// Difference between the numbers of two successive inputs of a worker.
    step: u64,
    start: Instant,
    time: Duration,
    /// Upper bound of the numbers of inputs, exclusive.
    inputs: u64,
    max_findings: usize,
    tally: Mutex<Tally>,
}

impl Supervisor<'_> {
    /// Runs workers one after the other. A new worker starts after the input that ended the last
    /// worker.
    fn run_workers(&self, mut next: u64) -> Result<(), String> {
        while !self.has_ended() && next < self.inputs {
            let folder = Folder::new();
            let mut command = (self.command)(next, &folder.0);
            let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
            let mut child = KillOnDrop(child.map_err(|error| format!("{:?}: {error}", command.get_program()))?);
            let Some(problem) = self.read_lines(&mut child, &mut next)? else { return Ok(()) };
            self.tally()?.wrong += 1;
            self.add_finding(next, &problem)?;
            next += self.step;
        }
        Ok(())
    }

    /// Reads the results of a worker and increments `next`. Returns `None` at the end of the run,
    /// or the problem of the input `next`.
    fn read_lines(&self, child: &mut KillOnDrop, next: &mut u64) -> Result<Option<String>, String> {
        let out = BufReader::new(child.0.stdout.take().ok_or("a worker has no output")?);
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let parsed = out.lines().map_while(Result::ok).map_while(|line| line.parse::<Line>().ok());
            parsed.for_each(|line| drop(sender.send(line)));
        });
        let problem = loop {
            if self.has_ended() || *next >= self.inputs {
                break None;
            }
            match lines.recv_timeout(self.limit) {
                Ok(line) => self.add_line(&line, next)?,
                Err(RecvTimeoutError::Timeout) => break Some(format!("no end within {:?}", self.limit)),
                Err(RecvTimeoutError::Disconnected) => {
                    let status = child.0.wait().map_err(|error| error.to_string())?;
                    break Some(format!("the process ended: {status}"));
                }
            }
        };
        child.kill();
        Ok(problem)
    }

    fn add_line(&self, line: &Line, next: &mut u64) -> Result<(), String> {
        *next = line.number + self.step;
        self.tally()?.add(line);
        match &line.outcome {
            Outcome::Wrong(problem) => self.add_finding(line.number, problem),
            _ => Ok(()),
        }
    }

    fn add_finding(&self, number: u64, problem: &str) -> Result<(), String> {
        let finding = (self.keep)(number, problem)?;
        self.tally()?.findings.push(finding);
        Ok(())
    }

    fn tally(&self) -> Result<MutexGuard<'_, Tally>, String> {
        self.tally.lock().map_err(|error| error.to_string())
    }

    fn has_ended(&self) -> bool {
        let is_full = self.tally.lock().is_ok_and(|tally| tally.findings.len() >= self.max_findings);
        is_full || self.start.elapsed() >= self.time
    }
}

struct KillOnDrop(Child);

impl KillOnDrop {
    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Generates an input again and writes its files to a subdirectory of `parent`.
fn keep(parent: &Path, target: Target, seed: u64, number: u64, problem: &str) -> Result<Finding, String> {
    let directory = parent.join(format!("{}-{seed}-{number}", target.name()));
    let files = on_one_rank(|world| Ok(Inputs::new(target, seed, world)?.make(number)))?;
    let write = |(name, bytes): &(String, Vec<u8>)| {
        let path = directory.join(name);
        path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, bytes))
    };
    let written = std::fs::create_dir_all(&directory).and_then(|()| files.iter().try_for_each(write));
    let first = files.first().map_or("", |(name, _)| name);
    let written = written.and_then(|()| std::fs::write(directory.join(FIRST), first));
    written.map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(Finding { number, problem: problem.into(), directory })
}

#[cfg(test)]
mod tests;
