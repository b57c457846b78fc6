//! Starts workers, reads what they say, ends those that say nothing, and keeps what they stumble over.

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

/// A run ends when it has found so much.
const MOST_FINDINGS: usize = 100;

/// Reads inputs of a target for so long, or so many.
///
/// # Errors
/// A worker cannot be started, or a finding cannot be kept.
pub fn run(options: &Options, target: Target, seed: u64, time: Duration, inputs: u64) -> Result<Tally, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let step = options.workers.to_string();
    let watch = Watch {
        start: &|first, folder| {
            let mut command = Command::new(&program);
            command.args(["--first", &first.to_string(), "--workers", &step, "--seed", &seed.to_string()]);
            command.args(["--target", &target.name()]);
            command.arg("--folder").arg(folder);
            command
        },
        keep: &|number, what| keep(&options.keep, target, seed, number, what),
        limit: Duration::from_secs(options.limit),
        step: options.workers.into(),
        begun: Instant::now(),
        time,
        inputs,
        most: MOST_FINDINGS,
        tally: Mutex::new(Tally::default()),
    };
    std::thread::scope(|scope| {
        let watch = &watch;
        let all: Vec<_> = (0..u64::from(options.workers)).map(|first| scope.spawn(move || watch.over(first))).collect();
        all.into_iter().try_for_each(|one| one.join().map_err(|_| "a thread panicked".to_string())?)
    })?;
    let mut tally = watch.tally.into_inner().map_err(|error| error.to_string())?;
    tally.secs = watch.begun.elapsed().as_secs_f64();
    Ok(tally)
}

/// What is known of all workers.
struct Watch<'a> {
    /// A worker that begins with this input and has this folder.
    start: &'a (dyn Fn(u64, &Path) -> Command + Sync),
    /// Keeps an input; a message where that cannot be done.
    keep: &'a (dyn Fn(u64, &str) -> Result<Finding, String> + Sync),
    /// For one input.
    limit: Duration,
    step: u64,
    begun: Instant,
    /// For all.
    time: Duration,
    /// Inputs at most, each with a lower number.
    inputs: u64,
    /// With so many findings it ends.
    most: usize,
    tally: Mutex<Tally>,
}

impl Watch<'_> {
    /// Watches one worker after the other, each of which begins behind what ended the one before.
    fn over(&self, mut next: u64) -> Result<(), String> {
        while !self.over_time() && next < self.inputs {
            let folder = Folder::new();
            let mut command = (self.start)(next, &folder.0);
            let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
            let mut child = Guard(child.map_err(|error| format!("{:?}: {error}", command.get_program()))?);
            let Some(what) = self.listen(&mut child, &mut next)? else { return Ok(()) };
            self.tally()?.wrong += 1;
            self.found(next, &what)?;
            next += self.step;
        }
        Ok(())
    }

    /// Takes lines until the time is over, which is `None`, or the input `next` has ended the worker.
    fn listen(&self, child: &mut Guard, next: &mut u64) -> Result<Option<String>, String> {
        let out = BufReader::new(child.0.stdout.take().ok_or("a worker has no output")?);
        let (send, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let parsed = out.lines().map_while(Result::ok).map_while(|line| line.parse::<Line>().ok());
            parsed.for_each(|line| drop(send.send(line)));
        });
        let ended = loop {
            if self.over_time() || *next >= self.inputs {
                break None;
            }
            match lines.recv_timeout(self.limit) {
                Ok(line) => self.take(&line, next)?,
                Err(RecvTimeoutError::Timeout) => break Some(format!("no end within {:?}", self.limit)),
                Err(RecvTimeoutError::Disconnected) => {
                    let status = child.0.wait().map_err(|error| error.to_string())?;
                    break Some(format!("the process ended: {status}"));
                }
            }
        };
        child.end();
        Ok(ended)
    }

    fn take(&self, line: &Line, next: &mut u64) -> Result<(), String> {
        *next = line.number + self.step;
        self.tally()?.add(line);
        match &line.outcome {
            Outcome::Wrong(what) => self.found(line.number, what),
            _ => Ok(()),
        }
    }

    fn found(&self, number: u64, what: &str) -> Result<(), String> {
        let finding = (self.keep)(number, what)?;
        self.tally()?.findings.push(finding);
        Ok(())
    }

    fn tally(&self) -> Result<MutexGuard<'_, Tally>, String> {
        self.tally.lock().map_err(|error| error.to_string())
    }

    fn over_time(&self) -> bool {
        let full = self.tally.lock().is_ok_and(|tally| tally.findings.len() >= self.most);
        full || self.begun.elapsed() >= self.time
    }
}

/// A process that does not outlive its watch.
struct Guard(Child);

impl Guard {
    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.end();
    }
}

/// Makes an input again and writes its files.
fn keep(directory: &Path, target: Target, seed: u64, number: u64, what: &str) -> Result<Finding, String> {
    let kept = directory.join(format!("{}-{seed}-{number}", target.name()));
    let files = on_one_rank(|world| Ok(Inputs::new(target, seed, world)?.make(number)))?;
    let write = |(name, bytes): &(String, Vec<u8>)| {
        let path = kept.join(name);
        path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, bytes))
    };
    let made = std::fs::create_dir_all(&kept).and_then(|()| files.iter().try_for_each(write));
    let first = files.first().map_or("", |(name, _)| name);
    let made = made.and_then(|()| std::fs::write(kept.join(FIRST), first));
    made.map_err(|error| format!("{}: {error}", kept.display()))?;
    Ok(Finding { number, what: what.into(), kept })
}

#[cfg(test)]
mod tests;
