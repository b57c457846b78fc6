//! Child processes: exit status, output, exit code, and the equivalent line for a shell.

use std::ffi::OsStr;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, anyhow};

/// Runs a command to its end and returns its exit status, which may be a failure.
///
/// # Errors
/// The command cannot be started.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    command.status().with_context(|| command.get_program().to_string_lossy().into_owned())
}

/// Runs a command to its end. `name` names the command in the error.
///
/// # Errors
/// The command cannot be started, or its exit status is a failure.
pub(crate) fn succeed(command: &mut Command, name: &str) -> Result<()> {
    let status = status(command)?;
    if status.success() { Ok(()) } else { Err(anyhow!("{name} failed ({status})")) }
}

/// Runs a command to its end and returns its standard output without white space at the end.
///
/// # Errors
/// The command cannot be started, or its exit status is a failure. The error contains its output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| name.clone())?;
    let [text, errors] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).trim_end().to_string());
    if output.status.success() { Ok(text) } else { Err(anyhow!("{name} failed ({})\n{text}\n{errors}", output.status)) }
}

/// Exit code of xtask for the exit status of a child: 128 plus the number of a signal, as in
/// shells.
pub(crate) fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128u8.saturating_add(signal.unsigned_abs().min(127) as u8);
    }
    // A code that does not fit must not become success.
    status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))
}

/// Line for a shell that is equivalent to a command, with all variables that differ from the
/// environment of this process.
pub(crate) fn spell_out(command: &Command) -> String {
    let quoted = |word: &OsStr| {
        let word = word.to_string_lossy();
        let plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "/._-=:,+@%".contains(c));
        if plain { word.into_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    let set = command.get_envs().filter(|(name, value)| value.is_some() && std::env::var_os(name).as_deref() != *value);
    let set = set.map(|(name, value)| format!("{}={}", name.to_string_lossy(), quoted(value.unwrap_or_default())));
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted);
    set.chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "../tests/unit/process.rs"]
mod tests;
