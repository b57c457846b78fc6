//! Starting the viewer.

use std::env;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The viewer's executable.
const NAME: &str = if cfg!(windows) { "zippy-debugger.exe" } else { "zippy-debugger" };

/// Starts the viewer, to connect to an address.
///
/// # Errors
/// It is not found or cannot be started: what to do, in words.
pub(super) fn spawn(address: SocketAddr, token: &str) -> Result<Child, String> {
    let path = find()?;
    let mut command = Command::new(&path);
    // Not as an argument: other users could see it.
    command.args(["connect", &address.to_string()]).env("ZIPPY_DEBUG_TOKEN", token).env_remove("ZIPPY_DEBUG");
    command.stdin(Stdio::null()).spawn().map_err(|error| format!("cannot start the viewer {}: {error}", path.display()))
}

fn find() -> Result<PathBuf, String> {
    if let Some(named) = env::var_os("ZIPPY_DEBUGGER").filter(|named| !named.is_empty()) {
        return Ok(named.into());
    }
    let own = env::current_exe().ok();
    // Examples and tests lie one directory further down.
    let beside = own.iter().flat_map(|own| own.ancestors().skip(1).take(2)).map(|directory| directory.join(NAME));
    let on_path = env::var_os("PATH").into_iter().flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
    let found = beside.chain(on_path.map(|directory| directory.join(NAME))).find(|path| path.is_file());
    found.ok_or_else(|| {
        format!(
            "there is no viewer: {NAME} is neither beside this program nor on PATH, and ZIPPY_DEBUGGER does not name it. \
             Build it with `cargo build --release -p zippy-debugger`"
        )
    })
}
