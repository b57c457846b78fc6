//! Child processes with a time limit and log files of their output.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::RunSetting;

const POLLING_INTERVAL: Duration = Duration::from_millis(20);

/// Maximum wait for the end of a killed process: a process that waits for a hanging driver does not
/// end. Batch systems kill the runner itself some seconds after their signal.
const KILL_TIMEOUT: Duration = Duration::from_secs(3);

/// Time limit of a program that only lists its tests.
pub(crate) const LIST_LIMIT: Duration = Duration::from_secs(20);

/// Problem text of a part that a signal ended.
pub(crate) const STOPPED: &str = "stopped by a signal";

/// Flag that a signal of a terminal or a batch system sets to end this process.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Creates a flag that SIGINT, SIGTERM and SIGHUP set.
    #[cfg(unix)]
    pub fn follow_signals() -> Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

        let stop = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, stop.0.clone())
                .with_context(|| format!("signal {signal} cannot be handled"))?;
        }
        Ok(stop)
    }

    /// Creates a flag that no signal sets: the system ends all processes of a job together.
    #[cfg(not(unix))]
    pub fn follow_signals() -> Result<Self> {
        Ok(Self::default())
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Result of a process.
#[derive(Debug)]
pub(crate) struct ProcessResult {
    /// Standard output.
    pub text: String,
    pub secs: f64,
    /// Exit status other than success, or the reason why the runner killed the process.
    pub problem: Option<String>,
}

/// Command of a program in the archive, with the variables of all programs.
pub(crate) fn program(setting: &RunSetting, name: &str) -> Command {
    let mut command = Command::new(setting.home.join("bin").join(name));
    command.envs(setting.variables.iter().map(|(name, value)| (name, value)));
    remove_inherited_variables(&mut command);
    // Mesa prints a warning without this variable.
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    }
    command.env("NODEVICE_SELECT", "1").env("INSTA_UPDATE", "no");
    command
}

/// Removes inherited variables that change tests and measurements, and those of an MPI launcher
/// that started this process: the ranks of the programs are threads. Variables that `command` sets
/// stay.
pub(crate) fn remove_inherited_variables(command: &mut Command) {
    const PREFIXES: [&str; 8] =
        ["ZIPPY_", "OMPI_COMM_", "PMIX_", "PMI_", "MV2_COMM_", "JSM_NAMESPACE_", "FLUX_JOB_", "SLURM_STEP_"];
    let set: Vec<_> =
        command.get_envs().filter(|(_, value)| value.is_some()).map(|(name, _)| name.to_owned()).collect();
    for (name, _) in std::env::vars_os().filter(|(name, _)| !set.contains(name)) {
        if PREFIXES.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(name);
        }
    }
}

/// Command of the program with all tests and benchmarks.
pub(crate) fn everything(setting: &RunSetting) -> Command {
    program(setting, "everything")
}

pub(crate) fn benchmark(setting: &RunSetting, name: &str) -> Command {
    let mut command = everything(setting);
    command.args(["--exact", &format!("benchmarks::run::{name}"), "--nocapture"]).env("ZIPPY_BUNDLE_RUN", name);
    command
}

/// Runs a process, and kills it with its children after `limit` or when `stop` is set.
///
/// Standard output goes to `log`. Standard error goes to a second file, with the extension
/// `errors.log` instead of that of `log`; the file is removed if it is empty.
pub(crate) fn run(mut command: Command, log: &Path, limit: Duration, stop: &StopFlag) -> Result<ProcessResult> {
    let log_text = || log.display().to_string();
    let error_log = log.with_extension("errors.log");
    let [out, err] = [log, &error_log].map(File::create);
    command.stdin(Stdio::null()).stdout(out.with_context(log_text)?).stderr(err.with_context(log_text)?);
    // Relative paths in the arguments of programs are paths in the directory of results.
    command.current_dir(log.parent().unwrap_or(Path::new(".")));
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let start = Instant::now();
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().with_context(|| name.clone())?;
    let problem = loop {
        match child.try_wait().with_context(|| name.clone())? {
            Some(status) if status.success() => break None,
            Some(status) => break Some(status.to_string()),
            None if stop.is_set() => break Some(format!("{STOPPED}{}", kill(&mut child))),
            None if start.elapsed() >= limit => {
                break Some(format!("cut off after {:.0} s{}", limit.as_secs_f64(), kill(&mut child)));
            }
            None => std::thread::sleep(POLLING_INTERVAL),
        }
    };
    let secs = start.elapsed().as_secs_f64();
    if error_log.metadata().is_ok_and(|metadata| metadata.len() == 0) {
        let _ = std::fs::remove_file(error_log);
    }
    let text = std::fs::read(log).with_context(log_text)?;
    Ok(ProcessResult { text: String::from_utf8_lossy(&text).into_owned(), secs, problem })
}

/// Kills a process with its children. Returns the text to add to the problem: empty if the process
/// ended.
fn kill(child: &mut Child) -> &'static str {
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let start = Instant::now();
    while start.elapsed() < KILL_TIMEOUT {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(POLLING_INTERVAL),
            _ => return "",
        }
    }
    ", and does not end"
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn process_over_its_time_limit_ends_with_its_children_and_keeps_its_output() {
        let directory = std::env::temp_dir().join(format!("zippy-bundle-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let log = directory.join("part.log");
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; sleep 600 & echo $!; wait"]);
        let ended = run(command, &log, Duration::from_millis(400), &StopFlag::default()).unwrap();
        let lines: Vec<&str> = ended.text.lines().collect();
        assert_eq!((lines[0], ended.problem.as_deref()), ("one", Some("cut off after 0 s")));
        let pid = rustix::process::Pid::from_raw(lines[1].parse().unwrap()).unwrap();
        // The grandchild is gone or a zombie without a waiting parent, on a busy machine after a
        // delay.
        let stat = || std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
        let is_gone = |stat: String| stat.is_empty() || stat.contains(") Z");
        assert!((0..1500).any(|_| is_gone(stat()) || (std::thread::sleep(POLLING_INTERVAL), false).1), "{}", stat());
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn process_of_a_stopped_run_ends_and_keeps_its_output() {
        let log = std::env::temp_dir().join(format!("zippy-bundle-{}-stopped.log", std::process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; kill -TERM $PPID; sleep 600"]);
        let stop = StopFlag::follow_signals().unwrap();
        let ended = run(command, &log, Duration::from_secs(300), &stop).unwrap();
        assert_eq!((ended.text.as_str(), ended.problem.as_deref()), ("one\n", Some(STOPPED)));
        std::fs::remove_file(log).unwrap();
    }

    #[test]
    fn exit_code_other_than_zero_is_a_problem() {
        let log = std::env::temp_dir().join(format!("zippy-bundle-{}.log", std::process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", "exit 3"]);
        let ended = run(command, &log, Duration::from_secs(60), &StopFlag::default()).unwrap();
        assert!(ended.problem.unwrap().contains('3'));
        std::fs::remove_file(log).unwrap();
    }
}
