//! The project, its machine and environment, and builds by Cargo.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, anyhow};
use serde_json::Value;

use crate::machine::InspectedMachine;
use crate::mpi::Mpi;

/// The project, and the machine with the environment of all child processes.
pub(crate) struct Context {
    /// Directory of the workspace.
    pub root: PathBuf,
    pub machine: InspectedMachine,
    /// MPI installation that builds and starts programs; `None` for commands without MPI.
    pub mpi: Option<Mpi>,
}

/// A program that Cargo has built.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BuiltProgram {
    pub name: String,
    /// Kind of the target: `example`, `bin`, `test` or `bench`.
    pub kind: String,
    pub path: PathBuf,
}

impl Context {
    /// Finds the workspace and inspects the machine; runs no program of the project.
    pub(crate) fn new() -> Result<Self> {
        let manifest = std::env::var("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&manifest).parent().context("xtask has no parent directory")?.to_path_buf();
        let mut machine = InspectedMachine::real();
        // These variables of Cargo describe the package xtask, not the packages that xtask builds.
        machine.vars.retain(|name, _| !name.starts_with("CARGO_PKG_") && !name.starts_with("CARGO_MANIFEST_"));
        if let Some(home) = machine.hidden_mpi() {
            for (name, below) in [("PATH", "bin"), ("LD_LIBRARY_PATH", "lib")] {
                let rest = machine.var(name).map_or(String::new(), |rest| format!(":{rest}"));
                machine.vars.insert(name.into(), format!("{home}/{below}{rest}"));
            }
        }
        // Bindgen finds libclang in all other directories itself.
        if let Some(directory) = machine.libclang().filter(|directory| directory.starts_with("/opt/homebrew")) {
            machine.vars.insert("LIBCLANG_PATH".into(), directory.display().to_string());
        }
        // Layers of GPU drivers search for a window system at each start of a rank, and print
        // warnings.
        for (name, value) in [("XDG_RUNTIME_DIR", std::env::temp_dir()), ("NODEVICE_SELECT", "1".into())] {
            machine.vars.entry(name.into()).or_insert(value.display().to_string());
        }
        Ok(Context { root, machine, mpi: None })
    }

    /// A command with the environment of this context, in the current directory of the user:
    /// relative paths in arguments refer to it.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.machine.vars);
        command
    }

    /// A Cargo command in the directory of the workspace.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(self.machine.var("CARGO").unwrap_or("cargo"));
        command.current_dir(&self.root).args(arguments);
        command
    }

    /// Flags of Cargo that enable MPI; empty without MPI.
    pub(crate) fn features(&self) -> &'static [&'static str] {
        if self.mpi.is_some() { &["--features", "mpi"] } else { &[] }
    }

    /// Directory of Cargo's build results.
    pub(crate) fn target(&self) -> PathBuf {
        self.machine.var("CARGO_TARGET_DIR").map_or(self.root.join("target"), |dir| self.root.join(dir))
    }

    /// Creates and returns a directory for files of xtask, under the target directory.
    pub(crate) fn scratch(&self, name: &str) -> Result<PathBuf> {
        let directory = self.target().join("xtask").join(name);
        std::fs::create_dir_all(&directory).with_context(|| directory.display().to_string())?;
        Ok(directory)
    }

    /// Runs a Cargo command that builds, and returns the built programs. Messages of Cargo go to
    /// the terminal.
    pub(crate) fn build(&self, arguments: &[&str]) -> Result<Vec<BuiltProgram>> {
        let mut command = self.cargo(arguments);
        command.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
        let mut child = command.spawn().context("cargo")?;
        let stdout = BufReader::new(child.stdout.take().context("cargo has no output")?);
        let programs = stdout.lines().map_while(Result::ok).filter_map(|line| parse_artifact(&line)).collect();
        let status = child.wait().context("cargo")?;
        if status.success() { Ok(programs) } else { Err(anyhow!("`cargo {}` failed", arguments.join(" "))) }
    }

    /// Runs a Cargo command that builds, and returns the path of one built program.
    pub(crate) fn program(&self, kind: &str, name: &str, arguments: &[&str]) -> Result<PathBuf> {
        let program = self.build(arguments)?.into_iter().find(|built| built.kind == kind && built.name == name);
        program.map(|program| program.path).with_context(|| format!("Cargo built no {kind} {name:?}"))
    }
}

/// Parses a JSON message of Cargo; returns the program of a message about a built executable.
fn parse_artifact(line: &str) -> Option<BuiltProgram> {
    let message: Value = serde_json::from_str(line).ok()?;
    let text = |value: &Value| value.as_str().map(String::from);
    let target = &message["target"];
    let path = text(&message["executable"])?.into();
    Some(BuiltProgram { name: text(&target["name"])?, kind: text(&target["kind"][0])?, path })
}

#[cfg(test)]
#[path = "../tests/unit/context.rs"]
mod tests;
