//! Start of the viewer's process.

use std::env;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

const VIEWER_EXECUTABLE: &str = if cfg!(windows) { "zippy-debugger.exe" } else { "zippy-debugger" };

/// Starts the viewer, which connects to `address`.
///
/// # Errors
/// The executable is not found or cannot be started. The text explains how to provide it.
pub(super) fn spawn(address: SocketAddr, token: &str) -> Result<Child, String> {
    let path = find_viewer()?;
    let mut command = Command::new(&path);
    // Other users of the machine can see arguments.
    command.args(["connect", &address.to_string()]).env("ZIPPY_DEBUG_TOKEN", token).env_remove("ZIPPY_DEBUG");
    command.stdin(Stdio::null()).spawn().map_err(|error| format!("cannot start the viewer {}: {error}", path.display()))
}

fn find_viewer() -> Result<PathBuf, String> {
    if let Some(configured) = env::var_os("ZIPPY_DEBUGGER").filter(|configured| !configured.is_empty()) {
        return Ok(configured.into());
    }
    let executable = env::current_exe().ok();
    // The executables of examples and tests are one directory below the viewer.
    let next_to_program = executable
        .iter()
        .flat_map(|executable| executable.ancestors().skip(1).take(2))
        .map(|directory| directory.join(VIEWER_EXECUTABLE));
    let on_path = env::var_os("PATH").into_iter().flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
    let found =
        next_to_program.chain(on_path.map(|directory| directory.join(VIEWER_EXECUTABLE))).find(|path| path.is_file());
    found.ok_or_else(|| {
        format!(
            "found no viewer: {VIEWER_EXECUTABLE} is neither next to this program nor on PATH, and ZIPPY_DEBUGGER is \
             not set. \
             Build it with `cargo build --release -p zippy-debugger`"
        )
    })
}
