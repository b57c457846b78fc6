//! Processes with a time limit, whose output goes to a log.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Setting;

/// Pause between two looks at a process.
const PAUSE: Duration = Duration::from_millis(20);

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// Standard output and standard error as they came.
    pub text: String,
    pub secs: f64,
    /// The problem, where the process did not end well within its time.
    pub problem: Option<String>,
}

/// A program of the archive, with the variables that all have.
pub fn program(setting: &Setting, name: &str) -> Command {
    let mut command = Command::new(setting.home.join("bin").join(name));
    command.envs(setting.variables.iter().map(|(name, value)| (name, value)));
    clean(&mut command);
    // Mesa complains where this is missing.
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    }
    command.env("NODEVICE_SELECT", "1").env("INSTA_UPDATE", "no");
    command
}

/// Removes the variables that would change tests and figures, and those by which a launcher says that it has started this
/// process, as the ranks of its programs are threads.
pub fn clean(command: &mut Command) {
    const BEGINNINGS: [&str; 8] =
        ["ZIPPY_", "OMPI_COMM_", "PMIX_", "PMI_", "MV2_COMM_", "JSM_NAMESPACE_", "FLUX_JOB_", "SLURM_STEP_"];
    let given: Vec<_> =
        command.get_envs().filter(|(_, value)| value.is_some()).map(|(name, _)| name.to_owned()).collect();
    for (name, _) in std::env::vars_os().filter(|(name, _)| !given.contains(name)) {
        if BEGINNINGS.iter().any(|beginning| name.to_string_lossy().starts_with(beginning)) {
            command.env_remove(name);
        }
    }
}

/// The program that has all tests and benchmarks.
pub fn everything(setting: &Setting) -> Command {
    program(setting, "everything")
}

/// The same program, which runs the benchmark of this name.
pub fn benchmark(setting: &Setting, name: &str) -> Command {
    let mut command = everything(setting);
    command.args(["--exact", &format!("benchmarks::run::{name}"), "--nocapture"]).env("ZIPPY_BUNDLE_RUN", name);
    command
}

/// Runs a process to its end, or ends it with its children when the time is over.
pub fn run(mut command: Command, log: &Path, limit: Duration) -> Result<Ended, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", log.display());
    let file = File::create(log).map_err(failed)?;
    command.stdin(Stdio::null()).stdout(file.try_clone().map_err(failed)?).stderr(file);
    // Relative paths of the programs are below the results.
    command.current_dir(log.parent().unwrap_or(Path::new(".")));
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let begun = Instant::now();
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
    let problem = loop {
        match child.try_wait().map_err(|error| format!("{name}: {error}"))? {
            Some(status) if status.success() => break None,
            Some(status) => break Some(status.to_string()),
            None if begun.elapsed() >= limit => {
                end(&mut child);
                break Some(format!("cut off after {:.0} s", limit.as_secs_f64()));
            }
            None => std::thread::sleep(PAUSE),
        }
    };
    let secs = begun.elapsed().as_secs_f64();
    let text = std::fs::read(log).map_err(failed)?;
    Ok(Ended { text: String::from_utf8_lossy(&text).into_owned(), secs, problem })
}

/// Ends a process and all that it has started.
fn end(child: &mut std::process::Child) {
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn process_beyond_its_time_ends_with_its_children_and_keeps_its_output() {
        let directory = std::env::temp_dir().join(format!("zippy-bundle-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let log = directory.join("part.log");
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; sleep 600 & echo $!; wait"]);
        let ended = run(command, &log, Duration::from_millis(400)).unwrap();
        let lines: Vec<&str> = ended.text.lines().collect();
        assert_eq!((lines[0], ended.problem.as_deref()), ("one", Some("cut off after 0 s")));
        let pid = rustix::process::Pid::from_raw(lines[1].parse().unwrap()).unwrap();
        // The child is gone, or a zombie that nobody waits for: at once, or in a moment on a busy machine.
        let stat = || std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
        let is_gone = |stat: String| stat.is_empty() || stat.contains(") Z");
        assert!((0..1500).any(|_| is_gone(stat()) || (std::thread::sleep(PAUSE), false).1), "{}", stat());
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn exit_code_other_than_zero_is_a_problem() {
        let log = std::env::temp_dir().join(format!("zippy-bundle-{}.log", std::process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", "exit 3"]);
        let ended = run(command, &log, Duration::from_secs(60)).unwrap();
        assert!(ended.problem.unwrap().contains('3'));
        std::fs::remove_file(log).unwrap();
    }
}
