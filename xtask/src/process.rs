//! Child processes: whether they succeed, what they print, how they end, and how they would be typed.

use std::ffi::OsStr;
use std::process::{Command, ExitStatus, Stdio};

/// Runs a command to its end; the error is that it could not be started.
pub fn status(command: &mut Command) -> Result<ExitStatus, String> {
    command.status().map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))
}

/// Runs a command that must succeed.
pub fn succeed(command: &mut Command, what: &str) -> Result<(), String> {
    let status = status(command)?;
    if status.success() { Ok(()) } else { Err(format!("{what} failed ({status})")) }
}

/// The standard output of a command, or what went wrong with it.
pub fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    let [text, errors] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).trim_end().to_string());
    if output.status.success() { Ok(text) } else { Err(format!("{name} failed ({})\n{text}\n{errors}", output.status)) }
}

/// The exit code to hand on; a signal counts as 128 plus its number, as in shells.
pub fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128u8.saturating_add(signal.unsigned_abs().min(127) as u8);
    }
    // A code that does not fit must not become success.
    status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))
}

/// A command as it could be typed into a shell, with what its environment has beyond this one.
pub fn spell_out(command: &Command) -> String {
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
